#include "outage.h"

static void look(struct fo_outage *outage, int64_t from_ns, int64_t to_ns, int64_t step_ns, int64_t least_ns)
{
    int64_t beyond_ns = to_ns - from_ns - step_ns;

    if (beyond_ns > outage->longest_ns) {
        outage->longest_ns = beyond_ns;
        outage->from_ns = from_ns;
    }
    if (beyond_ns > least_ns) {
        outage->total_ns += beyond_ns;
        outage->stretches++;
    }
}

struct fo_outage fo_outage_of(const int64_t *successes, size_t n, int64_t from_ns, int64_t to_ns, int64_t step_ns,
                              int64_t least_ns)
{
    struct fo_outage outage = {.from_ns = from_ns};
    int64_t last_ns = from_ns;

    for (size_t i = 0; i < n && successes[i] <= to_ns; i++) {
        if (successes[i] < from_ns)
            continue;
        look(&outage, last_ns, successes[i], step_ns, least_ns);
        last_ns = successes[i];
    }
    look(&outage, last_ns, to_ns, step_ns, least_ns);
    return outage;
}
