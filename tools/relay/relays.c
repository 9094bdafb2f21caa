#include "relays.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event2/event.h>

#define MAX_OTHERS 256

/* What the owner says; the answer is one byte. */
struct order {
    bool assign;
    pid_t client;
    uint32_t server;
    uint32_t side;
    enum relay_direction direction;
    struct relay_toxics toxics;
};

/* What the relay process says at first. */
struct ready {
    bool ok;
    unsigned short ports[RELAYS_MAX]; /* 0: a unix socket */
};

struct relays {
    pid_t pid;
    int fd;
    size_t n;
    const char *urls[RELAYS_MAX + 1];
    char *owned[RELAYS_MAX];
};

/* Of the relay process. */
struct house {
    struct event_base *base;
    struct relay *relays[RELAYS_MAX];
    size_t n;
    struct other {
        pid_t process;
        unsigned side;
    } others[MAX_OTHERS]; /* processes that are not of side 0; of very many the oldest are forgotten */
    size_t n_others;
};

static unsigned side_of(const struct relay_peer *client, void *user_data)
{
    const struct house *house = user_data;

    for (size_t i = 0; i < house->n_others && i < MAX_OTHERS; i++)
        if (relay_peer_is(client, house->others[i].process))
            return house->others[i].side;
    return 0;
}

static void obey(struct house *house, const struct order *order)
{
    if (order->assign && order->side)
        house->others[house->n_others++ % MAX_OTHERS] = (struct other){order->client, order->side};
    else if (!order->assign && order->server < house->n)
        relay_set(house->relays[order->server], order->side, order->direction, &order->toxics);
}

static void on_order(evutil_socket_t fd, short what, void *user_data)
{
    struct house *house = user_data;
    struct order order;
    char done = 1;

    if (recv(fd, &order, sizeof order, 0) != (ssize_t)sizeof order) {
        event_base_loopbreak(house->base);
        return;
    }
    obey(house, &order);
    if (send(fd, &done, 1, MSG_NOSIGNAL) != 1)
        event_base_loopbreak(house->base);
}

struct event_base *relay_precise_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (config && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        base = event_base_new_with_config(config);
    if (config)
        event_config_free(config);
    return base;
}

static bool open_house(struct house *house, const char *const *upstream, const char *const *urls, size_t n,
                       uint64_t seed)
{
    char why[160] = "no event loop";

    house->base = relay_precise_base();
    for (; house->base && house->n < n; house->n++) {
        struct relay_options options = {.listen = urls[house->n],
                                        .upstream = upstream[house->n],
                                        .group_of = side_of,
                                        .user_data = house,
                                        .seed = seed + house->n};

        house->relays[house->n] = relay_create(house->base, &options, why, sizeof why);
        if (!house->relays[house->n])
            break;
    }
    return house->n == n;
}

/* 0: none. */
static unsigned short port_of(const struct relay *relay)
{
    const char *url = relay_url(relay);

    return strncmp(url, "redis://", strlen("redis://")) == 0 ? (unsigned short)atoi(strrchr(url, ':') + 1) : 0;
}

static int relay_process(int fd, const char *const *upstream, const char *const *urls, size_t n, uint64_t seed)
{
    struct house house = {.n = 0};
    struct ready ready = {.ok = open_house(&house, upstream, urls, n, seed)};
    struct event *orders = house.base ? event_new(house.base, fd, EV_READ | EV_PERSIST, on_order, &house) : NULL;

    ready.ok = ready.ok && orders && event_add(orders, NULL) == 0;
    for (size_t i = 0; i < house.n; i++)
        ready.ports[i] = port_of(house.relays[i]);
    if (send(fd, &ready, sizeof ready, MSG_NOSIGNAL) == (ssize_t)sizeof ready && ready.ok)
        event_base_dispatch(house.base);
    for (size_t i = 0; i < house.n; i++)
        relay_destroy(house.relays[i]);
    if (orders)
        event_free(orders);
    if (house.base)
        event_base_free(house.base);
    return 0;
}

