#include "driver/address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

void rl_addresses_unix(const char *path, struct rl_addresses *ret_addresses)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
    memcpy(&ret_addresses->at[0].storage, &address, sizeof(address));
    ret_addresses->at[0].size = sizeof(address);
    ret_addresses->count = 1;
}

static void copy_addresses(const struct addrinfo *info, struct rl_addresses *ret_addresses)
{
    size_t count = 0;

    for (; info && count < RL_ADDRESSES_MAX; info = info->ai_next) {
        if (info->ai_addrlen > sizeof(ret_addresses->at[0].storage))
            continue;
        memcpy(&ret_addresses->at[count].storage, info->ai_addr, info->ai_addrlen);
        ret_addresses->at[count].size = info->ai_addrlen;
        count++;
    }
    ret_addresses->count = count;
}

int rl_addresses_lookup(const char *host, uint16_t port, bool numeric_only, struct rl_addresses *ret_addresses)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *info = NULL;
    char service[8];
    int error;

    if (numeric_only)
        hints.ai_flags |= AI_NUMERICHOST;
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    error = getaddrinfo(host, service, &hints, &info);
    if (error)
        return error;
    copy_addresses(info, ret_addresses);
    freeaddrinfo(info);
    return ret_addresses->count ? 0 : EAI_NONAME;
}

static void set_flag(int fd, int level, int option)
{
    int on = 1;

    setsockopt(fd, level, option, &on, sizeof(on));
}

/* All of these only improve on a socket that works without them, so failures do not matter. */
static void tune_tcp(int fd, struct rl_span user_timeout)
{
    set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
    set_flag(fd, SOL_SOCKET, SO_KEEPALIVE);
#ifdef TCP_USER_TIMEOUT
    unsigned int timeout_ms = (unsigned int)(user_timeout.ns / RL_NS_PER_MS);

    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
#endif
}

int rl_address_connect(const struct rl_address *address, struct rl_span user_timeout, int *ret_fd)
{
    int family = address->storage.ss_family;
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0)
        return errno;
    if (family != AF_UNIX)
        tune_tcp(fd, user_timeout);
    error = connect(fd, (const struct sockaddr *)&address->storage, address->size) == 0 ? 0 : errno;
    if (error == EINTR)
        error = EINPROGRESS; /* POSIX: it goes on by itself */
    if (error && error != EINPROGRESS)
        close(fd);
    else
        *ret_fd = fd;
    return error;
}
