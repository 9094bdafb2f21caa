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
#include "votes/clocks.h"

#include "votes/quorum.h"
#include "votes/votes.h"

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
    return clock->slow_stretches >= SLOW_STRETCHES;
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

#define SEPARATE_NS (100 * RL_NS_PER_MS)
#define FARTHEST_NS (INT64_MAX / 4) /* a master may claim any time */

bool rl_clock_doubted(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_before(now, votes->stepped_until[node]) || (votes->slow_clocks & rl_bit(node));
}

/* Moves of one clock that follow each other closely may be one, of which a reading has shown a part. */
static bool continues(struct rl_clock_move *known, const struct rl_clock_move *move)
{
    if (rl_until(known->to, move->to).ns >= SEPARATE_NS || known->most.ns > FARTHEST_NS || move->most.ns > FARTHEST_NS)
        return false;
    known->to = move->to;
    known->least.ns += move->least.ns;
    known->most.ns += move->most.ns;
    return true;
}

/* rule 6.2: "ignore the node's new votes for max_ttl", however short the step. A step of d makes a key end d
 * earlier, which may be as late as max_ttl - d from now, and only then a holder that has not noticed counts a vote that
 * somebody else may get. After max_ttl every key that was set before the step has ended by anybody's reckoning
 * (tests/sim/golden/small-clock-step.story). */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node, const struct rl_clock_move *move)
{
    const struct rl_config *config = &votes->config;

    if (!continues(&votes->moves[node], move)) {
        votes->moves[node] = *move;
        votes->stepped_before[node] = votes->stepped_until[node];
    }
    votes->stepped_until[node] = rl_surely_expired(&config->drift, now, config->max_ttl_ms);
}

void rl_note_slow_clock(struct rl_votes *votes, unsigned node, bool slow)
{
    votes->slow_clocks = slow ? votes->slow_clocks | rl_bit(node) : votes->slow_clocks & ~rl_bit(node);
}

static bool is_reachable(const struct rl_votes *votes, size_t node, const struct rl_node_clock *clock)
{
    return votes->links[node] == RL_LINK_READY && clock->at.ns != RL_LONG_AGO.ns;
}

/* Keeps the amounts that both moves may be. */
static void narrow(struct rl_clock_move *move, const struct rl_clock_move *by)
{
    move->from = rl_later(move->from, by->from);
    move->to = rl_earlier(move->to, by->to);
    if (by->least.ns > move->least.ns)
        move->least = by->least;
    if (by->most.ns < move->most.ns)
        move->most = by->most;
}

static bool has_moved(const struct rl_votes *votes, size_t node, struct rl_instant since)
{
    return !rl_before(votes->moves[node].to, since);
}

/* The move that those have in common which have moved since then. */
static uint32_t find_common_move(const struct rl_votes *votes, struct rl_instant since,
                                 struct rl_clock_move *ret_common)
{
    uint32_t nodes = 0;

    *ret_common = (struct rl_clock_move){RL_LONG_AGO, RL_NEVER, {INT64_MIN}, {INT64_MAX}};
    for (size_t i = 0; i < votes->config.n_nodes; i++) {
        if (!has_moved(votes, i, since))
            continue;
        narrow(ret_common, &votes->moves[i]);
        nodes |= rl_bit(i);
    }
    return rl_before(ret_common->to, ret_common->from) || ret_common->most.ns < ret_common->least.ns ? 0 : nodes;
}

enum { MAY_HAVE, HAS_NOT, UNREAD };

/* Has it moved, too? Its readings may hide it, or have begun later. Where they began meanwhile, nobody knows. */
static int look_at_other(const struct rl_node_clock *clock, const struct rl_clock_move *move)
{
    if (rl_before(clock->asked, move->to))
        return UNREAD;
    return rl_before(clock->first, move->to) && rl_node_clock_hides(clock).ns < move->least.ns ? HAS_NOT : MAY_HAVE;
}

/* Nothing more is to be found out about the moves of these masters. */
static void settle(struct rl_votes *votes, uint32_t nodes, bool own)
{
    for (size_t i = 0; i < votes->config.n_nodes; i++) {
        if (!(nodes & rl_bit(i)))
            continue;
        votes->moves[i].to = RL_LONG_AGO;
        if (own)
            votes->stepped_until[i] = votes->stepped_before[i];
    }
}

uint32_t rl_explain_clock_steps(struct rl_votes *votes, const struct rl_node_clock *const clocks[], unsigned node,
                                struct rl_clock_move *ret_own)
{
    uint32_t nodes = find_common_move(votes, votes->moves[node].from, ret_own);
    size_t needed = votes->config.quorum < 2 ? 2 : votes->config.quorum;
    bool own = true;
    bool unread = false;

    if (rl_count_bits(nodes) < needed)
        return 0;
    for (size_t i = 0; i < votes->config.n_nodes; i++) {
        int other = (nodes & rl_bit(i)) || !is_reachable(votes, i, clocks[i]) ? MAY_HAVE
                                                                             : look_at_other(clocks[i], ret_own);

        own = own && other != HAS_NOT;
        unread = unread || other == UNREAD;
    }
    if (own && unread)
        return 0;
    settle(votes, nodes, own);
    return own ? nodes : 0;
}
