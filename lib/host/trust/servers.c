/* IMPLEMENTATION NOTES
 *
 * A name may lead to two servers by turns: a service before two pods, a round robin before two masters. Each has a
 * marker for the same place in the list, so both vote for it, and two locks may count one vote each where there is
 * one to have. No server can see that. A client that meets both can:
 *
 *   - A server answers again after another one did. A process that has ended does not come back.
 *   - The memory of the server that answers now was there before the former one has answered last: by the time since
 *     it was found to be new. A durable memory is as old as its first process, so this says nothing of it, nor of one
 *     of which the client may not see whether it is; nor does a clock that was set.
 *
 * The master is excluded until a process answers that was not met before. When the name leads to one server again,
 * the votes of the other still count for those who have them: so the operator stops that one, waits for max_ttl, and
 * restarts the one that stays. */
#include "host/trust/servers.h"

#include <string.h>

#include "codec/command.h"
#include "host/host.h"

/* For what the two servers need to start and to be found. */
#define RL_BESIDE_MARGIN_MS 1000

static bool same_id(const char *a, const char *b)
{
    return *a && strcmp(a, b) == 0;
}

/* A replica shares its master's replication id, but takes no vote from it. */
static bool is_same_server(const struct rl_trust_node *a, const struct rl_trust_node *b)
{
    return a->has_report && b->has_report && strcmp(a->report.role, "master") == 0 &&
           (same_id(a->report.run_id, b->report.run_id) ||
            same_id(a->report.replication_id, b->report.replication_id));
}

/* Of several addresses of one server only one may vote, also while that one is down: its votes may still count, and a
 * lock must not count others of the same server beside them. It is the one for which the marker was made. Where no
 * marker decides (each database has its own, and a copied memory has that of its new server), it is the first. */
bool rl_trust_is_same_as_lower(const struct rl_host *host, unsigned node)
{
    const struct rl_trust_node *nodes = host->trust.nodes;

    for (unsigned i = 0; i < node; i++) {
        if (nodes[i].report.event != RL_JOIN_MISPLACED && is_same_server(&nodes[i], &nodes[node]))
            return true;
    }
    return false;
}

static bool is_process(const struct rl_server_id *met, const struct rl_join_report *report)
{
    return strcmp(met->run_id, report->run_id) == 0;
}

static bool is_server(const struct rl_server_id *met, const struct rl_join_report *report)
{
    return is_process(met, report) && strcmp(met->replication_id, report->replication_id) == 0;
}

/* The former one has answered after known->sent; when the answer was read says less, as this process may have been
 * stopped before that. Where the list of masters has changed since, a memory that was kept has another incarnation,
 * too, and nothing can be said. */
static bool lived_beside(const struct rl_host *host, const struct rl_trust_node *known, struct rl_instant sent,
                         struct rl_instant now)
{
    const struct rl_join_report *report = &known->report;
    int64_t apart_ms = rl_until(known->sent, now).ns / RL_NS_PER_MS;
    struct rl_node_clock clock = known->clock;

    return report->event == RL_JOIN_KEPT && !is_process(&known->met[0], report) && *known->met[0].incarnation &&
           strcmp(known->met[0].incarnation, report->incarnation) != 0 &&
           rl_trust_durability(known) == RL_DURABILITY_NONE &&
           report->age_ms > apart_ms + apart_ms / 10 + RL_BESIDE_MARGIN_MS &&
           rl_node_clock_read(&clock, host->options->drift_ppm, report->time_us, sent, now) == RL_CLOCK_STEADY;
}

static void push(struct rl_trust_node *known)
{
    memmove(&known->met[1], &known->met[0], sizeof known->met - sizeof known->met[0]);
    memcpy(known->met[0].run_id, known->report.run_id, sizeof known->met[0].run_id);
    memcpy(known->met[0].replication_id, known->report.replication_id, sizeof known->met[0].replication_id);
}

static void disregard_attempts(struct rl_host *host, unsigned node)
{
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_disregard(&RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, node);
}

/* A server that is marked for another place never votes for this one: nothing is amiss when the name leads back. */
static bool may_vote(const struct rl_join_report *report)
{
    return strcmp(report->role, "master") == 0 && *report->run_id &&
           (rl_join_found_marker(report->event) || report->event == RL_JOIN_ABSENT);
}

void rl_trust_meet_server(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    const struct rl_join_report *report = &known->report;
    bool again = false;
    bool met = false;

    if (!may_vote(report))
        return;
    for (size_t i = 0; i < RL_SERVERS_MET; i++) {
        met = met || is_process(&known->met[i], report);
        again = again || (i > 0 && is_server(&known->met[i], report));
    }
    if (!is_server(&known->met[0], report)) {
        if (again || (*known->met[0].run_id && lived_beside(host, known, sent, now))) {
            known->two_servers = true;
            disregard_attempts(host, node);
        } else if (!met) {
            known->two_servers = false;
        }
        push(known);
    }
    memcpy(known->met[0].incarnation, report->incarnation, sizeof known->met[0].incarnation);
}

static const char *const setting_names[RL_TRUST_N_SETTINGS] = {
    [RL_TRUST_APPEND_ONLY] = "appendonly",
    [RL_TRUST_APPEND_FSYNC] = "appendfsync",
    [RL_TRUST_NO_FSYNC_ON_REWRITE] = "no-appendfsync-on-rewrite",
    [RL_TRUST_CORRUPT_TAIL] = "aof-load-corrupt-tail-max-size",
};

bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out)
{
    const char *name = setting_names[setting];
    const struct rl_slice words[] = {{"CONFIG", 6}, {"GET", 3}, {name, strlen(name)}};

    return rl_words_encode(words, 3, out);
}

/* A server that does not know a setting says nothing of it: before Redis 8.4 no start drops a tail of the file that was
 * written in full. Any other answer than name and value: no right to see. */
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply)
{
    const struct rl_reply_item *value = &reply->elements[1];
    char *setting = known->settings[index];

    setting[0] = '\0';
    if (reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 0 && index == RL_TRUST_CORRUPT_TAIL)
        memcpy(setting, "0", 2);
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != 2 || value->type != RL_REPLY_STRING)
        return;
    if (value->text.size && value->text.size <= RL_TRUST_SETTING_MAX) {
        memcpy(setting, value->text.data, value->text.size);
        setting[value->text.size] = '\0';
    }
}

/* rule 5.6: "Without the rights to see, assume not durable." One setting that is seen to be wrong is enough. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node)
{
    static const char *const wanted[RL_TRUST_N_SETTINGS] = {"yes", "always", "no", "0"};
    enum rl_durability durability = RL_DURABILITY_ALWAYS;

    for (int i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        if (!node->settings[i][0])
            durability = RL_DURABILITY_UNKNOWN;
        else if (strcmp(node->settings[i], wanted[i]) != 0)
            return RL_DURABILITY_NONE;
    }
    return durability;
}
