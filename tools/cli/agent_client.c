#include "cli/agent_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "cli/agent_words.h"
#include "cli/clock.h"
#include "cli/session.h"
#include "portable/list.h"

/* An agent that has something to do is asked now and then whether it lives; after so many silent seconds it counts as
 * gone. */
enum { MOST_SILENT_S = 5, WHY_SIZE = 400 };

struct request {
    struct list link;
    uint64_t id;
    agent_answer_fn done;
    void *data;
    bool impatient; /* it ends the connection when the agent is silent */
};

struct agent_client {
    struct event_base *base;
    const char *path;
    struct bufferevent *stream; /* NULL: there is no connection */
    struct event *tick;  /* while something is awaited */
    struct event *alarm;
    struct list requests;
    const struct agent_listener *listener;
    uint64_t ids;
    int64_t asked_us;  /* when `hello` was sent */
    int64_t offset_us; /* the agent's clock less this process's */
    bool greeted;      /* it is an agent */
    unsigned silent_s;
    char why[WHY_SIZE];
};

/* --- The end of a connection -------------------------------------------------------------------------------------- */

static void say_why(struct agent_client *client, const char *why)
{
    snprintf(client->why, sizeof client->why, "the agent at %s %s", client->path, why);
}

static void close_stream(struct agent_client *client)
{
    if (client->stream)
        bufferevent_free(client->stream);
    client->stream = NULL;
    if (client->tick)
        event_del(client->tick);
}

/* With or without telling those who wait. */
static void drop_requests(struct agent_client *client, bool tells)
{
    while (!list_is_empty(&client->requests)) {
        struct request *request = LIST_OWNER(client->requests.next, struct request, link);
        struct request copy = *request;

        list_remove(&request->link);
        free(request);
        if (tells && copy.done)
            copy.done(NULL, copy.data);
    }
}

void agent_client_disconnect(struct agent_client *client)
{
    close_stream(client);
    drop_requests(client, false);
}

