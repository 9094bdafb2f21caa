/* Inside the probe: what it asks about one key, on a connection that is open and greeted. Votes, latch, queue. */
#ifndef CLI_PROBE_KEY_H
#define CLI_PROBE_KEY_H

#include "cli/probe.h"
#include "cli/wire.h"

/* There is no answer, or (refused) the server is there, and says no. */
void probe_failed(struct probe *probe, const char *why);
void probe_refused(struct probe *probe, const char *error);

/* The next reply; NULL if there is none, with the reason in the probe. */
redisReply *probe_reply(struct wire *wire, struct probe *probe);

/* Each question comes in two halves, so that many can be on their way: what appends it, and what takes the answers. */

/* For the key. False: no answer. */
void probe_key_ask(struct wire *wire, const char *key);
bool probe_key_take(struct wire *wire, struct probe *probe);

/* A value as it is kept: cut, and fit for a terminal; and a hash of the whole. */
void probe_keep_value(const char *value, size_t size, char ret_value[PROBE_VALUE_SIZE], uint64_t *ret_hash);

/* For the votes of a key that is no string. Without an answer, or if the key is something else than votes, `votes` is
 * left as it is. A key of which all votes have ended is absent. */
void probe_votes_ask(struct wire *wire, const char *key);
void probe_votes_take(struct wire *wire, struct probe *probe, struct probe_votes *votes);

/* --- Inside the probe: the look at a latch, on a connection that is open and greeted. */

/* False: the reason is in `why`. */
bool probe_latch_take(struct wire *wire, const char *key, struct probe *probe, struct probe_latch *latch);

/* --- Inside the probe: the look at a key's queue, on a connection that is open and greeted. */

/* The places, and then the leases of those that have one: nothing is asked if there is none. */
void probe_queue_ask(struct wire *wire, const char *name);
void probe_queue_take(struct wire *wire, struct probe_queue *queue);
void probe_leases_ask(struct wire *wire, const char *name, const struct probe_queue *queue);
void probe_leases_take(struct wire *wire, struct probe_queue *queue);

#endif
