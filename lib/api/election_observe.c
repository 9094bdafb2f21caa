/* Who leads, as an observer sees it: looks at the key, whenever host/observer.c says so. */
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

/* Without memory, and while the client ends, nothing is known, and nothing is told. */
static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct redlock_election *election = user_data;
    struct rl_seen_leader seen = leader_of(result);

    (void)client;
    rl_election_enter(election);
    rl_observer_looked(&election->looks, result->status == REDLOCK_OK, seen.leader.term);
    if (!election->destroyed && election->observer && !is_same(&seen, &election->seen) &&
        (result->status == REDLOCK_OK || result->status == REDLOCK_NO_QUORUM)) {
        election->seen = seen;
        tell(election);
    }
    rl_election_leave(election);
}

static bool look(struct rl_observer *observer)
{
    struct redlock_election *election = RL_CONTAINER_OF(observer, struct redlock_election, looks);
    size_t size;
    const void *key = redlock_lock_key(election->lock, &size);

    return !rl_client_forked(election->client) && redlock_look(election->client, key, size, on_look, election) == 0;
}

void rl_election_init_observer(struct redlock_election *election)
{
    rl_observer_init(&election->looks, &election->client->host, election->lock->host.key, look);
}

void rl_election_stop_observing(struct redlock_election *election)
{
    election->observer = NULL;
    rl_observer_stop(&election->looks, rl_client_forked(election->client));
}

/* A look that is under way is for the new observer, too. */
int redlock_election_observe(struct redlock_election *election, uint32_t interval_ms, redlock_leader_fn cb,
                             void *user_data)
{
    if (!election)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(election->client))
        return REDLOCK_E_FORKED;
    if (election->destroyed || (cb && election->client->host.closing))
        return REDLOCK_E_CLOSING;
    if (cb && (interval_ms < 10 || interval_ms > 3600000))
        return REDLOCK_E_TIMEOUT;
    rl_election_stop_observing(election);
    if (!cb)
        return 0;
    election->observer = cb;
    election->observer_data = user_data;
    election->seen.told = false;
    rl_observer_start(&election->looks, rl_ms(interval_ms));
    return 0;
}
