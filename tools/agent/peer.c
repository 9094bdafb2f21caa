/* One connection: lines in, lines out. Here a line becomes a request; the operation that it names checks the rest. A
 * peer whose line is too long, or who does not read, is disconnected, and keeps its locks until the deadlines that it
 * was told. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <redlock/version.h>

#include "agent/agent.h"
#include "agent/fields.h"
#include "cli/label.h"

/* --- Operations that are about the connection itself -------------------------------------------------------------- */

static void op_hello(struct peer *peer, int64_t id, json_t *request)
{
    const struct agent_options *options = peer->agent->options;
    uint64_t version = AGENT_VERSION;
    const struct field fields[] = {{"version", FIELD_NUMBER, &version, false}, {0}};
    char why[FIELDS_WHY_SIZE];
    json_t *words;

    if (!fields_read(request, fields, why)) {
        answer_wrong(peer, id, why);
        return;
    }
    if (version != AGENT_VERSION) {
        answer_wrong(peer, id, "this agent speaks version 1 of the protocol");
        return;
    }
    words = answer_ok(id);
    json_object_set_new(words, "version", json_integer(AGENT_VERSION));
    json_object_set_new(words, "agent", json_string(REDLOCK_VERSION));
    json_object_set_new(words, "boottime_us", json_integer(boot_now_us() - boot_ahead_us()));
    if (simulation)
        json_object_set_new(words, "simulated", json_true());
    json_object_set_new(words, "max_ttl_ms", json_integer(options->common.max_ttl_ms));
    json_object_set_new(words, "limits", json_pack("{s:i, s:I, s:I}", "line", AGENT_MOST_LINE, "locks",
                                                   (json_int_t)options->most_locks, "requests",
                                                   (json_int_t)options->most_requests));
    answer(peer, words);
}

/* Of a request without members of its own. False, after the answer. */
static bool is_bare(struct peer *peer, int64_t id, json_t *request)
{
    static const struct field none[] = {{0}};
    char why[FIELDS_WHY_SIZE];

    return fields_read(request, none, why) || answer_wrong(peer, id, why);
}

static void op_ping(struct peer *peer, int64_t id, json_t *request)
{
    json_t *words;

    if (!is_bare(peer, id, request))
        return;
    words = answer_ok(id);
    json_object_set_new(words, "boottime_us", json_integer(boot_now_us() - boot_ahead_us()));
    answer(peer, words);
}

static void op_list(struct peer *peer, int64_t id, json_t *request)
{
    json_t *words, *locks;

    if (!is_bare(peer, id, request))
        return;
    words = answer_ok(id);
    locks = json_array();
    for (struct list *node = peer->things.next; node != &peer->things; node = node->next) {
        struct thing *thing = LIST_OWNER(node, struct thing, link);
        json_t *described = thing->kind->describe ? thing->kind->describe(thing) : NULL;

        if (described)
            json_array_append_new(locks, described);
    }
    json_object_set_new(words, "locks", locks);
    answer(peer, words);
}

static struct request *find_request(struct peer *peer, uint64_t id)
{
    for (struct list *node = peer->requests.next; node != &peer->requests; node = node->next) {
        struct request *request = LIST_OWNER(node, struct request, link);

        if (request->id == (int64_t)id)
            return request;
    }
    return NULL;
}

static void op_cancel(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t wanted = 0;
    const struct field fields[] = {{"request", FIELD_NUMBER, &wanted, true}, {0}};
    char why[FIELDS_WHY_SIZE];
    struct request *request;

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
        return;
    }
    request = find_request(peer, wanted);
    if (!request || !request->cancel) {
        answer_status(peer, id, REDLOCK_E_NOTHING_TO_CANCEL);
        return;
    }
    request->cancel(request->thing);
    answer(peer, answer_ok(id));
}

static const struct operation {
    const char *name;
    void (*run)(struct peer *peer, int64_t id, json_t *request);
} operations[] = {
    {"hello", op_hello},   {"acquire", op_acquire}, {"extend", op_extend},   {"release", op_release},
    {"convert", op_convert}, {"enter", op_enter},   {"elect", op_elect},     {"resign", op_resign},
    {"observe", op_observe}, {"ignore", op_ignore}, {"latch", op_latch},     {"look", op_look},
    {"list", op_list},     {"cancel", op_cancel},   {"export", op_export},   {"adopt", op_adopt},
    {"ping", op_ping},
};

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static const struct operation *find_operation(const json_t *name)
{
    static const struct operation simulate = {"sim.", op_simulate};

    if (json_is_string(name) && strncmp(json_string_value(name), simulate.name, strlen(simulate.name)) == 0)
        return &simulate;
    for (size_t i = 0; json_is_string(name) && i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(json_string_value(name), operations[i].name) == 0)
            return &operations[i];
    return NULL;
}

static void refuse_line(struct peer *peer, const char *why)
{
    answer(peer, json_pack("{s:n, s:b, s:s, s:s}", "id", "ok", 0, "status", REQUEST_WRONG, "why", why));
}

