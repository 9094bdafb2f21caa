/* Worlds in which parties meet at a latch, beside all else that the clients do. */
#include "plan.h"
#include "rng.h"
#include "workload.h"

/* Where names may be lost they come back only from handles that are there still. In a process that begins anew they are
 * not, but for that of the only round. And who uses a latch in a wrong way may get hold of masters that have forgotten
 * it. */
static bool is_live(const struct plan *plan)
{
    uint32_t steps = UINT32_C(1) << FAULT_STEP_BACK | UINT32_C(1) << FAULT_STEP_FORWARD;
    bool loses = plan->faults & (LOSS_FAULTS | steps);

    bool stays = plan->latch_kept && !plan->shuts_down && !plan_has(plan, FAULT_CLIENT_CRASH);

    return !plan->latch_strangers && (!loses || stays || (plan->latch_rounds == 1 && plan->latch_kept));
}

void plan_latches_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = rng_chance(rng, 170) || options->latches;
    bool lonely = rng_chance(rng, 300);

    plan->latch_parties = (uint8_t)(2 + rng_below(rng, 4));
    plan->latch_rounds = (uint8_t)(1 + rng_below(rng, 3));
    plan->latch_kept = rng_chance(rng, 500);
    plan->latch_remembered = rng_chance(rng, 500);
    plan->latch_strangers = (uint8_t)(rng_chance(rng, 750) ? STRANGER_NONE : 1 + rng_below(rng, N_STRANGERS - 1));
    plan->latch_pace_ns = rng_scaled(rng, RL_NS_PER_MS, plan->duration_ns / 4);
    plan->latch_actors = some ? (uint8_t)(plan->latch_parties + (lonely || plan->latch_strangers)) : 0;
    plan->latch_is_live = is_live(plan);
}
