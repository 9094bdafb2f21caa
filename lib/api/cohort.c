/* Cohorts, on the host's side (core/cohort.c): who has got in line together, and has the lock next.
 *
 * Newcomers to a key that are written in one batch have sent their first ENQUEUE at the same instant: they are a
 * cohort, in the order of their tickets. Those who wait still are listed with the key in the table of contended keys;
 * a key that is pushed out of it dissolves its cohorts, and the masters hand over as to anybody.
 *
 * A value that the application has asked for names the lock outside this client: it may be given to
 * redlock_release_token() at any time, and must not be the next holder's then. So such a lock is not passed on; nor is
 * one to a waiter who has asked for its own. */
#include "api/batch.h"

static void join(struct redlock_lock *lock, uint32_t cohort, struct rl_list *waiting)
{
    if (lock->core.state != RL_LOCK_WAITING)
        return;
    lock->cohort = cohort;
    lock->attempt->waiter = lock;
    rl_list_remove(&lock->attempt->company);
    rl_list_append(waiting, &lock->attempt->company);
}

void rl_cohort_form(struct redlock_client *client, const struct rl_batch *batch)
{
    const struct rl_key *key = rl_host_claim_of(batch->entries[0].claim)->key;
    struct rl_list *waiting = rl_contended_company(client, key);

    if (batch->kind != RL_BATCH_NEWCOMERS || batch->n < 2 || batch->entries[0].claim->fenced || !waiting)
        return;
    if (++client->cohorts == 0)
        client->cohorts++;
    for (size_t i = 0; i < batch->n; i++)
        join(RL_CONTAINER_OF(batch->entries[i].claim->lock, struct redlock_lock, core), client->cohorts, waiting);
}

/* The first that waits beside it, if it is of the same cohort. */
static struct redlock_lock *next_of(const struct redlock_lock *lock)
{
    struct rl_list *waiting = lock->cohort ? rl_contended_company(lock->client, lock->key) : NULL;
    struct redlock_lock *next = NULL;

    if (!waiting)
        return NULL;
    for (struct rl_list *at = waiting->next; at != waiting && (!next || next == lock); at = at->next)
        next = RL_CONTAINER_OF(at, struct rl_attempt, company)->waiter;
    return next && next != lock && next->cohort == lock->cohort ? next : NULL;
}

void rl_cohort_leave(struct redlock_lock *lock)
{
    rl_list_remove(&lock->attempt->company);
}

/* A vote that is handed on is none that can be passed on. */
void rl_cohort_spare(struct redlock_lock *lock)
{
    if (next_of(lock))
        lock->attempt->wish.brief = false;
}

static bool is_told(const struct redlock_lock *lock)
{
    return lock->core.claim && rl_host_claim_of(lock->core.claim)->token.own.told;
}

bool rl_cohort_pass_on(struct redlock_lock *lock)
{
    struct redlock_client *client = lock->client;
    struct redlock_lock *next = next_of(lock);
    bool brief;

    if (!next || client->closing || is_told(lock) || is_told(next))
        return false;
    brief = next->attempt->wish.brief;
    rl_cohort_spare(next);
    if (!rl_lock_pass_on(&client->engine, &lock->core, rl_client_read_clock(client), &next->core)) {
        next->attempt->wish.brief = brief;
        return false;
    }
    rl_host_claim_of(lock->core.claim)->token.own.foreign = true;
    client->heir = next;
    rl_host_run(client);
    client->heir = NULL;
    return true;
}
