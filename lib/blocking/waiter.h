/* One thread that waits for one event, until a point in time. */
#ifndef RL_BLOCKING_WAITER_H
#define RL_BLOCKING_WAITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A futex: who tells touches nothing after the store that lets the waiting thread go, so the waiter may be on that
 * thread's stack; and the thread does not run into a mutex that the teller has yet to unlock, which would double the
 * time of a round trip. */
struct rl_waiter {
    _Atomic uint32_t state;
};

#define RL_WAIT_FOREVER INT64_MAX

/* Before each wait. */
void rl_waiter_reset(struct rl_waiter *waiter);

/* True: it is done. False: the end, on rl_monotonic_ns(), has passed, and the event will be told that nobody waits. */
bool rl_waiter_wait(struct rl_waiter *waiter, int64_t end_ns);

/* True: somebody knows. False: the wait has been given up. */
bool rl_waiter_tell(struct rl_waiter *waiter);

/* A condition whose timed waits are by CLOCK_MONOTONIC, and such a wait, RL_WAIT_FOREVER included. False: time out. */
void rl_cond_init(pthread_cond_t *cond);
bool rl_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t end_ns);

int64_t rl_monotonic_ns(void);

/* The instant that is `ms` from now; negative: RL_WAIT_FOREVER. */
int64_t rl_monotonic_after_ms(int64_t ms);

#endif
