/* Whether a command whose script the master did not know may be sent once more. */
#include "engine/repeat.h"

#include "util/mutant.h"
#include "votes/answer.h"
#include "votes/may_ask.h"

bool rl_engine_may_repeat(struct rl_engine *engine, struct rl_instant now, const struct rl_claim *claim,
                          enum rl_step step, uint32_t round, unsigned node)
{
    struct rl_votes *votes = &engine->votes;
    bool latest = round == claim->round && !claim->rolling_back;

    if (rl_step_sets_ttl(step) && !latest && !RL_MUTANT(REPEAT_OLD_ROUND))
        return false;
    if (step == RL_STEP_ENQUEUE && (!claim->lock || claim->lock->state != RL_LOCK_WAITING))
        return false;
    if (step == RL_STEP_REPAIR && !rl_may_repair(votes, claim, node, now))
        return false;
    if (step != RL_STEP_ENQUEUE)
        votes->unchecked |= rl_bit(node);
    return true;
}
