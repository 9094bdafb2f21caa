#include "host/operations.h"

#include <assert.h>
#include <stdio.h>

#include <redlock/status.h>

#include "engine/hold.h"
#include "engine/lock.h"
#include "host/contended.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/trust/view.h"
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
    else if (rl_lock_is_held(&lock->core))
        rl_host_tick_alarm(lock);
}

/* An acquisition for a key that others want enters the wait queue at once: contended.c. */
void rl_host_acquire(struct rl_host_lock *lock, const struct rl_acquire *request)
{
    struct rl_host *host = lock->host;
    struct rl_host_call *call = lock->call;

    assert(call && !lock->inner_entries);
    lock->cohort = 0;
    call->request = *request;
    call->request.entry = &call->entry;
    if (request->wait == RL_WAIT_QUEUE && rl_contended(&host->contended, lock->key, host->now))
        call->request.wait = RL_WAIT_FIFO;
    rl_lock_acquire(&host->engine, &lock->core, host->now, &call->request);
    carry_out(lock);
}

void rl_host_extend(struct rl_host_lock *lock, uint32_t ttl_ms)
{
    assert(lock->call && lock->core.state == RL_LOCK_HELD);
    rl_lock_extend(&lock->host->engine, &lock->core, lock->host->now, ttl_ms);
    carry_out(lock);
}

void rl_host_lower(struct rl_host_lock *lock, enum rl_mode mode)
{
    const struct rl_kind *kind = rl_shared_form(lock->core.claim->kind);

    assert(lock->call && lock->core.state == RL_LOCK_HELD && kind);
    lock->call->converts = true;
    rl_lock_lower(&lock->host->engine, &lock->core, lock->host->now, kind, mode);
    carry_out(lock);
}

void rl_host_confirm_mode(struct rl_host_lock *lock)
{
    lock->call->converts = true;
    rl_host_extend(lock, 0);
}

/* The completion of a conversion comes before that of the release. */
void rl_host_release(struct rl_host_lock *lock)
{
    struct rl_host *host = lock->host;

    if (lock->call && lock->call->worker != lock)
        rl_host_cancel(lock);
    lock->inner_entries = 0;
    host->successor = rl_cohort_hand_off(lock);
    if (!host->successor)
        rl_lock_release(&host->engine, &lock->core, host->now);
    rl_host_run(host);
    host->successor = NULL;
    rl_host_rearm(lock);
}

int rl_host_release_value(struct rl_host_lock *lock, const struct rl_kind *kind, uint32_t slot, const char *token)
{
    struct rl_host *host = lock->host;
    struct rl_key *key = rl_host_key(lock, slot);
    int error = REDLOCK_E_NOMEM;
    struct rl_claim *claim = key ? rl_host_claim_create(host, key, kind, token, &error) : NULL;

    if (!claim)
        return error;
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
    struct rl_host_lock *worker = lock->call ? lock->call->worker : lock;
    bool canceled = rl_lock_cancel(&lock->host->engine, &worker->core, lock->host->now);

    carry_out(lock);
    return canceled;
}

void rl_host_abandon(struct rl_host_lock *lock)
{
    if (lock->call)
        rl_cohort_leave(lock->call);
    rl_host_read_clock(lock->host);
    rl_host_drop_worker(lock);
    rl_lock_fini(&lock->host->engine, &lock->core, lock->host->now);
    carry_out(lock);
}

void rl_host_end_lock(struct rl_host_lock *lock)
{
    rl_host_remove_lock(lock);
    rl_host_abandon(lock);
}

/* An extension without an answer may be carried out after the first ones of the new holder, like one that was lost. A
 * lock that was handed off to its holder for a lease still needs its full ttl (engine/wait.c). */
void rl_host_export(const struct rl_host_lock *lock, struct rl_host_exported *ret_exported)
{
    const struct rl_claim *claim = lock->core.claim;

    assert(lock->core.state == RL_LOCK_HELD);
    ret_exported->state = (struct rl_exported_state){
        .kind = claim->kind,
        .mode = claim->mode,
        .ttl_ms = claim->ttl_ms,
        .longest_ttl_ms = claim->longest_ttl_ms,
        .shortest_extension_ms = claim->shortest_extension_ms,
        .fence = rl_claim_token(claim),
        .bounds = ret_exported->bounds,
        .unresolved_extension = rl_claim_unresolved(claim),
        .full_ttl_ms = claim->full_ttl_ms > claim->ttl_ms ? claim->full_ttl_ms : 0,
        .ungreeted = lock->host->engine.votes.members & ~claim->counts,
        .newcomers = claim->newcomers,
        .standing = claim->standing,
    };
    for (unsigned i = 0; i < claim->n_nodes; i++)
        ret_exported->bounds[i] = claim->votes[i].bound;
    snprintf(ret_exported->token, sizeof ret_exported->token, "%s", rl_host_token(claim));
}

const char *rl_host_follow(struct rl_host *host, struct rl_slice view)
{
    const char *why_not = rl_trust_adopt(host, view, rl_host_read_clock(host));

    rl_host_run(host);
    return why_not;
}

int rl_host_import(struct rl_host_lock *lock, const struct rl_acquire *request, const struct rl_host_exported *exported)
{
    struct rl_host *host = lock->host;
    const struct rl_kind *kind = exported->state.kind;
    int error = REDLOCK_E_NOMEM;
    struct rl_key *key = rl_host_key(lock, exported->slot);
    struct rl_claim *claim = key ? rl_host_claim_create(host, key, kind, exported->token, &error) : NULL;
    bool held;

    if (!claim)
        return error;
    held = rl_lock_import(&host->engine, &lock->core, rl_host_read_clock(host), claim, request, &exported->state);
    rl_host_run(host);
    rl_host_rearm(lock);
    return held ? 0 : REDLOCK_E_NOT_HELD;
}
