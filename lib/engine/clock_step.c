/* A master's clock has been set forward (protocol 5.6): what becomes of the votes that there are. */
#include "engine/clock_step.h"

#include <assert.h>

#include "engine/answer.h"
#include "engine/states.h"
#include "util/mutant.h"
#include "votes/clock_step.h"
#include "votes/ledger.h"

void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node,
                             const struct rl_clock_move *move)
{
    assert(node < engine->votes.config.n_nodes);
    rl_note_clock_step(&engine->votes, now, node, move);
    rl_answer_checked(engine, now, node, RL_DETAIL_QUARANTINED);
}

void rl_lock_clock_stepped(struct rl_engine *engine, struct rl_lock *lock, struct rl_instant now, unsigned node,
                           struct rl_span step)
{
    struct rl_instant bound;

    if (!lock->claim || RL_MUTANT(CLOCK_STEP_IGNORED))
        return;
    bound = lock->claim->slots[node].bound;
    if (bound.ns == RL_LONG_AGO.ns)
        return;
    bound = rl_until(now, bound).ns > step.ns ? rl_after(bound, (struct rl_span){-step.ns}) : RL_LONG_AGO;
    rl_ledger_set(lock->claim, node, bound);
    if (rl_lock_is_held(lock))
        lock->hold.stepped = true;
    rl_lock_check_deadline(engine, lock, now);
}

void rl_lock_own_clock_stood(struct rl_lock *lock, struct rl_span most)
{
    struct rl_claim *claim = lock->claim;

    if (!claim || claim->round_bound.ns == RL_LONG_AGO.ns || RL_MUTANT(ROUND_OUTLIVES_STANDSTILL))
        return;
    claim->round_bound = rl_after(claim->round_bound, (struct rl_span){-most.ns});
}
