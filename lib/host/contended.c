/* Which keys somebody else wants, too, as far as this client has seen a moment ago: one of its locks is in the wait
 * queue, or a release has handed the key off. The next acquisition of such a key enters the wait queue at once. An
 * attempt with SET would be refused, and be three commands for each master where one is enough; or it would overtake
 * the queue, in a moment in which the key happens to be free. Where the client is wrong nothing is lost: a free key is
 * taken by entering the queue, too, in the same single round trip.
 *
 * A small table without chains: a key that pushes another one out costs that one a plain attempt, and its cohort. */
#include "host/contended.h"

#include <stdio.h>
#include <string.h>

#include "engine/cohort.h"
#include "host/claims.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "util/hash.h"

#define MEMORY_NS (500 * RL_NS_PER_MS)

void rl_contended_init(struct rl_contended *contended)
{
    for (size_t i = 0; i < RL_CONTENDED_KEYS; i++)
        rl_list_init(&contended->seen[i].wait_list);
}

static void replace(struct rl_contended_key *entry, uint64_t hash)
{
    while (!rl_list_empty(&entry->wait_list))
        rl_list_remove(entry->wait_list.next);
    *entry = (struct rl_contended_key){.hash = hash};
    rl_list_init(&entry->wait_list);
}

void rl_contended_note(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now)
{
    uint64_t hash = rl_key_hash(key);
    struct rl_contended_key *entry = &contended->seen[hash % RL_CONTENDED_KEYS];

    if (entry->hash != hash)
        replace(entry, hash);
    contended->until = rl_after(now, (struct rl_span){MEMORY_NS});
    entry->until = contended->until;
}

/* However old it is. */
static struct rl_contended_key *find_any(struct rl_contended *contended, const struct rl_key *key)
{
    uint64_t hash = rl_key_hash(key);
    struct rl_contended_key *entry = &contended->seen[hash % RL_CONTENDED_KEYS];

    return entry->hash == hash ? entry : NULL;
}

/* Nothing is hashed where nobody waits. */
bool rl_contended(struct rl_contended *contended, const struct rl_key *key, struct rl_instant now)
{
    const struct rl_contended_key *entry =
        rl_before(now, contended->until) ? find_any(contended, key) : NULL;

    return entry && rl_before(now, entry->until);
}

/* Nothing is hashed where nobody has ever waited. */
struct rl_contended_key *rl_contended_find(struct rl_contended *contended, const struct rl_key *key)
{
    return contended->until.ns ? find_any(contended, key) : NULL;
}

/* Claims in the wait queue, on the host's side: the masters' notifications name them by their values (engine/wait.c,
 * rules 7).
 *
 * One connection to each master listens on one channel for all locks of the client; a notification names the value
 * that it is about. A value that has been in the wait queue is found until no master can hold it any more. */

static struct rl_claim *claim_at(struct rl_table_node *node)
{
    return (struct rl_claim *)(RL_CONTAINER_OF(node, struct rl_host_claim, waiter) + 1);
}

static uint64_t hash_of_value(struct rl_table_node *node)
{
    struct rl_slice value = rl_slice_of(rl_host_token(claim_at(node)));

    return rl_hash(value.data, value.size);
}

struct rl_claim *rl_waiters_find(const struct rl_waiters *waiters, struct rl_slice value)
{
    struct rl_table_node *node = rl_table_chain(&waiters->claims, rl_hash(value.data, value.size));

    for (; node; node = node->next) {
        if (rl_slice_is(value, rl_host_token(claim_at(node))))
            return claim_at(node);
    }
    return NULL;
}

void rl_waiters_listen(struct rl_host *host)
{
    struct rl_waiters *waiters = &host->waiters;

    if (!waiters->listens)
        waiters->listens = rl_transport_listen(&host->transport, waiters->channel) == 0;
}

bool rl_waiters_enter(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_waiters *waiters = &host->waiters;
    struct rl_host_claim *part = rl_host_claim_of(claim);

    rl_contended_note(&host->contended, rl_host_wanted_key(claim), host->now);
    rl_waiters_listen(host);
    if (part->token.own.in_queue)
        return false;
    part->token.own.in_queue = true;
    rl_table_add(&waiters->claims, &part->waiter);
    return true;
}

