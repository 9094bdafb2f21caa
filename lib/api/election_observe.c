/* Who leads, as an observer sees it: a look at the key (host/look.c) at each interval. */
#include "api/election_observe.h"

#include <string.h>

#include <redlock/look.h>

#include "api/election.h"
#include "api/election_memory.h"
#include "api/handle.h"
#include "api/public.h"

/* --- The leader ------------------------------------------------------------------------------------------------- */

static struct rl_seen_leader leader_of(const struct redlock_look_result *result)
{
    struct rl_seen_leader seen = {.told = true, .status = result->status};

    if (result->verdict != REDLOCK_LOOK_EXCLUSIVE)
        return seen;
    for (size_t i = 0; i < result->n_holders; i++) {
        const struct redlock_look_value *value = &result->values[i];

        rl_leader_see(&seen.leader, rl_mode_of(value->mode), (struct rl_slice){value->value, value->value_size},
                      value->fence);
    }
    return seen;
}

static bool is_same(const struct rl_seen_leader *a, const struct rl_seen_leader *b)
{
    return a->told == b->told && a->status == b->status && rl_leader_is(&a->leader, &b->leader);
}

static void tell(struct redlock_election *election)
{
    const struct rl_leader seen = election->seen.leader;
    char label[sizeof seen.label + 1] = "";
    const struct redlock_leader leader = {election->seen.status, seen.present, seen.term, label, seen.label_size};

    memcpy(label, seen.label, seen.label_size);
    election->observer(election, &leader, election->observer_data);
}

/* --- Looks ------------------------------------------------------------------------------------------------------ */

static void arm(struct redlock_election *election, uint32_t delay_ms)
{
    struct rl_host *host = &election->client->host;

    rl_transport_arm(&host->transport, &election->timer, rl_after(rl_host_read_clock(host), rl_ms(delay_ms)));
}

/* Without memory, and while the client ends, nothing is known, and nothing is told. */
static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct redlock_election *election = user_data;
    struct rl_seen_leader seen = leader_of(result);

    (void)client;
    election->looking = false;
    rl_election_enter(election);
    if (!election->destroyed && election->observer) {
        arm(election, election->interval_ms);
        if ((result->status == REDLOCK_OK || result->status == REDLOCK_NO_QUORUM) && !is_same(&seen, &election->seen)) {
            election->seen = seen;
            tell(election);
        }
    }
    rl_election_leave(election);
}

/* A look that could not begin is made up for at the next interval. */
static void on_timer(struct rl_timer *timer, struct rl_instant now)
{
    struct redlock_election *election = RL_CONTAINER_OF(timer, struct redlock_election, timer);
    const void *key;
    size_t size;

    (void)now;
    if (rl_client_forked(election->client) || election->looking)
        return;
    key = redlock_lock_key(election->lock, &size);
    election->looking = redlock_look(election->client, key, size, on_look, election) == 0;
    if (!election->looking)
        arm(election, election->interval_ms);
}

void rl_election_init_observer(struct redlock_election *election)
{
    rl_timer_init(&election->timer, on_timer);
}

void rl_election_stop_observing(struct redlock_election *election)
{
    election->observer = NULL;
    rl_transport_disarm(&election->client->host.transport, &election->timer);
}

/* A look that is under way is for the new observer, too. */
int redlock_election_observe(struct redlock_election *election, uint32_t interval_ms, redlock_leader_fn cb,
                             void *user_data)
{
    if (!election)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(election->client))
        return REDLOCK_E_FORKED;
    if (election->destroyed || election->client->host.closing)
        return REDLOCK_E_CLOSING;
    if (cb && (interval_ms < 10 || interval_ms > 3600000))
        return REDLOCK_E_TIMEOUT;
    rl_election_stop_observing(election);
    if (!cb)
        return 0;
    election->observer = cb;
    election->observer_data = user_data;
    election->interval_ms = interval_ms;
    election->seen.told = false;
    arm(election, 0);
    return 0;
}
