/* Host names to addresses, without blocking the loop: getaddrinfo() on a helper thread.
 *
 * A lookup cannot be cancelled, and may take as long as the system's resolver likes. So nobody waits for the thread:
 * who loses interest forgets the lookup, and the resolver may be destroyed while threads are still running. */
#ifndef RL_DRIVER_RESOLVER_H
#define RL_DRIVER_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/instant.h"

struct event_base;
struct rl_resolver;

/* Socket addresses, and sockets connected to them. */

#define RL_ADDRESSES_MAX 16

struct rl_address {
    struct sockaddr_storage storage;
    socklen_t size;
};

struct rl_addresses {
    size_t count;
    struct rl_address at[RL_ADDRESSES_MAX];
};

/* The one address of a unix socket; the path has been checked to fit. */
void rl_addresses_unix(const char *path, struct rl_addresses *ret_addresses);

/* What getaddrinfo() finds; blocks, unless only numeric addresses are asked for. 0, or its error number. */
int rl_addresses_lookup(const char *host, uint16_t port, bool numeric_only, struct rl_addresses *ret_addresses);

/* Opens a non-blocking socket and starts to connect it. 0: connected; EINPROGRESS: writable when it is, or has
 * failed; any other errno: no socket. */
int rl_address_connect(const struct rl_address *address, struct rl_span user_timeout, int *ret_fd);

/* Runs from the event loop, once for each lookup that was started. addresses is NULL after a failure, with the
 * reason in `why`. Both are borrowed. */
typedef void (*rl_resolved_fn)(void *ctx, const struct rl_addresses *addresses, const char *why);

struct rl_resolver *rl_resolver_create(struct event_base *base); /* NULL: no memory, descriptor or event */

/* Lookups under way are orphaned: their callbacks never run. In a forked child the threads do not exist and the
 * event base is shared with the parent: the descriptor is closed, and the mailbox left as it is.
 * NULL is fine. */
void rl_resolver_destroy(struct rl_resolver *resolver, bool in_child);

/* false: no memory or thread; the callback will not run. */
bool rl_resolver_start(struct rl_resolver *resolver, const char *host, uint16_t port, rl_resolved_fn done, void *ctx);

#endif
