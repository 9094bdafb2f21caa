/* The validity of a held lock, published by the loop's owner (loop.h) for all threads.
 *
 * IMPLEMENTATION NOTES
 *
 * The client's own clock (util/clock.h) belongs to the loop's owner. So the end of the validity is published as a
 * reading of each of the two system clocks, and a reader takes the smaller remainder: from the publication on, elapsed
 * time is the larger of the two differences, as rule 4.9 has it. The readings are taken before the client is
 * asked what is left, so the published end is never later than the true one. A later end (a renewal) may be published
 * late. An earlier end (a shorter ttl, a refusal, a release) is published in the same turn of the loop in which the
 * client learns of it, and before the bytes that cause it leave.
 *
 * The numbers have to fit together. Therefore a sequence number is odd while they are written, and a reader that
 * finds it odd or changed reads again. The stores in between release and the loads acquire, which keeps them between
 * the two looks at the sequence. */
#ifndef RL_BLOCKING_BOUND_H
#define RL_BLOCKING_BOUND_H

#include <stdatomic.h>
#include <stdint.h>

#include <redlock/options.h>

#include "util/clock.h"

/* What is published of a hold, beside its end. Nothing held: no token, and the default mode. */
struct rl_bound_hold {
    uint64_t fence; /* 0: the hold has no fencing token */
    enum redlock_mode mode;
};

struct rl_bound {
    _Atomic uint32_t sequence;
    _Atomic int64_t boot_end_ns;
    _Atomic int64_t raw_end_ns;
    _Atomic uint64_t fence;
    _Atomic uint32_t mode;
    _Atomic uint32_t withheld; /* release calls that the owner has not begun */
};

/* Not held. */
void rl_bound_init(struct rl_bound *bound);

/* The owner. `before` was made by rl_clock_init() before `remaining_ns` was asked for; 0: not held. */
void rl_bound_publish(struct rl_bound *bound, const struct rl_clock *before, int64_t remaining_ns,
                      struct rl_bound_hold hold);

/* Any thread: from the first call until the second nothing is left, whatever is published. */
void rl_bound_withhold(struct rl_bound *bound);
void rl_bound_restore(struct rl_bound *bound);

/* Any thread. ret_hold may be NULL. */
int64_t rl_bound_remaining_ns(const struct rl_bound *bound, struct rl_bound_hold *ret_hold);

#endif
