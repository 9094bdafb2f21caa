/* The clock of one master against ours, and whether it has been set (protocol 5.6).
 *
 * Every TIME in a reply bounds offset = node clock - our clock: a reading T taken between the send s and the receipt r
 * has  T - r <= offset <= T - s + 1 us.  The intersection of all such intervals is kept, widened by the drift
 * allowance for the time that has passed between them. When it becomes empty, the clock has been set:
 *
 *     new interval wholly above the old one   forward, by at most (new high - old low)
 *     new interval wholly below               backward
 *
 * and tracking begins anew with the new interval. */
#ifndef RL_VOTES_NODE_CLOCK_H
#define RL_VOTES_NODE_CLOCK_H

#include <stdint.h>

#include "util/instant.h"

struct rl_node_clock {
    int64_t low_ns;            /* offset of the node's clock, at `at` */
    int64_t high_ns;
    int64_t low_before_ns;     /* the low end before it was last raised */
    struct rl_instant at;      /* of the latest reading; RL_LONG_AGO before the first */
    uint32_t forward_steps;    /* seen so far */
    uint32_t backward_steps;
    struct rl_span last_step;  /* positive: forward, at most that; negative: backward, at least that */
};

enum rl_clock_finding {
    RL_CLOCK_STEADY,
    RL_CLOCK_FORWARD,
    RL_CLOCK_BACKWARD,
};

void rl_node_clock_init(struct rl_node_clock *clock);

/* One reading of the node's clock, in microseconds since the epoch, taken between two instants of ours. ppm is the
 * rate part of the drift allowance. last_step is set when the finding is not STEADY. */
enum rl_clock_finding rl_node_clock_read(struct rl_node_clock *clock, uint32_t drift_ppm, int64_t node_us,
                                        struct rl_instant sent, struct rl_instant received);

/* The middle of the interval, for people; 0 before the first reading. */
int64_t rl_node_clock_offset_ns(const struct rl_node_clock *clock);

#endif
