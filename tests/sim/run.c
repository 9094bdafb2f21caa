#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

const char *run_options_text(const struct plan_options *options)
{
    static char text[600];
    size_t size = 0;

    text[0] = '\0';
    if (options->unsafe_restarts)
        size += (size_t)snprintf(text + size, sizeof text - size, " --unsafe-restarts");
    if (options->calm)
        size += (size_t)snprintf(text + size, sizeof text - size, " --calm");
    if (options->permits)
        size += (size_t)snprintf(text + size, sizeof text - size, " --permits");
    if (options->sets)
        size += (size_t)snprintf(text + size, sizeof text - size, " --sets");
    if (options->elections)
        size += (size_t)snprintf(text + size, sizeof text - size, " --elections");
    if (options->looks)
        size += (size_t)snprintf(text + size, sizeof text - size, " --looks");
    if (options->latches)
        size += (size_t)snprintf(text + size, sizeof text - size, " --latches");
    if (options->mixed)
        size += (size_t)snprintf(text + size, sizeof text - size, " --mixed");
    if (options->members)
        size += (size_t)snprintf(text + size, sizeof text - size, " --members");
    if (options->cohorts)
        size += (size_t)snprintf(text + size, sizeof text - size, " --cohorts");
    if (options->classic)
        size += (size_t)snprintf(text + size, sizeof text - size, " --classic");
    if (options->clock_steps)
        size += (size_t)snprintf(text + size, sizeof text - size, " --clock-steps");
    if (options->moved_names)
        size += (size_t)snprintf(text + size, sizeof text - size, " --moved-names");
    if (options->standstills)
        size += (size_t)snprintf(text + size, sizeof text - size, " --standstills");
    if (options->max_clients)
        size += (size_t)snprintf(text + size, sizeof text - size, " --clients %u", options->max_clients);
    if (options->max_handles)
        size += (size_t)snprintf(text + size, sizeof text - size, " --handles %u", options->max_handles);
    if (options->max_duration_ns)
        size += (size_t)snprintf(text + size, sizeof text - size, " --duration %" PRId64,
                                 options->max_duration_ns / RL_NS_PER_MS);
    for (unsigned i = 0; i < FAULT_COUNT; i++) {
        if (options->forbidden >> i & 1u)
            size += (size_t)snprintf(text + size, sizeof text - size, " --without %s", fault_names[i]);
    }
    return text;
}

static double cpu_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(uint64_t seed, const struct plan_options *options, const char *violation)
{
    printf("VIOLATION in world %" PRIu64 ": %s\n  replay: sim --seed %" PRIu64 "%s -v\n", seed, violation, seed,
           run_options_text(options));
    fflush(stdout);
}

/* The part of one of the processes. */
static void run_share(struct lua_host *lua, const struct sweep *sweep, unsigned job, struct tally *tally)
{
    struct world *world = world_create(lua, &tally->coverage);
    double before = cpu_seconds();

    world->trace = sweep->trace;
    for (uint64_t i = job; i <= sweep->last - sweep->first; i += sweep->jobs) {
        uint64_t seed = sweep->first + i;

        plan_draw(&world->plan, seed, &sweep->worlds);
        tally->worlds++;
        if (world_run(world))
            continue;
        if (!sweep->quiet)
            report(seed, &sweep->worlds, world->violation);
        if (tally->violations++ == 0) {
            tally->first_seed = seed;
            memcpy(tally->first_violation, world->violation, sizeof tally->first_violation);
        }
        if (sweep->stop_at_first)
            break;
    }
    tally->cpu_seconds = cpu_seconds() - before;
    world_destroy(world);
}

/* --- Several processes -------------------------------------------------------------------------------------------- */

static void write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(2);
        at += n;
        size -= (size_t)n;
    }
}

static bool read_all(int fd, void *data, size_t size)
{
    char *at = data;

    while (size) {
        ssize_t n = read(fd, at, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static void add_tally(struct tally *sum, const struct tally *more)
{
    coverage_add(&sum->coverage, &more->coverage);
    if (more->violations && (!sum->violations || more->first_seed < sum->first_seed)) {
        sum->first_seed = more->first_seed;
        memcpy(sum->first_violation, more->first_violation, sizeof sum->first_violation);
    }
    sum->violations += more->violations;
    sum->worlds += more->worlds;
    sum->cpu_seconds += more->cpu_seconds;
}

static void collect(const int *fds, unsigned jobs, struct tally *sum)
{
    static struct tally part;

    for (unsigned job = 0; job < jobs; job++) {
        int status;

        if (read_all(fds[job], &part, sizeof part)) {
            add_tally(sum, &part);
        } else {
            printf("VIOLATION: a process of the simulator died\n");
            sum->violations++;
        }
        close(fds[job]);
        wait(&status);
    }
}

static int start_job(struct lua_host *lua, const struct sweep *sweep, unsigned job)
{
    static struct tally tally;
    int ends[2];

    fflush(stdout);
    if (pipe(ends) < 0)
        abort();
    if (fork() == 0) {
        close(ends[0]);
        run_share(lua, sweep, job, &tally);
        write_all(ends[1], &tally, sizeof tally);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

void run_sweep(struct lua_host *lua, const struct sweep *sweep, struct tally *ret_tally)
{
    int fds[MOST_JOBS];

    memset(ret_tally, 0, sizeof *ret_tally);
    if (sweep->jobs == 1) {
        run_share(lua, sweep, 0, ret_tally);
        return;
    }
    for (unsigned job = 0; job < sweep->jobs; job++)
        fds[job] = start_job(lua, sweep, job);
    collect(fds, sweep->jobs, ret_tally);
}
