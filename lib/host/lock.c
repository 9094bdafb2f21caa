#include "host/lock.h"

#include "host/host.h"

#define MUCH_TOO_EARLY_NS (250 * RL_NS_PER_MS)

/* A timer that is armed too early only wakes up once for nothing; moving it at every step would cost more. But where
 * nothing is pending, as after a renewal, one move spares a wake-up. */
static bool worth_moving(const struct rl_host_lock *lock, struct rl_instant wakeup)
{
    return !lock->attempt && rl_until(lock->timer.at, wakeup).ns > MUCH_TOO_EARLY_NS;
}

void rl_host_rearm(struct rl_host_lock *lock)
{
    const struct rl_transport *transport = &lock->host->transport;
    struct rl_instant wakeup = rl_lock_wakeup(&lock->host->engine, &lock->core);

    if (wakeup.ns == RL_NEVER.ns || wakeup.ns == RL_LONG_AGO.ns)
        rl_transport_disarm(transport, &lock->timer);
    else if (!rl_timer_armed(&lock->timer) || rl_before(wakeup, lock->timer.at) || worth_moving(lock, wakeup))
        rl_transport_arm(transport, &lock->timer, wakeup);
}
