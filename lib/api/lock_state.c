/* What an operation asks first, and what a program may ask of a lock. */
#include "api/lock_state.h"

#include <redlock/semaphore.h>

#include "api/handle.h"
#include "api/public.h"
#include "engine/hold.h"
#include "host/operations.h"
#include "host/lock.h"
#include "kinds/permit.h"

int rl_lock_begin(struct redlock_lock *lock)
{
    int status = rl_object_check(lock ? &lock->object : NULL);

    if (status == 0)
        rl_host_begin_operation(&lock->host);
    return status;
}

int rl_lock_begin_new(struct redlock_lock *lock, redlock_fn cb)
{
    int status = cb ? rl_lock_begin(lock) : REDLOCK_E_ARGUMENT;

    return status == 0 && lock->host.host->closing ? REDLOCK_E_CLOSING : status;
}

bool rl_lock_is_busy(const struct redlock_lock *lock)
{
    return lock->host.call || lock->release.accepted;
}

int rl_lock_check_held(const struct redlock_lock *lock)
{
    if (rl_lock_is_busy(lock))
        return REDLOCK_E_BUSY;
    return lock->host.core.state == RL_LOCK_HELD ? 0 : REDLOCK_E_NOT_HELD;
}

int rl_lock_check_held_once(const struct redlock_lock *lock)
{
    int status = rl_lock_check_held(lock);

    return status == 0 && rl_host_depth(&lock->host) > 1 ? REDLOCK_E_DEPTH : status;
}

int rl_lock_check_free(const struct redlock_lock *lock)
{
    bool free = lock->host.core.state == RL_LOCK_IDLE || lock->host.core.state == RL_LOCK_LOST;

    if (rl_lock_is_busy(lock))
        return REDLOCK_E_BUSY;
    if (!free)
        return REDLOCK_E_ALREADY_HELD;
    return rl_host_depth(&lock->host) > 1 ? REDLOCK_E_DEPTH : 0;
}

int64_t redlock_remaining_ns(const struct redlock_lock *lock)
{
    struct rl_instant deadline;

    if (!lock || rl_client_forked(rl_client_of(lock)))
        return 0;
    deadline = rl_lock_deadline(&lock->host.host->engine, &lock->host.core);
    if (deadline.ns == RL_LONG_AGO.ns)
        return 0;
    return rl_until(rl_host_read_clock(lock->host.host), deadline).ns;
}

uint64_t redlock_lock_fence(const struct redlock_lock *lock)
{
    uint64_t token = lock && lock->host.core.claim ? rl_claim_token(lock->host.core.claim) : 0;

    return token && redlock_remaining_ns(lock) > 0 ? token : 0;
}

/* An acquisition has a mode before it has a claim, and if it gets none. */
enum redlock_mode redlock_lock_mode(const struct redlock_lock *lock)
{
    const struct rl_lock_call *pending = lock ? rl_lock_call_of(lock) : NULL;

    if (pending && pending->call.op == RL_OP_ACQUIRE)
        return rl_public_mode((enum rl_mode)pending->host.request.mode);
    return lock && lock->host.core.claim ? rl_public_mode(rl_lock_mode(&lock->host.core)) : REDLOCK_EXCLUSIVE;
}

int64_t redlock_remaining_ms(const struct redlock_lock *lock)
{
    return redlock_remaining_ns(lock) / RL_NS_PER_MS;
}

enum redlock_state redlock_state(const struct redlock_lock *lock)
{
    static const enum redlock_state states[RL_LOCK_STATE_COUNT] = {
        [RL_LOCK_IDLE] = REDLOCK_STATE_IDLE,           [RL_LOCK_ACQUIRING] = REDLOCK_STATE_ACQUIRING,
        [RL_LOCK_WAITING] = REDLOCK_STATE_WAITING,
        [RL_LOCK_BACKING_OFF] = REDLOCK_STATE_BACKING_OFF, [RL_LOCK_HELD] = REDLOCK_STATE_HELD,
        [RL_LOCK_EXTENDING] = REDLOCK_STATE_EXTENDING, [RL_LOCK_RELEASING] = REDLOCK_STATE_RELEASING,
        [RL_LOCK_LOST] = REDLOCK_STATE_LOST};
    enum redlock_state state;

    if (!lock)
        return REDLOCK_STATE_IDLE;
    state = states[lock->host.core.state];
    if ((state == REDLOCK_STATE_HELD || state == REDLOCK_STATE_EXTENDING) && redlock_remaining_ns(lock) == 0)
        return REDLOCK_STATE_LOST;
    return state;
}

const void *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_size)
{
    size_t prefix_size;

    if (!lock)
        return NULL;
    prefix_size = lock->host.host->trust.prefix_size;
    if (ret_size)
        *ret_size = lock->host.key->size - prefix_size;
    return lock->host.key->bytes + prefix_size;
}

int32_t redlock_lock_slot(const struct redlock_lock *lock)
{
    const struct rl_permit *permit = lock ? rl_permit_of(&lock->host) : NULL;

    return permit && permit->slot != RL_NO_SLOT ? (int32_t)permit->slot : -1;
}

uint32_t redlock_lock_limit(const struct redlock_lock *lock)
{
    const struct rl_permit *permit = lock ? rl_permit_of(&lock->host) : NULL;

    return permit ? permit->limit : 0;
}

const struct rl_kind *rl_lock_kind(const struct redlock_lock *lock, const struct rl_kind *kind)
{
    return rl_permit_of(&lock->host) ? rl_permit_form(kind) : kind;
}

bool rl_lock_has_handed_off(const struct redlock_lock *lock)
{
    return lock->host.core.claim && rl_host_claim_of(lock->host.core.claim)->token.own.transferred;
}

const char *redlock_lock_token(const struct redlock_lock *lock)
{
    return lock && lock->host.core.claim && !rl_lock_has_handed_off(lock) ? rl_host_token(lock->host.core.claim) : "";
}

struct redlock_client *redlock_lock_client(const struct redlock_lock *lock)
{
    return lock ? rl_client_of(lock) : NULL;
}
