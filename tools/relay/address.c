#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "internal.h"

#define DEFAULT_PORT "6379"

static bool complain(char *ret_why, size_t size, const char *what, const char *url)
{
    snprintf(ret_why, size, "%s: %.100s", what, url);
    return false;
}

/* Behind the scheme and the credentials. */
static const char *place_of(const char *url, size_t scheme)
{
    const char *at = strrchr(url + scheme, '@');

    return at ? at + 1 : url + scheme;
}

static bool parse_unix(const char *url, struct relay_address *ret, char *ret_why, size_t size)
{
    struct sockaddr_un *address = (struct sockaddr_un *)&ret->storage;
    const char *path = place_of(url, strlen("unix://"));
    size_t length = strcspn(path, "?");

    if (length == 0 || length >= sizeof(address->sun_path))
        return complain(ret_why, size, "no path, or one that is too long", url);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    ret->size = sizeof(*address);
    return true;
}

/* HOST, HOST:PORT, [IPv6] or [IPv6]:PORT. */
static void split(const char *place, char *ret_host, size_t host_size, char *ret_port, size_t port_size)
{
    bool bracketed = *place == '[';
    size_t host = bracketed ? strcspn(place + 1, "]") : strcspn(place, ":/");
    const char *rest = place + host + (bracketed ? 2 : 0);

    snprintf(ret_host, host_size, "%.*s", (int)host, place + bracketed);
    snprintf(ret_port, port_size, "%s", DEFAULT_PORT);
    if (*rest == ':')
        snprintf(ret_port, port_size, "%.*s", (int)strcspn(rest + 1, "/"), rest + 1);
}

static bool parse_tcp(const char *url, size_t scheme, struct relay_address *ret, char *ret_why, size_t size)
{
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[256], port[8];

    split(place_of(url, scheme), host, sizeof(host), port, sizeof(port));
    if (getaddrinfo(host, port, &wanted, &found) != 0 || !found)
        return complain(ret_why, size, "cannot be resolved", url);
    memcpy(&ret->storage, found->ai_addr, found->ai_addrlen);
    ret->size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

bool relay_address_parse(const char *url, struct relay_address *ret_address, char *ret_why, size_t size)
{
    memset(ret_address, 0, sizeof(*ret_address));
    if (strncmp(url, "unix://", strlen("unix://")) == 0)
        return parse_unix(url, ret_address, ret_why, size);
    if (strncmp(url, "redis://", strlen("redis://")) == 0)
        return parse_tcp(url, strlen("redis://"), ret_address, ret_why, size);
    if (strncmp(url, "rediss://", strlen("rediss://")) == 0)
        return parse_tcp(url, strlen("rediss://"), ret_address, ret_why, size);
    return complain(ret_why, size, "neither unix://, redis:// nor rediss://", url);
}

void relay_address_print(const struct relay_address *address, char *ret_url, size_t size)
{
    char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

    if (address->storage.ss_family == AF_UNIX) {
        snprintf(ret_url, size, "unix://%s", ((const struct sockaddr_un *)&address->storage)->sun_path);
        return;
    }
    getnameinfo((const struct sockaddr *)&address->storage, address->size, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(ret_url, size, address->storage.ss_family == AF_INET6 ? "redis://[%s]:%s" : "redis://%s:%s", host, port);
}
