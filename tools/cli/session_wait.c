/* Waiting in a session: for votes, masters, the end of a client, or a signal. */
#include "cli/session.h"

#include <string.h>

#include <event2/event.h>

#include "cli/password.h"

/* A master that neither answers nor refuses is down when its connection times out: well before this. */
enum { JOIN_MS = 10000, SILENT_MS = 10, BEHIND_MS = 100 };

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
    *(bool *)data = true;
}

bool session_run_until(struct session *session, session_condition condition, void *data, uint32_t timeout_ms)
{
    struct timeval after = {(time_t)(timeout_ms / 1000), (suseconds_t)(timeout_ms % 1000 * 1000)};
    bool over = false;
    struct event *timer = evtimer_new(session->base, on_timeout, &over);
    bool met = condition && condition(session, data);

    if (!timer || event_add(timer, &after) < 0)
        over = true;
    while (!met && !over && session->caught == 0) {
        if (event_base_loop(session->base, EVLOOP_ONCE) != 0)
            break;
        met = condition && condition(session, data);
    }
    if (timer)
        event_free(timer);
    return met;
}

bool session_poll(struct session *session)
{
    event_base_loop(session->base, EVLOOP_NONBLOCK);
    return session->caught == 0;
}

static bool all_judged(const struct session *session, void *data)
{
    const struct redlock_client *const *client = data;

    for (size_t i = 0; i < redlock_client_node_count(*client); i++) {
        struct redlock_node_stats stats;

        if (redlock_client_node_stats(*client, i, &stats, sizeof stats) != 0 || stats.link == REDLOCK_LINK_JOINING)
            return false;
    }
    return true;
}

void session_join(struct session *session, const struct redlock_client *client)
{
    session_run_until(session, all_judged, &client, JOIN_MS);
}

/* A master that hangs has not said a word. */
static bool all_speakers_judged(const struct session *session, void *data)
{
    const struct redlock_client *const *client = data;

    for (size_t i = 0; i < redlock_client_node_count(*client); i++) {
        struct redlock_node_stats stats;

        if (redlock_client_node_stats(*client, i, &stats, sizeof stats) == 0 &&
            stats.link == REDLOCK_LINK_JOINING && stats.bytes_in > 0)
            return false;
    }
    return true;
}

void session_join_behind(struct session *session, const struct redlock_client *client)
{
    if (!session_run_until(session, all_judged, &client, SILENT_MS))
        session_run_until(session, all_speakers_judged, &client, BEHIND_MS);
}

static bool all_voted(const struct session *session, void *data)
{
    for (size_t i = 0; i < session->last.n_nodes; i++)
        if (session->last.votes[i].vote == REDLOCK_VOTE_PENDING)
            return false;
    return true;
}

void session_settle(struct session *session, uint32_t timeout_ms)
{
    session_run_until(session, all_voted, NULL, timeout_ms);
}

static void on_shutdown(struct redlock_client *client, int status, void *data)
{
    *(bool *)data = true;
}

void session_finish(struct session *session, struct redlock_client *client, uint32_t timeout_ms)
{
    bool done = false;

    session->subject = (struct subject){0};
    if (client && redlock_client_shutdown(client, timeout_ms, on_shutdown, &done) == 0)
        while (!done && event_base_loop(session->base, EVLOOP_ONCE) == 0)
            continue;
    redlock_client_destroy(client);
}

const char *session_node_name(const struct redlock_client *client, size_t node)
{
    struct redlock_node_stats stats = {0};

    if (redlock_client_node_stats(client, node, &stats, sizeof stats) != 0)
        return "?";
    return stats.name;
}

void session_close(struct session *session)
{
    for (size_t i = 0; i < SESSION_SIGNALS; i++)
        if (session->signals[i])
            event_free(session->signals[i]);
    password_desk_close(session->desk);
    if (session->base)
        event_base_free(session->base);
    memset(session, 0, sizeof *session);
}