static bool receive(const struct relays *relays, void *answer, size_t size)
{
    ssize_t n;

    do
        n = recv(relays->fd, answer, size, 0);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

static bool answered(const struct relays *relays)
{
    char done = 0;

    return receive(relays, &done, 1) && done == 1;
}

static bool has_tls(const char *url)
{
    return strncmp(url, "rediss://", strlen("rediss://")) == 0;
}

/* The same for the relay on a port. */
static char *tls_url_before(const char *upstream, unsigned short port)
{
    const char *place = upstream + strlen("rediss://");
    const char *at = strrchr(place, '@');
    const char *rest = at ? at + 1 : place;
    const char *database = strchr(rest, '/');
    char *url = NULL;

    if (asprintf(&url, "rediss://%.*s127.0.0.1:%u%s", (int)(rest - place), place, (unsigned)port,
                 database ? database : "") < 0)
        return NULL;
    return url;
}

/* The relay's address, with the credentials and the database of the server behind it. NULL without memory. */
static char *url_before(const char *upstream, const char *dir, size_t number)
{
    const char *place = strstr(upstream, "://") + strlen("://");
    const char *at = strrchr(place, '@');
    const char *rest = at ? at + 1 : place;
    bool local = strncmp(upstream, "unix:", strlen("unix:")) == 0;
    const char *database = strchr(rest, local ? '?' : '/');
    char *url = NULL;

    if (database && !local && database[1] == '\0')
        database = NULL;
    if (asprintf(&url, "unix://%.*s%s/relay%zu%s%s", (int)(rest - place), place, dir, number,
                 !database ? "" : local ? "?" : "?db=", database ? database + 1 : "") < 0)
        return NULL;
    return url;
}

static bool set_urls(struct relays *relays, const char *const *upstream, const char *dir, size_t n)
{
    if (n > RELAYS_MAX)
        return false;
    for (; relays->n < n; relays->n++) {
        relays->owned[relays->n] = has_tls(upstream[relays->n])
                                       ? strdup("redis://127.0.0.1:0")
                                       : url_before(upstream[relays->n], dir, relays->n + 1);
        relays->urls[relays->n] = relays->owned[relays->n];
        if (!relays->urls[relays->n])
            return false;
    }
    return true;
}

static bool copy_urls(struct relays *relays, const char *const *urls, size_t n)
{
    if (n > RELAYS_MAX)
        return false;
    for (; relays->n < n; relays->n++) {
        relays->owned[relays->n] = strdup(urls[relays->n]);
        relays->urls[relays->n] = relays->owned[relays->n];
        if (!relays->urls[relays->n])
            return false;
    }
    return true;
}

/* The ports that were free. */
static bool learn_ports(struct relays *relays, const char *const *upstream)
{
    struct ready ready = {.ok = false};

    if (!receive(relays, &ready, sizeof ready) || !ready.ok)
        return false;
    for (size_t i = 0; i < relays->n; i++) {
        if (!has_tls(upstream[i]))
            continue;
        free(relays->owned[i]);
        relays->urls[i] = relays->owned[i] = tls_url_before(upstream[i], ready.ports[i]);
        if (!relays->urls[i])
            return false;
    }
    return true;
}

static bool spawn(struct relays *relays, const char *const *upstream, uint64_t seed)
{
    pid_t parent = getpid();
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    relays->pid = fork();
    if (relays->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        _exit(getppid() == parent ? relay_process(pair[1], upstream, relays->urls, relays->n, seed) : 1);
    }
    close(pair[1]);
    relays->fd = pair[0];
    return relays->pid > 0 && learn_ports(relays, upstream);
}

struct relays *relays_create(const char *const *upstream, size_t n, const char *dir, uint64_t seed, char *ret_why,
                             size_t size)
{
    struct relays *relays = calloc(1, sizeof *relays);

    if (relays) {
        relays->fd = -1;
        if (set_urls(relays, upstream, dir, n) && spawn(relays, upstream, seed))
            return relays;
    }
    snprintf(ret_why, size, "the relays do not start in %.100s", dir);
    relays_destroy(relays);
    return NULL;
}

struct relays *relays_create_at(const char *const *listen, const char *const *upstream, size_t n, uint64_t seed,
                                char *ret_why, size_t size)
{
    struct relays *relays = calloc(1, sizeof *relays);

    if (relays) {
        relays->fd = -1;
        if (copy_urls(relays, listen, n) && spawn(relays, upstream, seed))
            return relays;
    }
    snprintf(ret_why, size, "the relays do not start at %.100s", n ? listen[0] : "no address");
    relays_destroy(relays);
    return NULL;
}

void relays_destroy(struct relays *relays)
{
    if (!relays)
        return;
    if (relays->fd >= 0)
        close(relays->fd); /* which ends it */
    while (relays->pid > 0 && waitpid(relays->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    for (size_t i = 0; i < relays->n; i++)
        free(relays->owned[i]);
    free(relays);
}

const char *const *relays_urls(const struct relays *relays)
{
    return relays->urls;
}

static bool give(struct relays *relays, const struct order *order)
{
    return send(relays->fd, order, sizeof *order, MSG_NOSIGNAL) == (ssize_t)sizeof *order && answered(relays);
}

bool relays_assign(struct relays *relays, pid_t client, unsigned side)
{
    return give(relays, &(struct order){.assign = true, .client = client, .side = side});
}

bool relays_set(struct relays *relays, size_t server, unsigned side, enum relay_direction direction,
                const struct relay_toxics *toxics)
{
    return give(relays, &(struct order){.server = (uint32_t)server,
                                        .side = side,
                                        .direction = direction,
                                        .toxics = *toxics});
}
