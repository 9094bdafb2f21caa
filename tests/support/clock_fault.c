/* The clock of tools/masters, for tests: a failure to have one fails the test. */
#include "clock_fault.h"

#include <check.h>
#include <stdlib.h>

#include "masters.h"

struct clock_fault {
    struct masters_clock *clock;
};

struct clock_fault *clock_fault_create(void)
{
    struct clock_fault *fault = calloc(1, sizeof *fault);

    ck_assert_ptr_nonnull(fault);
    ck_assert_int_eq(setenv("REDLOCK_CLOCK_SHIM", CLOCK_SHIM, 0), 0);
    fault->clock = masters_clock_create();
    ck_assert_msg(fault->clock != NULL, "%s", masters_error());
    return fault;
}

void clock_fault_destroy(struct clock_fault *fault)
{
    if (!fault)
        return;
    masters_clock_destroy(fault->clock);
    free(fault);
}

const char *const *clock_fault_environment(const struct clock_fault *fault)
{
    return masters_clock_environment(fault->clock);
}

void clock_fault_step_ms(struct clock_fault *fault, int64_t by_ms)
{
    masters_clock_step_ms(fault->clock, by_ms);
}

void clock_fault_drift_ppm(struct clock_fault *fault, int64_t ppm)
{
    masters_clock_drift_ppm(fault->clock, ppm);
}

void clock_fault_stop_us(struct clock_fault *fault, int64_t time_us)
{
    masters_clock_stop_us(fault->clock, time_us);
}

int64_t clock_fault_ahead_us(const struct clock_fault *fault)
{
    return masters_clock_ahead_us(fault->clock);
}
