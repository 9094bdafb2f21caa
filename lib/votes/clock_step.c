#include "votes/clock_step.h"

#include "util/mutant.h"

#define SEPARATE_NS (100 * RL_NS_PER_MS)
#define FARTHEST_NS (INT64_MAX / 4) /* a master may claim any time */

bool rl_clock_doubted(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return (rl_before(now, votes->stepped_until[node]) && !RL_MUTANT(CLOCK_STEP_IGNORED)) ||
           (votes->slow_clocks & rl_bit(node));
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

/* protocol 5.6: "ignore the node's new votes for max_ttl", however short the step. A step of d makes a key end d
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
    votes->stepped_until[node] =
        RL_MUTANT(STEP_WAIT_TOO_SHORT) ? now : rl_surely_expired(&config->drift, now, config->max_ttl_ms);
}

void rl_note_slow_clock(struct rl_votes *votes, unsigned node, bool slow)
{
    votes->slow_clocks = slow ? votes->slow_clocks | rl_bit(node) : votes->slow_clocks & ~rl_bit(node);
}

static bool is_reachable(const struct rl_votes *votes, size_t node, const struct rl_node_clock *clock)
{
    return votes->links[node] == RL_LINK_READY && clock->at.ns != RL_LONG_AGO.ns;
}

/* What both may be. */
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

/* What nothing more is to be found out about. */
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

    if (RL_MUTANT(STEPS_OF_A_FEW))
        needed = 1;
    if (rl_count_bits(nodes) < needed || RL_MUTANT(OWN_CLOCK_TRUSTED))
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
