/* Whom to ask, and what for: the engine's use of the masters' standings (protocol section 5). */
#include <assert.h>

#include "engine/machine.h"

void rl_engine_standing(struct rl_engine *engine, struct rl_instant now, unsigned node,
                        const struct rl_standing *standing)
{
    assert(node < engine->config.n_nodes);
    engine->standings[node] = *standing;
    (void)now;
}

bool rl_clock_stepped(const struct rl_engine *engine, size_t node, struct rl_instant now)
{
    return rl_before(now, engine->stepped_until[node]) && !RL_MUTANT(CLOCK_STEP_IGNORED);
}

static bool votes(const struct rl_engine *engine, size_t node, struct rl_instant now)
{
    return rl_standing_votes(&engine->standings[node], now) || RL_MUTANT(QUARANTINE_IGNORED);
}

static bool reachable(const struct rl_engine *engine, size_t node, enum rl_detail *ret_why)
{
    if (engine->links[node] == RL_LINK_READY)
        return true;
    *ret_why = engine->links[node] == RL_LINK_LATE ? RL_DETAIL_LATE : RL_DETAIL_DOWN;
    return false;
}

bool rl_may_claim(const struct rl_engine *engine, size_t node, struct rl_instant now, enum rl_detail *ret_why)
{
    if (!reachable(engine, node, ret_why))
        return false;
    if (votes(engine, node, now) && !rl_clock_stepped(engine, node, now))
        return true;
    *ret_why = engine->standings[node].kind == RL_STANDING_EXCLUDED ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED;
    return false;
}

/* Does this claim have a vote of the master that has not expired? After a loss of memory it still keeps others out. */
static bool has_vote(const struct rl_slot *slot, struct rl_instant now)
{
    return rl_before(now, slot->bound);
}

bool rl_may_extend(const struct rl_engine *engine, size_t node, const struct rl_slot *slot, struct rl_instant now,
                   enum rl_detail *ret_why)
{
    if (!reachable(engine, node, ret_why))
        return false;
    if (engine->standings[node].kind == RL_STANDING_EXCLUDED || engine->standings[node].kind == RL_STANDING_UNJUDGED) {
        *ret_why = RL_DETAIL_EXCLUDED;
        return false;
    }
    *ret_why = RL_DETAIL_QUARANTINED;
    return has_vote(slot, now) || (votes(engine, node, now) && !rl_clock_stepped(engine, node, now)) ||
           RL_MUTANT(REPAIR_WITHOUT_CONDITION);
}

bool rl_may_repair(const struct rl_engine *engine, size_t node, const struct rl_slot *slot, struct rl_instant now)
{
    enum rl_detail why;

    return rl_may_extend(engine, node, slot, now, &why) && !rl_clock_stepped(engine, node, now);
}

bool rl_in_quarantine(const struct rl_engine *engine, size_t node, struct rl_instant now)
{
    const struct rl_standing *standing = &engine->standings[node];

    return standing->kind == RL_STANDING_QUARANTINED && rl_before(now, standing->until);
}

/* protocol 5.6: "Forward by at most d: subtract d from own lb_j, ignore the node's new votes for min(d, max_ttl)". That
 * is too short for the other holders: a step of d makes a key end d earlier, which may be as late as max_ttl - d from
 * now, and only then a holder that has not noticed counts a vote that somebody else may get. So new votes are ignored
 * for max_ttl whatever the step: by then every key that was set before it has ended by anybody's reckoning
 * (tests/sim/golden/small-clock-step.story). What has been answered but not proved was done before the step, or after:
 * nobody can tell, so it does not count. */
void rl_engine_clock_stepped(struct rl_engine *engine, struct rl_instant now, unsigned node)
{
    const struct rl_config *config = &engine->config;

    engine->stepped_until[node] =
        RL_MUTANT(STEP_WAIT_TOO_SHORT) ? now : rl_surely_expired(&config->drift, now, config->max_ttl_ms);
    rl_proof_fail(engine, now, node, RL_DETAIL_QUARANTINED);
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
    lock->stepped = true;
    if (rl_lock_is_held(lock) && !rl_lock_is_valid(engine, lock, now))
        rl_lock_lose(engine, lock, now);
}
