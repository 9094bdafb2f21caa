#include "util/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

/* So often the clocks are read until they agree. */
#define READINGS_MAX 3

/* CLOCK_BOOTTIME and CLOCK_MONOTONIC_RAW are Linux's; elsewhere both readings come from CLOCK_MONOTONIC. */
#ifdef CLOCK_BOOTTIME
#define BOOT_CLOCK CLOCK_BOOTTIME
#else
#define BOOT_CLOCK CLOCK_MONOTONIC
#endif

#ifdef CLOCK_MONOTONIC_RAW
#define RAW_CLOCK CLOCK_MONOTONIC_RAW
#else
#define RAW_CLOCK CLOCK_MONOTONIC
#endif

_Atomic int64_t rl_clock_ahead_ns;

static int64_t read_system_ns(clockid_t id)
{
    struct timespec reading;

    clock_gettime(id, &reading);
    return (int64_t)reading.tv_sec * NS_PER_S + reading.tv_nsec;
}

static int64_t read_ns(clockid_t id)
{
    return read_system_ns(id) + atomic_load_explicit(&rl_clock_ahead_ns, memory_order_acquire);
}

void rl_clock_init(struct rl_clock *clock)
{
    clock->base_boot_ns = read_ns(BOOT_CLOCK);
    clock->base_raw_ns = read_ns(RAW_CLOCK);
    clock->base_ns = clock->base_boot_ns;
    clock->now_ns = clock->base_ns;
}

static void move_base(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns)
{
    clock->base_boot_ns = boot_ns;
    clock->base_raw_ns = raw_ns;
    clock->base_ns = clock->now_ns;
}

/* Some readings are interrupted between the two clocks: then the later one seems to have advanced more, and the next
 * time the earlier one. As a base such a pair would count the interruption twice. */
static bool are_apart(int64_t boot_step, int64_t raw_step)
{
    int64_t step = boot_step > raw_step ? boot_step : raw_step;
    int64_t apart = boot_step > raw_step ? boot_step - raw_step : raw_step - boot_step;

    return apart > RL_CLOCK_NOISE_NS + step / 1000;
}

/* A reading that has gone back counts as no step. */
struct rl_instant rl_clock_advance(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns)
{
    int64_t boot_step = boot_ns - clock->base_boot_ns;
    int64_t raw_step = raw_ns - clock->base_raw_ns;
    int64_t step = boot_step > raw_step ? boot_step : raw_step;

    if (clock->base_ns + step > clock->now_ns)
        clock->now_ns = clock->base_ns + step;
    if (step > RL_CLOCK_WINDOW_NS && (!are_apart(boot_step, raw_step) || step > RL_CLOCK_LONGEST_WINDOW_NS))
        move_base(clock, boot_ns, raw_ns);
    return (struct rl_instant){clock->now_ns};
}

/* A pair that was interrupted is read again: it might become a base (see are_apart()), and waits that keep locks apart
 * would end too early. Clocks that are apart after a suspend stay so, hence the limit. */
struct rl_instant rl_clock_now(struct rl_clock *clock)
{
    int64_t boot_ns;
    int64_t raw_ns;
    int readings = 0;

    do {
        boot_ns = read_ns(BOOT_CLOCK);
        raw_ns = read_ns(RAW_CLOCK);
    } while (are_apart(boot_ns - clock->base_boot_ns, raw_ns - clock->base_raw_ns) && ++readings < READINGS_MAX);
    return rl_clock_advance(clock, boot_ns, raw_ns);
}

/* --- Instants that leave the process -------------------------------------------------------------------------- */

int64_t rl_clock_kernel_ns(clockid_t id)
{
#ifdef SYS_clock_gettime64
    struct {
        int64_t s, ns;
    } reading;
    long status = syscall(SYS_clock_gettime64, id, &reading);
    int64_t ns = status == 0 ? reading.s * NS_PER_S + reading.ns : 0;
#else
    struct timespec reading;
    long status = syscall(SYS_clock_gettime, id, &reading);
    int64_t ns = status == 0 ? (int64_t)reading.tv_sec * NS_PER_S + reading.tv_nsec : 0;
#endif

    return status == 0 ? ns : read_system_ns(id); /* a filter of system calls may know the C library's alone */
}

/* The first line of a file; false with errno. */
static bool read_line(const char *path, char *ret_line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool read;

    if (!file)
        return false;
    errno = EIO;
    read = fgets(ret_line, (int)size, file) != NULL;
    fclose(file);
    ret_line[strcspn(ret_line, "\n")] = '\0';
    return read;
}

/* The numbers of namespaces are used again, hence the offsets. The kernel tells those of a process that has left its
 * namespace, but not its clock, for the children's namespace: such a pair is just another name. */
static void name_offsets(char *text, size_t size)
{
    FILE *file = fopen("/proc/self/timens_offsets", "re");
    char clock[16];
    int64_t s, ns;

    while (file && fscanf(file, "%15s %" SCNd64 " %" SCNd64, clock, &s, &ns) == 3) {
        size_t used = strlen(text);

        if (s || ns)
            snprintf(text + used, size - used, " %s %" PRId64 ".%09" PRId64, clock, s, ns);
    }
    if (file)
        fclose(file);
}

bool rl_clock_identify(struct rl_clock_identity *ret)
{
    ssize_t n;

    memset(ret, 0, sizeof *ret);
    if (!read_line("/proc/sys/kernel/random/boot_id", ret->boot, sizeof ret->boot))
        return false;
    n = readlink("/proc/self/ns/time", ret->name_space, sizeof ret->name_space - 1);
    if (n > 0)
        name_offsets(ret->name_space, sizeof ret->name_space);
    return true;
}

bool rl_clock_is_machines(const char *name_space)
{
    return !strchr(name_space, ' ');
}
