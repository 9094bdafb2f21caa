/* Elections (rule 13.1). That at most one leads is the promise of the lock; this file looks at what candidates are
 * told. Who is told that it leads holds the lock at that moment, under a term above all that anybody was told before.
 * Who has lost the lock is told so in the same turn, or in one that follows at once; and who has resigned has nothing
 * left of it. An observer is never shown a term that is smaller than one that it has seen, or than the leader's, unless
 * a master has got an older memory since then, or another master's: there a vote may stand beside a counter that does
 * not know its token. */
#include "client_host.h"
#include "host/election.h"
#include "world.h"

static bool holds(const struct handle *handle)
{
    return handle->host.core.state == RL_LOCK_HELD || handle->host.core.state == RL_LOCK_EXTENDING;
}

/* Claims of one cohort have one value. */
static uint32_t value_of(const struct world *world, const struct box *box)
{
    return box_maker(&world->boxes, box->id)->id;
}

static void check_alone(struct world *world, const struct handle *handle, int64_t at)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        for (unsigned h = 0; h < client->n_handles; h++) {
            const struct handle *other = &client->handles[h];

            if (other != handle && client->alive && other->leads && other->key == handle->key &&
                other->valid_until > at && world->last_step == INT64_MIN / 2)
                world_violation(world, "election", "%s leads beside another one", name_of_handle(client, other));
        }
    }
}

static void on_elected(struct world *world, const struct client *client, struct handle *handle)
{
    int64_t at = client_true_now(client);
    struct told_term *told = &world->terms[handle->key];
    uint64_t term = handle->host.core.claim ? rl_claim_token(handle->host.core.claim) : 0;

    world_count(world, COUNTER_ELECTED);
    handle->leads = true;
    if (!holds(handle) || handle->valid_until <= at) {
        world_violation(world, "election", "%s is told that it leads, and does not hold its lock",
                        name_of_handle(client, handle));
        return;
    }
    check_alone(world, handle, at);
    if (term <= told->term && world->last_step == INT64_MIN / 2)
        world_violation(world, "election", "%s is elected for term %llu, after %llu", name_of_handle(client, handle),
                        (unsigned long long)term, (unsigned long long)told->term);
    *told = (struct told_term){.term = term, .at = at, .box = value_of(world, handle_box(handle))};
    observer_on_elected(world, client, handle->key, term);
}

static void on_lost(struct world *world, const struct client *client, struct handle *handle)
{
    world_count(world, COUNTER_LEADERS_LOST);
    if (!handle->leads)
        world_violation(world, "election", "%s is told of a loss, and did not lead", name_of_handle(client, handle));
    handle->leads = false;
}

void elections_on_event(struct world *world, const struct client *client, struct handle *handle,
                        enum election_event event)
{
    switch (event) {
    case ELECTION_ELECTED:
        on_elected(world, client, handle);
        break;
    case ELECTION_LOST:
        on_lost(world, client, handle);
        break;
    case ELECTION_RESIGNED:
        world_count(world, COUNTER_RESIGNED);
        handle->leads = false;
        break;
    case ELECTION_FAILED:
        handle->leads = false;
        break;
    }
}

/* Of the candidates of a client that ends nothing is told any more. */
static void check(struct world *world, const struct client *client, const struct handle *handle)
{
    enum rl_candidate_state state = handle->election.state;
    uint8_t lock = handle->host.core.state;

    if (handle->lost)
        return;
    if (state == RL_CANDIDATE_LEADING && !holds(handle))
        world_violation(world, "election", "%s has lost its lock, and goes on as a leader",
                        name_of_handle(client, handle));
    if (handle->leads && state != RL_CANDIDATE_LEADING)
        world_violation(world, "election", "%s does not lead any more, and is not told",
                        name_of_handle(client, handle));
    if (state == RL_CANDIDATE_IDLE && lock != RL_LOCK_IDLE && lock != RL_LOCK_LOST)
        world_violation(world, "election", "%s is no candidate any more, and has not given up its lock",
                        name_of_handle(client, handle));
}

void elections_check(struct world *world, const struct client *client)
{
    if (client->host.closing || client->n_completions || world->phase == PHASE_DRAINING)
        return;
    for (unsigned i = 0; i < client->n_handles; i++) {
        if (client->handles[i].candidate)
            check(world, client, &client->handles[i]);
    }
}

/* The counter says something about tokens only where holders ask for them. */
static bool is_fenced(const struct world *world, const struct rl_look_picture *picture)
{
    for (size_t i = 0; i < picture->n_holders; i++) {
        const struct box *box = box_of_token(&world->boxes, picture->values[i].value.data,
                                             picture->values[i].value.size);

        if (!box || !box->fenced)
            return false;
    }
    return true;
}

/* From the moment at which a leader is told its term a quorum of masters has recorded it. A counter may be larger:
 * where the leader's vote had ended, another one's was counted, and the leader's was repaired. */
static void check_term(struct world *world, const struct client *client, const struct client_look *look,
                       struct rl_slice value, uint64_t term)
{
    const struct told_term *told = &world->terms[look->key];
    const struct box *box = box_of_token(&world->boxes, value.data, value.size);

    if (term && box && value_of(world, box) == told->box && look->asked > told->at && term < told->term &&
        world->last_step == INT64_MIN / 2 && world->older_memory < told->at)
        world_violation(world, "election", "%s is shown term %llu of a leader whose term is %llu",
                        name_of_client(client->index), (unsigned long long)term, (unsigned long long)told->term);
}

/* An observer has one look under way at a time: of two that overlap, the later one to end may have seen the older
 * leader. */
void elections_on_look(struct world *world, struct client *client, const struct client_look *look,
                       const struct rl_look_picture *picture)
{
    struct seen_term *seen = &client->seen_terms[look->key];
    struct rl_leader leader = {0};

    if (picture->verdict != RL_LOOK_EXCLUSIVE || !is_fenced(world, picture))
        return;
    for (size_t i = 0; i < picture->n_holders; i++) {
        rl_leader_see(&leader, picture->values[i].mode, picture->values[i].value, picture->values[i].counter);
        check_term(world, client, look, picture->values[i].value, leader.term);
    }
    if (!leader.term || look->asked < seen->at)
        return;
    world_count(world, COUNTER_TERMS_SEEN);
    if (leader.term < seen->term && world->older_memory < seen->at)
        world_violation(world, "election", "%s is shown term %llu after %llu", name_of_client(client->index),
                        (unsigned long long)leader.term, (unsigned long long)seen->term);
    *seen = (struct seen_term){leader.term, client_true_now(client)};
}
