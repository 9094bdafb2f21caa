/* IMPLEMENTATION NOTES
 *
 * Why there is no false finding. A reading T (whole microseconds, cut off) was taken at some x with sent <= x <=
 * received, so the node's clock at x was in [T, T + 1 us), and with rates that differ by at most rate the offset at
 * `received` is within
 *
 *     low   T - received
 *     high  T + 1 us - sent + rate * (received - sent)
 *
 * (the later x, the lower both; for the low end x = received, where the rates have had no time to differ). Between two
 * readings the offset moves by at most rate times the time between their receipts. As long as that holds, the true
 * offset is in every interval, so their intersection is not empty.
 *
 * The drift allowance bounds the clocks' rates against the true time, in sum: seen from a clock that is slow by ppm, a
 * true one is fast by rate = ppm / (1 - ppm).
 *
 * A step that is smaller than the interval is wide may hide in it, and narrow it from below. So a step that is found is
 * measured from the low end as it was before it was last raised; what is still missing then is less than the width of
 * one reading, a round trip. */
#include "votes/node_clock.h"

#include "util/mutant.h"

#define MILLION INT64_C(1000000)

struct interval {
    int64_t low;
    int64_t high;
};

/* Sums that stop at the ends of their range: a node may claim any time. */
static int64_t plus(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b)
        return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b)
        return INT64_MIN;
    return a + b;
}

static int64_t minus(int64_t a, int64_t b)
{
    return b == INT64_MIN ? plus(plus(a, INT64_MAX), 1) : plus(a, -b);
}

/* ppm * ns, rounded up, of a span that is not negative. */
static int64_t rate_part(int64_t ns, uint32_t ppm)
{
    int64_t whole = ns / MILLION;
    int64_t rest = (ns % MILLION * ppm + MILLION - 1) / MILLION;

    if (ppm && whole > (INT64_MAX - rest) / ppm)
        return INT64_MAX;
    return whole * ppm + rest;
}

static int64_t distance(struct rl_instant a, struct rl_instant b)
{
    return a.ns < b.ns ? minus(b.ns, a.ns) : minus(a.ns, b.ns);
}

static uint32_t rate_of(uint32_t drift_ppm)
{
    if (drift_ppm >= MILLION / 2)
        return MILLION;
    return (uint32_t)((drift_ppm * MILLION + MILLION - drift_ppm - 1) / (MILLION - drift_ppm));
}

static struct interval of_reading(uint32_t rate, int64_t node_us, struct rl_instant sent, struct rl_instant received)
{
    int64_t most_us = INT64_MAX / RL_NS_PER_US - 1;
    int64_t us = node_us > most_us ? most_us : node_us < -most_us ? -most_us : node_us;
    int64_t high = minus(us * RL_NS_PER_US + RL_NS_PER_US, sent.ns);

    return (struct interval){minus(us * RL_NS_PER_US, received.ns),
                             plus(high, rate_part(distance(sent, received), rate))};
}

static void keep(struct rl_node_clock *clock, struct interval interval, struct rl_instant at)
{
    clock->low_ns = interval.low;
    clock->high_ns = interval.high;
    clock->at = at;
}

void rl_node_clock_init(struct rl_node_clock *clock)
{
    *clock = (struct rl_node_clock){.at = RL_LONG_AGO};
}

/* The two intervals do not meet: the clock was set, and the interval of the reading is kept from now on. */
static enum rl_clock_finding found_step(struct rl_node_clock *clock, struct interval old, struct interval new)
{
    bool forward = new.low > old.high;

    if (RL_MUTANT(CLOCK_STEP_IGNORED))
        return RL_CLOCK_STEADY;
    if (forward)
        clock->last_step.ns = minus(new.high, old.low < clock->low_before_ns ? old.low : clock->low_before_ns);
    else
        clock->last_step.ns = minus(new.high, old.low);
    clock->low_before_ns = new.low;
    clock->forward_steps += forward;
    clock->backward_steps += !forward;
    return forward ? RL_CLOCK_FORWARD : RL_CLOCK_BACKWARD;
}

enum rl_clock_finding rl_node_clock_read(struct rl_node_clock *clock, uint32_t drift_ppm, int64_t node_us,
                                        struct rl_instant sent, struct rl_instant received)
{
    uint32_t rate = rate_of(drift_ppm);
    struct interval new = of_reading(rate, node_us, sent, received);
    struct interval old = {clock->low_ns, clock->high_ns};
    int64_t moved;

    if (clock->at.ns == RL_LONG_AGO.ns) {
        keep(clock, new, received);
        clock->low_before_ns = new.low;
        return RL_CLOCK_STEADY;
    }
    moved = rate_part(distance(clock->at, received), rate);
    old = (struct interval){minus(old.low, moved), plus(old.high, moved)};
    clock->low_before_ns = minus(clock->low_before_ns, moved);
    if (new.low > old.high || new.high < old.low) {
        keep(clock, new, received);
        return found_step(clock, old, new);
    }
    if (new.low > old.low)
        clock->low_before_ns = old.low;
    keep(clock, (struct interval){old.low > new.low ? old.low : new.low, old.high < new.high ? old.high : new.high},
         received);
    return RL_CLOCK_STEADY;
}

int64_t rl_node_clock_offset_ns(const struct rl_node_clock *clock)
{
    return clock->low_ns / 2 + clock->high_ns / 2 + (clock->low_ns % 2 + clock->high_ns % 2) / 2;
}
