/* A held lock as data, to be taken over by another handle, maybe of another process. */
#ifndef RL_HOST_TRANSFER_H
#define RL_HOST_TRANSFER_H

#include <redlock/options.h>

#include "engine/engine.h"
#include "engine/transfer.h"

struct rl_host_lock;

/* state.bounds are the bounds below, on the host's clock. */
struct rl_host_exported {
    struct rl_exported_state state;
    struct rl_instant bounds[REDLOCK_MAX_MASTERS];
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    uint32_t slot; /* of a permit: below the limit of the lock that takes it over */
};

/* The lock is HELD, and remains so until rl_host_detach(). */
void rl_host_export(const struct rl_host_lock *lock, struct rl_host_exported *ret_exported);

/* The lock is IDLE or LOST, and HELD when this returns 0. REDLOCK_E_NOT_HELD: its time has run out. REDLOCK_E_LIMIT,
 * REDLOCK_E_NOMEM: there is no room for its value, and what is exported remains as it is. */
int rl_host_import(struct rl_host_lock *lock, const struct rl_acquire *request,
                   const struct rl_host_exported *exported);

#endif
