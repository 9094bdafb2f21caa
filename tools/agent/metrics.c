/* --metrics-listen: GET /metrics, for Prometheus. Whoever can connect can read it, and do nothing else.
 *
 * Each connection takes a descriptor that a program or a master may need. So they are few, each has one answer, and
 * their time is short. libevent's own HTTP server has no limit of that kind. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>

#include "agent/agent.h"

enum { PATIENCE_S = 10, CLOSING_S = 1, MOST_REQUEST = 8192, MOST_SCRAPERS = 32 };

struct scraper {
    struct list link;
    struct agent *agent;
    struct bufferevent *stream;
    struct event *over;
    bool answered;
    bool silent; /* it sends no more */
};

/* --- The place ---------------------------------------------------------------------------------------------------- */

static bool parse(const char *where, struct sockaddr_storage *ret_address, int *ret_size)
{
    static const char digits[] = "0123456789";
    const char *port = strrchr(where, ':');
    char text[80];

    port = port ? port + 1 : where;
    if (strlen(where) >= 64 || strspn(port, digits) != strlen(port))
        return false;
    snprintf(text, sizeof text, "%s%s", port == where ? "127.0.0.1:" : "", where);
    *ret_size = sizeof *ret_address;
    if (evutil_parse_sockaddr_port(text, (struct sockaddr *)ret_address, ret_size) != 0)
        return false;
    if (ret_address->ss_family == AF_INET6)
        return ((struct sockaddr_in6 *)ret_address)->sin6_port != 0;
    return ((struct sockaddr_in *)ret_address)->sin_port != 0;
}

bool metrics_check(const char *where)
{
    struct sockaddr_storage address;
    int size;

    if (!where || parse(where, &address, &size))
        return true;
    cli_error("agent", "--metrics-listen takes a port, or an address in digits and a port, such as 127.0.0.1:9199 or "
              "[::1]:9199, not '%s'", where);
    return false;
}

/* --- Answers ------------------------------------------------------------------------------------------------------ */

static void write_answer(struct scraper *scraper, const char *status, const char *body, size_t length, bool with_body)
{
    struct evbuffer *out = bufferevent_get_output(scraper->stream);

    evbuffer_add_printf(out, "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: %zu\r\n"
                        "Connection: close\r\n\r\n", status, length);
    if (with_body)
        evbuffer_add(out, body, length);
    scraper->answered = true;
}

static void answer_page(struct scraper *scraper, bool with_body)
{
    size_t length;
    char *page = cli_metrics(scraper->agent->client, NULL, 0, &length);

    if (page)
        write_answer(scraper, "200 OK", page, length, with_body);
    else
        write_answer(scraper, "503 Service Unavailable", "", 0, false);
    free(page);
}

