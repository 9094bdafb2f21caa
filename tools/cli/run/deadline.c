#include "cli/run/deadline.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

enum {
    MARGIN_FRACTION = 20,
    LEAST_MARGIN_MS = 20,
    MOST_MARGIN_MS = 1000,
    KILL_AFTER_FRACTION = 6,
    NS_PER_MS = 1000000,
    EXACT_SLEEP_NS = 16 * NS_PER_MS, /* sleeps up to this are not cut */
    CUT_FRACTION = 8,
    FALLBACK_FRACTION = 10,
};

static int64_t sleep_for(int64_t left_ns)
{
    return left_ns <= EXACT_SLEEP_NS ? left_ns : left_ns - left_ns / CUT_FRACTION;
}

struct run_due run_due_at(const struct run_limits *limits, struct instant valid_until, struct instant now,
                          bool warned)
{
    int64_t left_ns = instant_left(valid_until, now);
    bool warns = !warned && limits->kill_after_ns > limits->margin_ns;

    if (left_ns <= limits->margin_ns)
        return (struct run_due){RUN_STEP_KILL, 0};
    if (warns && left_ns <= limits->kill_after_ns)
        return (struct run_due){RUN_STEP_WARN, sleep_for(left_ns - limits->margin_ns)};
    return (struct run_due){RUN_STEP_WAIT, sleep_for(left_ns - (warns ? limits->kill_after_ns : limits->margin_ns))};
}

int64_t run_fallback_at_ns(const struct run_limits *limits, struct instant valid_until, struct instant now)
{
    int64_t until_kill_ns = instant_left(valid_until, now) - limits->margin_ns;

    return now.boot_ns + (until_kill_ns > 0 ? until_kill_ns : 0) + limits->margin_ns / FALLBACK_FRACTION;
}

uint32_t run_default_margin_ms(uint32_t ttl_ms)
{
    uint32_t margin_ms = ttl_ms / MARGIN_FRACTION;

    return margin_ms < LEAST_MARGIN_MS ? LEAST_MARGIN_MS : margin_ms > MOST_MARGIN_MS ? MOST_MARGIN_MS : margin_ms;
}

uint32_t run_default_kill_after_ms(uint32_t ttl_ms)
{
    return ttl_ms / KILL_AFTER_FRACTION;
}

const char *run_limits_fault(uint32_t ttl_ms, uint32_t kill_after_ms, uint32_t margin_ms)
{
    if (kill_after_ms > 0 && kill_after_ms >= ttl_ms - ttl_ms / 2)
        return "--kill-after must be less than half of --ttl";
    if (margin_ms == 0)
        return "--kill-margin must be at least 1 ms: a signal takes time to be delivered";
    if (margin_ms >= ttl_ms / 4)
        return "--kill-margin must be less than a quarter of --ttl";
    if (kill_after_ms > 0 && kill_after_ms <= margin_ms)
        return "--kill-after must be more than --kill-margin, or 0 for no warning";
    return NULL;
}

/* --- The bound --------------------------------------------------------------------------------------------------- */

struct run_bound {
    _Atomic int64_t boot_ns;
    _Atomic int64_t raw_ns;
};

struct run_bound *run_bound_create(void)
{
    void *memory = mmap(NULL, sizeof(struct run_bound), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory != MAP_FAILED ? memory : NULL;
}

void run_bound_destroy(struct run_bound *bound)
{
    if (bound)
        munmap(bound, sizeof *bound);
}

void run_bound_set(struct run_bound *bound, struct instant valid_until)
{
    atomic_store(&bound->boot_ns, valid_until.boot_ns);
    atomic_store(&bound->raw_ns, valid_until.raw_ns);
}

struct instant run_bound_get(struct run_bound *bound)
{
    return (struct instant){atomic_load(&bound->boot_ns), atomic_load(&bound->raw_ns)};
}
