#include "cluster.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((format(printf, 2, 3))) static bool broken(struct fo_cluster *cluster, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(cluster->why, sizeof cluster->why, format, args);
    va_end(args);
    return false;
}

static bool done(struct fo_cluster *cluster, bool ok)
{
    return ok || broken(cluster, "%s", masters_error());
}

/* A relay is in the masters' place, for which their certificates are not made. */
static bool certificates_forbid_relays(const struct fo_options *options)
{
    const struct cli_tls *tls = &options->masters.tls;

    return fo_options_have_tls(options) && !options->tls && !tls->server_name && !tls->insecure_skip_verify;
}

static bool needs_hook(const struct fo_scenario *scenario)
{
    return scenario->fault == FO_KILL || scenario->fault == FO_HANG || scenario->fault == FO_ROLL;
}

/* Members of the systems that engines are put on; those of Sentinel watch, and are not counted. */
static size_t members_of(const struct engine_contestant *engine)
{
    switch (engine->system) {
    case MASTERS_POSTGRES:
    case MASTERS_MARIADB:
        return 1;
    case MASTERS_REDIS:
        return engine->members;
    case MASTERS_AGENT:
        return 5;
    default:
        return 3;
    }
}

/* Where independent masters are voted by, none leads; a single server does. */
static bool has_leader(const struct engine_contestant *engine)
{
    return engine->system != MASTERS_AGENT && (engine->system != MASTERS_REDIS || engine->members == 1);
}

static const char *engine_obstacle(const struct engine_contestant *engine, const struct fo_scenario *scenario)
{
    if (scenario->leader && !has_leader(engine))
        return "no member leads";
    if (!scenario->leader && scenario->masters == FO_ALL_MASTERS && members_of(engine) == 1)
        return "there is one server: it is the leader";
    if (scenario->fault == FO_STEP && engine_contestant_is_durable(engine))
        return "its leases do not run by the wall clock";
    if (scenario->lagging && engine->system != MASTERS_SENTINEL)
        return "it has no replicas that may lag";
    if (scenario->fault == FO_PART && (engine->system == MASTERS_POSTGRES || engine->system == MASTERS_MARIADB))
        return "its lock ends with the connection, which a relay keeps open";
    if (scenario->fault == FO_CHANGE || (scenario->relayed && scenario->fault != FO_PART))
        return "this is done to masters of this library only";
    if (!scenario->leader && (scenario->fault == FO_KILL || scenario->fault == FO_HANG) &&
        scenario->masters != FO_ALL_MASTERS && scenario->masters >= members_of(engine))
        return "there are too few servers";
    return NULL;
}

const char *fo_cluster_obstacle(const struct fo_options *options, const struct fo_scenario *scenario)
{
    static char why[200];
    const char *obstacle = options->engine ? engine_obstacle(options->engine, scenario) : NULL;
    struct masters_clock *clock;

    if (obstacle)
        return obstacle;
    if (!options->engine && scenario->leader)
        return "no master leads";

    if (options->masters.count > 0 && scenario->own_only)
        return "this can be done to masters of our own only (without --nodes)";
    if (options->masters.count > 0 && needs_hook(scenario) && !options->hook)
        return "this needs --fault-hook";
    if (scenario->relayed && certificates_forbid_relays(options))
        return "a relay would show the masters' certificates at its own address: this needs --tls-server-name";
    if (!options->engine && scenario->masters != FO_ALL_MASTERS && scenario->masters >= options->n_masters)
        return "there are too few masters";
    if (scenario->growing && scenario->coming >= options->n_masters)
        return "there are too few masters";
    if (scenario->fault == FO_CHANGE && 2 * options->n_masters > MASTERS_MAX)
        return "there are too many masters";
    if (scenario->fault != FO_STEP)
        return NULL;
    clock = masters_clock_create();
    snprintf(why, sizeof why, "%s", clock ? "" : masters_error());
    masters_clock_destroy(clock);
    return *why ? why : NULL;
}

/* --- Beginning and end ------------------------------------------------------------------------------------------- */

/* A clock of its own for each, where clocks are to be set. */
static bool make_setups(struct fo_cluster *cluster, bool with_clocks, struct masters_setup *setups)
{
    for (size_t i = 0; i < cluster->n; i++) {
        setups[i] = (struct masters_setup){.persistence = cluster->options->persistence};
        if (!with_clocks)
            continue;
        cluster->clocks[i] = masters_clock_create();
        if (!cluster->clocks[i])
            return false;
        setups[i].environment = masters_clock_environment(cluster->clocks[i]);
    }
    return true;
}

/* The masters as they are, and agents that have the deployment's largest ttl, as clients of the library have. */
static void set_up_agents(const struct fo_options *options, const char *const *environment,
                          struct masters_setup setups[MASTERS_MAX])
{
    static char largest[24];
    static const char *const words[] = {"--max-ttl", largest, NULL};

