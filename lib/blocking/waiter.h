/* One thread that waits for one event, until a point in time. */
#ifndef RL_BLOCKING_WAITER_H
#define RL_BLOCKING_WAITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "blocking/futex.h"
#include "blocking/sleepers.h"
#include "util/list.h"

/* There is no mutex here. The thread that tells of the event touches nothing of the waiter after the store that lets
 * the waiting thread go, so the waiter may be on that thread's stack. And the waiting thread never finds a mutex that
 * the other has yet to unlock, which would double the time of a round trip. */
struct rl_waiter {
    _Atomic uint32_t state;
    unsigned slot;           /* among the sleepers: from the store that says ASLEEP to the end of the wait */
    struct rl_list follower; /* of the loop's owner: loop.c */
};

/* Before each event. */
void rl_waiter_reset(struct rl_waiter *waiter);

/* Instead: nobody waits for the event. */
void rl_waiter_give_up(struct rl_waiter *waiter);

/* TIMEOUT: rl_monotonic_ns() has reached the end, and whoever tells of the event will learn that nobody waits.
 * OWNER: the thread has been given the event loop, and has to wait again afterwards. */
enum rl_waited { RL_WAITED_TIMEOUT, RL_WAITED_DONE, RL_WAITED_OWNER };
enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns);

bool rl_waiter_is_done(const struct rl_waiter *waiter);

/* The loop's owner: tells of the event. The later wake is that of rl_sleepers_wake_marked(), which must follow soon.
 * False: the wait has been given up. Afterwards the waiter may be gone; the sleepers must not be. */
bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers);
bool rl_waiter_tell_and_wake_later(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

/* The loop's owner: gives the loop to the waiting thread. False: the wait is over, and the loop stays where it is. */
bool rl_waiter_give_loop(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

#endif
