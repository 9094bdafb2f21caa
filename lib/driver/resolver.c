/* IMPLEMENTATION NOTES
 *
 * The loop thread and the helper threads share a mailbox, which is freed by whoever leaves it last. A helper puts its
 * finished lookup into the mailbox and rings the eventfd, both under the mutex, so that the descriptor cannot be
 * closed (and its number used again) in between. A lookup's callback and context are touched by the loop thread only.
 *
 * No call of libevent is made off the loop thread: the base needs no locking. */
#include "driver/resolver.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "util/thread.h"

/* getaddrinfo() runs the system's lookup modules; the default of 8 MiB of address space is more than they need. */
#define STACK_BYTES (1024 * 1024)

struct mailbox {
    pthread_mutex_t mutex;
    struct lookup *finished; /* list */
    unsigned users;          /* the resolver, and each running helper */
    int bell;                /* eventfd; -1 once the resolver is gone */
};

struct lookup {
    struct lookup *next;
    struct mailbox *mailbox;
    char *host;
    uint16_t port;
    rl_resolved_fn done;
    void *ctx;
    int error; /* of getaddrinfo() */
    struct rl_addresses addresses;
};

struct rl_resolver {
    struct mailbox *mailbox;
    struct event *event;
};

static void free_lookup(struct lookup *lookup)
{
    free(lookup->host);
    free(lookup);
}

static void free_lookups(struct lookup *list)
{
    while (list) {
        struct lookup *next = list->next;

        free_lookup(list);
        list = next;
    }
}

/* Called with the mutex held; releases it. */
static void leave(struct mailbox *mailbox)
{
    bool last;

    assert(mailbox->users > 0);
    last = --mailbox->users == 0;
    pthread_mutex_unlock(&mailbox->mutex);
    if (!last)
        return;
    pthread_mutex_destroy(&mailbox->mutex);
    free_lookups(mailbox->finished);
    free(mailbox);
}

static void ring(int bell)
{
    const uint64_t one = 1;
    ssize_t n = write(bell, &one, sizeof one);

    (void)n; /* a full counter is as readable as any */
}

/* The helper thread. */
static void *look_up(void *arg)
{
    struct lookup *lookup = arg;
    struct mailbox *mailbox = lookup->mailbox;

    lookup->error = rl_addresses_lookup(lookup->host, lookup->port, false, &lookup->addresses);
    pthread_mutex_lock(&mailbox->mutex);
    lookup->next = mailbox->finished;
    mailbox->finished = lookup;
    if (mailbox->bell >= 0)
        ring(mailbox->bell);
    leave(mailbox);
    return NULL;
}

static struct lookup *take_finished(struct mailbox *mailbox)
{
    struct lookup *list;

    pthread_mutex_lock(&mailbox->mutex);
    list = mailbox->finished;
    mailbox->finished = NULL;
    pthread_mutex_unlock(&mailbox->mutex);
    return list;
}

static void on_bell(evutil_socket_t fd, short what, void *arg)
{
    struct rl_resolver *resolver = arg;
    uint64_t count;
    ssize_t n;

    n = read(fd, &count, sizeof count);
    (void)n;
    for (struct lookup *lookup = take_finished(resolver->mailbox), *next; lookup; lookup = next) {
        next = lookup->next;
        if (lookup->error)
            lookup->done(lookup->ctx, NULL, gai_strerror(lookup->error));
        else
            lookup->done(lookup->ctx, &lookup->addresses, "");
        free_lookup(lookup);
    }
}

static struct mailbox *create_mailbox(void)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);

    if (!mailbox)
        return NULL;
    mailbox->users = 1;
    mailbox->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (mailbox->bell >= 0 && pthread_mutex_init(&mailbox->mutex, NULL) == 0)
        return mailbox;
    if (mailbox->bell >= 0)
        close(mailbox->bell);
    free(mailbox);
    return NULL;
}

struct rl_resolver *rl_resolver_create(struct event_base *base)
{
    struct rl_resolver *resolver = calloc(1, sizeof *resolver);

    if (!resolver)
        return NULL;
    resolver->mailbox = create_mailbox();
    if (resolver->mailbox)
        resolver->event = event_new(base, resolver->mailbox->bell, EV_READ | EV_PERSIST, on_bell, resolver);
    if (resolver->event && event_add(resolver->event, NULL) == 0)
        return resolver;
    rl_resolver_destroy(resolver, false);
    return NULL;
}

/* A helper of the parent may have held the mutex at the fork, and its lookup has no owner here: the mailbox stays as it
 * is. The bell is closed before its event is deleted: see rl_driver_close(). */
static void abandon_in_child(struct rl_resolver *resolver)
{
    close(resolver->mailbox->bell);
    event_free(resolver->event);
    free(resolver);
}

void rl_resolver_destroy(struct rl_resolver *resolver, bool in_child)
{
    struct mailbox *mailbox = resolver ? resolver->mailbox : NULL;

    if (resolver && in_child) {
        abandon_in_child(resolver);
        return;
    }
    if (resolver && resolver->event)
        event_free(resolver->event);
    free(resolver);
    if (!mailbox)
        return;
    pthread_mutex_lock(&mailbox->mutex);
    close(mailbox->bell);
    mailbox->bell = -1;
    leave(mailbox);
}

static bool start_thread(struct lookup *lookup)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    started = rl_thread_start(&thread, &attributes, look_up, lookup);
    pthread_attr_destroy(&attributes);
    return started;
}

static void count_user(struct mailbox *mailbox, bool more)
{
    pthread_mutex_lock(&mailbox->mutex);
    mailbox->users += more ? 1 : -1U;
    pthread_mutex_unlock(&mailbox->mutex);
}

bool rl_resolver_start(struct rl_resolver *resolver, const char *host, uint16_t port, rl_resolved_fn done, void *ctx)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);

    if (!lookup)
        return false;
    lookup->host = strdup(host);
    lookup->mailbox = resolver->mailbox;
    lookup->port = port;
    lookup->done = done;
    lookup->ctx = ctx;
    count_user(resolver->mailbox, true);
    if (lookup->host && start_thread(lookup))
        return true;
    count_user(resolver->mailbox, false);
    free_lookup(lookup);
    return false;
}

void rl_addresses_unix(const char *path, struct rl_addresses *ret_addresses)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strnlen(path, sizeof address.sun_path - 1));
    memcpy(&ret_addresses->at[0].storage, &address, sizeof address);
    ret_addresses->at[0].size = sizeof address;
    ret_addresses->count = 1;
}

static void copy_addresses(const struct addrinfo *info, struct rl_addresses *ret_addresses)
{
    size_t count = 0;

    for (; info && count < RL_ADDRESSES_MAX; info = info->ai_next) {
        if (info->ai_addrlen > sizeof ret_addresses->at[0].storage)
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
    snprintf(service, sizeof service, "%u", (unsigned)port);
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

    setsockopt(fd, level, option, &on, sizeof on);
}

/* All of these only improve on a socket that works without them, so failures do not matter. */
static void tune_tcp(int fd, struct rl_span user_timeout)
{
    set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
    set_flag(fd, SOL_SOCKET, SO_KEEPALIVE);
#ifdef TCP_USER_TIMEOUT
    unsigned int timeout_ms = (unsigned int)(user_timeout.ns / RL_NS_PER_MS);

    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
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
