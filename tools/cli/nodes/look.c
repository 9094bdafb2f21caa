/* Looking at the masters as a client does, but with its hands behind its back. */
#include <stdio.h>
#include <string.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/nodes/nodes.h"

enum { PATIENCE_MS = 2000 };

/* A look sends nothing after its handshake, so that the client knows no latency, no rights but those that the handshake
 * needs, and not whether a write would be taken: questions of our own find out. */
/* Those that a change of the list has brought are known to the client alone. */
static void measure(const struct nodes_request *request, struct nodes_look *look)
{
    const struct probe_masters masters = probe_masters_of(&request->common);

    probe_rights(&masters, request->common.prefix, look->probes, look->rights);
    for (size_t i = request->common.masters.count; i < look->sum.n; i++)
        look->probes[i].latency_us = look->infos[i].latency_us;
}

bool nodes_answers(const struct nodes_look *look, size_t node)
{
    return quorum_status_answers(&look->infos[node]) || look->probes[node].refused;
}

/* A replica and a node of a cluster say no as well; what they are says more. */
bool nodes_refuses(const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];

    if (info->fault == REDLOCK_FAULT_NOT_MASTER || info->fault == REDLOCK_FAULT_CLUSTER)
        return false;
    if (quorum_status_answers(info) && strstr(look->probes[node].why, "max number of clients"))
        return false; /* the client has got the last connection */
    return look->probes[node].refused ||
           (look->rights[node].vital && quorum_status_answers(info) && info->fault != REDLOCK_FAULT_NO_RIGHTS);
}

static void exclude(struct redlock_node_info *info, enum redlock_fault fault, const char *text)
{
    info->standing = REDLOCK_STANDING_EXCLUDED;
    info->fault = fault;
    info->fault_text = text;
    info->quarantine_ms = 0;
}

/* A server that is met again after another one is alive, and so was the other. One that has only taken the place of
 * another is none of two. */
static const char *met_again(const char *const *ids, size_t n, const char **ret_other)
{
    for (size_t first = 0; first < n; first++)
        for (size_t between = first + 1; between < n; between++)
            for (size_t again = between + 1; again < n; again++)
                if (strcmp(ids[first], ids[between]) != 0 && strcmp(ids[first], ids[again]) == 0) {
                    *ret_other = ids[between];
                    return ids[first];
                }
    return NULL;
}

/* The client came before the probe, and its connection has outlived it or not. */
static void compare_servers(struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *before = &look->infos[node];
    const struct probe_rights *rights = &look->rights[node];
    const char *ids[PROBE_CONNECTIONS + 3], *one, *other;
    struct redlock_node_info after;
    size_t n = 0;

    redlock_client_node_info(look->client, node, &after, sizeof after);
    if (before->looked)
        ids[n++] = before->run_id;
    for (size_t i = 0; i < rights->met; i++)
        ids[n++] = rights->run_ids[i];
    if (after.looked && quorum_status_answers(&after))
        ids[n++] = after.run_id;
    one = met_again(ids, n, &other);
    look->by_turns[node] = one != NULL;
    if (one)
        snprintf(look->turns[node], sizeof look->turns[node],
                 "its name leads to two servers by turns (run ids %.8s..., %.8s...)", one, other);
}

const char *nodes_by_turns(const struct nodes_look *look)
{
    for (size_t i = 0; i < look->sum.n; i++)
        if (look->by_turns[i])
            return look->infos[i].name;
    return NULL;
}

/* What a client finds out later than it is looked at here. What mends itself, or by waiting, is not the reason then. */
static void add_findings(struct nodes_look *look)
{
    session_poll(look->session);
    for (size_t i = 0; i < look->sum.n; i++) {
        struct redlock_node_info *info = &look->infos[i];
        bool stays = info->standing == REDLOCK_STANDING_EXCLUDED && info->fault != REDLOCK_FAULT_NO_MARKER;

        compare_servers(look, i);
        if (look->by_turns[i])
            exclude(info, REDLOCK_FAULT_TWO_SERVERS, look->turns[i]);
        else if (quorum_status_answers(info) && look->rights[i].clock_stands && !stays)
            exclude(info, REDLOCK_FAULT_CLOCK_SLOW, "its clock stands still, or nearly so");
    }
}

/* --- Slow ones --------------------------------------------------------------------------------------------------- */

/* Masters that did not answer in time, and may do so later. */
struct patience {
    const struct redlock_client *client;
    struct nodes_look *look;
    bool waits_for[REDLOCK_MAX_MASTERS];
    int64_t first_ms[REDLOCK_MAX_MASTERS]; /* when the first byte came; 0: none has */
    int64_t begun_us;
};

