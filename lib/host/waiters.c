/* Waiting in line, on the host's side: who is called by the masters' notifications, and what they and the answers to
 * ENQUEUE tell beside the vote (engine/wait.c, protocol section 6).
 *
 * One connection to each master listens on one channel for all locks of the client; a notification names the value
 * that it is about. The values that have been in line are kept in a hash table, open addressing, without tombstones,
 * until no master can hold them any more. Without memory for it nothing is lost but time: what a notification would
 * have told is found out by the next refresh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/client.h"
#include "kinds/wait_queue.h"
#include "util/hash.h"

/* --- The table -------------------------------------------------------------------------------------------------- */

#define SMALLEST_TABLE 64

static size_t home_of(const struct rl_waiters *waiters, const struct rl_claim *claim)
{
    const char *token = rl_host_token(claim);

    return (size_t)rl_hash(token, strlen(token)) & (waiters->size - 1);
}

static void put(struct rl_waiters *waiters, struct rl_claim *claim)
{
    size_t at = home_of(waiters, claim);

    while (waiters->table[at])
        at = (at + 1) & (waiters->size - 1);
    waiters->table[at] = claim;
}

/* Half of it stays empty. */
static bool make_room(struct rl_waiters *waiters)
{
    struct rl_waiters larger = *waiters;

    if (waiters->count < waiters->size / 2)
        return true;
    larger.size = waiters->size ? waiters->size * 2 : SMALLEST_TABLE;
    larger.table = calloc(larger.size, sizeof larger.table[0]);
    if (!larger.table)
        return false;
    for (size_t i = 0; i < waiters->size; i++) {
        if (waiters->table[i])
            put(&larger, waiters->table[i]);
    }
    free(waiters->table);
    waiters->table = larger.table;
    waiters->size = larger.size;
    return true;
}

/* Those behind the gap move up, but for those that are at home there already. */
static void close_gap(struct rl_waiters *waiters, size_t gap)
{
    size_t mask = waiters->size - 1;

    for (size_t at = (gap + 1) & mask; waiters->table[at]; at = (at + 1) & mask) {
        size_t home = home_of(waiters, waiters->table[at]);

        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        waiters->table[gap] = waiters->table[at];
        gap = at;
    }
    waiters->table[gap] = NULL;
}

static struct rl_claim *find(const struct rl_waiters *waiters, struct rl_slice value)
{
    size_t at;

    if (!waiters->count)
        return NULL;
    at = (size_t)rl_hash(value.data, value.size) & (waiters->size - 1);
    for (; waiters->table[at]; at = (at + 1) & (waiters->size - 1)) {
        const char *token = rl_host_token(waiters->table[at]);

        if (strlen(token) == value.size && memcmp(token, value.data, value.size) == 0)
            return waiters->table[at];
    }
    return NULL;
}

bool rl_waiters_enter(struct redlock_client *client, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &client->waiters;
    struct rl_host_claim *host = rl_host_claim_of(claim);
    bool first = !host->token.own.asked;

    host->token.own.asked = true;
    rl_contended_note(client, host->key);
    if (!waiters->listens)
        waiters->listens = rl_driver_listen(client->driver, waiters->channel) == 0;
    if (host->token.own.in_line || !make_room(waiters))
        return first;
    put(waiters, claim);
    waiters->count++;
    host->token.own.in_line = true;
    return first;
}

void rl_waiters_leave(struct redlock_client *client, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &client->waiters;
    size_t at;

    if (!rl_host_claim_of(claim)->token.own.in_line)
        return;
    for (at = home_of(waiters, claim); waiters->table[at] != claim; at = (at + 1) & (waiters->size - 1)) {
    }
    close_gap(waiters, at);
    waiters->count--;
    rl_host_claim_of(claim)->token.own.in_line = false;
}

/* --- What masters say ------------------------------------------------------------------------------------------- */

