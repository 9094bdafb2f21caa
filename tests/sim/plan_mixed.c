/* Worlds in which clients have different max_ttl, and the operator changes the deployment's. */
#include "plan.h"
#include "rng.h"

void plan_mixed_none(struct plan *plan)
{
    plan->mixed = false;
    plan->short_ttl_ms = plan->max_ttl_ms;
    plan->declared_ms = plan->max_ttl_ms;
    for (unsigned c = 0; c < MAX_CLIENTS; c++)
        plan->own_ttl_ms[c] = plan->max_ttl_ms;
}

/* The longer locks outlive the shorter quarantine, or nobody would notice if it was too short. */
static void draw_values(struct plan *plan, struct rng *rng)
{
    plan->short_ttl_ms = plan->ttl_min_ms + rng_below(rng, plan->ttl_min_ms);
    plan->max_ttl_ms = 2 * plan->short_ttl_ms + 2000 + rng_below(rng, 8000);
    plan->config.max_ttl_ms = plan->max_ttl_ms;
    plan->declared_ms = rng_chance(rng, 500) ? plan->short_ttl_ms : plan->max_ttl_ms;
    for (unsigned c = 0; c < MAX_CLIENTS; c++)
        plan->own_ttl_ms[c] = rng_chance(rng, 500) ? plan->short_ttl_ms : plan->max_ttl_ms;
}

void plan_mixed_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool special = plan->contested || plan->torn || plan->forgetful || plan->crowded || plan->calm;

    plan_mixed_none(plan);
    if (!plan->guarded || special || options->clock_steps || options->members || options->max_duration_ns)
        return;
    if (!rng_chance(rng, 200) && !options->mixed)
        return;
    plan->mixed = true;
    plan->declared = true;
    draw_values(plan, rng);
}
