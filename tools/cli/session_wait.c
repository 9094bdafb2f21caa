/* Waiting in a session: for votes, masters and their list, the end of a client, or a signal. */
#include "cli/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/event.h>
#include <redlock/members.h>

#include "cli/agent_client.h"
#include "cli/password.h"
#include "cli/probe.h"
#include "cli/target.h"

/* A master that neither answers nor refuses is down when its connection times out: well before this. And this is over
 * before the client looks at excluded masters again, on new connections (after 10 s): they would be down meanwhile. */
enum { JOIN_MS = 9000, SILENT_MS = 10, BEHIND_MS = 100 };

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
    event_base_loop(session->base, EVLOOP_ONCE | EVLOOP_NONBLOCK); /* once, whatever comes meanwhile */
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
    agent_client_close(session->agent);
    if (session->base)
        event_base_free(session->base);
    memset(session, 0, sizeof *session);
}

/* --- The list that the client goes by ----------------------------------------------------------------------------- */

/* A member by its name in the list, "host:port/database". Its own count: it has none of that name. */
static size_t find_member(const struct redlock_client *client, const char *name)
{
    size_t length = (size_t)(strrchr(name, '/') - name);
    struct redlock_node_info info;
    size_t i = 0;

    for (; i < redlock_client_node_count(client); i++)
        if (redlock_client_node_info(client, i, &info, sizeof info) == 0 && info.member &&
            strlen(info.name) == length && strncasecmp(info.name, name, length) == 0)
            break;
    return i;
}

/* The URL of a master that has come, which is reached as `like` is. NULL: out of memory. */
static char *url_of(const char *like, const char *name)
{
    const char *slash = strrchr(name, '/');
    char *url;

    if (*name != '/')
        return target_url_like(like, name);
    return asprintf(&url, "unix://%.*s?db=%s", (int)(slash - name), name, slash + 1) < 0 ? NULL : url;
}

/* Where the client has not gone nobody goes. */
static bool find_place(const struct redlock_client *client, const char *name, bool given,
                       struct probe_place *ret_place)
{
    struct redlock_node_info info = {.last_error = ""};

    *ret_place = (struct probe_place){.node = find_member(client, name)};
    if (redlock_client_node_info(client, ret_place->node, &info, sizeof info) != 0)
        return false;
    if (!given && info.link != REDLOCK_LINK_READY && info.link != REDLOCK_LINK_LATE)
        snprintf(ret_place->why_not, sizeof ret_place->why_not, "%s",
                 *info.last_error != '\0' ? info.last_error : "it has not answered yet");
    return true;
}

/* The masters that were given stay as they are. */
static bool add_member(const struct session *session, const struct cli_masters *given, char *const names[],
                       const char *name, struct cli_masters *masters, bool *ret_given)
{
    char *come = NULL;
    size_t i = 0;
    bool added;

    while (i < given->count && strcmp(names[i], name) != 0)
        i++;
    *ret_given = i < given->count;
    if (!*ret_given)
        come = url_of(given->urls[0], name);
    added = (*ret_given || come) && cli_add_master(session->command, masters, *ret_given ? given->urls[i] : come);
    if (added)
        masters->has_password[masters->count - 1] = given->has_password[*ret_given ? i : 0];
    free(come);
    return added;
}

/* A name's database is shown if it is not 0. */
const char *session_names(const struct redlock_member_list *list, char buffer[SESSION_NAMES_SIZE])
{
    size_t size = 0;

    buffer[0] = '\0';
    for (size_t i = 0; i < list->n && size < SESSION_NAMES_SIZE; i++) {
        size_t length = strlen(list->names[i]);

        if (length > 2 && strcmp(list->names[i] + length - 2, "/0") == 0)
            length -= 2;
        size += (size_t)snprintf(buffer + size, SESSION_NAMES_SIZE - size, "%s%.*s", i ? "," : "", (int)length,
                                 list->names[i]);
    }
    return buffer;
}

/* Those of the list in place of those that were given. */
static bool take_list(const struct session *session, const struct redlock_client *client,
                      const struct redlock_member_list *list, char *const names[], struct cli_common *common,
                      struct probe_place *places)
{
    struct cli_masters *masters = &common->masters;
    struct cli_masters taken = {0}, given = *masters;
    char text[SESSION_NAMES_SIZE];
    bool changed = list->quorum != cli_quorum(common) || list->n != given.count;
    bool ok = true;

    for (size_t i = 0; i < list->n && ok; i++) {
        bool was_given;

        ok = add_member(session, &given, names, list->names[i], &taken, &was_given);
        changed |= !was_given;
        if (ok && !find_place(client, list->names[i], was_given, &places[i])) {
            cli_error(session->command, "out of memory"); /* otherwise the client has all members */
            ok = false;
        }
    }
    if (ok) {
        memcpy(masters->urls, taken.urls, sizeof taken.urls);
        memcpy(masters->owned, taken.owned, sizeof taken.owned);
        memcpy(masters->has_password, taken.has_password, sizeof taken.has_password);
        masters->count = taken.count;
        common->quorum = list->quorum;
        taken = (struct cli_masters){.count = given.count};
        memcpy(taken.owned, given.owned, sizeof given.owned);
    }
    cli_masters_fini(&taken);
    if (ok && changed)
        cli_error(session->command,
                  "the list of masters has been changed: it is now %s, with a quorum of %u, and is used here; correct "
                  "%s", session_names(list, text), (unsigned)list->quorum,
                  masters->from_environment ? "REDLOCK_NODES" : masters->n_files > 0 ? masters->files[0] : "--nodes");
    return ok;
}

static bool copy_names(const struct redlock_member_list *list, char *names[])
{
    bool ok = true;

    for (size_t i = 0; i < list->n && ok; i++)
        ok = (names[i] = strdup(list->names[i])) != NULL;
    return ok;
}

bool session_follow(struct session *session, struct redlock_client *client, struct cli_common *common,
                    struct probe_place *places)
{
    char *names[REDLOCK_MAX_MASTERS] = {0}; /* of those that were given, as a list names them */
    struct redlock_view view = {0};
    bool ok = redlock_client_view(client, &view, sizeof view) == 0 && copy_names(&view.list, names);

    for (size_t i = 0; i < common->masters.count; i++)
        places[i] = (struct probe_place){.node = i};
    if (ok)
        session_join(session, client);
    ok = ok && redlock_client_view(client, &view, sizeof view) == 0;
    if (!ok)
        cli_error(session->command, "out of memory");
    if (ok && view.turn > 0)
        ok = take_list(session, client, &view.list, names, common, places);
    for (size_t i = 0; i < REDLOCK_MAX_MASTERS; i++)
        free(names[i]);
    return ok;
}