    snprintf(largest, sizeof largest, "%ums", options->max_ttl_ms);
    for (size_t i = 0; i < MASTERS_MAX; i++)
        setups[i] = i < members_of(options->engine) ? (struct masters_setup){.environment = environment}
                                                    : (struct masters_setup){.extra_args = words};
}

/* All members have one clock: what a step does to their leases is the question, not what it does between them. */
static bool open_engine(struct fo_cluster *cluster, const struct fo_scenario *scenario)
{
    const struct engine_contestant *engine = cluster->options->engine;
    struct masters_options options = {
        .system = engine->system, .count = engine->members, .tcp = true, .relayed = scenario->relayed};
    struct masters_setup setups[MASTERS_MAX];

    if (scenario->fault == FO_STEP) {
        cluster->clocks[0] = masters_clock_create();
        if (!cluster->clocks[0])
            return done(cluster, false);
        options.environment = masters_clock_environment(cluster->clocks[0]);
    }
    if (engine->system == MASTERS_AGENT) {
        set_up_agents(cluster->options, options.environment, setups);
        options.setups = setups;
    }
    cluster->own = masters_create(&options);
    if (!cluster->own || !masters_cleanup_on_exit(cluster->own))
        return done(cluster, false);
    cluster->n = cluster->n_first = members_of(engine);
    cluster->urls = masters_urls(cluster->own);
    cluster->entries = masters_entries(cluster->own);
    if (scenario->relayed || engine->system == MASTERS_AGENT)
        cluster->apart_entries = masters_apart_entries(cluster->own);
    while (cluster->entries[cluster->n_entries])
        cluster->n_entries++;
    return true;
}

static bool open_own(struct fo_cluster *cluster, const struct fo_scenario *scenario)
{
    struct masters_setup setups[MASTERS_MAX];
    struct masters_options options = {.count = cluster->n,
                                      .tcp = true,
                                      .tls = cluster->options->tls ? MASTERS_TLS : MASTERS_PLAIN,
                                      .setups = setups};

    if (!make_setups(cluster, scenario->fault == FO_STEP, setups))
        return done(cluster, false);
    cluster->own = masters_create(&options);
    if (!cluster->own || !masters_cleanup_on_exit(cluster->own))
        return done(cluster, false);
    cluster->urls = masters_urls(cluster->own);
    if (cluster->options->tls) {
        snprintf(cluster->ca, sizeof cluster->ca, "%s/ca.crt", masters_dir(cluster->own));
        cluster->tls.ca = cluster->ca;
    }
    return true;
}

static bool open_relays(struct fo_cluster *cluster)
{
    const char *parent = getenv("TMPDIR");
    const char *dir = cluster->own ? masters_dir(cluster->own) : NULL;

    if (!dir) {
        if (asprintf(&cluster->dir, "%s/redlock-XXXXXX", parent && parent[0] == '/' ? parent : "/tmp") < 0)
            cluster->dir = NULL;
        dir = cluster->dir ? mkdtemp(cluster->dir) : NULL;
    }
    if (!dir)
        return broken(cluster, "no directory for the relays: %s", strerror(errno));
    cluster->relays =
        relays_create(cluster->urls, cluster->n, dir, cluster->options->seed, cluster->why, sizeof cluster->why);
    if (cluster->relays)
        cluster->client_urls = relays_urls(cluster->relays);
    return cluster->relays != NULL;
}

bool fo_cluster_open(struct fo_cluster *cluster, const struct fo_options *options, const struct fo_scenario *scenario)
{
    *cluster = (struct fo_cluster){.options = options,
                                   .n = options->n_masters,
                                   .tls = options->masters.tls,
                                   .urls = options->masters.urls};
    cluster->n_first = cluster->n;
    if (options->engine)
        return open_engine(cluster, scenario);
    if (scenario->growing)
        cluster->n_first -= scenario->coming;
    else
        cluster->n += scenario->coming == FO_ALL_MASTERS ? cluster->n : scenario->coming;
    if (options->masters.count == 0 && !open_own(cluster, scenario))
        return false;
    cluster->client_urls = cluster->urls;
    return !scenario->relayed || open_relays(cluster);
}

static void remove_relay_sockets(const struct fo_cluster *cluster)
{
    char path[160];

    for (size_t i = 0; i < cluster->n; i++) {
        snprintf(path, sizeof path, "%s/relay%zu", cluster->dir, i + 1);
        unlink(path);
    }
    rmdir(cluster->dir);
}

