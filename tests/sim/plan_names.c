/* Worlds in which a name leads to another master's server for a while, for some of the clients: A1 is broken. Exclusion
 * holds all the same, since a server that keeps its memory votes under one name (rule 5.2). No memory is lost here,
 * and no server restarted: after that nobody could tell the old server of a name from its new one. Nor does JOIN fail
 * with an error that ends the handshake: then nobody knows whose server it is. */
#include "plan.h"
#include "rng.h"

void plan_names_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    plan->moved_names = options->moved_names && plan->guarded && !plan->calm && plan->n_masters > 1;
    if (!plan->moved_names)
        return;
    plan->faults &= ~NAME_EXCLUDES;
    plan->faults |= UINT32_C(1) << FAULT_MOVED_NAME;
    plan->faults &= ~options->forbidden;
    plan->fault_interval[FAULT_MOVED_NAME] = rng_scaled(rng, plan->duration_ns / 64, plan->duration_ns / 4);
    plan->fault_length[FAULT_MOVED_NAME] = rng_scaled(rng, 10 * RL_NS_PER_MS, plan->duration_ns);
}
