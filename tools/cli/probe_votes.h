/* The votes of a key that may be shared, on one connection: part of probe.c. */
#ifndef CLI_PROBE_VOTES_H
#define CLI_PROBE_VOTES_H

#include "cli/probe.h"
#include "cli/wire.h"

/* A value as it is kept: cut, and fit for a terminal; and a hash of the whole. */
void probe_keep_value(const char *value, size_t size, char ret_value[PROBE_VALUE_SIZE], uint64_t *ret_hash);

/* Asks for the votes, and takes the answers. Without an answer, or if the key is something else than votes, `votes` is
 * left as it is. */
void probe_votes_take(struct wire *wire, const char *key, struct probe_votes *votes);

#endif
