#include "blocking/waiter.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/instant.h"

#define NS_PER_S INT64_C(1000000000)

int64_t rl_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t rl_monotonic_after_ms(int64_t ms)
{
    return ms < 0 ? RL_WAIT_FOREVER : rl_monotonic_ns() + ms * RL_NS_PER_MS;
}

static struct timespec to_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

void rl_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool rl_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t end_ns)
{
    struct timespec end = to_timespec(end_ns);

    if (end_ns == RL_WAIT_FOREVER)
        return pthread_cond_wait(cond, mutex) == 0;
    return pthread_cond_timedwait(cond, mutex, &end) != ETIMEDOUT;
}

/* --- The futex -------------------------------------------------------------------------------------------------- */

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *end)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, end, NULL, FUTEX_BITSET_MATCH_ANY);
}

bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t end_ns)
{
    struct timespec end = to_timespec(end_ns);

    return futex(word, FUTEX_WAIT_BITSET, value, end_ns == RL_WAIT_FOREVER ? NULL : &end) == 0 || errno != ETIMEDOUT;
}

void rl_futex_wake(_Atomic uint32_t *word)
{
    futex(word, FUTEX_WAKE, 1, NULL);
}

/* --- The waiter ------------------------------------------------------------------------------------------------- */

enum { OPEN, ASLEEP, DONE, GIVEN_UP, LEAD };

void rl_waiter_reset(struct rl_waiter *waiter)
{
    atomic_store_explicit(&waiter->state, OPEN, memory_order_relaxed);
    rl_list_init(&waiter->follower);
}

static bool change(struct rl_waiter *waiter, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong_explicit(&waiter->state, &from, to, memory_order_acq_rel,
                                                   memory_order_acquire);
}

bool rl_waiter_is_done(const struct rl_waiter *waiter)
{
    return atomic_load_explicit(&waiter->state, memory_order_acquire) == DONE;
}

enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, int64_t end_ns)
{
    change(waiter, OPEN, ASLEEP);
    while (!rl_waiter_is_done(waiter)) {
        if (change(waiter, LEAD, OPEN))
            return RL_WAITED_LEAD;
        if (!rl_futex_wait(&waiter->state, ASLEEP, end_ns) && change(waiter, ASLEEP, GIVEN_UP))
            return RL_WAITED_NOT;
    }
    return RL_WAITED_DONE;
}

static bool let_know(struct rl_waiter *waiter, uint32_t what)
{
    if (change(waiter, OPEN, what))
        return true;
    if (!change(waiter, ASLEEP, what))
        return false;
    rl_futex_wake(&waiter->state);
    return true;
}

bool rl_waiter_tell(struct rl_waiter *waiter)
{
    return let_know(waiter, DONE);
}

bool rl_waiter_call(struct rl_waiter *waiter)
{
    return let_know(waiter, LEAD);
}
