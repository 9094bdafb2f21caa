/* Waiting until a point in time: at a futex, on a condition. */
#ifndef RL_BLOCKING_FUTEX_H
#define RL_BLOCKING_FUTEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RL_WAIT_FOREVER INT64_MAX

int64_t rl_monotonic_ns(void);

/* The instant that is `ms` from now; negative: RL_WAIT_FOREVER. */
int64_t rl_monotonic_after_ms(int64_t ms);

/* While the word has this value, until the end by rl_monotonic_ns(), or until a wake that names one of the bits. False:
 * the end has passed. True: look again, something may have changed. */
#define RL_ANY_BIT UINT32_MAX
bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint32_t bits, int64_t end_ns);

/* Wakes one thread, whatever its bits ... or all that wait for one of these. The kernel only looks for sleepers, so the
 * word may be gone already. */
void rl_futex_wake(_Atomic uint32_t *word);
void rl_futex_wake_all(_Atomic uint32_t *word, uint32_t bits);

/* A condition whose timed waits are by CLOCK_MONOTONIC, and such a wait, RL_WAIT_FOREVER included. False: time out. */
void rl_cond_init(pthread_cond_t *cond);
bool rl_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t end_ns);

#endif
