/* Relays before several servers, in a process of their own, which ends with its owner's. Clients may be parted in two
 * sides that use the same addresses, as they must: a ring is what its members call it. */
#ifndef RELAY_RELAYS_H
#define RELAY_RELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "relay.h"

#define RELAYS_MAX 31

struct event_base;
struct relays;

/* A loop whose timers are not late by up to a millisecond, as epoll's own timeouts are. NULL without memory. */
struct event_base *relay_precise_base(void);

/* On unix sockets in `dir`; before a server with TLS on a port of 127.0.0.1, so the server's certificate must be for
 * that or for a name that clients give. NULL: ret_why. */
struct relays *relays_create(const char *const *upstream, size_t n, const char *dir, uint64_t seed, char *ret_why,
                             size_t size);
void relays_destroy(struct relays *relays);
const char *const *relays_urls(const struct relays *relays);

/* The same at addresses that the caller has chosen, in `listen`, and which are the URLs afterwards. */
struct relays *relays_create_at(const char *const *listen, const char *const *upstream, size_t n, uint64_t seed,
                                char *ret_why, size_t size);

/* The process and its children belong to this side, of RELAY_GROUPS, from their next connection on; all others to side
 * 0. */
bool relays_assign(struct relays *relays, pid_t client, unsigned side);

/* Returns when it is so. */
bool relays_set(struct relays *relays, size_t server, unsigned side, enum relay_direction direction,
                const struct relay_toxics *toxics);

#endif
