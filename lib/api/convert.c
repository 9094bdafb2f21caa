/* Held locks that change their mode. */
#include <redlock/redlock.h>
#include <stdlib.h>

#include "api/attempts.h"
#include "api/handle.h"
#include "api/lock_state.h"
#include "api/public.h"
#include "host/operations.h"

/* The larger a mode's number, the weaker it is. */
static int check_mode(const struct redlock_lock *lock, enum redlock_mode mode)
{
    if (!rl_mode_is_valid(mode) || (lock->host.semaphore && mode != REDLOCK_EXCLUSIVE))
        return REDLOCK_E_MODE;
    return 0;
}

/* Inner entries count on the mode that they were made in. */
static int check_lock(const struct redlock_lock *lock, enum redlock_mode mode)
{
    enum redlock_mode present = redlock_lock_mode(lock);
    int status = rl_lock_check_held(lock);

    if (status < 0)
        return status;
    if (mode < present)
        return present == REDLOCK_UPGRADEABLE ? 0 : REDLOCK_E_UPGRADE;
    return mode > present ? rl_lock_check_held_once(lock) : 0;
}

static int check(const struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    int status = check_mode(lock, mode);

    if (status < 0)
        return status;
    if (timeout_ms < REDLOCK_FOREVER || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    return check_lock(lock, mode);
}

/* The answers to the second claim are the lock's own only if that becomes the lock's claim: see rl_results_queue(). */
static int upgrade(struct redlock_lock *lock, int64_t timeout_ms)
{
    struct rl_instant now = lock->host.host->now;
    struct rl_attempt *attempt = rl_attempt_of(lock);
    size_t n_nodes = lock->host.host->engine.votes.config.n_nodes;

    attempt->pending.unanswered = true;
    attempt->host.answers = malloc(n_nodes * sizeof *attempt->host.answers);
    if (!attempt->host.answers)
        return REDLOCK_E_NOMEM;
    return rl_host_upgrade(&lock->host, timeout_ms > 0 ? rl_after(now, rl_ms(timeout_ms)) : RL_NEVER, timeout_ms == 0);
}

static int convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    if (mode < redlock_lock_mode(lock))
        return upgrade(lock, timeout_ms);
    if (mode == redlock_lock_mode(lock))
        rl_host_confirm_mode(&lock->host);
    else
        rl_host_lower(&lock->host, rl_mode_of(mode));
    return 0;
}

int redlock_convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms, redlock_fn cb,
                    void *user_data)
{
    int status = rl_lock_begin_new(lock, cb);

    if (status < 0)
        return status;
    status = check(lock, mode, timeout_ms);
    if (status < 0)
        return status;
    if (!rl_attempt_borrow(lock, RL_OP_CONVERT, cb, user_data))
        return REDLOCK_E_NOMEM;
    status = convert(lock, mode, timeout_ms);
    if (status < 0)
        rl_attempt_give_back(lock);
    else
        rl_client_of(lock)->stats.converts++;
    return status;
}
