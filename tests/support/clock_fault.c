/* The test's side of a clock fault. The file is one without a name, reached through this process's descriptors: nothing
 * is left behind however the test ends. */
#include "clock_fault.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "clock_file.h"

struct clock_fault {
    struct clock_file *file;
    int fd;
    char variable[64];
    char preload[sizeof("LD_PRELOAD=" CLOCK_SHIM)];
    const char *environment[3];
};

static int64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct clock_fault *clock_fault_create(void)
{
    struct clock_fault *fault = calloc(1, sizeof(*fault));

    ck_assert_ptr_nonnull(fault);
    fault->fd = memfd_create("clock", MFD_CLOEXEC);
    ck_assert_int_ge(fault->fd, 0);
    ck_assert_int_eq(ftruncate(fault->fd, sizeof(*fault->file)), 0);
    fault->file = mmap(NULL, sizeof(*fault->file), PROT_READ | PROT_WRITE, MAP_SHARED, fault->fd, 0);
    ck_assert_ptr_ne(fault->file, MAP_FAILED);
    snprintf(fault->variable, sizeof(fault->variable), "%s=/proc/%d/fd/%d", CLOCK_FILE_VARIABLE, (int)getpid(),
             fault->fd);
    snprintf(fault->preload, sizeof(fault->preload), "LD_PRELOAD=%s", CLOCK_SHIM);
    fault->environment[0] = fault->preload;
    fault->environment[1] = fault->variable;
    return fault;
}

void clock_fault_destroy(struct clock_fault *fault)
{
    if (!fault)
        return;
    munmap(fault->file, sizeof(*fault->file));
    close(fault->fd);
    free(fault);
}

const char *const *clock_fault_environment(const struct clock_fault *fault)
{
    return fault->environment;
}

void clock_fault_step_ms(struct clock_fault *fault, int64_t by_ms)
{
    clock_file_step(fault->file, by_ms * 1000000);
}

void clock_fault_drift_ppm(struct clock_fault *fault, int64_t ppm)
{
    clock_file_drift(fault->file, monotonic_ns(), ppm);
}

int64_t clock_fault_ahead_us(const struct clock_fault *fault)
{
    return clock_file_ahead_ns(fault->file, monotonic_ns()) / 1000;
}
