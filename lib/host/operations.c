#include "host/operations.h"

#include <assert.h>

#include <redlock/status.h>

#include "host/cohort.h"
#include "host/effects.h"
#include "host/host.h"
#include "kinds/permit.h"
#include "kinds/shared.h"

static void carry_out(struct rl_host_lock *lock)
{
    rl_host_run(lock->host);
    rl_host_rearm(lock);
}

void rl_host_begin_operation(struct rl_host_lock *lock)
{
    rl_host_read_clock(lock->host);
    if (lock->core.state == RL_LOCK_HELD)
        rl_host_tick(lock);
}

/* Of locks, and of permits. */
static const struct rl_kind *kind_of(const struct rl_host_lock *lock, const struct rl_kind *kind)
{
    return lock->semaphore ? rl_permit_form(kind) : kind;
}

/* An acquisition for a key that others want enters the wait queue at once: contended.c. */
void rl_host_acquire(struct rl_host_lock *lock, const struct rl_acquire *request)
{
    struct rl_host *host = lock->host;
    struct rl_host_attempt *attempt = lock->attempt;

    assert(attempt && !lock->inner_entries);
    lock->cohort = 0;
    attempt->request = *request;
    attempt->request.entry = &attempt->entry;
    attempt->request.kind = kind_of(lock, request->kind);
    if (lock->semaphore)
        rl_permits_begin(lock);
    if (request->wait == RL_WAIT_QUEUE && rl_contended(&host->contended, lock->key, host->now))
        attempt->request.wait = RL_WAIT_FIFO;
    rl_lock_acquire(&host->engine, &lock->core, host->now, &attempt->request);
    carry_out(lock);
}

void rl_host_extend(struct rl_host_lock *lock, uint32_t ttl_ms)
{
    assert(lock->attempt && lock->core.state == RL_LOCK_HELD);
    rl_lock_extend(&lock->host->engine, &lock->core, lock->host->now, ttl_ms);
    carry_out(lock);
}

void rl_host_lower(struct rl_host_lock *lock, enum rl_mode mode)
{
    const struct rl_kind *kind = rl_shared_form(lock->core.claim->kind);

    assert(lock->attempt && lock->core.state == RL_LOCK_HELD && kind);
    lock->attempt->converts = true;
    rl_lock_lower(&lock->host->engine, &lock->core, lock->host->now, kind, mode);
    carry_out(lock);
}

void rl_host_confirm_mode(struct rl_host_lock *lock)
{
    lock->attempt->converts = true;
    rl_host_extend(lock, 0);
}

void rl_host_release(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;

    lock->inner_entries = 0;
    host->successor = rl_cohort_hand_off(lock);
    if (!host->successor)
        rl_lock_release(&host->engine, &lock->core, host->now);
    rl_host_run(host);
    host->successor = NULL;
    rl_host_rearm(lock);
}

int rl_host_release_value(struct rl_host_lock *lock, uint32_t slot, const char *token)
{
    struct rl_host *host = lock->host;
    const struct rl_kind *kind = kind_of(lock, &rl_mutex_kind);
    struct rl_key *key = lock->semaphore ? rl_semaphore_key(lock->semaphore, slot) : lock->key;
    int error = REDLOCK_E_NOMEM;
    struct rl_claim *claim = key ? rl_host_claim_create(host, key, kind, token, &error) : NULL;

    if (!claim)
        return error;
    lock->slot = slot;
    rl_lock_release_value(&host->engine, &lock->core, host->now, claim, kind, host->engine.votes.config.max_ttl_ms);
    carry_out(lock);
    return 0;
}

void rl_host_detach(struct rl_host_lock *lock)
{
    assert(lock->core.state == RL_LOCK_HELD && !lock->inner_entries);
    rl_lock_detach(&lock->host->engine, &lock->core, lock->host->now);
    carry_out(lock);
}

bool rl_host_cancel(struct rl_host_lock *lock)
{
    bool canceled = rl_lock_cancel(&lock->host->engine, &lock->core, lock->host->now);

    carry_out(lock);
    return canceled;
}

void rl_host_abandon(struct rl_host_lock *lock)
{
    if (lock->attempt)
        rl_cohort_leave(lock->attempt);
    rl_host_read_clock(lock->host);
    rl_lock_fini(&lock->host->engine, &lock->core, lock->host->now);
    carry_out(lock);
}

void rl_host_end_lock(struct rl_host_lock *lock)
{
    rl_host_remove_lock(lock);
    rl_host_abandon(lock);
}
