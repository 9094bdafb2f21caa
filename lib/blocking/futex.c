#include "blocking/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/instant.h"

#define NS_PER_S (1000 * RL_NS_PER_MS)

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

struct timespec rl_monotonic_timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

static long futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *end, uint32_t bits)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, end, NULL, bits);
}

bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns)
{
    struct timespec end = rl_monotonic_timespec(end_ns);
    const struct timespec *until = end_ns == RL_WAIT_FOREVER ? NULL : &end;

    return futex(word, FUTEX_WAIT_BITSET, value, until, bits) == 0 || errno != ETIMEDOUT;
}

void rl_futex_wake(_Atomic uint32_t *word)
{
    futex(word, FUTEX_WAKE, 1, NULL, 0);
}

void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits)
{
    futex(word, FUTEX_WAKE_BITSET, INT_MAX, NULL, bits);
}
