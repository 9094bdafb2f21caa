#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

bool run_one(struct lua_host *lua, uint64_t seed, const struct plan_options *options, FILE *trace,
             struct coverage *coverage, char *text, size_t size)
{
    struct world *world = world_create(lua, coverage);
    bool good;

    world->trace = trace;
    plan_draw(&world->plan, seed, options);
    good = world_run(world);
    if (!good)
        snprintf(text, size, "%s", world->violation);
    world_destroy(world);
    return good;
}

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
    if (options->cohorts)
        size += (size_t)snprintf(text + size, sizeof text - size, " --cohorts");
    if (options->classic)
        size += (size_t)snprintf(text + size, sizeof text - size, " --classic");
    if (options->clock_steps)
        size += (size_t)snprintf(text + size, sizeof text - size, " --clock-steps");
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

struct share {
    uint64_t first;
    uint64_t last;
    uint64_t step;
};

static void run_share(struct lua_host *lua, struct share share, const struct plan_options *options,
                      bool stop_at_first, bool quiet, struct tally *tally)
{
    struct world *world = world_create(lua, &tally->coverage);
    double before = cpu_seconds();

    for (uint64_t seed = share.first; seed <= share.last; seed += share.step) {
        plan_draw(&world->plan, seed, options);
        tally->worlds++;
        if (world_run(world))
            continue;
        if (!quiet)
            report(seed, options, world->violation);
        if (tally->violations++ == 0) {
            tally->first_seed = seed;
            memcpy(tally->first_violation, world->violation, sizeof tally->first_violation);
        }
        if (stop_at_first)
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

#define MAX_JOBS 64

static int start_job(struct lua_host *lua, struct share share, const struct plan_options *options,
                     bool stop_at_first, bool quiet)
{
    static struct tally tally;
    int ends[2];

    fflush(stdout);
    if (pipe(ends) < 0)
        abort();
    if (fork() == 0) {
        close(ends[0]);
        run_share(lua, share, options, stop_at_first, quiet, &tally);
        write_all(ends[1], &tally, sizeof tally);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

void run_range(struct lua_host *lua, struct range range, const struct plan_options *options, unsigned jobs,
               bool stop_at_first, bool quiet, struct tally *ret_tally)
{
    int fds[MAX_JOBS];

    memset(ret_tally, 0, sizeof *ret_tally);
    if (jobs <= 1) {
        run_share(lua, (struct share){range.first, range.last, 1}, options, stop_at_first, quiet, ret_tally);
        return;
    }
    if (jobs > MAX_JOBS)
        jobs = MAX_JOBS;
    for (unsigned job = 0; job < jobs; job++)
        fds[job] = start_job(lua, (struct share){range.first + job, range.last, jobs}, options, stop_at_first, quiet);
    collect(fds, jobs, ret_tally);
}
