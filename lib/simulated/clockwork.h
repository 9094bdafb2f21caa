/* One machine's clock as a function of true time: piecewise linear, in nanoseconds, exact in both directions. */
#ifndef RL_SIMULATED_CLOCKWORK_H
#define RL_SIMULATED_CLOCKWORK_H

#include <stdint.h>

#define CLOCKWORK_PAR INT64_C(1000000) /* the rate of a perfect clock: parts per million */
#define NEARLY_STILL INT64_C(1000)     /* that of one that nearly stands still */

struct clockwork {
    int64_t true_base;
    int64_t local_base;
    int64_t rate;
};

/* The reading at true instant t >= true_base. */
static inline int64_t clockwork_read(const struct clockwork *clock, int64_t t)
{
    return clock->local_base + (t - clock->true_base) * clock->rate / CLOCKWORK_PAR;
}

/* The first true instant at which the reading is `local` or more, if the rate stays; true_base if it is already. */
static inline int64_t clockwork_when(const struct clockwork *clock, int64_t local)
{
    int64_t whole = 0;
    int64_t left = local - clock->local_base;

    if (left <= 0)
        return clock->true_base;
    if (left > INT64_MAX / (2 * CLOCKWORK_PAR)) { /* hours: the counters of the fencing tokens live so long */
        whole = left / clock->rate;
        left %= clock->rate;
    }
    return clock->true_base + whole * CLOCKWORK_PAR + (left * CLOCKWORK_PAR + clock->rate - 1) / clock->rate;
}

static inline void clockwork_set_rate(struct clockwork *clock, int64_t now, int64_t rate)
{
    clock->local_base = clockwork_read(clock, now);
    clock->true_base = now;
    clock->rate = rate;
}

static inline void clockwork_step(struct clockwork *clock, int64_t now, int64_t by)
{
    clockwork_set_rate(clock, now, clock->rate);
    clock->local_base += by;
}

#endif
