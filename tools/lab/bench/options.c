#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <redlock/latch.h>

#include "options/message.h"
#include "options/parse.h"
#include "shared.h"

#define NOT_GIVEN UINT32_MAX

#define US_PER_S 1000000
#define LEAST_TTL_MS 5 /* with less, nothing is left behind the allowance for drift */

/* --- What --help teaches ------------------------------------------------------------------------------------------ */

static const char masters_help[] =
    "Usage: redlock-lab bench [OPTION...]\n"
    "\n"
    "Measures locking over real Redis masters, and checks while it does so that no\n"
    "two tasks ever hold one key.\n"
    "\n"
    "Masters:\n"
    "  --local N            start N masters for this run (5)\n"
    "  --persistence WHAT   their persistence: volatile (default), everysec, always,\n"
    "                       or mixed, which is always for every other one\n"
    "  --unix               reach them by unix sockets instead of TCP on loopback\n"
    "  --tls                ... by TLS, with certificates made for this run\n"
    "  --delay DUR          delay each way, by a relay in front of them (0: none)\n"
    "  -n, --nodes A,B,...  use running masters: URLs, HOST:PORT, or socket paths\n"
    "  --node URL           one of them; repeat it for each\n"
    CLI_REACH_HELP
    "\n"
    "Load:\n"
    "  -s, --scenario NAME  what is done (seq):\n";

static const char load_help[] =
    "  -c, --concurrency N  tasks (seq, hungN, killedN: 1; conc, blocking: 64;\n"
    "                       hammer, herd, latch, election, fence: 16; readers,\n"
    "                       mixed: 65); hold: acquisitions at a time (1000)\n"
    "  --procs N            client processes that share the tasks (1; fence: 4)\n"
    "  --own-clients        each task has a client and connections of its own,\n"
    "                       instead of one for each process (fence: always)\n"
    "  -d, --duration DUR   measured time of each phase (5s; hold: two renewals or\n"
    "                       more)\n"
    "  --locks N            measure N locks instead, or at most; hold: locks to hold\n"
    "                       (100000)\n"
    "  --warmup DUR         load before the measurement (500ms)\n"
    "  -t, --ttl DUR        of the locks (10s; hold: 30s; fence: 2s)\n"
    "  --hold DUR           time between acquisition and release (0)\n"
    "  --timeout DUR        time to try for a lock; 0 is one attempt (0; hammer,\n"
    "                       herd, readers, mixed, reenter, latch, hold, fence,\n"
    "                       setN: 1m; election: without end)\n"
    "  --acquire HOW        what a task does if its key is taken: queue (default)\n"
    "                       tries once and then joins the wait queue, fifo joins it\n"
    "                       at once, spin tries again after a pause\n"
    "  --retry-delay DUR    that pause (20ms; fence: 1ms)\n"
    "  --retry-jitter DUR   random addition to it (60ms; fence: 4ms)\n"
    "  --node-timeout DUR   time that one master may take to answer (500ms)\n"
    "  --keys N             fence: contended keys (4)\n"
    "  --permits K          permits of semaphores with K each, instead of locks; seq,\n"
    "                       conc, hammer, setN: N permits of one semaphore at once\n"
    "  --pause DUR          mixed: how long after its turn the writer wants another\n"
    "                       (100ms)\n"
    "  --idle DUR           hold: time for which the client is observed without\n"
    "                       locks (3s)\n"
    "  --restarts DUR       kill one master after the other, one in each DUR, and\n"
    "                       start it again\n"
    "  --profile WHAT       guarded (default), classic, or both: guarded compared\n"
    "                       with classic; seq, conc\n"
    "  --pin                clients on the first processor, masters of --local on the\n"
    "                       others\n"
    "\n"
    "Output:\n"
    "  -j, --json           one line of JSON\n"
    "  --html FILE          also a self-contained page, with histograms of the times\n"
    "  --floor              also measure the same work done by a bare minimum of C,\n"
    "                       in alternation; seq, conc\n"
    "  --reps N             slices of a comparison, each with client processes of its\n"
    "                       own: --floor, --profile both, hungN, killedN (3),\n"
    "                       blocking (9)\n"
    "  --table              run a set of scenarios, print a table in Markdown\n"
    "  --engine NAME[@SYSTEM][:defaults][,...]\n"
    "                       measure these lock engines, of which 'redlock' is this\n"
    "                       library and 'agent' the same behind 'redlock agent': one\n"
    "                       task, 64, herd and hammer with 16, or what --scenario\n"
    "                       says, a table; ':defaults' is the ttl of the library in\n"
    "                       question\n"
    "  --compare            the same for all engines that are found here\n"
    "\n"
    "A duration is a number and its unit: 500us, 1.5ms, 30s, 2m.\n"
    "\n"
    "Exit status: 0 measured; 1 a promise was broken: two tasks held one key at a\n"
    "time, a fencing token or a term did not grow, a latch opened before all had\n"
    "arrived, or a lock of the hold scenario was lost; 2 wrong usage; 3 it could not\n"
    "be measured.\n"
    "\n"
    "Examples:\n"
    "  redlock-lab bench\n"
    "  redlock-lab bench -s hammer -c 64 -d 10s --delay 1ms\n";

