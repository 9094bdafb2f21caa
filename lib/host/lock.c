#include "host/lock.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <redlock/options.h>
#include <redlock/status.h>

#include "engine/hold.h"
#include "host/host.h"

const struct rl_hooks *rl_hooks_of(const struct rl_host_lock *lock)
{
    static const struct rl_hooks none;

    return lock && lock->variant ? lock->variant->hooks : &none;
}

struct rl_key *rl_host_key(struct rl_host_lock *lock, uint32_t slot)
{
    const struct rl_hooks *hooks = rl_hooks_of(lock);

    return hooks->key ? hooks->key(lock, slot) : lock->key;
}

void rl_host_lend(struct rl_host_lock *lock, struct rl_host_call *call)
{
    memset(call, 0, offsetof(struct rl_host_call, entry));
    rl_list_init(&call->wait_list);
    call->owner = call->worker = lock;
    lock->call = call;
}

void rl_host_label(struct rl_host_call *call, const char *label)
{
    if (label)
        snprintf(call->label, sizeof call->label, "%s", label);
    call->request.label = label ? call->label : NULL;
}

void rl_host_report_end(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    if (op != RL_OP_RELEASE)
        lock->call->over = true;
    lock->host->sink->complete(lock, op, status, cause);
}

bool rl_host_drop_worker(struct rl_host_lock *lock)
{
    if (!lock->call || lock->call->worker == lock)
        return false;
    rl_hooks_of(lock)->leave(lock);
    return true;
}

#define MUCH_TOO_EARLY_NS (250 * RL_NS_PER_MS)

/* A timer that is armed too early only wakes up once for nothing; moving it at every step would cost more. But where
 * nothing is pending, as after a renewal, one move spares a wake-up. */
static bool worth_moving(const struct rl_host_lock *lock, struct rl_instant wakeup)
{
    return !lock->call && rl_until(lock->timer.at, wakeup).ns > MUCH_TOO_EARLY_NS;
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

/* The ledger says what is left, whatever becomes of an extension that is under way. */
static int check(const struct rl_host_lock *lock, struct rl_span min_validity)
{
    struct rl_instant deadline = rl_lock_deadline(&lock->host->engine, &lock->core);
    struct rl_instant now = lock->host->now;

    switch ((enum rl_lock_state)lock->core.state) {
    case RL_LOCK_HELD:
    case RL_LOCK_EXTENDING:
        break;
    case RL_LOCK_LOST:
        return REDLOCK_LOST;
    default:
        return REDLOCK_E_NOT_HELD;
    }
    if (!rl_before(now, deadline))
        return REDLOCK_LOST;
    return rl_before(deadline, rl_after(now, min_validity)) ? REDLOCK_EXPIRING : 0;
}

int rl_host_reenter(struct rl_host_lock *lock, struct rl_span min_validity)
{
    int status = check(lock, min_validity);

    if (status < 0)
        return status;
    if (lock->inner_entries + 1 >= REDLOCK_MAX_DEPTH)
        return REDLOCK_E_DEPTH;
    lock->inner_entries++;
    return 0;
}

bool rl_host_leave(struct rl_host_lock *lock)
{
    if (!lock->inner_entries)
        return false;
    lock->inner_entries--;
    return true;
}

uint32_t rl_host_depth(const struct rl_host_lock *lock)
{
    switch ((enum rl_lock_state)lock->core.state) {
    case RL_LOCK_HELD:
    case RL_LOCK_EXTENDING:
    case RL_LOCK_LOST:
        return 1 + (uint32_t)lock->inner_entries;
    default:
        return 0;
    }
}
