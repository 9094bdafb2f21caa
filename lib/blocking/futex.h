/* Waiting at a futex, until a point in time. */
#ifndef RL_BLOCKING_FUTEX_H
#define RL_BLOCKING_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define RL_WAIT_FOREVER INT64_MAX

/* CLOCK_MONOTONIC. */
int64_t rl_monotonic_ns(void);

/* The instant that is `ms` from now; RL_WAIT_FOREVER if `ms` is negative. */
int64_t rl_monotonic_after_ms(int64_t ms);

struct timespec rl_monotonic_timespec(int64_t ns);

/* Waits while the word has this value, until a wake that names one of the bits, or until rl_monotonic_ns() reaches the
 * end. False: the end has passed. True: the caller has to look again, since something may have changed. */
#define RL_ANY_BIT UINT32_MAX
bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns);

/* The first wakes one thread, whatever its bits; the second wakes all threads that wait for one of these bits. The
 * kernel only compares addresses, so the memory of the word may be gone already. */
void rl_futex_wake(_Atomic uint32_t *word);
void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits);

#endif
