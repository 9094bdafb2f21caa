#include "host/trust/same_server.h"

#include <string.h>

#include "host/host.h"

static bool same_id(const char *a, const char *b)
{
    return *a && strcmp(a, b) == 0;
}

/* A replica shares its master's replication id, but takes no vote from it. */
static bool is_same_server(const struct rl_trust_node *a, const struct rl_trust_node *b)
{
    return a->has_report && b->has_report && strcmp(a->report.role, "master") == 0 &&
           (same_id(a->report.run_id, b->report.run_id) ||
            same_id(a->report.replication_id, b->report.replication_id));
}

/* Of several addresses of one server only one may vote, also while that one is down: its votes may still count, and a
 * lock must not count others of the same server beside them. It is the one for which the marker was made. Where no
 * marker decides (each database has its own, and a copied memory has that of its new server), it is the first. */
bool rl_trust_is_same_as_lower(const struct rl_host *host, unsigned node)
{
    const struct rl_trust_node *nodes = host->trust.nodes;

    for (unsigned i = 0; i < node; i++) {
        if (nodes[i].report.event != RL_JOIN_MISPLACED && is_same_server(&nodes[i], &nodes[node]))
            return true;
    }
    return false;
}
