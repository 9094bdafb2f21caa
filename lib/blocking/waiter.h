/* One thread that waits for one event, until a point in time. */
#ifndef RL_BLOCKING_WAITER_H
#define RL_BLOCKING_WAITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/list.h"

/* A futex: who tells touches nothing after the store that lets the waiting thread go, so the waiter may be on that
 * thread's stack; and the thread does not run into a mutex that the teller has yet to unlock, which would double the
 * time of a round trip. */
struct rl_waiter {
    _Atomic uint32_t state;
    struct rl_list follower; /* of the lead: the operation is in flight */
};

#define RL_WAIT_FOREVER INT64_MAX

/* Before each wait. */
void rl_waiter_reset(struct rl_waiter *waiter);

/* NOT: the end, on rl_monotonic_ns(), has passed, and the event will be told that nobody waits. LEAD: the waiter has
 * been called to lead, and has to wait on afterwards. */
enum rl_waited { RL_WAITED_NOT, RL_WAITED_DONE, RL_WAITED_LEAD };
enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, int64_t end_ns);

bool rl_waiter_is_done(const struct rl_waiter *waiter);

/* True: somebody knows. False: the wait has been given up, or (call) is over. */
bool rl_waiter_tell(struct rl_waiter *waiter);
bool rl_waiter_call(struct rl_waiter *waiter);

/* What it is made of. False: the end has passed. True: look again, something may have changed. One thread is woken; the
 * kernel only looks for sleepers, so the word may be gone already. */
bool rl_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t end_ns);
void rl_futex_wake(_Atomic uint32_t *word);

/* A condition whose timed waits are by CLOCK_MONOTONIC, and such a wait, RL_WAIT_FOREVER included. False: time out. */
void rl_cond_init(pthread_cond_t *cond);
bool rl_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t end_ns);

int64_t rl_monotonic_ns(void);

/* The instant that is `ms` from now; negative: RL_WAIT_FOREVER. */
int64_t rl_monotonic_after_ms(int64_t ms);

#endif
