/* The relays of a scenario, one before each master, in a process of their own. Clients of the two sides of a partition
 * use the same addresses, as they must: a ring is what its members call it. */
#ifndef FAILOVER_RELAYS_H
#define FAILOVER_RELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "relay/relay.h"

struct fo_relays;

/* On unix sockets in `dir`. NULL: ret_why. */
struct fo_relays *fo_relays_create(const char *const *upstream, size_t n, const char *dir, uint64_t seed,
                                   char *ret_why, size_t size);
void fo_relays_destroy(struct fo_relays *relays);
const char *const *fo_relays_urls(const struct fo_relays *relays);

/* The process belongs to this side from its next connection on; all others to side 0. */
bool fo_relays_assign(struct fo_relays *relays, pid_t client, unsigned side);

/* Returns when it is so. */
bool fo_relays_set(struct fo_relays *relays, size_t master, unsigned side, enum relay_direction direction,
                   const struct relay_toxics *toxics);

#endif
