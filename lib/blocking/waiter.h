/* One thread that waits for one event, until a point in time. */
#ifndef RL_BLOCKING_WAITER_H
#define RL_BLOCKING_WAITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "blocking/futex.h"
#include "blocking/sleepers.h"
#include "util/list.h"

/* No mutex: who tells touches nothing of the waiter after the store that lets the waiting thread go, so the waiter may
 * be on that thread's stack; and the thread does not run into a mutex that the teller has yet to unlock, which would
 * double the time of a round trip. */
struct rl_waiter {
    _Atomic uint32_t state;
    unsigned place;          /* among the sleepers: from the store that says ASLEEP to the end of the wait */
    struct rl_list follower; /* of the lead: the operation is in flight */
};

/* Before each wait. */
void rl_waiter_reset(struct rl_waiter *waiter);

/* NOT: the end, on rl_monotonic_ns(), has passed, and the event will be told that nobody waits. LEAD: the waiter has
 * been called to lead, and has to wait on afterwards. */
enum rl_waited { RL_WAITED_NOT, RL_WAITED_DONE, RL_WAITED_LEAD };
enum rl_waited rl_waiter_wait(struct rl_waiter *waiter, struct rl_sleepers *sleepers, int64_t end_ns);

bool rl_waiter_is_done(const struct rl_waiter *waiter);

/* The lead. True: somebody knows (call: and has the lead). False: the wait has been given up, or (call) is over.
 * Afterwards the waiter may be gone; the sleepers must not. */
bool rl_waiter_tell(struct rl_waiter *waiter, struct rl_sleepers *sleepers);
bool rl_waiter_call(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

/* As tell, but who is asleep wakes at rl_sleepers_wake_called(), which must not be long in coming. */
bool rl_waiter_tell_asleep(struct rl_waiter *waiter, struct rl_sleepers *sleepers);

#endif
