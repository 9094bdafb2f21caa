#include "util/clock.h"

#include <stdbool.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

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

static int64_t read_ns(clockid_t id)
{
    struct timespec reading;

    clock_gettime(id, &reading);
    return (int64_t)reading.tv_sec * NS_PER_S + reading.tv_nsec;
}

void rl_clock_init(struct rl_clock *clock)
{
    clock->base_boot_ns = read_ns(BOOT_CLOCK);
    clock->base_raw_ns = read_ns(RAW_CLOCK);
    clock->base_ns = clock->base_boot_ns;
    clock->now_ns = clock->base_ns;
}

struct rl_instant rl_clock_now(struct rl_clock *clock)
{
    return rl_clock_advance(clock, read_ns(BOOT_CLOCK), read_ns(RAW_CLOCK));
}

static void move_base(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns)
{
    clock->base_boot_ns = boot_ns;
    clock->base_raw_ns = raw_ns;
    clock->base_ns = clock->now_ns;
}

/* Some readings are interrupted between the two clocks: then the later one seems to have advanced more, and the next
 * time the earlier one. As a base such a pair would count the interruption twice. */
static bool is_good_base(int64_t boot_step, int64_t raw_step, int64_t step)
{
    int64_t apart = boot_step > raw_step ? boot_step - raw_step : raw_step - boot_step;

    return apart <= RL_CLOCK_NOISE_NS + step / 1000 || step > RL_CLOCK_LONGEST_WINDOW_NS;
}

/* A reading that has gone back counts as no step. */
struct rl_instant rl_clock_advance(struct rl_clock *clock, int64_t boot_ns, int64_t raw_ns)
{
    int64_t boot_step = boot_ns - clock->base_boot_ns;
    int64_t raw_step = raw_ns - clock->base_raw_ns;
    int64_t step = boot_step > raw_step ? boot_step : raw_step;

    if (clock->base_ns + step > clock->now_ns)
        clock->now_ns = clock->base_ns + step;
    if (step > RL_CLOCK_WINDOW_NS && is_good_base(boot_step, raw_step, step))
        move_base(clock, boot_ns, raw_ns);
    return (struct rl_instant){clock->now_ns};
}
