#include "votes/clock_step.h"

#include "util/mutant.h"

bool rl_clock_stepped(const struct rl_votes *votes, size_t node, struct rl_instant now)
{
    return rl_before(now, votes->stepped_until[node]) && !RL_MUTANT(CLOCK_STEP_IGNORED);
}

/* protocol 5.6: "ignore the node's new votes for max_ttl", however short the step. A step of d makes a key end d
 * earlier, which may be as late as max_ttl - d from now, and only then a holder that has not noticed counts a vote that
 * somebody else may get. After max_ttl every key that was set before the step has ended by anybody's reckoning
 * (tests/sim/golden/small-clock-step.story). */
void rl_note_clock_step(struct rl_votes *votes, struct rl_instant now, unsigned node)
{
    const struct rl_config *config = &votes->config;

    votes->stepped_until[node] =
        RL_MUTANT(STEP_WAIT_TOO_SHORT) ? now : rl_surely_expired(&config->drift, now, config->max_ttl_ms);
}