static void read_clock(struct redlock_client *client, unsigned node, uint64_t time_us, struct rl_instant sent,
                       struct rl_instant now)
{
    if (client->engine.votes.standings[node].guarded && time_us <= INT64_MAX)
        rl_trust_read_clock(client, node, (int64_t)time_us, sent, now);
}

static void tell_hand_over(struct redlock_client *client, unsigned node, const struct rl_claim *claim)
{
    struct redlock_lock *lock = claim->lock ? RL_CONTAINER_OF(claim->lock, struct redlock_lock, core) : NULL;

    if (lock)
        rl_observe_validity(client, lock);
    if (rl_observes(client, REDLOCK_EVENT_VOTE))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_VOTE, .lock = lock, .node = (int)node,
                                                   .op = REDLOCK_OP_ACQUIRE, .vote = REDLOCK_VOTE_GRANTED,
                                                   .latency_us = -1, .token = rl_host_token(claim)});
}

/* As with votes that are proved by a guard, a step of the clock comes first: what it overshadows must not count. */
static void take_call(struct redlock_client *client, unsigned node, struct rl_claim *claim, const struct rl_call *call,
                      struct rl_instant now)
{
    uint64_t before = client->engine.votes.counters.hand_overs;
    struct rl_instant sent;

    if (rl_engine_call_sent(claim, call, &sent))
        read_clock(client, node, call->time_us, sent, now);
    if (call->fence)
        rl_host_note_counter(claim, call->fence);
    rl_engine_notified(&client->engine, now, claim, node, call);
    if (client->engine.votes.counters.hand_overs > before)
        tell_hand_over(client, node, claim);
    rl_host_run(client);
}

void rl_waiters_message(void *ctx, unsigned node, struct rl_slice payload, struct rl_instant now)
{
    struct redlock_client *client = ctx;
    struct rl_slice value;
    struct rl_slice incarnation;
    struct rl_call call;
    struct rl_claim *claim;

    client->now = now;
    if (!rl_queue_call(payload, &value, &incarnation, &call))
        return;
    claim = find(&client->waiters, value);
    if (claim && rl_queue_call_counts(&call, incarnation, rl_trust_incarnation(client, node)))
        take_call(client, node, claim, &call, now);
}

void rl_waiters_placed(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                       const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_place place;

    if (!rl_queue_place(reply, &place))
        return;
    read_clock(client, node, place.time_us, ticket->sent, now);
    rl_engine_placed(&client->engine, now, ticket->owner, ticket->round, node, &place);
}

/* --- Masters that can be asked again ---------------------------------------------------------------------------- */

void rl_waiters_look_again(struct redlock_client *client, unsigned node, struct rl_instant now)
{
    if (!client->waiters.count)
        return;
    for (struct rl_list *at = client->locks.next; at != &client->locks; at = at->next)
        rl_lock_look_again(&client->engine, &RL_CONTAINER_OF(at, struct redlock_lock, link)->core, now, node);
}

/* What was said before it listened has not been heard. */
void rl_waiters_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now)
{
    struct redlock_client *client = ctx;

    client->now = now;
    if (rl_observes(client, REDLOCK_EVENT_LISTENING))
        rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_LISTENING, .node = (int)node,
                                                   .link = on ? REDLOCK_LINK_READY : REDLOCK_LINK_DOWN, .text = why});
    if (on)
        rl_waiters_look_again(client, node, now);
    rl_host_run(client);
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_waiters_init(struct redlock_client *client)
{
    struct rl_slice prefix = rl_trust_prefix(client);
    char id[UUID_STR_LEN];
    uuid_t fresh;

    uuid_generate_random(fresh);
    uuid_unparse_lower(fresh, id);
    snprintf(client->waiters.channel, sizeof client->waiters.channel, "%.*s" RL_CHANNEL_NAME "%s", (int)prefix.size,
             (const char *)prefix.data, id);
}

void rl_waiters_fini(struct redlock_client *client)
{
    free(client->waiters.table);
}