static bool ran_out_of_time(const struct nodes_look *look, size_t node)
{
    const char *why = look->infos[node].last_error;

    return !nodes_answers(look, node) && !strstr(why, "resolving") &&
           (strstr(why, "timed out") || strstr(why, "within"));
}

static bool all_have_answered(const struct session *session, void *data)
{
    struct patience *patience = data;
    int64_t ms = (clock_now_us() - patience->begun_us + 999) / 1000;
    struct redlock_node_stats stats;
    bool all = true;

    for (size_t i = 0; i < patience->look->sum.n; i++) {
        if (!patience->waits_for[i] || redlock_client_node_stats(patience->client, i, &stats, sizeof stats) != 0)
            continue;
        if (stats.link == REDLOCK_LINK_READY && patience->look->slow_ms[i] == 0)
            patience->look->slow_ms[i] = ms;
        if (stats.bytes_in > 0 && patience->first_ms[i] == 0)
            patience->first_ms[i] = ms;
        all = all && stats.link != REDLOCK_LINK_JOINING;
    }
    return all;
}

/* How long do handshakes take that had too little time? Another client gives them more. The first answer comes after
 * two round trips at least, and two more are needed at least. */
static void wait_for_slow_ones(struct nodes_look *look)
{
    struct cli_common common = look->request->common;
    struct patience patience = {.look = look, .begun_us = clock_now_us()};
    struct redlock_client *client;
    bool any = false;
    int unused;

    for (size_t i = 0; i < look->sum.n; i++)
        any |= patience.waits_for[i] = ran_out_of_time(look, i);
    if (!any || common.node_timeout_ms >= PATIENCE_MS)
        return;
    common.join = REDLOCK_JOIN_LOOK;
    common.node_timeout_ms = PATIENCE_MS;
    client = session_client(look->session, "nodes", &common, &unused);
    if (!client)
        return;
    patience.client = client;
    session_run_until(look->session, all_have_answered, &patience, PATIENCE_MS);
    for (size_t i = 0; i < look->sum.n; i++)
        look->slow_ms[i] = look->slow_ms[i] == 0 ? 2 * patience.first_ms[i] : look->slow_ms[i];
    redlock_client_destroy(client);
}

bool nodes_is_slow(const struct nodes_look *look, size_t node)
{
    return ran_out_of_time(look, node) &&
           (look->slow_ms[node] > 0 || strstr(look->infos[node].last_error, " answers came within "));
}

/* --- The look ---------------------------------------------------------------------------------------------------- */

/* Those that would take a lock. */
static struct quorum_status able_of(const struct nodes_look *look)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    struct quorum_status able;

    memcpy(infos, look->infos, sizeof infos);
    for (size_t i = 0; i < look->sum.n; i++)
        if (nodes_refuses(look, i))
            infos[i] = (struct redlock_node_info){.link = infos[i].link, .standing = REDLOCK_STANDING_EXCLUDED};
    able = quorum_status_of(infos, look->sum.n, look->sum.quorum);
    able.answering = 0;
    for (size_t i = 0; i < look->sum.n; i++)
        able.answering += nodes_answers(look, i);
    return able;
}

bool nodes_look(struct session *session, const struct nodes_request *request, enum redlock_join join,
                struct nodes_look *ret_look, int *ret_exit)
{
    struct cli_common common = request->common;
    struct redlock_view view = {.list = {.quorum = cli_quorum(&request->common)}};
    size_t n;

    common.join = join;
    *ret_exit = CLI_INFRASTRUCTURE;
    *ret_look = (struct nodes_look){.request = request, .session = session};
    ret_look->client = session_client(session, "nodes", &common, ret_exit);
    if (!ret_look->client)
        return false;
    session_join(session, ret_look->client);
    n = quorum_status_read(ret_look->client, ret_look->infos);
    ret_look->sum.n = n;
    if (join == REDLOCK_JOIN_LOOK || join == REDLOCK_JOIN_DECLARE) {
        measure(request, ret_look);
        add_findings(ret_look);
        wait_for_slow_ones(ret_look);
    }
    redlock_client_view(ret_look->client, &view, sizeof view);
    ret_look->members = view.list.n;
    ret_look->sum = quorum_status_of(ret_look->infos, n, view.list.quorum);
    ret_look->able = able_of(ret_look);
    return session->caught == 0;
}

void nodes_look_end(struct nodes_look *look)
{
    redlock_client_destroy(look->client);
    look->client = NULL;
}

int64_t nodes_max_ttl_ms(const struct nodes_look *look)
{
    int64_t smallest = 0;

    for (size_t i = 0; i < look->sum.n; i++) {
        int64_t declared = look->infos[i].marker_max_ttl_ms;

        if (look->infos[i].member && declared > 0 && (smallest == 0 || declared < smallest))
            smallest = declared;
    }
    return smallest;
}