static void write_help(FILE *out)
{
    fputs(masters_help, out);
    for (size_t i = 0; i < BENCH_SCENARIOS; i++)
        fprintf(out, "      %-10s%s\n", bench_scenarios[i].name, bench_scenarios[i].text);
    fputs(load_help, out);
}

/* --- What the user leaves open ------------------------------------------------------------------------------------ */

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

/* --- What does not go together ------------------------------------------------------------------------------------ */

__attribute__((format(printf, 1, 2))) static bool complain(const char *format, ...)
{
    char message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cli_error("bench", "%s", message);
    return false;
}

/* What engines can be asked for is a lock. */
static bool is_for_engines(const struct bench_options *options)
{
    const struct bench_scenario *scenario = options->scenario;

    return scenario->work == BENCH_LOAD && scenario->mode == REDLOCK_EXCLUSIVE && !scenario->threads &&
           scenario->fault == BENCH_NO_FAULT && !options->permits && !options->restarts_ms;
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
    if (options->scenario_given && options->table)
        return complain("--table runs scenarios of its own: it goes without --scenario");
    if (options->scenario_given && (options->engines || options->compare) && !is_for_engines(options))
        return complain("--engine and --compare have --scenario seq, conc, herd and hammer, without --permits and "
                        "--restarts");
    if (options->html && (options->table || options->engines || options->compare))
        return complain("--html is a page for one scenario: it goes without --table, --engine and --compare");
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

static bool options_fit(const struct bench_options *options)
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

/* --- The command line --------------------------------------------------------------------------------------------- */

static const char *const persistence_words[] = {
    [MASTERS_VOLATILE] = "volatile", [MASTERS_EVERYSEC] = "everysec", [MASTERS_ALWAYS] = "always", "mixed", NULL};
static const char *const wait_words[] = {
    [REDLOCK_WAIT_QUEUE] = "queue", [REDLOCK_WAIT_FIFO] = "fifo", [REDLOCK_WAIT_SPIN] = "spin", NULL};
static const char *const profile_words[] = {
    [REDLOCK_PROFILE_GUARDED] = "guarded", [REDLOCK_PROFILE_CLASSIC] = "classic", "both", NULL};

/* What has another form in the options. */
struct given {
    uint32_t scenario, persistence, acquire, profile;
    int64_t duration_us, warmup_us, hold_us, idle_us, delay_us, pause_us;
    uint32_t timeout_ms;
};

static int parse(struct bench_options *options, struct given *given, int argc, char **argv)
{
    const char *names[BENCH_SCENARIOS + 1] = {NULL};
    const struct cli_option table[] = {
        {.name = "local", .number = &options->local, .least = 1, .most = MASTERS_MAX},
        {.name = "persistence", .choice = &given->persistence, .words = persistence_words},
        {.name = "unix", .flag = &options->unix_sockets},
        {.name = "tls", .flag = &options->tls},
        {.name = "delay", .duration_us = &given->delay_us, .most = US_PER_S},
        {.name = "node", .node = &options->masters},
        {.name = "nodes", .letter = 'n', .node_list = &options->masters},
        CLI_PASSWORD_OPTIONS(&options->masters.password),
        CLI_TLS_OPTIONS(&options->masters.tls),
        {.name = "scenario", .letter = 's', .choice = &given->scenario, .words = names},
        {.name = "concurrency", .letter = 'c', .number = &options->concurrency, .least = 1,
         .most = BENCH_MAX_CONCURRENCY},
        {.name = "procs", .number = &options->procs, .least = 1, .most = BENCH_MAX_PROCS},
        {.name = "own-clients", .flag = &options->own_clients},
        {.name = "duration", .letter = 'd', .duration_us = &given->duration_us, .least = US_PER_S / 100},
        {.name = "locks", .count = &options->locks, .least = 1},
        {.name = "count", .alias = true},
        {.name = "warmup", .duration_us = &given->warmup_us, .most = INT64_C(3600) * US_PER_S},
        {.name = "ttl", .letter = 't', .duration_ms = &options->ttl_ms, .least = LEAST_TTL_MS,
         .most = REDLOCK_MAX_TTL_MS},
        {.name = "hold", .duration_us = &given->hold_us},
        {.name = "timeout", .duration_ms = &given->timeout_ms},
        {.name = "acquire", .choice = &given->acquire, .words = wait_words},
        {.name = "retry-delay", .duration_ms = &options->retry_delay_ms, .most = 60000},
        {.name = "retry-jitter", .duration_ms = &options->retry_jitter_ms, .most = 60000},
        {.name = "node-timeout", .duration_ms = &options->node_timeout_ms, .least = 1, .most = 60000},
        {.name = "permits", .number = &options->permits, .least = 1, .most = BENCH_MAX_PERMITS},
        {.name = "keys", .number = &options->keys, .least = 1, .most = BENCH_MAX_KEYS},
        {.name = "pause", .duration_us = &given->pause_us, .most = INT64_C(3600) * US_PER_S},
        {.name = "idle", .duration_us = &given->idle_us, .least = US_PER_S / 100, .most = INT64_C(3600) * US_PER_S},
        {.name = "restarts", .duration_ms = &options->restarts_ms, .least = 10, .most = 3600000},
        {.name = "profile", .choice = &given->profile, .words = profile_words},
        {.name = "pin", .flag = &options->pin},
        {.name = "json", .letter = 'j', .flag = &options->json},
        {.name = "html", .file = &options->html},
        {.name = "floor", .flag = &options->floor},
        {.name = "reps", .number = &options->reps, .least = 1, .most = 100},
        {.name = "table", .flag = &options->table},
        {.name = "engine", .text = &options->engines},
        {.name = "compare", .flag = &options->compare},
        {0},
    };
    const struct cli_command command = {.name = "bench", .options = table, .operands = (const char *const[]){NULL},
                                        .write_help = write_help};

    for (size_t i = 0; i < BENCH_SCENARIOS; i++)
        names[i] = bench_scenarios[i].name;
    return cli_parse(&command, argc, argv, NULL);
}

static void take(struct bench_options *options, const struct given *given)
{
    options->scenario_given = given->scenario != NOT_GIVEN;
    options->scenario = &bench_scenarios[options->scenario_given ? given->scenario : 0];
    options->persistence_given = given->persistence != NOT_GIVEN;
    options->mixed = options->persistence_given && given->persistence > MASTERS_ALWAYS;
    options->persistence = options->persistence_given && !options->mixed ? (enum masters_persistence)given->persistence
                                                                         : MASTERS_VOLATILE;
    options->acquire = (enum redlock_wait)given->acquire;
    options->both = given->profile > REDLOCK_PROFILE_CLASSIC;
    options->profile = options->both ? REDLOCK_PROFILE_GUARDED : (enum redlock_profile)given->profile;
    options->seconds = (double)given->duration_us / US_PER_S;
    options->warmup_s = (double)given->warmup_us / US_PER_S;
    options->idle_s = (double)given->idle_us / US_PER_S;
    options->hold_ms = (double)given->hold_us / 1000;
    options->pause_ms = (double)given->pause_us / 1000;
    options->delay_us = (uint32_t)given->delay_us;
    options->timeout_ms = given->timeout_ms == NOT_GIVEN ? -1 : (int64_t)given->timeout_ms;
}

int bench_options_parse(struct bench_options *options, int argc, char **argv)
{
    struct given given = {.scenario = NOT_GIVEN, .persistence = NOT_GIVEN, .acquire = REDLOCK_WAIT_QUEUE,
                          .profile = REDLOCK_PROFILE_GUARDED, .warmup_us = US_PER_S / 2, .idle_us = 3 * US_PER_S,
                          .pause_us = -1,
                          .timeout_ms = NOT_GIVEN};
    int code;

    *options = (struct bench_options){.retry_delay_ms = NOT_GIVEN, .retry_jitter_ms = NOT_GIVEN, .keys = 4,
                                      .node_timeout_ms = 500};
    code = parse(options, &given, argc, argv);
    if (code >= 0)
        return code;
    take(options, &given);
    bench_defaults(options);
    return options_fit(options) && cli_settle_password("bench", &options->masters) &&
                   cli_tls_complete("bench", &options->masters.tls, options->masters.urls, options->masters.count)
               ? -1
               : cli_usage("bench");
}

void bench_options_free(struct bench_options *options)
{
    cli_masters_fini(&options->masters);
}
