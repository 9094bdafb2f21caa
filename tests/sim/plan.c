#include "plan.h"

#include <string.h>

#include "votes/quorum.h"
#include "rng.h"
#include "world.h"

/* What the machines' clocks show is never near zero: boot() some time ago, Redis in the present. */
#define MASTER_EPOCH_NS INT64_C(1700000000000000000)
#define MAX_OFFSET_NS (3600 * 1000 * RL_NS_PER_MS)

static void draw_sizes(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    uint32_t dice = rng_below(rng, 100);

    /* Where every vote counts, a single wrong one shows. */
    plan->n_masters = (uint8_t)(dice < 35   ? 3
                                : dice < 55 ? 5
                                : dice < 75 ? 1 + rng_below(rng, 2)
                                            : 1 + rng_below(rng, 2 + rng_below(rng, MAX_MASTERS - 1)));
    plan->n_clients = (uint8_t)(rng_chance(rng, 60)    ? 1
                                : rng_chance(rng, 650) ? 2
                                                       : 2 + rng_below(rng, MAX_CLIENTS - 1));
    if (options->max_clients && plan->n_clients > options->max_clients)
        plan->n_clients = options->max_clients;
    plan->n_keys = (uint8_t)(rng_chance(rng, 800) ? 1 : LOCK_KEYS);
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->n_handles[c] = (uint8_t)(rng_chance(rng, 700) ? 1 : 1 + rng_below(rng, MOST_HANDLES));
        if (options->max_handles && plan->n_handles[c] > options->max_handles)
            plan->n_handles[c] = options->max_handles;
        for (unsigned h = 0; h < MOST_HANDLES; h++)
            plan->handle_keys[c][h] = (uint8_t)rng_below(rng, plan->n_keys);
    }
}

static void draw_config(struct plan *plan, struct rng *rng)
{
    static const uint32_t ppms[] = {10000, 10000, 10000, 1000, 50000, 100000};
    static const int64_t fixed_ms[] = {2, 2, 2, 0, 1, 5};
    struct rl_config *config = &plan->config;
    uint32_t majority = (uint32_t)rl_majority(plan->n_masters);

    config->n_nodes = plan->n_masters;
    config->quorum = majority;
    if (rng_chance(rng, 150))
        config->quorum += rng_below(rng, plan->n_masters - majority + 1);
    config->drift.ppm = ppms[rng_below(rng, 6)];
    config->drift.fixed = rl_ms(fixed_ms[rng_below(rng, 6)]);
    config->guard = rl_ms(rng_chance(rng, 150) ? rng_between(rng, 1, 20) : 0);
}

/* Delays first: the times that clients allow must be longer, or nothing would ever happen. */
static int64_t draw_paths(struct plan *plan, struct rng *rng)
{
    int64_t scale = rng_scaled(rng, 20 * RL_NS_PER_US, 8 * RL_NS_PER_MS);

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        for (unsigned m = 0; m < MAX_MASTERS; m++) {
            struct path *path = &plan->paths[c][m];

            memset(path, 0, sizeof *path);
            for (unsigned d = UP; d <= DOWN; d++) {
                path->delay[d] = rng_between(rng, scale / 4, scale);
                path->jitter[d] = rng_between(rng, 1, scale / 2);
            }
        }
    }
    return 4 * scale; /* a round trip */
}

static void draw_times(struct plan *plan, struct rng *rng, int64_t round_trip)
{
    int64_t least_ms = round_trip / RL_NS_PER_MS + 2;
    int64_t timeout_ms = rng_scaled(rng, 3 * least_ms, 3 * least_ms > 300 ? 6 * least_ms : 300);
    int64_t ttl_ms;

    plan->config.node_timeout = rl_ms(timeout_ms);
    plan->connect_timeout = rl_ms(rng_between(rng, timeout_ms, 3 * timeout_ms));
    plan->stall_timeout = rl_ms(rng_between(rng, timeout_ms, 5 * timeout_ms));
    ttl_ms = 4 * least_ms + plan->config.guard.ns / RL_NS_PER_MS + plan->config.drift.fixed.ns / RL_NS_PER_MS;
    plan->ttl_min_ms = (uint32_t)rng_scaled(rng, 2 * ttl_ms, 2 * ttl_ms > 1000 ? 4 * ttl_ms : 1000);
    plan->max_ttl_ms = plan->ttl_min_ms * (plan->guarded ? 1 + rng_below(rng, 4) : 2 + rng_below(rng, 8));
    if (rng_chance(rng, plan->guarded ? 20 : 100))
        plan->max_ttl_ms += 20000;
    plan->config.max_ttl_ms = plan->max_ttl_ms;
    plan->backoff_min = rl_ms(rng_between(rng, 1, 50));
    plan->backoff_max = rl_ms(rng_between(rng, 50, 50 + plan->ttl_min_ms));
}

