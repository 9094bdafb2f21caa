#include "driver/backoff.h"

#include "util/random.h"

struct rl_span rl_backoff_next(struct rl_backoff *backoff)
{
    int64_t limit = backoff->min.ns;

    for (unsigned i = 0; i < backoff->failures && limit < backoff->max.ns; i++)
        limit *= 2;
    if (limit > backoff->max.ns)
        limit = backoff->max.ns;
    if (limit < backoff->max.ns)
        backoff->failures++;
    return rl_random_span(&backoff->random, (struct rl_span){limit});
}

struct rl_span rl_backoff_longest(struct rl_backoff *backoff)
{
    int64_t half = backoff->max.ns / 2;

    return (struct rl_span){backoff->max.ns - rl_random_span(&backoff->random, (struct rl_span){half}).ns};
}

void rl_backoff_reset(struct rl_backoff *backoff)
{
    backoff->failures = 0;
}