static void end(struct agent_client *client)
{
    close_stream(client);
    if (client->listener && client->listener->disconnected)
        client->listener->disconnected(client->listener->data);
    drop_requests(client, true);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void take_answer(struct agent_client *client, uint64_t id, const json_t *words)
{
    for (struct list *node = client->requests.next; node != &client->requests; node = node->next) {
        struct request *request = LIST_OWNER(node, struct request, link);
        struct request copy = *request;

        if (request->id != id)
            continue;
        list_remove(&request->link);
        free(request);
        if (copy.done)
            copy.done(words, copy.data);
        return;
    }
}

static void take_line(struct agent_client *client, const char *line, size_t size)
{
    json_error_t error;
    json_t *words = json_loadb(line, size, 0, &error);
    const json_t *id = json_object_get(words, "id");
    const char *event = agent_text(words, "event");

    client->silent_s = 0;
    if (!json_is_object(words) && !client->greeted) {
        say_why(client, "says what is no JSON: is it another program's socket?");
        end(client);
    } else if (json_is_integer(id)) {
        take_answer(client, (uint64_t)json_integer_value(id), words);
    } else if (strcmp(event, "closing") == 0) {
        snprintf(client->why, sizeof client->why, "the agent at %s has ended the connection: %s", client->path,
                 agent_text(words, "why"));
    }
    if (*event != '\0' && client->listener && client->listener->event)
        client->listener->event(event, words, client->listener->data);
    json_decref(words);
}

static void take_lines(struct agent_client *client, const struct bufferevent *stream, struct evbuffer *input)
{
    size_t size;
    char *line;

    while (client->stream == stream && (line = evbuffer_readln(input, &size, EVBUFFER_EOL_LF))) {
        take_line(client, line, size);
        free(line);
    }
}

static void on_read(struct bufferevent *stream, void *data)
{
    take_lines(data, stream, bufferevent_get_input(stream));
}

/* What it has said before counts, also what nobody has read since a word to it came too late. */
static void on_end(struct bufferevent *stream, short what, void *data)
{
    struct agent_client *client = data;
    struct evbuffer *rest = evbuffer_new();

    if (rest) {
        evbuffer_add_buffer(rest, bufferevent_get_input(stream));
        while (evbuffer_read(rest, bufferevent_getfd(stream), -1) > 0)
            continue;
        take_lines(client, stream, rest);
        evbuffer_free(rest);
    }
    if (client->stream != stream)
        return;
    if (!strstr(client->why, "has ended"))
        say_why(client, "has ended the connection");
    end(client);
}

/* --- Asking ------------------------------------------------------------------------------------------------------- */

static void ask(struct agent_client *client, json_t *request, agent_answer_fn done, void *data, bool impatient)
{
    static const struct timeval second = {.tv_sec = 1};
    struct request *pending = calloc(1, sizeof *pending);
    char *line = NULL;

    if (pending && client->stream && json_object_set_new(request, "id", json_integer((json_int_t)++client->ids)) == 0)
        line = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (!line) {
        free(pending);
        if (client->stream)
            say_why(client, "cannot be asked: a text is no UTF-8, or there is no memory");
        if (done)
            done(NULL, data);
        return;
    }
    *pending = (struct request){.id = client->ids, .done = done, .data = data, .impatient = impatient};
    list_append(&client->requests, &pending->link);
    bufferevent_write(client->stream, line, strlen(line));
    bufferevent_write(client->stream, "\n", 1);
    free(line);
    if (!event_pending(client->tick, EV_TIMEOUT, NULL))
        event_add(client->tick, &second);
}

void agent_client_ask(struct agent_client *client, json_t *request, agent_answer_fn done, void *data)
{
    ask(client, request, done, data, done != NULL);
}

void agent_client_ask_patiently(struct agent_client *client, json_t *request, agent_answer_fn done, void *data)
{
    ask(client, request, done, data, false);
}

/* --- Connecting --------------------------------------------------------------------------------------------------- */

/* Another time namespace has another clock: the earliest reading that is possible makes a deadline earlier. */
static void on_hello(const json_t *answer, void *data)
{
    struct agent_client *client = data;
    int64_t now_us = rl_clock_kernel_ns(CLOCK_BOOTTIME) / 1000;
    int64_t agent_us = agent_number(answer, "boottime_us");

    if (!answer)
        return;
    client->offset_us = client->asked_us <= agent_us && agent_us <= now_us ? 0 : agent_us - client->asked_us;
    client->greeted = agent_is_ok(answer);
    if (client->greeted)
        return;
    snprintf(client->why, sizeof client->why, "the agent at %s cannot be used: %s", client->path,
             agent_text(answer, "why"));
    end(client);
}

static int connect_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error;

    if (strlen(path) < sizeof address.sun_path)
        strcpy(address.sun_path, path);
    else
        errno = ENAMETOOLONG;
    if (fd >= 0 && *address.sun_path != '\0' && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static void explain_connect(struct agent_client *client)
{
    int error = errno;

    if (error == EAGAIN)
        say_why(client, "takes no connection: it is stopped, or busy");
    else
        snprintf(client->why, sizeof client->why, "no agent can be reached at %s: %s%s", client->path, strerror(error),
                 error == ENOENT || error == ECONNREFUSED ? ": is 'redlock agent' running there?" : "");
}

/* The listener is asked before a word is said. */
static bool begin(struct agent_client *client, int fd)
{
    const struct agent_listener *listener = client->listener;

    if (listener && listener->connected && !listener->connected(fd, listener->data)) {
        say_why(client, "cannot be used yet");
        close(fd);
        return false;
    }
    client->stream = bufferevent_socket_new(client->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!client->stream) {
        close(fd);
        return false;
    }
    say_why(client, "does not answer");
    client->greeted = false;
    bufferevent_setcb(client->stream, on_read, NULL, on_end, client);
    bufferevent_enable(client->stream, EV_READ | EV_WRITE);
    client->asked_us = rl_clock_kernel_ns(CLOCK_BOOTTIME) / 1000;
    ask(client, json_pack("{s:s, s:i}", "op", "hello", "version", 1), on_hello, client, false);
    return true;
}

bool agent_client_connect(struct agent_client *client)
{
    int fd;

    if (client->stream)
        return true;
    fd = connect_socket(client->path);
    if (fd < 0)
        explain_connect(client);
    return fd >= 0 && begin(client, fd);
}

bool agent_client_is_connected(const struct agent_client *client)
{
    return client->stream != NULL;
}

int agent_client_fd(const struct agent_client *client)
{
    return client->stream ? bufferevent_getfd(client->stream) : -1;
}

const char *agent_client_why(const struct agent_client *client)
{
    return client->why;
}

/* --- Answers that do not come ------------------------------------------------------------------------------------- */

static bool is_awaited(const struct agent_client *client)
{
    for (struct list *node = client->requests.next; node != &client->requests; node = node->next)
        if (LIST_OWNER(node, struct request, link)->impatient)
            return true;
    return false;
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
    struct agent_client *client = data;

    if (!client->stream || !is_awaited(client)) {
        client->silent_s = 0;
    } else if (++client->silent_s > MOST_SILENT_S) {
        client->silent_s = 0;
        say_why(client, "does not answer");
        end(client);
    } else {
        agent_client_ask(client, json_pack("{s:s}", "op", "ping"), NULL, NULL);
    }
}

struct waiting {
    bool done;
    json_t *answer;
};

static void on_got(const json_t *answer, void *data)
{
    struct waiting *waiting = data;

    waiting->done = true;
    waiting->answer = answer ? json_deep_copy(answer) : NULL;
}

json_t *agent_client_get(struct session *session, json_t *request)
{
    struct agent_client *client = session->agent;
    struct waiting waiting = {.done = false};

    if (!agent_client_connect(client)) {
        json_decref(request);
        return NULL;
    }
    agent_client_ask(client, request, on_got, &waiting);
    while (!waiting.done && session->caught == 0 && event_base_loop(client->base, EVLOOP_ONCE) == 0)
        continue;
    if (!waiting.done)
        agent_client_disconnect(client);
    return waiting.answer;
}

int64_t agent_client_deadline_ns(const struct agent_client *client, const json_t *words)
{
    return (agent_number(words, "deadline_us") - client->offset_us) * 1000;
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

static void on_alarm(evutil_socket_t fd, short what, void *data)
{
    struct agent_client *client = data;

    if (client->listener && client->listener->wake)
        client->listener->wake(client->listener->data);
}

void agent_client_wake(struct agent_client *client, int64_t after_ns)
{
    int64_t us = after_ns / 1000 + 1;
    struct timeval after = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};

    event_add(client->alarm, &after);
}

struct agent_client *agent_client_open(struct event_base *base, const char *path)
{
    struct agent_client *client = calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->base = base;
    client->path = path;
    list_init(&client->requests);
    client->tick = evtimer_new(base, on_tick, client);
    client->alarm = evtimer_new(base, on_alarm, client);
    if (client->tick && client->alarm)
        return client;
    agent_client_close(client);
    return NULL;
}

void agent_client_listen(struct agent_client *client, const struct agent_listener *listener)
{
    client->listener = listener;
}

void agent_client_close(struct agent_client *client)
{
    if (!client)
        return;
    agent_client_disconnect(client);
    if (client->tick)
        event_free(client->tick);
    if (client->alarm)
        event_free(client->alarm);
    free(client);
}
