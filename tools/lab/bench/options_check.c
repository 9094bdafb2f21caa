#include "options_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/latch.h>

#include "options/message.h"

__attribute__((format(printf, 1, 2))) static bool complain(const char *format, ...)
{
    char message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    cli_error("bench", "%s", message);
    return false;
}

static bool check_masters(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;
    size_t n = options->local;

    if ((options->engines || options->compare) &&
        (options->masters.count || options->tls || options->unix_sockets || options->table || options->json ||
         options->floor || options->both))
        return complain("--engine and --compare start servers of their own, on ports, and print a table: they go "
                        "without --nodes, --tls, --unix, --table, --json, --floor and --profile both");
    if (options->scenario_given && (options->table || options->engines || options->compare))
        return complain("--table, --engine and --compare run scenarios of their own: they go without --scenario");
    if (options->masters.count && n)
        return complain("--local and --nodes exclude each other");
    if (options->masters.count && (options->unix_sockets || options->persistence_given))
        return complain("--unix and --persistence are for masters that are started for the run: not with --nodes");
    if (options->masters.count && (scenario->fault != BENCH_NO_FAULT || options->restarts_ms))
        return complain("%s %s stops or kills masters, so it works only on its own: use --local, not --nodes",
                        options->restarts_ms ? "--restarts with --scenario" : "--scenario", scenario->name);
    if (options->masters.count && options->delay_us)
        return complain("--delay works with --local only");
    if (options->tls && (options->masters.count || options->unix_sockets || options->table))
        return complain("--tls works with --local only, and neither with --unix nor --table");
    if (options->table && options->delay_us)
        return complain("--delay and --table exclude each other");
    if (options->masters.count && options->table)
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
    if (scenario->work != BENCH_LOAD || scenario->mode != REDLOCK_EXCLUSIVE || scenario->contended ||
        scenario->threads || scenario->fault != BENCH_NO_FAULT)
        return complain("%s works with --scenario seq and conc only, not %s", what, scenario->name);
    if (options->floor && options->tls)
        return complain("--floor works without TLS only");
    for (size_t i = 0; options->floor && i < options->masters.count; i++)
        if (cli_url_has_tls(options->masters.urls[i]))
            return complain("--floor works without TLS only, not with rediss:// URLs");
    if (options->hold_ms > 0)
        return complain("%s works without --hold only", what);
    if (options->restarts_ms)
        return complain("%s works without --restarts only", what);
    return true;
}

/* Whether a task keeps its key for as long as the options say. */
static bool has_hold(const struct bench_scenario *scenario)
{
    if (scenario->work == BENCH_READERS)
        return !scenario->rounds;
    return scenario->work == BENCH_ELECTION || (scenario->work == BENCH_LOAD && !scenario->threads);
}

static bool check_work(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;

    if (options->hold_ms > 0 && !has_hold(scenario))
        return complain("--hold does not work with --scenario %s", scenario->name);
    if ((scenario->work == BENCH_HOLD || scenario->threads) && options->own_clients)
        return complain("--scenario %s is one client; --own-clients does not fit", scenario->name);
    if (scenario->work == BENCH_HOLD && options->procs > 1)
        return complain("--scenario hold is one client; --procs %u does not fit", options->procs);
    if (scenario->work == BENCH_READERS && (options->procs > 1 || options->concurrency < 2))
        return complain("--scenario %s is one process, with a writer and at least one reader: --concurrency 2 or more",
                        scenario->name);
    if (scenario->work == BENCH_LATCH &&
        (options->procs > 1 || options->concurrency < 2 || options->concurrency > REDLOCK_MAX_PARTIES))
        return complain("--scenario %s is one process, with 2 to %d tasks", scenario->name, REDLOCK_MAX_PARTIES);
    if (scenario->work == BENCH_HOLD && options->locks > BENCH_MAX_HELD)
        return complain("--scenario hold takes at most %d locks", BENCH_MAX_HELD);
    if (scenario->threads && options->procs > 1)
        return complain("--scenario %s is one process; --procs %u does not fit", scenario->name, options->procs);
    if (options->permits && ((scenario->work != BENCH_LOAD && scenario->work != BENCH_SETS) || scenario->threads ||
                             scenario->mode != REDLOCK_EXCLUSIVE))
        return complain("--permits does not work with --scenario %s", scenario->name);
    if (options->permits && options->permits < scenario->set_keys)
        return complain("--scenario %s takes %u permits at once: --permits %u or more", scenario->name,
                        scenario->set_keys, scenario->set_keys);
    if (options->permits && options->floor)
        return complain("--permits and --floor exclude each other: the floor has locks only");
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
        return complain("--hold must be less than --ttl");
    if (options->retry_delay_ms == 0 && options->retry_jitter_ms == 0)
        return complain("--retry-delay and --retry-jitter must not both be 0");
    if (options->json && options->table)
        return complain("--json and --table exclude each other");
    return check_comparison(options) && check_work(options) && check_masters(options);
}
