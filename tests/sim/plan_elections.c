/* Worlds in which some compete for a lock as candidates of an election, beside others who want the lock as it is. */
#include "plan.h"
#include "rng.h"

static bool may_campaign(const struct plan *plan, unsigned client, unsigned handle)
{
    return !plan->foreign[client] && handle >= plan->set_sizes[client] && plan->handle_keys[client][handle] != PERMIT;
}

void plan_elections_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = rng_chance(rng, 200) || options->elections;

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        for (unsigned h = 0; h < MOST_HANDLES; h++)
            plan->candidates[c][h] = rng_chance(rng, 700) && some && may_campaign(plan, c, h);
    }
}
