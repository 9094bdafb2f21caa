/* The transfer of a held lock from one handle to another, perhaps of another process. */
#ifndef RL_ENGINE_TRANSFER_H
#define RL_ENGINE_TRANSFER_H

#include "engine/engine.h"

/* What one handle exports, and another imports, to transfer a lock (transfer.c). */
struct rl_exported_state {
    const struct rl_kind *kind;
    uint32_t ttl_ms;
    uint32_t longest_ttl_ms;
    uint32_t shortest_extension_ms;
    uint64_t fence;
    const struct rl_instant *bounds; /* one for each master */
    uint32_t unresolved_extension;   /* mask of masters */
    uint32_t full_ttl_ms;            /* not 0: ttl_ms is a lease, and the first extension must bring this ttl */
    uint8_t mode;                    /* enum rl_mode */
};

/* State IDLE or LOST: takes over a lock that another handle has given up by rl_lock_detach(). The claim is memory as
 * for rl_lock_begin_attempt(), for state->kind. True: the lock is valid and HELD, and is renewed soon. False: nothing
 * has changed, and the claim goes back at once (RL_EFFECT_DISPOSE). There is no completion. */
bool rl_lock_import(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, struct rl_claim *claim,
                    const struct rl_acquire *request, const struct rl_exported_state *state);

/* State HELD: the handle becomes IDLE, and the keys stay where they are until their ttl ends. There is no
 * completion. */
void rl_lock_detach(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now);

#endif