/* The first line of the request; all that follows says nothing that matters here. */
static void answer_request(struct scraper *scraper, const char *line)
{
    char method[8], path[64];
    int n = sscanf(line, "%7s %63[^ ?]", method, path);
    bool head = n == 2 && strcmp(method, "HEAD") == 0;

    if (n != 2)
        write_answer(scraper, "400 Bad Request", "", 0, false);
    else if (!head && strcmp(method, "GET") != 0)
        write_answer(scraper, "405 Method Not Allowed\r\nAllow: GET, HEAD", "", 0, false);
    else if (strcmp(path, "/metrics") != 0)
        write_answer(scraper, "404 Not Found", "see /metrics\n", 13, !head);
    else
        answer_page(scraper, !head);
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static void end(struct scraper *scraper)
{
    struct agent *agent = scraper->agent;

    if (agent->n_scrapers-- == MOST_SCRAPERS && agent->scraped)
        evconnlistener_enable(agent->scraped);
    list_remove(&scraper->link);
    if (scraper->stream)
        bufferevent_free(scraper->stream);
    if (scraper->over)
        event_free(scraper->over);
    free(scraper);
}

static void on_over(evutil_socket_t fd, short what, void *data)
{
    end(data);
}

/* Whoever has asked may shut down for writing, and read on. */
static void on_event(struct bufferevent *stream, short what, void *data)
{
    struct scraper *scraper = data;

    if (what & BEV_EVENT_EOF && evbuffer_get_length(bufferevent_get_output(stream)) > 0)
        scraper->silent = true;
    else
        end(scraper);
}

/* What comes behind the request is read, and left: a connection that is closed with input in it takes the answer with
 * it. */
static void on_input(struct bufferevent *stream, void *data)
{
    struct scraper *scraper = data;
    struct evbuffer *in = bufferevent_get_input(stream);
    char *line;

    if (!scraper->answered && evbuffer_search(in, "\r\n\r\n", 4, NULL).pos < 0) {
        if (evbuffer_get_length(in) <= MOST_REQUEST)
            return;
        write_answer(scraper, "431 Request Header Fields Too Large", "", 0, false);
    }
    line = scraper->answered ? NULL : evbuffer_readln(in, NULL, EVBUFFER_EOL_CRLF_STRICT);
    if (line)
        answer_request(scraper, line);
    free(line);
    evbuffer_drain(in, evbuffer_get_length(in));
}

static void on_output(struct bufferevent *stream, void *data)
{
    static const struct timeval patience = {.tv_sec = CLOSING_S};
    struct scraper *scraper = data;

    if (!scraper->answered)
        return;
    shutdown(bufferevent_getfd(stream), SHUT_WR);
    if (scraper->silent || event_add(scraper->over, &patience) != 0)
        end(scraper);
}

/* Whoever comes when there are enough waits in the listener's backlog. */
static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size,
                          void *data)
{
    static const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct agent *agent = data;
    struct event_base *base = agent->session->base;
    struct scraper *scraper = calloc(1, sizeof *scraper);

    if (!scraper) {
        evutil_closesocket(fd);
        return;
    }
    scraper->agent = agent;
    list_append(&agent->scrapers, &scraper->link);
    if (++agent->n_scrapers == MOST_SCRAPERS)
        evconnlistener_disable(listener);
    scraper->over = evtimer_new(base, on_over, scraper);
    scraper->stream = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!scraper->stream)
        evutil_closesocket(fd);
    if (!scraper->stream || !scraper->over || event_add(scraper->over, &patience) != 0) {
        end(scraper);
        return;
    }
    bufferevent_setcb(scraper->stream, on_input, on_output, on_event, scraper);
    bufferevent_enable(scraper->stream, EV_READ | EV_WRITE);
}

static void on_again(evutil_socket_t fd, short what, void *data)
{
    const struct agent *agent = data;

    if (agent->scraped && agent->n_scrapers < MOST_SCRAPERS)
        evconnlistener_enable(agent->scraped);
}

/* Out of descriptors, say. Whoever connects waits in the backlog meanwhile. */
static void on_refusal(struct evconnlistener *listener, void *data)
{
    static const struct timeval after = {.tv_sec = 1};
    struct agent *agent = data;

    cli_error("agent", "--metrics-listen: no connection can be taken for a second: %s", strerror(errno));
    if (event_base_once(agent->session->base, -1, EV_TIMEOUT, on_again, agent, &after) == 0)
        evconnlistener_disable(listener);
}

bool metrics_open(struct agent *agent)
{
    const char *where = agent->options->metrics;
    struct sockaddr_storage address;
    int size;

    list_init(&agent->scrapers);
    if (!where)
        return true;
    errno = 0;
    if (parse(where, &address, &size))
        agent->scraped = evconnlistener_new_bind(agent->session->base, on_connection, agent,
                                                 LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
                                                 MOST_SCRAPERS, (struct sockaddr *)&address, size);
    if (agent->scraped)
        evconnlistener_set_error_cb(agent->scraped, on_refusal);
    else
        cli_error("agent", "--metrics-listen %s: %s", where, strerror(errno));
    return agent->scraped != NULL;
}

void metrics_close(struct agent *agent)
{
    struct evconnlistener *listener = agent->scraped;

    agent->scraped = NULL;
    if (listener)
        evconnlistener_free(listener);
    while (agent->n_scrapers > 0)
        end(LIST_OWNER(agent->scrapers.next, struct scraper, link));
}
