/* A held lock that its owner enters again. */
#include <stdint.h>

#include "api/departures.h"
#include "api/handle.h"
#include "api/lock_state.h"
#include "host/reentry.h"

/* Its callback has yet to say that it is held. */
static bool is_being_acquired(const struct redlock_lock *lock)
{
    return lock->host.attempt && rl_attempt_of(lock)->pending.op == RL_OP_ACQUIRE;
}

int redlock_reenter(struct redlock_lock *lock, uint32_t min_validity_ms)
{
    int status = rl_lock_begin(lock);

    if (status < 0)
        return status;
    if (lock->host.host->closing)
        return REDLOCK_E_CLOSING;
    if (is_being_acquired(lock))
        return REDLOCK_E_BUSY;
    status = rl_host_reenter(&lock->host, rl_ms(min_validity_ms));
    if (status < 0)
        return status;
    status = rl_departures_reserve(lock);
    if (status < 0)
        rl_host_leave(&lock->host);
    else
        rl_client_of(lock)->stats.reentries++;
    return status;
}

uint32_t redlock_lock_depth(const struct redlock_lock *lock)
{
    return lock && !rl_client_forked(rl_client_of(lock)) ? rl_host_depth(&lock->host) : 0;
}