void fo_cluster_close(struct fo_cluster *cluster)
{
    relays_destroy(cluster->relays);
    if (cluster->dir)
        remove_relay_sockets(cluster);
    free(cluster->dir);
    masters_destroy(cluster->own);
    for (size_t i = 0; i < MASTERS_MAX; i++)
        masters_clock_destroy(cluster->clocks[i]);
    memset(cluster, 0, sizeof *cluster);
}

/* --- Faults ------------------------------------------------------------------------------------------------------ */

static bool run_hook(struct fo_cluster *cluster, const char *verb, size_t i)
{
    const char *hook = cluster->options->hook;
    char number[24];
    int status = 0;
    pid_t pid;

    snprintf(number, sizeof number, "%zu", i + 1);
    pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO); /* what we print on standard output is ours */
        signal(SIGPIPE, SIG_DFL);
        execlp(hook, hook, verb, number, (char *)NULL);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    return broken(cluster, "'%s %s %s' failed (wait status %#x)", hook, verb, number, (unsigned)status);
}

size_t fo_cluster_leader(const struct fo_cluster *cluster)
{
    if (cluster->options->engine && cluster->n == 1)
        return 0;
    return cluster->own ? masters_leader(cluster->own) : MASTERS_MAX;
}

bool fo_cluster_kill(struct fo_cluster *cluster, size_t i)
{
    return cluster->own ? done(cluster, masters_kill(cluster->own, i)) : run_hook(cluster, "kill", i);
}

bool fo_cluster_start(struct fo_cluster *cluster, size_t i)
{
    return cluster->own ? done(cluster, masters_restart(cluster->own, i)) : run_hook(cluster, "start", i);
}

bool fo_cluster_hang(struct fo_cluster *cluster, size_t i)
{
    return cluster->own ? done(cluster, masters_hang(cluster->own, i)) : run_hook(cluster, "hang", i);
}

bool fo_cluster_resume(struct fo_cluster *cluster, size_t i)
{
    return cluster->own ? done(cluster, masters_resume(cluster->own, i)) : run_hook(cluster, "resume", i);
}

bool fo_cluster_wipe(struct fo_cluster *cluster, size_t i)
{
    return done(cluster, masters_wipe(cluster->own, i));
}

bool fo_cluster_part_replicas(struct fo_cluster *cluster, size_t i)
{
    char *reply = masters_command(cluster->own, i, (const char *const[]){"CLIENT", "KILL", "TYPE", "replica", NULL});
    bool ok = done(cluster, reply != NULL);

    free(reply);
    return ok;
}

int64_t fo_cluster_offset(struct fo_cluster *cluster, size_t i)
{
    static const char field[] = "master_repl_offset:";
    char *reply = masters_command(cluster->own, i, (const char *const[]){"INFO", "replication", NULL});
    const char *found = reply ? strstr(reply, field) : NULL;
    int64_t offset = found ? strtoll(found + sizeof field - 1, NULL, 10) : -1;

    if (!reply)
        done(cluster, false);
    else if (!found)
        broken(cluster, "member %zu does not tell its replication offset", i + 1);
    free(reply);
    return offset;
}

/* The one that leads, or as many independent ones as leave a quorum. */
size_t fo_cluster_smaller_side(const struct fo_cluster *cluster, uint32_t ret_members[MASTERS_MAX])
{
    const struct engine_contestant *engine = cluster->options->engine;
    size_t leader = fo_cluster_leader(cluster);
    size_t n = 0;

    if (!has_leader(engine))
        for (; n < (cluster->n - 1) / 2; n++)
            ret_members[n] = (uint32_t)n;
    else if (cluster->n > 1 && leader < cluster->n && masters_can_part(engine->system))
        ret_members[n++] = (uint32_t)leader;
    return n;
}

bool fo_cluster_part(struct fo_cluster *cluster, const uint32_t *members, size_t n, bool apart)
{
    for (size_t i = 0; i < n; i++)
        if (!masters_part(cluster->own, members[i], apart))
            return done(cluster, false);
    return done(cluster, masters_part_clients(cluster->own, apart));
}

bool fo_cluster_take_side(struct fo_cluster *cluster, pid_t client, bool smaller)
{
    if (cluster->options->engine)
        return !smaller || done(cluster, masters_part_client(cluster->own, client));
    return smaller || relays_assign(cluster->relays, client, 1) || broken(cluster, "the relays do not answer");
}

bool fo_cluster_set_clock(struct fo_cluster *cluster, size_t i, int64_t by_ms)
{
    masters_clock_step_ms(cluster->clocks[cluster->options->engine ? 0 : i], by_ms);
    return true;
}

bool fo_cluster_toxics(struct fo_cluster *cluster, size_t i, unsigned side, enum relay_direction direction,
                       const struct relay_toxics *toxics)
{
    return relays_set(cluster->relays, i, side, direction, toxics) || broken(cluster, "a relay does not answer");
}
