/* The listener, and the faults of the connections through it. */
#include "relay.h"

#include <dirent.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "internal.h"

#define MOST_AT_ONCE 16
#define NO_ROOM_US 100000

static unsigned group_of(const struct relay *relay, evutil_socket_t fd)
{
    struct relay_peer peer;

    if (!relay->group_of)
        return 0;
    relay_peer_find(&peer, fd);
    return relay->group_of(&peer, relay->user_data) % RELAY_GROUPS;
}

/* Clients wait outside for so long; until then the loop has time for other things. */
static void breathe(struct relay *relay, suseconds_t us)
{
    evconnlistener_disable(relay->listener);
    event_add(relay->breather, &(struct timeval){0, us});
    relay->accepted = 0;
}

/* The listener goes on for as long as there is somebody outside, which may be for ever: to find out who a client is
 * takes longer than to come again. */
static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *user_data)
{
    struct relay *relay = user_data;

    relay_pair_open(relay, fd, group_of(relay, fd));
    if (++relay->accepted == MOST_AT_ONCE)
        breathe(relay, 0);
}

/* Where descriptors or memory have run out, clients wait outside for a moment. To try at once again, and again, would
 * keep the loop from the connections that are there. */
static void on_no_room(struct evconnlistener *listener, void *user_data)
{
    breathe(user_data, NO_ROOM_US);
}

static void on_breather(evutil_socket_t fd, short what, void *user_data)
{
    struct relay *relay = user_data;

    if (relay->listener)
        evconnlistener_enable(relay->listener);
}

static bool listen_again(struct relay *relay)
{
    if (relay->listen.storage.ss_family == AF_UNIX)
        unlink(((struct sockaddr_un *)&relay->listen.storage)->sun_path);
    relay->listener = evconnlistener_new_bind(
        relay->base, on_connection, relay, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE, -1,
        (struct sockaddr *)&relay->listen.storage, (int)relay->listen.size);
    if (!relay->listener)
        return false;
    evconnlistener_set_error_cb(relay->listener, on_no_room);
    relay->listen.size = sizeof relay->listen.storage;
    getsockname(evconnlistener_get_fd(relay->listener), (struct sockaddr *)&relay->listen.storage,
                &relay->listen.size);
    return true;
}

struct relay *relay_create(struct event_base *base, const struct relay_options *options, char *ret_why, size_t size)
{
    struct relay *relay = calloc(1, sizeof *relay);

    if (!relay) {
        snprintf(ret_why, size, "out of memory");
        return NULL;
    }
    signal(SIGPIPE, SIG_IGN); /* libevent writes with writev(), and the client may have gone */
    list_init(&relay->pairs);
    relay->base = base;
    relay->group_of = options->group_of;
    relay->user_data = options->user_data;
    relay->random = options->seed * 2 + 1;
    if (!relay_address_parse(options->listen, &relay->listen, ret_why, size) ||
        !relay_address_parse(options->upstream, &relay->upstream, ret_why, size)) {
        free(relay);
        return NULL;
    }
    relay->breather = evtimer_new(base, on_breather, relay);
    if (!relay->breather || !listen_again(relay)) {
        snprintf(ret_why, size, "cannot listen at %.100s: %s", options->listen, strerror(errno));
        relay_destroy(relay);
        return NULL;
    }
    relay_address_print(&relay->listen, relay->url, sizeof relay->url);
    return relay;
}

static struct relay_pair *pair_of(struct list *node)
{
    return LIST_OWNER(node, struct relay_pair, link);
}

static void close_all(struct relay *relay)
{
    while (!list_is_empty(&relay->pairs))
        relay_pair_close(pair_of(relay->pairs.next));
    if (relay->listener)
        evconnlistener_free(relay->listener);
    relay->listener = NULL;
}

void relay_destroy(struct relay *relay)
{
    if (!relay)
        return;
    close_all(relay);
    if (relay->breather)
        event_free(relay->breather);
    free(relay);
}

const char *relay_url(const struct relay *relay)
{
    return relay->url;
}

void relay_set(struct relay *relay, unsigned group, enum relay_direction direction, const struct relay_toxics *toxics)
{
    relay->toxics[group][direction] = *toxics;
    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next) {
        struct relay_pair *pair = pair_of(node);

        if (pair->group != group)
            continue;
        relay_lane_pump(&pair->lanes[direction]);
        relay_pair_light_fuse(pair);
    }
}

bool relay_down(struct relay *relay, bool on)
{
    if (on)
        close_all(relay);
    return on || relay->listener || listen_again(relay);
}

void relay_cut(struct relay *relay)
{
    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        relay_pair_cut(pair_of(node));
}

