#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "floor_connect.h"

/* Does on the masters what the library's own release script does: see lib/kinds/scripts/release.lua. */
static const char script[] = "local value = redis.call('GET', KEYS[1])\n"
                             "if value == ARGV[1] then\n"
                             "  return redis.call('DEL', KEYS[1])\n"
                             "elseif value then\n"
                             "  return -1\n"
                             "end\n"
                             "return 0\n";

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_address(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static int connect_tcp(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    int fd = -1;

    if (getaddrinfo(host, port, &hints, &list) != 0)
        return -1;
    for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next)
        fd = connect_address(a);
    freeaddrinfo(list);
    return fd;
}

static int connect_url(const char *url, const char **ret_reason)
{
    char host[256], port[6] = "6379";

    *ret_reason = "the floor knows only redis://HOST[:PORT] and unix:///PATH";
    if (strncmp(url, "unix:///", 8) == 0 && !strpbrk(url, "?@")) {
        *ret_reason = "cannot connect";
        return connect_unix(url + 7);
    }
    if (strpbrk(url, "@[") || sscanf(url, "redis://%255[^:/]:%5[0-9]", host, port) < 1)
        return -1;
    *ret_reason = "cannot connect";
    return connect_tcp(host, port);
}

static bool load_script(int fd, char ret_sha1[FLOOR_SHA1_SIZE])
{
    const struct timeval patience = {5, 0};
    char buffer[512];
    size_t got = 0;
    int n = snprintf(buffer, sizeof buffer, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n%s\r\n", strlen(script),
                     script);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (send(fd, buffer, (size_t)n, MSG_NOSIGNAL) != n)
        return false;
    while (got < 5 + FLOOR_SHA1_SIZE + 2) {
        ssize_t more = recv(fd, buffer + got, sizeof buffer - got, 0);

        if (more <= 0)
            return false;
        got += (size_t)more;
        if (buffer[0] != '$')
            return false;
    }
    memcpy(ret_sha1, buffer + 5, FLOOR_SHA1_SIZE);
    return memcmp(buffer, "$40\r\n", 5) == 0;
}

int floor_connect(const char *url, char ret_sha1[FLOOR_SHA1_SIZE], const char **ret_reason)
{
    int fd = connect_url(url, ret_reason);

    if (fd < 0)
        return -1;
    if (load_script(fd, ret_sha1) && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
        return fd;
    close(fd);
    *ret_reason = "cannot load the release script";
    return -1;
}