/* Sum of slow clients and fast masters: at most the allowance. */
static void draw_allowance(struct plan *plan, struct rng *rng)
{
    int64_t ppm = plan->config.drift.ppm;

    plan->slow_ppm = rng_between(rng, 0, ppm);
    if (rng_chance(rng, 400))
        plan->slow_ppm = rng_chance(rng, 500) ? ppm : 0;
    plan->fast_ppm = (RL_MUTANT(WILD_CLOCKS) ? 2 * ppm : ppm) - plan->slow_ppm;
}

static int64_t draw_rate(struct rng *rng, int64_t low, int64_t high, bool extreme)
{
    if (extreme && rng_chance(rng, 600))
        return CLOCKWORK_PAR + (rng_chance(rng, 500) ? low : high);
    return CLOCKWORK_PAR + rng_between(rng, low, high);
}

int64_t plan_client_rate(const struct plan *plan, struct rng *rng, bool extreme)
{
    return draw_rate(rng, -plan->slow_ppm, plan->slow_ppm, extreme);
}

/* The other way round, a fast client and a slow master, safety is not touched; but a client that waits for ttl and
 * drift must see the key gone, or it cannot end its pending rollbacks. */
int64_t plan_master_rate(const struct plan *plan, struct rng *rng, bool extreme)
{
    int64_t slowest = CLOCKWORK_PAR * (CLOCKWORK_PAR + plan->slow_ppm) / (CLOCKWORK_PAR + plan->config.drift.ppm);

    return draw_rate(rng, slowest + 1 - CLOCKWORK_PAR, plan->fast_ppm, extreme);
}

/* Wall clocks agree within half the shortest quarantine: more is not promised of fencing tokens where counters are lost
 * (rule 1.2). */
static void draw_clocks(struct plan *plan, struct rng *rng)
{
    bool drift = plan_has(plan, FAULT_DRIFT);
    int64_t apart = rl_ms(plan->short_ttl_ms).ns / 2 * (RL_MUTANT(WALLS_APART) ? 10 : 1);

    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        plan->client_offset[c] = rng_between(rng, 0, MAX_OFFSET_NS);
        plan->wall_offset[c] = MASTER_EPOCH_NS + rng_between(rng, 0, apart);
        plan->client_rate[c] = drift ? plan_client_rate(plan, rng, true) : CLOCKWORK_PAR;
    }
    for (unsigned m = 0; m < MAX_MASTERS; m++) {
        plan->master_offset[m] = MASTER_EPOCH_NS + rng_between(rng, -MAX_OFFSET_NS, MAX_OFFSET_NS);
        plan->master_rate[m] = drift ? plan_master_rate(plan, rng, true) : CLOCKWORK_PAR;
    }
}

#define GUARDED_FAULTS (UINT32_C(1) << FAULT_FLUSH | UINT32_C(1) << FAULT_ROLE)
#define STEP_FAULTS (UINT32_C(1) << FAULT_STEP_BACK | UINT32_C(1) << FAULT_STEP_FORWARD)

/* Not those from MOVED_NAME on, which plan_names.c and plan_clocks.c draw. */
static void draw_faults(struct plan *plan, struct rng *rng, const struct plan_options *options)
{
    uint32_t share = rng_chance(rng, 80) ? 0 : rng_chance(rng, 500) ? 150 : 350;
    int64_t haste = rng_chance(rng, 700) ? 1 : 1 + rng_below(rng, 6);

    plan->faults = 0;
    for (unsigned i = 0; i < FAULT_MOVED_NAME; i++)
        plan->faults |= (uint32_t)rng_chance(rng, share) << i;
    if (plan->guarded && (!plan->declared || (plan->faults & LOSS_FAULTS)) && !options->max_duration_ns)
        plan->duration_ns += rng_between(rng, 0, 2 * (rl_ms(plan->max_ttl_ms).ns + 1000 * RL_NS_PER_MS));
    for (unsigned i = 0; i < FAULT_MOVED_NAME; i++) {
        plan->fault_interval[i] = rng_scaled(rng, plan->duration_ns / 16, plan->duration_ns) / haste;
        plan->fault_length[i] = rng_scaled(rng, RL_NS_PER_MS, rl_ms(2 * plan->max_ttl_ms).ns);
    }
    if (!options->clock_steps)
        plan->faults &= ~STEP_FAULTS;
    if (!plan->guarded)
        plan->faults &= ~GUARDED_FAULTS;
    if (plan->mixed)
        plan->faults &= ~(UINT32_C(1) << FAULT_ROLE);
    plan->faults &= ~options->forbidden;
    plan->fenced_permille = rng_chance(rng, 350) ? 950 : 150;
    plan->no_wall = !(plan->faults & LOSS_FAULTS) && rng_chance(rng, 600);
    plan->hiccup_permille = (uint32_t)rng_scaled(rng, 1, 32);
    for (unsigned m = 0; m < MAX_MASTERS; m++)
        plan->durability[m] = plan->guarded                        ? (uint8_t)rng_below(rng, 3)
                              : plan_has(plan, FAULT_CRASH_SECOND) ? DURABILITY_EVERYSEC
                                                                   : DURABILITY_NONE;
    plan->timer_slack_ns = rng_between(rng, 0, 2 * RL_NS_PER_MS);
    if (plan_has(plan, FAULT_LATE_TIMERS))
        plan->timer_slack_ns = rng_scaled(rng, 5 * RL_NS_PER_MS, 300 * RL_NS_PER_MS);
}

