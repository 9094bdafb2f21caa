/* Worlds in which clocks stand still for a while: those of a client's machine that is paused, or those of masters that
 * have a broken one. Not both in one world: the one would hide the other. A pause breaks A2, and exclusion holds again
 * once the client has read the masters' clocks. */
#include "plan.h"
#include "rng.h"

void plan_clocks_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    enum fault fault = rng_chance(rng, 600) ? FAULT_STANDSTILL : FAULT_SLOW_CLOCK;

    if (!options->standstills || !plan->guarded || plan->calm)
        return;
    plan->faults |= UINT32_C(1) << fault;
    plan->fault_interval[fault] = rng_scaled(rng, plan->duration_ns / 16, plan->duration_ns);
    plan->fault_length[fault] = rng_scaled(rng, 10 * RL_NS_PER_MS, plan->duration_ns);
    plan->faults &= ~options->forbidden;
}
