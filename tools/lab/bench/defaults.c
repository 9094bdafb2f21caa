#include "defaults.h"

/* Contended keys are asked for until they are won. Those of the fence scenario are held for no time at all, so that
 * waiting would be most of what it does; its ttl is also what a restarted master stays away for. */
static void complete_times(struct bench_options *options)
{
    enum bench_work work = options->scenario->work;

    if (!options->ttl_ms)
        options->ttl_ms = work == BENCH_HOLD ? 30000 : work == BENCH_FENCE ? 2000 : 10000;
    if (options->timeout_ms < 0)
        options->timeout_ms = options->scenario->contended || work != BENCH_LOAD ? 60000 : 0;
    if (options->pause_ms < 0)
        options->pause_ms = 100;
    if (options->retry_delay_ms == UINT32_MAX)
        options->retry_delay_ms = work == BENCH_FENCE ? 1 : 20;
    if (options->retry_jitter_ms == UINT32_MAX)
        options->retry_jitter_ms = work == BENCH_FENCE ? 4 : 60;
}

void bench_defaults(struct bench_options *options)
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
    if (!options->local && !options->masters.count)
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
