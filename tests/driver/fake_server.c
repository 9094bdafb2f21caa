#include "fake_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "request.h"
#include "suite.h"

#define PONG_TO_SUBSCRIBER "*2\r\n$4\r\npong\r\n$0\r\n\r\n"

static bool is_in(const struct fake_server *server, const char *channel)
{
    for (unsigned i = 0; i < server->n_channels; i++) {
        if (strcmp(server->channels[i], channel) == 0)
            return true;
    }
    return false;
}

static void enter(struct fake_server *server, const char *channel)
{
    if (is_in(server, channel))
        return;
    ck_assert_uint_lt(server->n_channels, FAKE_CHANNELS_MAX);
    snprintf(server->channels[server->n_channels++], sizeof server->channels[0], "%s", channel);
}

static void leave(struct fake_server *server, const char *channel)
{
    for (unsigned i = 0; i < server->n_channels; i++) {
        if (strcmp(server->channels[i], channel) == 0)
            memmove(server->channels[i], server->channels[--server->n_channels], sizeof server->channels[0]);
    }
}

static void append_reply(char *text, size_t size, const char *word, const char *channel, unsigned n)
{
    size_t length = strlen(text);
    int written = snprintf(text + length, size - length, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n:%u\r\n", strlen(word),
                           word, strlen(channel), channel, n);

    ck_assert(written > 0 && (size_t)written < size - length);
}

/* As a server does, once for each channel. */
static const char *subscribe_reply(struct fake_server *server, const struct request *request)
{
    static char reply[1024];

    reply[0] = '\0';
    for (size_t i = 1; i < request->n_words; i++) {
        enter(server, request->words[i]);
        append_reply(reply, sizeof reply, "subscribe", request->words[i], server->n_channels);
    }
    return reply;
}

static const char *unsubscribe_reply(struct fake_server *server, const struct request *request)
{
    static char reply[1024];

    reply[0] = '\0';
    for (size_t i = 1; i < request->n_words; i++) {
        leave(server, request->words[i]);
        append_reply(reply, sizeof reply, "unsubscribe", request->words[i], server->n_channels);
    }
    while (request->n_words == 1 && server->n_channels) {
        server->n_channels--;
        append_reply(reply, sizeof reply, "unsubscribe", server->channels[server->n_channels], server->n_channels);
    }
    return reply;
}

/* NULL if the command is not part of the handshake. */
static const char *handshake_reply(struct fake_server *server, const struct request *request)
{
    const struct fake_rules *rules = &server->rules;
    const struct {
        const char *name, *reply, *usual;
    } replies[] = {
        {"AUTH", rules->auth, "+OK\r\n"},
        {"CLIENT", rules->setname, "+OK\r\n"},
        {"SELECT", rules->select, "+OK\r\n"},
        {"PING", rules->ping, server->n_channels ? PONG_TO_SUBSCRIBER : "+PONG\r\n"},
    };

    if (strcmp(request->words[0], "SUBSCRIBE") == 0 && (server->n_channels ? rules->another : rules->subscribe))
        return server->n_channels ? rules->another : rules->subscribe;
    if (strcmp(request->words[0], "SUBSCRIBE") == 0)
        return subscribe_reply(server, request);
    if (strcmp(request->words[0], "UNSUBSCRIBE") == 0)
        return rules->unsubscribe ? rules->unsubscribe : unsubscribe_reply(server, request);

    for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
        if (strcmp(replies[i].name, request->words[0]) == 0)
            return replies[i].reply ? replies[i].reply : replies[i].usual;
    }
    return NULL;
}

static void append_text(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);

    snprintf(text + length, size - length, "%s", more);
}

static void log_request(struct fake_server *server, const struct request *request)
{
    for (size_t i = 0; i < request->n_words; i++) {
        append_text(server->log, sizeof server->log, i ? " " : "");
        append_text(server->log, sizeof server->log, request->words[i]);
    }
    append_text(server->log, sizeof server->log, ";");
}

static void note_command(struct fake_server *server, const struct request *request)
{
    if (strcmp(request->words[0], "AUTH") == 0)
        snprintf(server->auth, sizeof server->auth, "%.30s%s%.30s", request->words[1],
                 request->n_words > 2 ? " " : "", request->n_words > 2 ? request->words[2] : "");
}

static void answer(struct fake_server *server, const struct request *request)
{
    const char *reply = handshake_reply(server, request);

    if (reply) {
        note_command(server, request);
        append_text(server->handshake, sizeof server->handshake, request->words[0]);
        append_text(server->handshake, sizeof server->handshake, " ");
        fake_server_say(server, reply);
        return;
    }
    server->commands++;
    log_request(server, request);
    if (server->rules.other)
        fake_server_say(server, server->rules.other);
}

static void answer_all(struct fake_server *server)
{
    static struct request request;
    size_t used;

    do {
        size_t size = evbuffer_get_length(server->in);
        const char *bytes = (const char *)evbuffer_pullup(server->in, -1);

        used = bytes ? request_parse(bytes, size, &request) : 0;
        if (used) {
            evbuffer_drain(server->in, used);
            answer(server, &request);
        }
    } while (used && server->fd >= 0);
}

/* --- Connections --------------------------------------------------------------------------------------------- */

