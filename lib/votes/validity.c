#include "votes/validity.h"

#include "util/mutant.h"

#define MILLION INT64_C(1000000)

/* The rate part is rounded up to a whole millisecond, since Redis expires keys at whole milliseconds. */
struct rl_span rl_drift(const struct rl_drift_rule *rule, uint32_t ttl_ms)
{
    int64_t rate_ms = ((int64_t)ttl_ms * rule->ppm + MILLION - 1) / MILLION;

    return (struct rl_span){rl_ms(rate_ms).ns + rule->fixed.ns};
}

struct rl_span rl_usable_validity(const struct rl_drift_rule *rule, struct rl_span guard, uint32_t ttl_ms)
{
    return (struct rl_span){rl_ms(ttl_ms).ns - rl_drift(rule, ttl_ms).ns - guard.ns};
}

struct rl_instant rl_vote_bound(const struct rl_drift_rule *rule, struct rl_instant sent, uint32_t ttl_ms)
{
    struct rl_span drift = RL_MUTANT(DRIFT_IGNORED) ? rl_ms(0) : rl_drift(rule, ttl_ms);

    return (struct rl_instant){sent.ns + rl_ms(ttl_ms).ns - drift.ns};
}

struct rl_instant rl_surely_expired(const struct rl_drift_rule *rule, struct rl_instant done, uint32_t ttl_ms)
{
    return (struct rl_instant){done.ns + rl_ms(ttl_ms).ns + rl_drift(rule, ttl_ms).ns};
}
