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

/* The key of some candidate. */
static bool draw_observed(const struct plan *plan, struct rng *rng, uint8_t *ret_key)
{
    unsigned start = (unsigned)rng_below(rng, MAX_CLIENTS * MAX_HANDLES);

    for (unsigned i = 0; i < MAX_CLIENTS * MAX_HANDLES; i++) {
        unsigned at = (start + i) % (MAX_CLIENTS * MAX_HANDLES);
        unsigned client = at / MAX_HANDLES;
        unsigned handle = at % MAX_HANDLES;

        *ret_key = plan->handle_keys[client][handle];
        if (client < plan->n_clients && handle < plan->n_handles[client] && plan->candidates[client][handle])
            return true;
    }
    return false;
}

/* Their own looks are rare enough to show who does not look when it is told. */
void plan_observers_draw(struct plan *plan, struct rng *rng)
{
    for (unsigned c = 0; c < plan->n_clients; c++) {
        plan->observe_interval_ms[c] = 0;
        if (!plan->foreign[c] && rng_chance(rng, 600) && draw_observed(plan, rng, &plan->observed[c]))
            plan->observe_interval_ms[c] =
                (uint32_t)rng_scaled(rng, plan->max_ttl_ms / 3 + 10, 20 * (int64_t)plan->max_ttl_ms + 20);
    }
}
