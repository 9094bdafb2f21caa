/* Worlds in which fencing is hard (rules 8): rivals for one key with short holds, counters that differ from
 * master to master, masters that not everybody reaches. A quorum that grants then seldom agrees about the token, and
 * what it takes to record it - late grants, lost RAISEs - has many ways to go wrong.
 *
 * Torn worlds, only where clocks may be set, go further: "even without A2" tokens are unique (G2). Their masters'
 * clocks are set forward every few round trips, so that keys end while they are held, and several clients hold at once.
 *
 * Forgetful worlds: masters lose their memories, one or several at a time, while a lock is held and renewed, and
 * rivals' commands are on their way (rule 4.6). */
#include <string.h>

#include "plan.h"
#include "rng.h"
#include "world.h"

void plan_contest_draw(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    plan->torn = options->clock_steps && rng_chance(rng, 250);
    plan->contested = plan->torn || rng_chance(rng, 120);
    plan->forgetful = !plan->contested && !options->classic && !options->unsafe_restarts && rng_chance(rng, 100);
    if (options->members)
        plan->torn = plan->contested = plan->forgetful = false;
    memset(plan->counters, 0, sizeof plan->counters);
}

void plan_contest_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    if (!plan->contested && !plan->forgetful)
        return;
    plan->n_masters = (uint8_t)(rng_chance(rng, 700) ? 3 : rng_chance(rng, 500) ? 5 : 2 + rng_below(rng, 4));
    plan->n_clients = (uint8_t)(2 + rng_below(rng, 2));
    if (options->max_clients && plan->n_clients > options->max_clients)
        plan->n_clients = options->max_clients;
    plan->n_keys = 1;
    memset(plan->handle_keys, 0, sizeof plan->handle_keys);
}

/* Not every client reaches every master. */
static void make_partial(struct plan *plan, struct rng *rng, int64_t shortest, int64_t longest)
{
    static const enum fault faults[] = {FAULT_CUT, FAULT_PARTITION, FAULT_PARTITION_UP, FAULT_PARTITION_DOWN,
                                        FAULT_SLOW};

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        plan->faults |= (uint32_t)rng_chance(rng, 500) << faults[i];
        plan->fault_interval[faults[i]] = plan->duration_ns / rng_between(rng, 8, 32);
        plan->fault_length[faults[i]] = rng_scaled(rng, shortest, longest);
    }
}

static void make_torn(struct plan *plan, struct rng *rng, int64_t round_trip)
{
    plan->faults &= ~(LOSS_FAULTS | UINT32_C(1) << FAULT_STEP_BACK);
    plan->faults |= UINT32_C(1) << FAULT_STEP_FORWARD;
    plan->fault_interval[FAULT_STEP_FORWARD] = round_trip / 2 * rng_between(rng, 1, 16);
}

/* Rounds are about as long as ttls, and so are the delays of what is on its way when memories are lost. */
static void make_forgetful(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    static const enum fault losses[] = {FAULT_CRASH_LOSE, FAULT_FLUSH};
    int64_t quarantine = rl_ms(plan->max_ttl_ms + 1000).ns;
    int64_t ttl = rl_ms(plan->ttl_min_ms).ns;

    plan->config.node_timeout = rl_ms(plan->ttl_min_ms + rng_below(rng, plan->ttl_min_ms));
    plan->stall_timeout = rl_ms(3 * plan->ttl_min_ms);
    if (!options->max_duration_ns)
        plan->duration_ns += 2 * quarantine;
    make_partial(plan, rng, ttl / 2, 2 * ttl);
    plan->faults |= UINT32_C(1) << losses[rng_below(rng, 2)];
    plan->no_wall = false;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        plan->fault_interval[losses[i]] = quarantine / 4 * rng_between(rng, 1, 6);
    for (unsigned m = 0; m < MAX_MASTERS; m++)
        plan->durability[m] = rng_chance(rng, 900) ? DURABILITY_NONE : plan->durability[m];
    plan->faults &= ~options->forbidden;
}

void plan_contest_faults(struct plan *plan, struct rng *rng, const struct plan_options *options, int64_t round_trip)
{
    if (plan->forgetful)
        make_forgetful(plan, rng, options);
    if (!plan->contested)
        return;
    if (rng_chance(rng, 700))
        plan->faults &= ~LOSS_FAULTS;
    make_partial(plan, rng, RL_NS_PER_MS, rl_ms(plan->ttl_min_ms).ns);
    if (plan->torn)
        make_torn(plan, rng, round_trip);
    plan->faults &= ~options->forbidden;
    plan->fenced_permille = rng_chance(rng, 800) ? 1000 : 500;
    plan->no_wall = !(plan->faults & LOSS_FAULTS) && rng_chance(rng, 850);
    for (unsigned m = 0; plan->no_wall && m < plan->n_masters; m++)
        plan->counters[m] = (uint8_t)rng_below(rng, 5);
}
