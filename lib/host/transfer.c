#include "host/transfer.h"

#include <assert.h>
#include <stdio.h>

#include <redlock/status.h>

#include "engine/transfer.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/semaphore.h"
#include "kinds/permit.h"

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
    };
    for (unsigned i = 0; i < claim->n_nodes; i++)
        ret_exported->bounds[i] = claim->slots[i].bound;
    ret_exported->slot = lock->slot;
    snprintf(ret_exported->token, sizeof ret_exported->token, "%s", rl_host_token(claim));
}

int rl_host_import(struct rl_host_lock *lock, const struct rl_acquire *request, const struct rl_host_exported *exported)
{
    struct rl_host *host = lock->host;
    struct rl_exported_state state = exported->state;
    int error = REDLOCK_E_NOMEM;
    struct rl_key *key = lock->semaphore ? rl_semaphore_key(lock->semaphore, exported->slot) : lock->key;
    struct rl_claim *claim = NULL;
    bool held;

    if (lock->semaphore)
        state.kind = rl_permit_form(state.kind);
    if (key)
        claim = rl_host_claim_create(host, key, state.kind, exported->token, &error);
    if (!claim)
        return error;
    held = rl_lock_import(&host->engine, &lock->core, rl_host_read_clock(host), claim, request, &state);
    rl_host_run(host);
    rl_host_rearm(lock);
    if (held)
        lock->slot = exported->slot;
    return held ? 0 : REDLOCK_E_NOT_HELD;
}
