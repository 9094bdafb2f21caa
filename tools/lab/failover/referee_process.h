/* The referee's process: reads what the clients write down, publishes what it finds, and looks at the masters past the
 * library. */
#ifndef FAILOVER_REFEREE_PROCESS_H
#define FAILOVER_REFEREE_PROCESS_H

#include "options/tls.h"
#include "resource.h"
#include "shared.h"

struct fo_watch {
    struct fo_shared *shared;
    const char *const *urls; /* of the masters themselves, not of any relay */
    size_t n_urls;
    const struct cli_tls *tls;
    const char *prefix;
    const struct fo_resource *resource;
    uint32_t ttl_ms;
};

/* Until fo_shared.finished, then the last looks. Returns the exit code. */
int fo_referee_process(const struct fo_watch *watch);

#endif
