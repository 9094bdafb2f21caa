#include "votes/clock_step.h"

#include "util/mutant.h"

bool rl_clock_stepped(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_before(now, votes->stepped_until[node]) && !RL_MUTANT(CLOCK_STEP_IGNORED);
}

/* protocol 5.6: "Forward by at most d: subtract d from own lb_j, ignore the node's new votes for min(d, max_ttl)". That
 * is too short for the other holders: a step of d makes a key end d earlier, which may be as late as max_ttl - d from
 * now, and only then a holder that has not noticed counts a vote that somebody else may get. So new votes are ignored
 * for max_ttl whatever the step: by then every key that was set before it has ended by anybody's reckoning
 * (tests/sim/golden/small-clock-step.story). */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node)
{
    const struct rl_config *config = &votes->config;

    votes->stepped_until[node] =
        RL_MUTANT(STEP_WAIT_TOO_SHORT) ? now : rl_surely_expired(&config->drift, now, config->max_ttl_ms);
}
