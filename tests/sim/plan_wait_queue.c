/* The wait queue: in a third of the worlds somebody enters one. Crowded worlds have many waiters for one key, so that
 * its queue is long when something goes wrong. */
#include <string.h>

#include "plan.h"
#include "rng.h"

void plan_wait_queue_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    memset(plan->foreign, 0, sizeof plan->foreign);
    plan->crowded = false;
    plan->calm = false;
    plan->left_ms = 0;
    plan->queue_permille = rng_chance(rng, 650) ? 0 : rng_chance(rng, 700) ? 1000 : 500;
    plan->fifo_permille = rng_chance(rng, 600) ? 100 : rng_chance(rng, 500) ? 500 : 1000;
    if (options->calm) {
        plan->contested = plan->torn = plan->forgetful = false;
        plan->calm = plan->crowded = true;
        plan->queue_permille = 1000;
        return;
    }
    if (options->cohorts && !plan->queue_permille)
        plan->queue_permille = 1000;
    if (!plan->queue_permille)
        return;
    plan->crowded = !plan->contested && !plan->forgetful && rng_chance(rng, 250);
    plan->foreign[rng_below(rng, MAX_CLIENTS)] = rng_chance(rng, 250);
    plan->calm = plan->crowded && rng_chance(rng, 200) && !options->members;
}

/* Leases are shorter than such ttls: then a lock from the queue must be extended to what it was wanted for. */
void plan_wait_queue_times(struct plan *plan, struct rng *rng)
{
    if (!plan->queue_permille || !rng_chance(rng, 300))
        return;
    plan->ttl_min_ms = (uint32_t)rng_between(rng, 2200, 4000);
    plan->max_ttl_ms = plan->ttl_min_ms * (1 + rng_below(rng, 3));
    plan->config.max_ttl_ms = plan->max_ttl_ms;
}

void plan_wait_queue_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options)
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
        plan->n_handles[c] = (uint8_t)(1 + rng_below(rng, 1 + rng_below(rng, MOST_HANDLES)));
        if (options->max_handles && plan->n_handles[c] > options->max_handles)
            plan->n_handles[c] = options->max_handles;
    }
}

/* Whoever is to take others along must have some. */
void plan_wait_queue_cohorts(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool many = rng_chance(rng, plan->crowded ? 600 : 300) || options->cohorts;
    uint32_t company = 2 + rng_below(rng, MOST_HANDLES - 1);

    plan->cohort_permille = !plan->queue_permille || !many ? 0 : rng_chance(rng, 500) ? 900 : 400;
    if (!plan->cohort_permille || plan->crowded || options->max_handles)
        return;
    if (plan->n_handles[0] < company)
        plan->n_handles[0] = (uint8_t)company;
    memset(plan->handle_keys[0], 0, sizeof plan->handle_keys[0]);
}

/* Fewer permits than handles, mostly. Some handles want one slot of the semaphore, and no other, as a mutex does. So do
 * clients that know nothing of semaphores. */
void plan_wait_queue_permits(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    bool some = rng_chance(rng, plan->calm ? 500 : 250) || options->permits;
    uint32_t most = 1 + rng_below(rng, MAX_PERMITS);

    plan->permits = (uint8_t)(some && !plan->contested && !plan->forgetful && !plan->torn ? most : 0);
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->limits[c] = plan->permits;
        if (plan->permits && !plan->calm && rng_chance(rng, 150))
            plan->limits[c] = (uint8_t)(1 + rng_below(rng, plan->permits));
        for (unsigned h = 0; h < MOST_HANDLES && plan->permits; h++) {
            bool single = plan->foreign[c] || (!plan->calm && rng_chance(rng, 100));

            if (plan->handle_keys[c][h] == 0)
                plan->handle_keys[c][h] = (uint8_t)(single ? FIRST_SLOT + rng_below(rng, plan->permits) : PERMIT);
        }
    }
}

/* Masters see things in different orders. */
static void shuffle_paths(struct plan *plan, struct rng *rng, int64_t round_trip)
{
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        for (unsigned m = 0; m < MAX_MASTERS; m++) {
            plan->paths[c][m].jitter[UP] = rng_between(rng, round_trip / 2, round_trip);
            plan->paths[c][m].jitter[DOWN] = rng_between(rng, round_trip / 2, round_trip);
        }
    }
}

/* Leases as long as they get, so that whoever is served at the next refresh only has visibly waited for it. */
void plan_wait_queue_calm(struct plan *plan, struct rng *rng, int64_t round_trip)
{
    if (!plan->calm)
        return;
    memset(plan->foreign, 0, sizeof plan->foreign);
    if (rng_chance(rng, 700))
        shuffle_paths(plan, rng, round_trip);
    plan->faults = 0;
    plan->hiccup_permille = 0;
    plan->declared = true;
    plan->queue_permille = 1000;
    plan->timer_slack_ns = round_trip / 16;
    plan->ttl_min_ms = 4000 + (uint32_t)(plan->config.guard.ns / RL_NS_PER_MS);
    plan->max_ttl_ms = plan->ttl_min_ms;
    plan->config.max_ttl_ms = plan->ttl_min_ms;
    plan->left_ms = !plan->permits && rng_chance(rng, 400) ? (uint32_t)rng_between(rng, 600, 2000) : 0;
    plan->duration_ns = 120 * round_trip + rl_ms(plan->left_ms).ns;
    plan->config.node_timeout.ns += 8 * round_trip;
    plan->connect_timeout.ns += 8 * round_trip;
    plan->stall_timeout.ns += 16 * round_trip;
}