static void drop_client(struct fake_server *server)
{
    if (server->fd < 0)
        return;
    event_free(server->read_event);
    event_free(server->say_event);
    close(server->fd);
    server->fd = -1;
    evbuffer_drain(server->in, evbuffer_get_length(server->in));
    evbuffer_drain(server->out, evbuffer_get_length(server->out));
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    struct fake_server *server = arg;
    char buffer[65536];
    ssize_t n = recv(fd, buffer, sizeof buffer, 0);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        server->was_reset = n < 0;
        server->gone++;
        drop_client(server);
        return;
    }
    evbuffer_add(server->in, buffer, (size_t)n);
    answer_all(server);
}

/* A client that has gone already is found out by reading. */
static void send_all(const struct fake_server *server, const char *text, size_t size)
{
    ssize_t n = send(server->fd, text, size, MSG_NOSIGNAL);

    ck_assert(n == (ssize_t)size || (n < 0 && (errno == EPIPE || errno == ECONNRESET)));
}

static void say_one_byte(evutil_socket_t fd, short what, void *arg)
{
    struct fake_server *server = arg;
    const struct timeval now = {0, 0};
    char byte;

    if (evbuffer_remove(server->out, &byte, 1) != 1)
        return;
    send_all(server, &byte, 1);
    event_add(server->say_event, &now);
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
    struct fake_server *server = arg;
    int one = 1;
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0)
        return;
    server->accepted++;
    drop_client(server);
    if (server->hangs_up) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    server->fd = fd;
    server->n_channels = 0;
    server->handshake[0] = '\0';
    server->read_event = event_new(server->base, fd, EV_READ | EV_PERSIST, on_readable, server);
    server->say_event = event_new(server->base, -1, 0, say_one_byte, server);
    event_add(server->read_event, NULL);
}

void fake_server_say(struct fake_server *server, const char *text)
{
    const struct timeval now = {0, 0};
    size_t size = strlen(text);

    ck_assert_int_ge(server->fd, 0);
    if (server->bytewise) {
        evbuffer_add(server->out, text, size);
        event_add(server->say_event, &now);
    } else if (size) {
        send_all(server, text, size);
    }
}

void fake_server_hang_up(struct fake_server *server)
{
    drop_client(server);
}

void fake_server_reset(struct fake_server *server)
{
    const struct linger discard = {1, 0};

    setsockopt(server->fd, SOL_SOCKET, SO_LINGER, &discard, sizeof discard);
    drop_client(server);
}

void fake_server_set_deaf(struct fake_server *server, bool deaf)
{
    if (deaf)
        event_del(server->read_event);
    else
        event_add(server->read_event, NULL);
}

void fake_server_set_accepting(struct fake_server *server, bool accepting)
{
    if (accepting)
        event_add(server->accept_event, NULL);
    else
        event_del(server->accept_event);
}

/* --- Listening ----------------------------------------------------------------------------------------------- */

static bool bind_unix(struct fake_server *server)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(server->dir, sizeof server->dir, "/tmp/fake-server-XXXXXX");
    if (!mkdtemp(server->dir))
        return false;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", server->dir);
    snprintf(server->url, sizeof server->url, "unix://%s", address.sun_path);
    server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return bind(server->listener, (struct sockaddr *)&address, sizeof address) == 0;
}

static bool bind_tcp4(struct fake_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;

    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(server->listener, (struct sockaddr *)&address, size) != 0)
        return false;
    getsockname(server->listener, (struct sockaddr *)&address, &size);
    snprintf(server->url, sizeof server->url, "redis://127.0.0.1:%u", ntohs(address.sin_port));
    return true;
}

static bool bind_tcp6(struct fake_server *server)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof address;

    server->listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || bind(server->listener, (struct sockaddr *)&address, size) != 0)
        return false;
    getsockname(server->listener, (struct sockaddr *)&address, &size);
    snprintf(server->url, sizeof server->url, "redis://[::1]:%u", ntohs(address.sin6_port));
    return true;
}

static bool bind_listener(struct fake_server *server)
{
    switch (server->kind) {
    case FAKE_UNIX:
        return bind_unix(server);
    case FAKE_TCP4:
        return bind_tcp4(server);
    case FAKE_TCP6:
    default:
        return bind_tcp6(server);
    }
}

struct fake_server *fake_server_create(struct event_base *base, enum fake_kind kind, int backlog)
{
    struct fake_server *server = calloc(1, sizeof *server);

    ck_assert_ptr_nonnull(server);
    *server = (struct fake_server){.base = base, .kind = kind, .listener = -1, .fd = -1};
    server->in = evbuffer_new();
    server->out = evbuffer_new();
    if (!bind_listener(server) || listen(server->listener, backlog) != 0) {
        fake_server_destroy(server);
        return NULL;
    }
    server->accept_event = event_new(base, server->listener, EV_READ | EV_PERSIST, on_accept, server);
    event_add(server->accept_event, NULL);
    return server;
}

void fake_server_stop(struct fake_server *server)
{
    char path[128];

    drop_client(server);
    if (server->accept_event)
        event_free(server->accept_event);
    server->accept_event = NULL;
    if (server->listener >= 0)
        close(server->listener);
    server->listener = -1;
    if (server->dir[0]) {
        snprintf(path, sizeof path, "%s/s", server->dir);
        unlink(path);
        rmdir(server->dir);
    }
}

void fake_server_destroy(struct fake_server *server)
{
    if (!server)
        return;
    fake_server_stop(server);
    evbuffer_free(server->in);
    evbuffer_free(server->out);
    free(server);
}
