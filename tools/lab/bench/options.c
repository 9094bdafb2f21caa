#include "options.h"

#include "defaults.h"
#include "options/message.h"
#include "options/parse.h"
#include "options_check.h"
#include "shared.h"

#define NOT_GIVEN UINT32_MAX

#define US_PER_S 1000000
#define LEAST_TTL_MS 5 /* with less, nothing is left behind the allowance for drift */

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
        {.name = "floor", .flag = &options->floor},
        {.name = "reps", .number = &options->reps, .least = 1, .most = 100},
        {.name = "table", .flag = &options->table},
        {.name = "engine", .text = &options->engines},
        {.name = "compare", .flag = &options->compare},
        {0},
    };
    const struct cli_command command = {.name = "bench", .options = table, .operands = (const char *const[]){NULL},
                                        .write_help = bench_options_help};

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
    return bench_options_check(options) && cli_settle_password("bench", &options->masters) &&
                   cli_tls_complete("bench", &options->masters.tls, options->masters.urls, options->masters.count)
               ? -1
               : cli_usage("bench");
}

void bench_options_free(struct bench_options *options)
{
    cli_masters_fini(&options->masters);
}