void rl_waiters_leave(struct rl_host *host, struct rl_claim *claim)
{
    struct rl_host_claim *part = rl_host_claim_of(claim);

    if (part->token.own.in_queue)
        rl_table_remove(&host->waiters.claims, &part->waiter);
    part->token.own.in_queue = false;
}

/* --- Life ------------------------------------------------------------------------------------------------------- */

void rl_waiters_init(struct rl_host *host)
{
    struct rl_slice prefix = rl_trust_prefix(host);
    char id[RL_UUID_SIZE];

    rl_table_init(&host->waiters.claims, hash_of_value);
    host->environment.make_uuid(host->environment.ctx, id);
    snprintf(host->waiters.channel, sizeof host->waiters.channel, "%.*s" RL_CHANNEL_NAME "%s", (int)prefix.size,
             (const char *)prefix.data, id);
}

void rl_waiters_fini(struct rl_host *host)
{
    rl_table_fini(&host->waiters.claims);
}

/* Cohorts, on the host's side (engine/cohort.c): which locks entered the wait queue together, and which one is next.
 *
 * Locks whose claims enter the wait queue in one batch have sent their first ENQUEUE at the same instant: they are a
 * cohort, in the order of their tickets. The attempts that still wait are listed with the key in the table of contended
 * keys. A key that is pushed out of that table dissolves its cohorts, and the masters hand the lock off as to anybody.
 *
 * A value that others know names the lock outside this client: it may be given to redlock_release_token() at any time,
 * and must not be the next holder's then. The application says so when it acquires (own_token); of an adopted lock it
 * is taken for granted. Such a lock is not handed off; nor is any to a waiter that wants a value of its own. */

static void join(struct rl_host_lock *lock, uint32_t cohort, struct rl_list *waiting)
{
    lock->cohort = cohort;
    rl_list_remove(&lock->call->wait_list);
    rl_list_append(waiting, &lock->call->wait_list);
}

void rl_cohort_form(struct rl_host *host, const struct rl_batch *batch)
{
    struct rl_contended_key *entry;

    if (batch->kind != RL_BATCH_ENQUEUES || batch->n < 2 ||
        !(batch->entries[0].claim->kind->can & RL_COHORT))
        return;
    entry = rl_contended_find(&host->contended, rl_host_claim_of(batch->entries[0].claim)->key);
    if (!entry)
        return;
    if (++host->cohorts == 0)
        host->cohorts++;
    for (size_t i = 0; i < batch->n; i++)
        join(rl_host_claim_lock(batch->entries[i].claim), host->cohorts,
             &entry->wait_list);
}

/* The first lock that waits for the key, other than `lock`, if it is of the same cohort. */
static struct rl_host_lock *next_of(const struct rl_host_lock *lock, const struct rl_contended_key *entry)
{
    struct rl_host_lock *next = NULL;

    for (struct rl_list *at = entry->wait_list.next; at != &entry->wait_list && (!next || next == lock); at = at->next)
        next = RL_CONTAINER_OF(at, struct rl_host_call, wait_list)->owner;
    return next && next != lock && next->cohort == lock->cohort ? next : NULL;
}

void rl_cohort_leave(struct rl_host_call *call)
{
    rl_list_remove(&call->wait_list);
}

static struct rl_contended_key *find_entry(const struct rl_host_lock *lock)
{
    return lock->cohort ? rl_contended_find(&lock->host->contended, lock->key) : NULL;
}

static bool is_exposed(const struct rl_host_lock *lock)
{
    return lock->core.claim && rl_host_claim_of(lock->core.claim)->token.own.exposed;
}

static bool hand_off(struct rl_host_lock *lock, struct rl_host_lock *next)
{
    struct rl_host *host = lock->host;

    if (host->closing || is_exposed(lock) || is_exposed(next))
        return false;
    return rl_lock_cohort_hand_off(&host->engine, &lock->core, rl_host_read_clock(host), &next->core);
}

struct rl_host_lock *rl_cohort_hand_off(struct rl_host_lock *lock)
{
    struct rl_contended_key *entry = find_entry(lock);
    struct rl_host_lock *next = entry ? next_of(lock, entry) : NULL;

    if (!next || !hand_off(lock, next))
        return NULL;
    rl_host_claim_of(lock->core.claim)->token.own.transferred = true;
    return next;
}
