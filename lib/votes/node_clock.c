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

/* Of the look at the rate: how long a stretch is at least, and how many have to be slow on end. */
#define STRETCH_US INT64_C(500000)
#define SLOW_STRETCHES 2

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

static void keep(struct rl_node_clock *clock, struct interval interval, struct rl_instant sent, struct rl_instant at)
{
    clock->low_ns = interval.low;
    clock->high_ns = interval.high;
    clock->asked = sent;
    clock->at = at;
}

void rl_node_clock_init(struct rl_node_clock *clock)
{
    *clock = (struct rl_node_clock){.at = RL_LONG_AGO, .last_move = {.to = RL_LONG_AGO}};
}

/* If it was our clock that stood still, the other one has run meanwhile, at its own rate. */
static void note_move(struct rl_node_clock *clock, int64_t least, uint32_t rate, struct rl_instant received)
{
    int64_t most = clock->last_step.ns;

    clock->last_move = (struct rl_clock_move){clock->former_asked, received, {minus(least, rate_part(least, rate))},
                                              {plus(most, rate_part(most, rate))}};
}

/* The two intervals do not meet: the clock was set. */
static enum rl_clock_finding found_step(struct rl_node_clock *clock, struct interval old, struct interval new,
                                        uint32_t rate, struct rl_instant received)
{
    if (RL_MUTANT(CLOCK_STEP_IGNORED))
        return RL_CLOCK_STEADY;
    if (new.low < old.low) {
        clock->last_step.ns = minus(new.high, old.low);
        clock->backward_steps++;
        return RL_CLOCK_BACKWARD;
    }
    clock->last_step.ns = minus(new.high, old.low < clock->low_before_ns ? old.low : clock->low_before_ns);
    note_move(clock, minus(new.low, old.high), rate, received);
    clock->forward_steps++;
    return RL_CLOCK_FORWARD;
}

static void forget_before(struct rl_node_clock *clock, int64_t low_ns)
{
    clock->low_before_ns = clock->stretch_low_ns = clock->former_low_ns = low_ns;
}

static void begin_stretch(struct rl_node_clock *clock, int64_t node_us, struct rl_instant sent,
                          struct rl_instant received)
{
    clock->former_asked = clock->stretch_asked;
    clock->stretch_us = node_us;
    clock->stretch_asked = sent;
    clock->stretch_at = received;
    clock->former_low_ns = clock->stretch_low_ns;
    clock->stretch_low_ns = clock->low_ns;
}

/* Our part of the stretch is taken as short as it may have been. A clock that went back was set. */
static void look_at_rate(struct rl_node_clock *clock, int64_t node_us, struct rl_instant sent,
                         struct rl_instant received)
{
    int64_t ours_us = rl_until(clock->stretch_at, sent).ns / RL_NS_PER_US;
    int64_t its_us = minus(node_us, clock->stretch_us);

    if (its_us >= 0 && ours_us < STRETCH_US)
        return;
    clock->slow_stretches = its_us >= 0 && its_us < ours_us / 4 * 3 ? clock->slow_stretches + 1 : 0;
    begin_stretch(clock, node_us, sent, received);
}

enum rl_clock_finding rl_node_clock_read(struct rl_node_clock *clock, uint32_t drift_ppm, int64_t node_us,
                                        struct rl_instant sent, struct rl_instant received)
{
    uint32_t rate = rate_of(drift_ppm);
    struct interval new = of_reading(rate, node_us, sent, received);
    struct interval old = {clock->low_ns, clock->high_ns};
    enum rl_clock_finding finding;
    int64_t moved;

    if (clock->at.ns == RL_LONG_AGO.ns) {
        keep(clock, new, sent, received);
        begin_stretch(clock, node_us, sent, received);
        clock->former_asked = clock->first = sent;
        forget_before(clock, new.low);
        return RL_CLOCK_STEADY;
    }
    moved = rate_part(distance(clock->at, received), rate);
    old = (struct interval){minus(old.low, moved), plus(old.high, moved)};
    clock->low_before_ns = minus(clock->low_before_ns, moved);
    clock->stretch_low_ns = minus(clock->stretch_low_ns, moved);
    clock->former_low_ns = minus(clock->former_low_ns, moved);
    clock->low_ns = old.low;
    look_at_rate(clock, node_us, sent, received);
    if (new.low > old.high || new.high < old.low) {
        finding = found_step(clock, old, new, rate, received);
        if (finding != RL_CLOCK_STEADY)
            forget_before(clock, new.low);
        keep(clock, new, sent, received);
        return finding;
    }
    if (new.low > old.low)
        clock->low_before_ns = old.low;
    keep(clock, (struct interval){old.low > new.low ? old.low : new.low, old.high < new.high ? old.high : new.high},
         sent, received);
    return RL_CLOCK_STEADY;
}

bool rl_node_clock_is_slow(const struct rl_node_clock *clock)
{
    return clock->slow_stretches >= SLOW_STRETCHES && !RL_MUTANT(SLOW_CLOCK_VOTES);
}

struct rl_span rl_node_clock_hides(const struct rl_node_clock *clock)
{
    int64_t low = clock->former_low_ns < clock->low_before_ns ? clock->former_low_ns : clock->low_before_ns;

    return (struct rl_span){minus(clock->high_ns, low)};
}

void rl_node_clock_shift(struct rl_node_clock *clock, struct rl_span least, struct rl_span most)
{
    clock->low_ns = plus(clock->low_ns, least.ns);
    clock->low_before_ns = plus(clock->low_before_ns, least.ns);
    clock->stretch_low_ns = plus(clock->stretch_low_ns, least.ns);
    clock->former_low_ns = plus(clock->former_low_ns, least.ns);
    clock->high_ns = plus(clock->high_ns, most.ns);
}

int64_t rl_node_clock_offset_ns(const struct rl_node_clock *clock)
{
    return clock->low_ns / 2 + clock->high_ns / 2 + (clock->low_ns % 2 + clock->high_ns % 2) / 2;
}
