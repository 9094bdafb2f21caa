/* Worlds in which programs end in order, and start again: redlock_client_shutdown(), redlock_client_destroy(). */
#include "plan.h"
#include "rng.h"

void plan_shutdown_draw(struct plan *plan, struct rng *rng)
{
    plan->shuts_down = rng_chance(rng, plan->calm ? 500 : 150);
    plan->shutdown_interval = rng_between(rng, plan->duration_ns / 4, 2 * plan->duration_ns);
}
