/* Cohorts, on the host's side (engine/cohort.c): which locks entered the wait queue together, and which one is next.
 *
 * Locks whose claims enter the wait queue in one batch have sent their first ENQUEUE at the same instant: they are a
 * cohort, in the order of their tickets. The attempts that still wait are listed with the key in the table of contended
 * keys. A key that is pushed out of that table dissolves its cohorts, and the masters hand the lock off as to anybody.
 *
 * A value that others know names the lock outside this client: it may be given to redlock_release_token() at any time,
 * and must not be the next holder's then. The application says so when it acquires (own_token); of an adopted lock it
 * is taken for granted. Such a lock is not handed off; nor is any to a waiter that wants a value of its own. */
#include "host/cohort.h"

#include "engine/cohort.h"
#include "host/host.h"
#include "util/mutant.h"

static void join(struct rl_host_lock *lock, uint32_t cohort, struct rl_list *waiting)
{
    lock->cohort = cohort;
    lock->attempt->waiter = lock;
    rl_list_remove(&lock->attempt->company);
    rl_list_append(waiting, &lock->attempt->company);
}

void rl_cohort_form(struct rl_host *host, const struct rl_batch *batch)
{
    struct rl_contended_key *entry;

    if (batch->kind != RL_BATCH_ENQUEUES || batch->n < 2 ||
        !(batch->entries[0].claim->kind->can & RL_COHORT || RL_MUTANT(COHORT_FENCED)))
        return;
    entry = rl_contended_find(&host->contended, rl_host_claim_of(batch->entries[0].claim)->key);
    if (!entry)
        return;
    if (++host->cohorts == 0)
        host->cohorts++;
    for (size_t i = 0; i < batch->n; i++)
        join(rl_host_claim_lock(batch->entries[i].claim), host->cohorts,
             &entry->company);
}

/* The first lock that waits for the key, other than `lock`, if it is of the same cohort. */
static struct rl_host_lock *next_of(const struct rl_host_lock *lock, const struct rl_contended_key *entry)
{
    struct rl_host_lock *next = NULL;

    for (struct rl_list *at = entry->company.next; at != &entry->company && (!next || next == lock); at = at->next)
        next = RL_CONTAINER_OF(at, struct rl_host_attempt, company)->waiter;
    return next && next != lock && (next->cohort == lock->cohort || RL_MUTANT(COHORT_OF_ANYBODY)) ? next : NULL;
}

void rl_cohort_leave(struct rl_host_attempt *attempt)
{
    rl_list_remove(&attempt->company);
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

    if (host->closing || ((is_exposed(lock) || is_exposed(next)) && !RL_MUTANT(COHORT_OWN_TOKEN)))
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
