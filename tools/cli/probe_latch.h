/* Inside the probe: the look at a latch, on a connection that is open and greeted. */
#ifndef CLI_PROBE_LATCH_H
#define CLI_PROBE_LATCH_H

#include "cli/probe.h"
#include "cli/wire.h"

/* False: the reason is in `why`. */
bool probe_latch_take(struct wire *wire, const char *key, struct probe *probe, struct probe_latch *latch);

#endif
