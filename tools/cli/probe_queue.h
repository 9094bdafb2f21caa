/* Inside the probe: the look at a key's queue, on a connection that is open and greeted. */
#ifndef CLI_PROBE_QUEUE_H
#define CLI_PROBE_QUEUE_H

#include "cli/probe.h"
#include "cli/wire.h"

void probe_queue_take(struct wire *wire, const struct probe_names *names, struct probe_queue *queue);

#endif
