/* Instants and durations are different types, so that the compiler refuses to mix them up.
 *
 * An instant is nanoseconds on the client's own clock (util/clock.h); only differences mean anything. INT64_MIN and
 * INT64_MAX stand for "never was" and "never will be". Header only, no dependencies: votes and engine use it too. */
#ifndef RL_UTIL_INSTANT_H
#define RL_UTIL_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

struct rl_instant {
    int64_t ns;
};

struct rl_span {
    int64_t ns;
};

#define RL_NS_PER_MS INT64_C(1000000)
#define RL_NS_PER_US INT64_C(1000)

#define RL_NEVER ((struct rl_instant){INT64_MAX})
#define RL_LONG_AGO ((struct rl_instant){INT64_MIN})

static inline struct rl_span rl_ms(int64_t ms)
{
    return (struct rl_span){ms * RL_NS_PER_MS};
}

static inline bool rl_before(struct rl_instant a, struct rl_instant b)
{
    return a.ns < b.ns;
}

static inline struct rl_instant rl_earlier(struct rl_instant a, struct rl_instant b)
{
    return a.ns < b.ns ? a : b;
}

static inline struct rl_instant rl_later(struct rl_instant a, struct rl_instant b)
{
    return a.ns > b.ns ? a : b;
}

/* t + d; the two sentinels stay what they are. */
static inline struct rl_instant rl_after(struct rl_instant t, struct rl_span d)
{
    if (t.ns == INT64_MIN || t.ns == INT64_MAX)
        return t;
    return (struct rl_instant){t.ns + d.ns};
}

/* How long from `from` to `to`, 0 if `to` is not later; a sentinel gives 0 or the largest span. */
static inline struct rl_span rl_until(struct rl_instant from, struct rl_instant to)
{
    if (to.ns <= from.ns)
        return (struct rl_span){0};
    if (to.ns == INT64_MAX || from.ns == INT64_MIN)
        return (struct rl_span){INT64_MAX};
    return (struct rl_span){to.ns - from.ns};
}

#endif
