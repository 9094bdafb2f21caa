/* The writing side of a wrong clock. The file is one without a name, reached through this process's descriptors:
 * nothing is left behind however the process ends. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock_file.h"
#include "internal.h"

#define SHIM_NAME "redlock-clockshim.so"
#define SHIM_VARIABLE "REDLOCK_CLOCK_SHIM"

struct masters_clock {
    struct clock_file *file;
    int fd;
    char variable[64];
    char preload[PATH_MAX + sizeof "LD_PRELOAD="];
    const char *environment[3];
};

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool is_there(const char *path)
{
    return access(path, R_OK) == 0;
}

/* As the environment says; else in the build tree; else where it is installed, seen from the program, so that a tree
 * may be moved as a whole. */
static bool find_shim(char *ret_path, size_t size)
{
    const char *const places[] = {"masters/", CLOCK_SHIM_PLACE[0] == '/' ? "" : "../"};
    const char *const rests[] = {"", CLOCK_SHIM_PLACE "/"};
    const char *named = getenv(SHIM_VARIABLE);
    char directory[PATH_MAX];

    if (named && *named) {
        snprintf(ret_path, size, "%s", named);
        return is_there(ret_path);
    }
    if (!program_directory(directory, sizeof directory))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(ret_path, size, "%s%s%s" SHIM_NAME, rests[i][0] == '/' ? "" : directory, places[i], rests[i]) <
                (int)size && is_there(ret_path))
            return true;
    return false;
}

static bool map(struct masters_clock *clock)
{
    clock->fd = memfd_create("clock", MFD_CLOEXEC);
    if (clock->fd < 0 || ftruncate(clock->fd, sizeof *clock->file) != 0)
        return fail("cannot make a clock: %s", strerror(errno));
    clock->file = mmap(NULL, sizeof *clock->file, PROT_READ | PROT_WRITE, MAP_SHARED, clock->fd, 0);
    return clock->file != MAP_FAILED || fail("cannot make a clock: %s", strerror(errno));
}

struct masters_clock *masters_clock_create(void)
{
    struct masters_clock *clock = calloc(1, sizeof *clock);
    char shim[PATH_MAX];

    if (!clock) {
        fail("out of memory");
        return NULL;
    }
    clock->fd = -1;
    clock->file = MAP_FAILED;
    if (!find_shim(shim, sizeof shim)) {
        fail("there is no " SHIM_NAME " beside this program (" SHIM_VARIABLE " names another place)");
        masters_clock_destroy(clock);
        return NULL;
    }
    if (!map(clock)) {
        masters_clock_destroy(clock);
        return NULL;
    }
    snprintf(clock->variable, sizeof clock->variable, "%s=/proc/%d/fd/%d", CLOCK_FILE_VARIABLE, (int)getpid(),
             clock->fd);
    snprintf(clock->preload, sizeof clock->preload, "LD_PRELOAD=%s", shim);
    clock->environment[0] = clock->preload;
    clock->environment[1] = clock->variable;
    return clock;
}

void masters_clock_destroy(struct masters_clock *clock)
{
    if (!clock)
        return;
    if (clock->file != MAP_FAILED)
        munmap(clock->file, sizeof *clock->file);
    if (clock->fd >= 0)
        close(clock->fd);
    free(clock);
}

const char *const *masters_clock_environment(const struct masters_clock *clock)
{
    return clock->environment;
}

/* A server may go on for a millisecond from the time that it has read last (Valkey 9.1). */
static void wait_until_servers_read_it(void)
{
    struct timespec left = {.tv_nsec = 2000000};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

void masters_clock_step_ms(struct masters_clock *clock, int64_t by_ms)
{
    clock_file_step(clock->file, by_ms * 1000000);
    wait_until_servers_read_it();
}

void masters_clock_drift_ppm(struct masters_clock *clock, int64_t ppm)
{
    clock_file_drift(clock->file, clock_ns(CLOCK_MONOTONIC), ppm);
    wait_until_servers_read_it();
}

void masters_clock_stop_us(struct masters_clock *clock, int64_t time_us)
{
    atomic_store(&clock->file->stopped_ns, time_us * 1000);
}

int64_t masters_clock_ahead_us(const struct masters_clock *clock)
{
    int64_t real_ns = clock_ns(CLOCK_REALTIME);

    return (clock_file_shows_ns(clock->file, real_ns, clock_ns(CLOCK_MONOTONIC)) - real_ns) / 1000;
}
