/* Socket addresses, and sockets connected to them. */
#ifndef RL_DRIVER_ADDRESS_H
#define RL_DRIVER_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/instant.h"

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

#endif
