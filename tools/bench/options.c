#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options_check.h"
#include "shared.h"

#define complain bench_options_complain

enum {
    OPT_NODES = 256, OPT_LOCAL, OPT_SCENARIO, OPT_CONCURRENCY, OPT_SECONDS, OPT_LOCKS, OPT_WARMUP, OPT_TTL, OPT_HOLD,
    OPT_TIMEOUT, OPT_RETRY_DELAY, OPT_RETRY_JITTER, OPT_NODE_TIMEOUT, OPT_PROCS, OPT_PERSISTENCE, OPT_UNIX, OPT_PIN,
    OPT_FLOOR, OPT_REPS, OPT_JSON, OPT_TABLE, OPT_PROFILE, OPT_COUNT, OPT_KEYS, OPT_RESTARTS, OPT_IDLE,
    OPT_ACQUIRE, OPT_DELAY, OPT_OWN_CLIENTS,
};

static const struct option long_options[] = {
    {"nodes", required_argument, NULL, OPT_NODES},
    {"local", required_argument, NULL, OPT_LOCAL},
    {"scenario", required_argument, NULL, OPT_SCENARIO},
    {"concurrency", required_argument, NULL, OPT_CONCURRENCY},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"locks", required_argument, NULL, OPT_LOCKS},
    {"count", required_argument, NULL, OPT_COUNT},
    {"keys", required_argument, NULL, OPT_KEYS},
    {"restarts", required_argument, NULL, OPT_RESTARTS},
    {"idle", required_argument, NULL, OPT_IDLE},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"acquire", required_argument, NULL, OPT_ACQUIRE},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"ttl", required_argument, NULL, OPT_TTL},
    {"hold-ms", required_argument, NULL, OPT_HOLD},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"retry-delay", required_argument, NULL, OPT_RETRY_DELAY},
    {"retry-jitter", required_argument, NULL, OPT_RETRY_JITTER},
    {"node-timeout", required_argument, NULL, OPT_NODE_TIMEOUT},
    {"procs", required_argument, NULL, OPT_PROCS},
    {"own-clients", no_argument, NULL, OPT_OWN_CLIENTS},
    {"persistence", required_argument, NULL, OPT_PERSISTENCE},
    {"unix", no_argument, NULL, OPT_UNIX},
    {"delay", required_argument, NULL, OPT_DELAY},
    {"pin", no_argument, NULL, OPT_PIN},
    {"floor", no_argument, NULL, OPT_FLOOR},
    {"reps", required_argument, NULL, OPT_REPS},
    {"json", no_argument, NULL, OPT_JSON},
    {"table", no_argument, NULL, OPT_TABLE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

bool bench_options_complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("redlock: bench: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    return false;
}

static const char *option_name(int opt)
{
    for (const struct option *o = long_options; o->name; o++)
        if (o->val == opt)
            return o->name;
    return "?";
}

static bool number(int opt, const char *text, double min, double max, double *ret_value)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < min || value > max)
        return complain("--%s wants a number from %g to %.10g, not \"%s\"", option_name(opt), min, max, text);
    *ret_value = value;
    return true;
}

static bool whole(int opt, const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < min || value > max)
        return complain("--%s wants a whole number from %llu to %llu, not \"%s\"", option_name(opt),
                        (unsigned long long)min, (unsigned long long)max, text);
    *ret_value = value;
    return true;
}

static bool whole32(int opt, const char *text, uint32_t min, uint32_t max, uint32_t *ret_value)
{
    uint64_t value;

    if (!whole(opt, text, min, max, &value))
        return false;
    *ret_value = (uint32_t)value;
    return true;
}

/* HOST:PORT and /path are what people have at hand; the library wants URLs. */
static bool add_node(struct bench_options *options, const char *text, size_t size)
{
    const char *prefix = memmem(text, size, "://", 3) ? "" : *text == '/' ? "unix://" : "redis://";

    if (size == 0)
        return complain("--nodes has an empty entry");
    if (options->n_nodes == MASTERS_MAX)
        return complain("--nodes names more than %d masters", MASTERS_MAX);
    if (asprintf(&options->nodes[options->n_nodes], "%s%.*s", prefix, (int)size, text) < 0)
        return complain("out of memory");
    options->n_nodes++;
    return true;
}

static bool parse_nodes(struct bench_options *options, const char *list)
{
    for (;;) {
        size_t size = strcspn(list, ",");

        if (!add_node(options, list, size))
            return false;
        if (list[size] == '\0')
            return true;
        list += size + 1;
    }
}

static bool parse_persistence(struct bench_options *options, const char *text)
{
    static const char *const names[] = {
        [MASTERS_VOLATILE] = "volatile", [MASTERS_EVERYSEC] = "everysec", [MASTERS_ALWAYS] = "always"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], text) == 0) {
            options->persistence = (enum masters_persistence)i;
            options->mixed = false;
            return true;
        }
    options->mixed = strcmp(text, "mixed") == 0;
    return options->mixed || complain("--persistence is volatile, everysec, always or mixed, not \"%s\"", text);
}

static bool parse_acquire(struct bench_options *options, const char *text)
{
    if (strcmp(text, "queue") == 0)
        options->acquire = REDLOCK_WAIT_QUEUE;
    else if (strcmp(text, "fifo") == 0)
        options->acquire = REDLOCK_WAIT_FIFO;
    else if (strcmp(text, "spin") == 0)
        options->acquire = REDLOCK_WAIT_SPIN;
    else
        return complain("--acquire is queue, fifo or spin, not \"%s\"", text);
    return true;
}

