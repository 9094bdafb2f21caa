/* Candidates of elections: what decides is the engine's (engine/election.h); this file is in the place of
 * lib/api/election.c. */
#include "client_elections.h"

#include "client_calls.h"
#include "engine/hold.h"
#include "world.h"

static void tell(struct client *client, struct handle *handle, enum election_event event)
{
    static const char *const texts[] = {"is elected", "leads no more", "has resigned", "is no candidate any more"};

    TRACE(client->world, name_of_handle(client, handle), "%s", texts[event]);
    if (event == ELECTION_ELECTED && handle->host.core.claim) /* it has one, unless a bug is planted */
        rl_leader_announce(&client->host, handle->host.key, rl_claim_token(handle->host.core.claim),
                           (struct rl_slice){"", 0});
    elections_on_event(client->world, client, handle, event);
    workload_on_election(client, handle, event);
}

/* A client that ends begins nothing. */
static bool campaign(struct client *client, struct handle *handle)
{
    bool begun = !client->host.closing;

    if (begun) {
        world_count(client->world, COUNTER_CAMPAIGNS);
        client_acquire(client, handle, &handle->campaign);
    }
    rl_candidate_campaigns(&handle->election, begun);
    return begun;
}

void client_campaign(struct client *client, struct handle *handle, const struct rl_acquire *request, bool once)
{
    handle->campaign = *request;
    handle->election.once = once;
    campaign(client, handle);
}

static bool can_release(const struct handle *handle)
{
    uint8_t state = handle->host.core.state;

    return state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST;
}

void client_resign(struct client *client, struct handle *handle)
{
    enum rl_candidate_step step = rl_candidate_resign(&handle->election);
    bool begun = step != RL_CANDIDATE_RELEASE || can_release(handle);

    if (step == RL_CANDIDATE_CANCEL)
        client_cancel(client, handle);
    else if (step == RL_CANDIDATE_RELEASE && begun)
        client_release(client, handle);
    handle->leads = false;
    rl_candidate_resigns(&handle->election, begun);
}

static int64_t left_of(struct client *client, const struct handle *handle)
{
    struct rl_instant now = rl_host_read_clock(&client->host);

    return rl_until(now, rl_lock_deadline(&client->host.engine, &handle->host.core)).ns;
}

static void campaign_again(struct client *client, struct handle *handle)
{
    if (!campaign(client, handle))
        tell(client, handle, ELECTION_FAILED);
}

/* It was elected after it had withdrawn. */
static void withdraw(struct client *client, struct handle *handle)
{
    if (can_release(handle)) {
        client_release(client, handle);
        return;
    }
    rl_candidate_released(&handle->election);
    tell(client, handle, ELECTION_RESIGNED);
}

static void acquired(struct client *client, struct handle *handle, bool won)
{
    switch (rl_candidate_acquired(&handle->election, won, left_of(client, handle))) {
    case RL_CANDIDATE_ELECTED:
        tell(client, handle, ELECTION_ELECTED);
        break;
    case RL_CANDIDATE_CAMPAIGN:
        campaign_again(client, handle);
        break;
    case RL_CANDIDATE_RELEASE:
        withdraw(client, handle);
        break;
    case RL_CANDIDATE_WITHDRAWN:
        tell(client, handle, ELECTION_RESIGNED);
        break;
    default:
        tell(client, handle, ELECTION_FAILED);
        break;
    }
}

void client_on_candidate(struct client *client, const struct completion *completion)
{
    struct handle *handle = &client->handles[completion->handle];

    if (completion->op == RL_OP_ACQUIRE) {
        acquired(client, handle, completion->status == RL_END_OK);
    } else if (completion->op == RL_OP_RELEASE) {
        rl_candidate_released(&handle->election);
        tell(client, handle, ELECTION_RESIGNED);
    }
}

void client_on_candidate_lost(struct handle *handle)
{
    handle->lost = true;
}

/* The new campaign has begun when the loss is told. */
static void lose(struct client *client, struct handle *handle)
{
    if (rl_candidate_lost(&handle->election) == RL_CANDIDATE_CAMPAIGN)
        campaign(client, handle);
    tell(client, handle, ELECTION_LOST);
}

void client_end_turn_of_elections(struct client *client)
{
    for (unsigned i = 0; i < client->n_handles; i++) {
        struct handle *handle = &client->handles[i];

        if (handle->lost && handle->election.state == RL_CANDIDATE_LEADING)
            lose(client, handle);
        handle->lost = false;
    }
}
