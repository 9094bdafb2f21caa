#include <string.h>

#include "options_check.h"

#define complain bench_options_complain

static bool check_masters(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;
    size_t n = options->local;

    if (options->n_nodes && n)
        return complain("--local and --nodes exclude each other");
    if (options->n_nodes && (scenario->fault != BENCH_NO_FAULT || options->restarts_ms))
        return complain("%s %s stops or kills masters, so it works only on its own: use --local, not --nodes",
                        options->restarts_ms ? "--restarts with --scenario" : "--scenario", scenario->name);
    if (options->n_nodes && options->delay_ms)
        return complain("--delay works with --local only");
    if (options->table && options->delay_ms)
        return complain("--delay and --table exclude each other");
    if (options->n_nodes && options->table)
        return complain("--table works with --local only");
    if (scenario->n_faulty && n - scenario->n_faulty < n / 2 + 1)
        return complain("--scenario %s leaves no quorum of %zu masters; use --local %zu or more", scenario->name, n,
                        2 * scenario->n_faulty + 1);
    return true;
}

static bool check_comparison(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;
    const char *what = options->floor ? "--floor" : "--profile both";

    if (!options->floor && !options->both)
        return true;
    if (scenario->work != BENCH_LOAD || scenario->contended || scenario->threads || scenario->fault != BENCH_NO_FAULT)
        return complain("%s works with --scenario seq and conc only, not %s", what, scenario->name);
    if (options->hold_ms > 0)
        return complain("%s works without --hold-ms only", what);
    if (options->restarts_ms)
        return complain("%s works without --restarts only", what);
    return true;
}

static bool check_work(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;

    if ((scenario->work != BENCH_LOAD || scenario->threads) && options->hold_ms > 0)
        return complain("--hold-ms does not work with --scenario %s", scenario->name);
    if ((scenario->work == BENCH_HOLD || scenario->threads) && options->own_clients)
        return complain("--scenario %s is one client; --own-clients does not fit", scenario->name);
    if (scenario->work == BENCH_HOLD && options->procs > 1)
        return complain("--scenario hold is one client; --procs %u does not fit", options->procs);
    if (scenario->work == BENCH_HOLD && options->locks > BENCH_MAX_HELD)
        return complain("--scenario hold takes at most %d locks", BENCH_MAX_HELD);
    if (scenario->threads && options->procs > 1)
        return complain("--scenario %s is one process; --procs %u does not fit", scenario->name, options->procs);
    if (options->restarts_ms && scenario->threads)
        return complain("--restarts does not work with --scenario %s", scenario->name);
    if (options->restarts_ms && scenario->fault != BENCH_NO_FAULT)
        return complain("--restarts does not work with --scenario %s", scenario->name);
    return true;
}

bool bench_options_check(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;

    if (strcmp(scenario->name, "seq") == 0 && options->concurrency > 1)
        return complain("--scenario seq is one task; use --scenario conc --concurrency %u", options->concurrency);
    if (options->procs > options->concurrency)
        return complain("--procs %u is more than --concurrency %u", options->procs, options->concurrency);
    if (options->hold_ms >= options->ttl_ms)
        return complain("--hold-ms must be less than --ttl");
    if (options->json && options->table)
        return complain("--json and --table exclude each other");
    return check_comparison(options) && check_work(options) && check_masters(options);
}

/* Contended keys are asked for until they are won. Those of the fence scenario are held for no time at all, so that
 * waiting would be most of what it does; its ttl is also what a restarted master stays away for. */
static void complete_times(struct bench_options *options)
{
    enum bench_work work = options->scenario->work;

    if (!options->ttl_ms)
        options->ttl_ms = work == BENCH_HOLD ? 30000 : work == BENCH_FENCE ? 2000 : 10000;
    if (options->timeout_ms < 0)
        options->timeout_ms = options->scenario->contended || work != BENCH_LOAD ? 60000 : 0;
    if (options->retry_delay_ms == UINT32_MAX)
        options->retry_delay_ms = work == BENCH_FENCE ? 1 : 20;
    if (options->retry_jitter_ms == UINT32_MAX)
        options->retry_jitter_ms = work == BENCH_FENCE ? 4 : 60;
}

void bench_options_complete(struct bench_options *options)
{
    if (!options->scenario)
        options->scenario = bench_scenario_find("seq");
    if (!options->concurrency)
        options->concurrency = options->scenario->concurrency;
    if (!options->procs)
        options->procs = options->scenario->procs < options->concurrency ? options->scenario->procs
                                                                         : options->concurrency;
    if (!options->procs)
        options->procs = 1;
    if (!options->local && !options->n_nodes)
        options->local = 5;
    if (!options->reps)
        options->reps = options->scenario->reps ? options->scenario->reps : 3;
    complete_times(options);
    if (options->scenario->work == BENCH_HOLD && !options->locks)
        options->locks = BENCH_HOLD_LOCKS;
    if (options->seconds == 0 && (!options->locks || options->scenario->work == BENCH_HOLD))
        options->seconds = 5;
    if (options->scenario->work == BENCH_HOLD && options->seconds < bench_hold_renewal_s(options) * BENCH_HOLD_PERIODS)
        options->seconds = bench_hold_renewal_s(options) * BENCH_HOLD_PERIODS;
}