size_t relay_held(const struct relay *relay, enum relay_direction direction)
{
    size_t n = 0;

    for (struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        n += relay_lane_held(&pair_of(node)->lanes[direction]);
    return n;
}

size_t relay_connections(const struct relay *relay)
{
    size_t n = 0;

    for (const struct list *node = relay->pairs.next; node != &relay->pairs; node = node->next)
        n++;
    return n;
}

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

    if (length == 0 || length >= sizeof address->sun_path)
        return complain(ret_why, size, "no path, or one that is too long", url);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    ret->size = sizeof *address;
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

    split(place_of(url, scheme), host, sizeof host, port, sizeof port);
    if (getaddrinfo(host, port, &wanted, &found) != 0 || !found)
        return complain(ret_why, size, "cannot be resolved", url);
    memcpy(&ret->storage, found->ai_addr, found->ai_addrlen);
    ret->size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

bool relay_address_parse(const char *url, struct relay_address *ret_address, char *ret_why, size_t size)
{
    memset(ret_address, 0, sizeof *ret_address);
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
    getnameinfo((const struct sockaddr *)&address->storage, address->size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(ret_url, size, address->storage.ss_family == AF_INET6 ? "redis://[%s]:%s" : "redis://%s:%s", host, port);
}

/* --- Which process is at the other end of a connection ------------------------------------------------------------ */

/* Which process is at the other end of a connection. A unix socket knows it. Of TCP the kernel tells the number of
 * the other end's socket (sock_diag(7)), and /proc/PID/fd has the sockets of a process. */

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

struct answer {
    struct nlmsghdr head;
    struct inet_diag_msg body;
};

static bool ask_kernel(const struct question *question, struct answer *ret_answer)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    char room[512];
    ssize_t size = -1;

    if (fd >= 0 && send(fd, question, sizeof *question, 0) == (ssize_t)sizeof *question)
        size = recv(fd, room, sizeof room, 0);
    if (fd >= 0)
        close(fd);
    if (size < (ssize_t)sizeof *ret_answer)
        return false;
    memcpy(ret_answer, room, sizeof *ret_answer);
    return ret_answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
}

/* The number of the socket that is connected from one place to the other; 0: it is not on this machine. */
static unsigned long find_socket(const struct sockaddr_in *from, const struct sockaddr_in *to)
{
    struct question question = {
        .head = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_INET,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_MAX,
                 .id = {.idiag_sport = from->sin_port,
                        .idiag_dport = to->sin_port,
                        .idiag_src = {from->sin_addr.s_addr},
                        .idiag_dst = {to->sin_addr.s_addr},
                        .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    struct answer answer;

    return ask_kernel(&question, &answer) ? answer.body.idiag_inode : 0;
}

void relay_peer_find(struct relay_peer *ret_peer, int fd)
{
    struct sockaddr_in here = {0}, there = {0};
    socklen_t here_size = sizeof here, there_size = sizeof there;
    struct ucred owner;
    socklen_t owner_size = sizeof owner;

    *ret_peer = (struct relay_peer){0};
    if (getsockname(fd, (struct sockaddr *)&here, &here_size) != 0 ||
        getpeername(fd, (struct sockaddr *)&there, &there_size) != 0)
        return;
    if (here.sin_family == AF_UNIX && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &owner_size) == 0)
        ret_peer->process = owner.pid;
    else if (here.sin_family == AF_INET && there.sin_family == AF_INET)
        ret_peer->socket = find_socket(&there, &here);
}

static bool has_socket(pid_t process, unsigned long number)
{
    char path[64], name[64];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%ld/fd", (long)process);
    snprintf(name, sizeof name, "socket:[%lu]", number);
    dir = opendir(path);
    while (dir && !found && (entry = readdir(dir))) {
        char target[64] = "";

        found = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) > 0 && strcmp(target, name) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

static bool is_itself(const struct relay_peer *peer, pid_t process)
{
    return peer->process == process || (peer->socket && has_socket(process, peer->socket));
}

/* Linux lists the children of a thread, CONFIG_PROC_CHILDREN provided, as distributions have it. */
static bool is_child(const struct relay_peer *peer, pid_t process)
{
    char path[64];
    long child;
    bool found = false;
    FILE *children;

    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)process);
    children = fopen(path, "re");
    while (children && !found && fscanf(children, "%ld", &child) == 1)
        found = is_itself(peer, (pid_t)child);
    if (children)
        fclose(children);
    return found;
}

bool relay_peer_is(const struct relay_peer *peer, pid_t process)
{
    return is_itself(peer, process) || is_child(peer, process);
}
