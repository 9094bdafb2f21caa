/* For how long nobody could lock: pure arithmetic over the instants of success.
 *
 * The load is an open loop: requests are due at fixed instants, whether or not earlier ones have been answered. While
 * all is well, two successes are one step of the schedule apart. Nobody could lock between two successes that are
 * further apart than that, so
 *
 *     unavailable = longest gap between successes - one step of the schedule, and not below 0.
 *
 * The edges of the window count as successes: a fault that nobody survives is not without a gap. What the machine's own
 * scheduling does to the gaps is in this number too; the same number of the time before the fault tells how much that
 * is. */
#ifndef FAILOVER_OUTAGE_H
#define FAILOVER_OUTAGE_H

#include <stddef.h>
#include <stdint.h>

struct fo_outage {
    int64_t longest_ns; /* unavailable at a stretch ... */
    int64_t from_ns;    /* ... since this success */
    int64_t total_ns;   /* over all stretches longer than `least` */
    size_t stretches;
};

/* successes: instants in increasing order. Those outside [from, to] are not looked at. */
struct fo_outage fo_outage_of(const int64_t *successes, size_t n, int64_t from_ns, int64_t to_ns, int64_t step_ns,
                              int64_t least_ns);

/* When the k-th request of `client` is due. The clients take turns, so all of them together have one step between two
 * requests. */
static inline int64_t fo_due_ns(int64_t start_ns, int64_t step_ns, uint32_t clients, uint32_t client, uint64_t k)
{
    return start_ns + (int64_t)(k * clients + client) * step_ns;
}

#endif
