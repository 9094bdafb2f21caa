/* Waiting in line: in a third of the worlds somebody does. Crowded worlds have many waiters for one key, so that its
 * queue is long when something goes wrong. */
#include <string.h>

#include "plan.h"
#include "rng.h"

void plan_line_draw(struct plan *plan, struct rng *rng)
{
    memset(plan->foreign, 0, sizeof plan->foreign);
    plan->crowded = false;
    plan->line_permille = rng_chance(rng, 650) ? 0 : rng_chance(rng, 700) ? 1000 : 500;
    plan->fifo_permille = rng_chance(rng, 600) ? 100 : rng_chance(rng, 500) ? 500 : 1000;
    if (!plan->line_permille)
        return;
    plan->crowded = !plan->contested && !plan->forgetful && rng_chance(rng, 250);
    plan->foreign[rng_below(rng, MAX_CLIENTS)] = rng_chance(rng, 250);
}

/* Leases are shorter than such ttls: then a lock from the line must be extended to what it was wanted for. */
void plan_line_times(struct plan *plan, struct rng *rng)
{
    if (!plan->line_permille || !rng_chance(rng, 300))
        return;
    plan->ttl_min_ms = (uint32_t)rng_between(rng, 2200, 4000);
    plan->max_ttl_ms = plan->ttl_min_ms * (1 + rng_below(rng, 3));
    plan->config.max_ttl_ms = plan->max_ttl_ms;
}

void plan_line_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    if (!plan->crowded)
        return;
    plan->n_masters = (uint8_t)(rng_chance(rng, 700) ? 3 : rng_chance(rng, 500) ? 5 : 1 + rng_below(rng, 4));
    plan->n_clients = (uint8_t)(2 + rng_below(rng, MAX_CLIENTS - 1));
    if (options->max_clients && plan->n_clients > options->max_clients)
        plan->n_clients = options->max_clients;
    plan->n_keys = 1;
    memset(plan->handle_keys, 0, sizeof plan->handle_keys);
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->n_handles[c] = (uint8_t)(1 + rng_below(rng, 1 + rng_below(rng, MAX_HANDLES)));
        if (options->max_handles && plan->n_handles[c] > options->max_handles)
            plan->n_handles[c] = options->max_handles;
    }
}