static void take_line(struct peer *peer, const char *line, size_t size)
{
    json_error_t error;
    json_t *request = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    json_t *id = json_object_get(request, "id");
    const struct operation *operation = find_operation(json_object_get(request, "op"));
    char why[JSON_ERROR_TEXT_LENGTH + 64];

    if (!json_is_object(request)) {
        snprintf(why, sizeof why, "the line is no JSON object: %s", request ? "it is another value" : error.text);
        refuse_line(peer, is_utf8(why, strlen(why)) ? why : "the line is no JSON object: it is no UTF-8");
    } else if (!json_is_integer(id) || json_integer_value(id) < 0) {
        refuse_line(peer, "'id' must be a whole number from 0 on");
    } else if (!operation) {
        answer_refused(peer, json_integer_value(id), REQUEST_WRONG,
                       "'op' must be hello, acquire, extend, release, convert, enter, elect, resign, observe, ignore, "
                       "latch, look, list, cancel, export, adopt or ping");
    } else {
        operation->run(peer, json_integer_value(id), request);
    }
    json_decref(request);
}

static void on_read(struct bufferevent *stream, void *data)
{
    struct peer *peer = data;
    struct evbuffer *input = bufferevent_get_input(stream);
    size_t size;
    char *line;

    while (!peer->why && (line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF))) {
        take_line(peer, line, size);
        free(line);
    }
    if (evbuffer_get_length(input) >= AGENT_MOST_LINE) {
        refuse_line(peer, "the line is longer than 1048576 bytes: the connection ends");
        peer_doom(peer, "a line is too long");
    }
}

/* The other end has been closed for writing or as a whole, or the program lives: the system has refused something, or
 * the program has only ended its reading. */
static void on_end(struct bufferevent *stream, short what, void *data)
{
    struct pollfd end = {.fd = bufferevent_getfd(stream)};
    bool closed = (what & BEV_EVENT_EOF) || (poll(&end, 1, 0) == 1 && (end.revents & POLLHUP));

    peer_end(data, !closed);
}

static void on_doom(evutil_socket_t fd, short what, void *data)
{
    struct peer *peer = data;

    cli_error("agent", "%s is disconnected: %s", peer->identity.label, peer->why);
    peer_end(peer, true);
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static struct peer *create(struct agent *agent, int fd)
{
    struct peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    peer->agent = agent;
    list_init(&peer->requests);
    list_init(&peer->things);
    list_init(&peer->link);
    peer->end = evtimer_new(agent->session->base, on_doom, peer);
    peer->stream = bufferevent_socket_new(agent->session->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (peer->end && peer->stream)
        return peer;
    if (peer->end)
        event_free(peer->end);
    if (peer->stream)
        bufferevent_free(peer->stream);
    free(peer);
    return NULL;
}

/* It reads the reason if it looks. */
static void send_away(int fd, const char *why)
{
    char line[200];
    int size = snprintf(line, sizeof line, "{\"event\":\"closing\",\"why\":\"%s\"}\n", why);

    if (send(fd, line, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        cli_error("agent", "a connection was sent away: %s", why);
    close(fd);
}

void peer_begin(struct agent *agent, int fd)
{
    struct peer *peer;

    if (agent->n_peers >= agent->options->most_peers) {
        send_away(fd, "the agent has as many connections as it takes (--max-connections)");
        return;
    }
    peer = create(agent, fd);
    if (!peer) {
        send_away(fd, "the agent is out of memory");
        return;
    }
    identify(peer, fd);
    list_append(&agent->peers, &peer->link);
    agent->n_peers++;
    bufferevent_setcb(peer->stream, on_read, NULL, on_end, peer);
    bufferevent_setwatermark(peer->stream, EV_READ, 0, AGENT_MOST_LINE);
    bufferevent_enable(peer->stream, EV_READ | EV_WRITE);
}

static void end_thing(struct thing *thing, bool lives)
{
    int64_t ms = thing->kind->outlives_ms ? thing->kind->outlives_ms(thing) : 0;
    int64_t told_ms = lives ? thing_promised_ms(thing) : 0;

    if (ms >= 0 && told_ms > ms)
        ms = told_ms;
    if (ms <= 0 || !thing_linger(thing, ms))
        thing->kind->end(thing);
}

/* What it can be told without waiting: why. */
static void send_rest(struct peer *peer)
{
    struct evbuffer_iovec parts[64];
    int n = evbuffer_peek(bufferevent_get_output(peer->stream), -1, NULL, parts, 64);

    for (int i = 0; i < n && i < 64; i++)
        if (send(bufferevent_getfd(peer->stream), parts[i].iov_base, parts[i].iov_len, MSG_DONTWAIT | MSG_NOSIGNAL) !=
            (ssize_t)parts[i].iov_len)
            return;
}

void peer_end(struct peer *peer, bool lives)
{
    struct agent *agent = peer->agent;

    if (lives)
        send_rest(peer);
    peer->ended = true;
    while (!list_is_empty(&peer->things))
        end_thing(LIST_OWNER(peer->things.next, struct thing, link), lives);
    while (!list_is_empty(&peer->requests)) {
        struct request *request = LIST_OWNER(peer->requests.next, struct request, link);

        list_remove(&request->link);
        request->peer = NULL;
    }
    list_remove(&peer->link);
    agent->n_peers--;
    event_free(peer->end);
    bufferevent_free(peer->stream);
    free(peer);
}
