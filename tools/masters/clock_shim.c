/* A wall clock that can be set wrong, preloaded into one server.
 *
 * It takes the place of the C library's clock_gettime(), gettimeofday() and time(), for the wall clock only: timers of
 * the server run by the monotonic one, and a machine whose time is set does not stop those either. The servers' memory
 * allocator asks for the time while it initialises itself, so nothing here may allocate or look up a symbol: the time
 * comes straight from the kernel.
 *
 * The file to obey is named by an environment variable (clock_file.h); without it the clock is right. A file that is
 * named but cannot be had ends the process: nobody must believe in a fault that does not happen. */
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "clock_file.h"

#define NS_PER_S 1000000000
#define EXIT_WITHOUT_FILE 125

static const struct clock_file *clock_file;

static void say(const char *text)
{
    ssize_t ignored = write(2, text, strlen(text));

    (void)ignored;
}

__attribute__((constructor)) static void map_file(void)
{
    const char *path = getenv(CLOCK_FILE_VARIABLE);
    void *address;
    int fd;

    if (!path)
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    address = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct clock_file), PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
        say("clock shim: cannot map the file of $" CLOCK_FILE_VARIABLE "\n");
        _exit(EXIT_WITHOUT_FILE);
    }
    close(fd);
    clock_file = address;
}

static int64_t kernel_ns(clockid_t id)
{
    struct timespec now = {0};

    syscall(SYS_clock_gettime, id, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The real time as the kernel tells it, moved by what the file says. */
static struct timespec wall_clock(clockid_t id)
{
    int64_t now_ns = kernel_ns(id);

    if (clock_file)
        now_ns = clock_file_shows_ns(clock_file, now_ns, kernel_ns(CLOCK_MONOTONIC));
    return (struct timespec){.tv_sec = (time_t)(now_ns / NS_PER_S), .tv_nsec = (long)(now_ns % NS_PER_S)};
}

int clock_gettime(clockid_t id, struct timespec *ret)
{
    if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)
        return (int)syscall(SYS_clock_gettime, id, ret);
    *ret = wall_clock(id);
    return 0;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now = wall_clock(CLOCK_REALTIME);

    ret->tv_sec = now.tv_sec;
    ret->tv_usec = (suseconds_t)(now.tv_nsec / 1000);
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now = wall_clock(CLOCK_REALTIME);

    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