static bool parse_profile(struct bench_options *options, const char *text)
{
    options->both = strcmp(text, "both") == 0;
    options->profile = strcmp(text, "classic") == 0 ? REDLOCK_PROFILE_CLASSIC : REDLOCK_PROFILE_GUARDED;
    return options->both || options->profile == REDLOCK_PROFILE_CLASSIC || strcmp(text, "guarded") == 0
           || complain("--profile is guarded, classic or both, not \"%s\"", text);
}

static bool parse_scenario(struct bench_options *options, const char *text)
{
    options->scenario = bench_scenario_find(text);
    return options->scenario || complain("unknown scenario \"%s\"; see redlock bench --help", text);
}

static bool parse_milliseconds(struct bench_options *options, int opt, const char *arg)
{
    uint64_t timeout;

    switch (opt) {
    case OPT_TTL:
        return whole32(opt, arg, 1, REDLOCK_MAX_TTL_MS, &options->ttl_ms);
    case OPT_HOLD:
        return number(opt, arg, 0, REDLOCK_MAX_TTL_MS, &options->hold_ms);
    case OPT_TIMEOUT:
        if (!whole(opt, arg, 0, REDLOCK_MAX_TIMEOUT_MS, &timeout))
            return false;
        options->timeout_ms = (int64_t)timeout;
        return true;
    case OPT_RETRY_DELAY:
        return whole32(opt, arg, 0, 60000, &options->retry_delay_ms);
    case OPT_RETRY_JITTER:
        return whole32(opt, arg, 0, 60000, &options->retry_jitter_ms);
    case OPT_DELAY:
        return whole32(opt, arg, 0, 1000, &options->delay_ms);
    case OPT_RESTARTS:
        return whole32(opt, arg, 10, 3600000, &options->restarts_ms);
    case OPT_NODE_TIMEOUT:
    default:
        return whole32(opt, arg, 1, 60000, &options->node_timeout_ms);
    }
}

static bool parse_load(struct bench_options *options, int opt, const char *arg)
{
    uint64_t count;

    switch (opt) {
    case OPT_LOCAL:
        if (!whole(opt, arg, 1, MASTERS_MAX, &count))
            return false;
        options->local = count;
        return true;
    case OPT_CONCURRENCY:
        return whole32(opt, arg, 1, BENCH_MAX_CONCURRENCY, &options->concurrency);
    case OPT_PROCS:
        return whole32(opt, arg, 1, BENCH_MAX_PROCS, &options->procs);
    case OPT_SECONDS:
        return number(opt, arg, 0.01, 86400, &options->seconds);
    case OPT_WARMUP:
        return number(opt, arg, 0, 3600, &options->warmup_s);
    case OPT_KEYS:
        return whole32(opt, arg, 1, BENCH_MAX_KEYS, &options->keys);
    case OPT_IDLE:
        return number(opt, arg, 0.01, 3600, &options->idle_s);
    case OPT_LOCKS:
    case OPT_COUNT:
        return whole(opt, arg, 1, INT64_MAX, &options->locks);
    case OPT_REPS:
        return whole32(opt, arg, 1, 100, &options->reps);
    default:
        return parse_milliseconds(options, opt, arg);
    }
}

static bool parse_one(struct bench_options *options, int opt, const char *arg)
{
    switch (opt) {
    case OPT_NODES:
        return parse_nodes(options, arg);
    case OPT_SCENARIO:
        return parse_scenario(options, arg);
    case OPT_PROFILE:
        return parse_profile(options, arg);
    case OPT_ACQUIRE:
        return parse_acquire(options, arg);
    case OPT_PERSISTENCE:
        return parse_persistence(options, arg);
    case OPT_UNIX:
        return options->unix_sockets = true;
    case OPT_OWN_CLIENTS:
        return options->own_clients = true;
    case OPT_PIN:
        return options->pin = true;
    case OPT_FLOOR:
        return options->floor = true;
    case OPT_JSON:
        return options->json = true;
    case OPT_TABLE:
        return options->table = true;
    default:
        return parse_load(options, opt, arg);
    }
}

enum bench_parsed bench_options_parse(struct bench_options *options, int argc, char **argv)
{
    static char name[] = "redlock: bench"; /* how getopt_long() shall begin its messages */
    int opt;

    argv[0] = name;
    *options = (struct bench_options){.warmup_s = 0.5, .timeout_ms = -1, .retry_delay_ms = UINT32_MAX, .keys = 4,
                                      .retry_jitter_ms = UINT32_MAX, .node_timeout_ms = 500, .idle_s = 3};
    optind = 0; /* the caller has parsed options of its own */
    opterr = 1;
    while ((opt = getopt_long(argc, argv, "+h", long_options, NULL)) != -1) {
        if (opt == 'h')
            return BENCH_HELP_WANTED;
        if (opt == '?' || !parse_one(options, opt, optarg))
            return BENCH_WRONG;
    }
    if (optind < argc) {
        complain("unexpected argument \"%s\"", argv[optind]);
        return BENCH_WRONG;
    }
    bench_options_complete(options);
    return bench_options_check(options) ? BENCH_PARSED : BENCH_WRONG;
}

void bench_options_free(struct bench_options *options)
{
    for (size_t i = 0; i < options->n_nodes; i++)
        free(options->nodes[i]);
    options->n_nodes = 0;
}
