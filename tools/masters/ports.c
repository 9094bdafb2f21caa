/* Free TCP ports.
 *
 * The kernel gives outgoing connections ports from its ephemeral range, also the connections of a client that keeps
 * trying to reach a killed master: such a client could occupy the very port that the master needs to come back, or
 * even connect to itself. So ports are taken from below that range. A port is only known to be free when the server
 * has bound it; until then it is a guess, and the caller tries again. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

#define LOWEST_PORT 10000

static unsigned ephemeral_start(void)
{
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned low = 0;

    if (!file)
        return 32768;
    if (fscanf(file, "%u", &low) != 1)
        low = 32768;
    fclose(file);
    return low;
}

/* Binds 127.0.0.1:port, 0 for any; the port that was bound, or 0. */
static uint16_t probe(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint16_t bound = 0;

    if (fd < 0)
        return 0;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, size) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0)
        bound = ntohs(address.sin_port);
    close(fd);
    return bound;
}

uint16_t port_pick(void)
{
    unsigned range_end = ephemeral_start();

    for (int i = 0; i < 100 && range_end > LOWEST_PORT + 1000; i++) {
        uint32_t random = 0;
        uint16_t port;

        if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
            break;
        port = probe((uint16_t)(LOWEST_PORT + random % (range_end - LOWEST_PORT)));
        if (port)
            return port;
    }
    return probe(0);
}