/* In time with the locks; but who waits for the end of a quarantine, many short locks long, learns nothing from trying
 * a thousand times, nor from knocking so often at the door of a master that is down for seconds. */
static void set_pace(struct plan *plan)
{
    int64_t pace_ms = plan->ttl_min_ms;

    if (pace_ms < plan->duration_ns / RL_NS_PER_MS / 8)
        pace_ms = plan->duration_ns / RL_NS_PER_MS / 8;
    if (pace_ms < plan->max_ttl_ms / 8)
        pace_ms = plan->max_ttl_ms / 8;
    plan->pace_ms = (uint32_t)pace_ms;
    if (plan->backoff_max.ns < rl_ms(pace_ms / 2).ns)
        plan->backoff_max = rl_ms(pace_ms / 2);
}

void plan_draw(struct plan *plan, uint64_t seed, const struct plan_options *options)
{
    struct rng rng;
    struct rng contest;
    struct rng queue;
    struct rng cohort;
    struct rng mixed;
    struct rng permits;
    struct rng shutdown;
    struct rng shared;
    struct rng sets;
    struct rng looks;
    struct rng elections;
    struct rng latches;
    struct rng observers;
    struct rng names;
    struct rng clocks;
    struct rng members;
    int64_t round_trip;

    rng_init(&rng, seed, 1);
    rng_init(&contest, seed, 6);
    rng_init(&queue, seed, 7);
    rng_init(&cohort, seed, 8);
    rng_init(&mixed, seed, 9);
    rng_init(&permits, seed, 10);
    rng_init(&shutdown, seed, 11);
    rng_init(&shared, seed, 12);
    rng_init(&sets, seed, 13);
    rng_init(&looks, seed, 14);
    rng_init(&elections, seed, 16);
    rng_init(&latches, seed, 18);
    rng_init(&observers, seed, 20);
    rng_init(&names, seed, 22);
    rng_init(&clocks, seed, 24);
    rng_init(&members, seed, 26);
    plan_contest_draw(plan, &contest, options);
    plan_wait_queue_draw(plan, &queue, options);
    plan->seed = seed;
    plan->unsafe_restarts = options->unsafe_restarts || RL_MUTANT(RESTART_AT_ONCE);
    plan->guarded = (rng_chance(&rng, 850) || plan->forgetful || options->members) && !plan->unsafe_restarts &&
                    !options->classic && !plan->torn;
    plan->declared = rng_chance(&rng, 850) || plan->forgetful || options->members;
    plan->no_config = rng_chance(&rng, 100);
    draw_sizes(plan, &rng, options);
    plan_contest_sizes(plan, &contest, options);
    plan_wait_queue_sizes(plan, &queue, options);
    plan_wait_queue_cohorts(plan, &cohort, options);
    plan_wait_queue_permits(plan, &permits, options);
    draw_config(plan, &rng);
    round_trip = draw_paths(plan, &rng);
    draw_times(plan, &rng, round_trip);
    plan_wait_queue_times(plan, &queue);
    plan_mixed_draw(plan, &mixed, options);
    plan->shared_permille = rng_chance(&shared, 600) ? 0 : rng_chance(&shared, 700) ? 600 : 900;
    draw_allowance(plan, &rng);
    plan->duration_ns = rng_scaled(&rng, 2 * rl_ms(plan->ttl_min_ms).ns, 6 * rl_ms(plan->ttl_min_ms).ns);
    if (plan->crowded)
        plan->duration_ns /= 2;
    if (options->max_duration_ns && plan->duration_ns > options->max_duration_ns)
        plan->duration_ns = options->max_duration_ns;
    draw_faults(plan, &rng, options);
    plan_contest_faults(plan, &contest, options, round_trip);
    plan_wait_queue_calm(plan, &queue, round_trip);
    set_pace(plan);
    draw_clocks(plan, &rng);
    plan_shutdown_draw(plan, &shutdown);
    plan_sets_draw(plan, &sets, options);
    plan_looks_draw(plan, &looks, options);
    plan_elections_draw(plan, &elections, options);
    plan_observers_draw(plan, &observers);
    plan_latches_draw(plan, &latches, options);
    plan_names_draw(plan, &names, options);
    plan_clocks_draw(plan, &clocks, options);
    plan_members_draw(plan, &members, options);
}
