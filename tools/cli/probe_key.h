/* Inside the probe: what it asks about one key, on a connection that is open and greeted. Votes, latch, queue. */
#ifndef CLI_PROBE_KEY_H
#define CLI_PROBE_KEY_H

#include "cli/probe.h"
#include "cli/wire.h"

/* A value as it is kept: cut, and fit for a terminal; and a hash of the whole. */
void probe_keep_value(const char *value, size_t size, char ret_value[PROBE_VALUE_SIZE], uint64_t *ret_hash);

/* Asks for the votes, and takes the answers. Without an answer, or if the key is something else than votes, `votes` is
 * left as it is. */
void probe_votes_take(struct wire *wire, const char *key, struct probe_votes *votes);

/* --- Inside the probe: the look at a latch, on a connection that is open and greeted. */

/* False: the reason is in `why`. */
bool probe_latch_take(struct wire *wire, const char *key, struct probe *probe, struct probe_latch *latch);

/* --- Inside the probe: the look at a key's queue, on a connection that is open and greeted. */

void probe_queue_take(struct wire *wire, const struct probe_names *names, struct probe_queue *queue);

#endif
