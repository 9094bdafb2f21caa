/* The look at a master: the host's part of each connection's handshake (protocol 5.1 to 5.4).
 *
 *     round 0   CONFIG GET, three times: is it durable?
 *     round 1   JOIN: what it says of itself, and whether its memory is the one that was known */
#include "host/trust_join.h"

#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "host/host.h"
#include "host/standing.h"

/* --- Round 0: durability ---------------------------------------------------------------------------------------- */

static const char *const setting_names[RL_TRUST_N_SETTINGS] = {
    [RL_TRUST_APPEND_ONLY] = "appendonly",
    [RL_TRUST_APPEND_FSYNC] = "appendfsync",
    [RL_TRUST_NO_FSYNC_ON_REWRITE] = "no-appendfsync-on-rewrite",
};

bool rl_trust_encode_setting(enum rl_trust_setting setting, struct rl_bytes *out)
{
    const char *name = setting_names[setting];
    const struct rl_slice words[] = {{"CONFIG", 6}, {"GET", 3}, {name, strlen(name)}};

    return rl_words_encode(words, 3, out);
}

static int ask_settings(struct rl_bytes *out)
{
    for (int i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        if (!rl_trust_encode_setting((enum rl_trust_setting)i, out))
            return -1;
    }
    return RL_TRUST_N_SETTINGS;
}

/* Any other answer than name and value: no right to see. */
void rl_trust_note_setting(struct rl_trust_node *known, unsigned index, const struct rl_reply *reply)
{
    const struct rl_reply_item *value = &reply->elements[1];
    char *setting = known->settings[index];

    setting[0] = '\0';
    if (reply->root.type != RL_REPLY_ARRAY || reply->n_elements != 2 || value->type != RL_REPLY_STRING)
        return;
    if (value->text.size && value->text.size <= RL_TRUST_SETTING_MAX) {
        memcpy(setting, value->text.data, value->text.size);
        setting[value->text.size] = '\0';
    }
}

/* protocol 5.3: "Without the rights to see, assume not durable." One setting that is seen to be wrong is enough. */
enum rl_durability rl_trust_durability(const struct rl_trust_node *node)
{
    static const char *const wanted[RL_TRUST_N_SETTINGS] = {"yes", "always", "no"};
    enum rl_durability durability = RL_DURABILITY_ALWAYS;

    for (int i = 0; i < RL_TRUST_N_SETTINGS; i++) {
        if (!node->settings[i][0])
            durability = RL_DURABILITY_UNKNOWN;
        else if (strcmp(node->settings[i], wanted[i]) != 0)
            return RL_DURABILITY_NONE;
    }
    return durability;
}

/* --- Round 1: JOIN ---------------------------------------------------------------------------------------------- */

/* The operator's word holds for the first look only: what is lost after that is a loss. */
static enum rl_join_mode mode_for(const struct rl_host *host, const struct rl_trust_node *known)
{
    static const enum rl_join_mode modes[] = {
        [REDLOCK_JOIN_VOTE] = RL_JOIN_VOTE,       [REDLOCK_JOIN_LOOK] = RL_JOIN_LOOK,
        [REDLOCK_JOIN_DECLARE] = RL_JOIN_DECLARE, [REDLOCK_JOIN_ANNOUNCE] = RL_JOIN_ANNOUNCE,
        [REDLOCK_JOIN_CONFIRM] = RL_JOIN_CONFIRM, [REDLOCK_JOIN_ALLOW] = RL_JOIN_ALLOW,
    };

    return host->options->join == REDLOCK_JOIN_DECLARE && known->joined ? RL_JOIN_VOTE : modes[host->options->join];
}

/* Is this client asked to take locks? Otherwise its max_ttl says nothing. */
static bool takes_locks(const struct rl_host *host)
{
    return host->options->join == REDLOCK_JOIN_VOTE || host->options->join == REDLOCK_JOIN_DECLARE;
}

/* A declaration has a number of its own, and says nothing of what the client has learned. */
static struct rl_deployment knowledge_for(const struct rl_host *host, enum rl_join_mode mode)
{
    if (mode == RL_JOIN_VOTE || mode == RL_JOIN_LOOK)
        return host->trust.known;
    return (struct rl_deployment){.number = host->options->declaration};
}

bool rl_trust_encode_join(struct rl_host *host, unsigned node, struct rl_bytes *out)
{
    const struct rl_trust_node *known = &host->trust.nodes[node];
    struct rl_command command;
    const char *seat = host->trust.names.seats[node];
    char incarnation[RL_UUID_SIZE];
    struct rl_join_question question = {
        .mode = mode_for(host, known),
        .marker = {host->trust.marker, strlen(host->trust.marker)},
        .incarnation = {incarnation, sizeof incarnation - 1},
        .deployment_id = {host->trust.names.ring, strlen(host->trust.names.ring)},
        .node_id = {seat, strlen(seat)},
        .max_ttl_ms = host->options->max_ttl_ms,
        .durability = rl_trust_durability(known),
    };

    question.known = knowledge_for(host, question.mode);
    host->environment.make_uuid(host->environment.ctx, incarnation);
    rl_join_command(&question, &command);
    return rl_command_encode(&command, out);
}

int rl_trust_greet(void *ctx, unsigned node, unsigned round, struct rl_bytes *out)
{
    struct rl_host *host = ctx;

    if (!host->trust.guarded || round > 1)
        return 0;
    if (round == 0)
        return ask_settings(out);
    return rl_trust_encode_join(host, node, out) ? 1 : -1;
}

/* --- The judgement ---------------------------------------------------------------------------------------------- */

static bool is_up(const struct rl_host *host, unsigned node)
{
    return host->engine.votes.links[node] == RL_LINK_READY || host->engine.votes.links[node] == RL_LINK_LATE;
}

static bool same_id(const char *a, const char *b)
{
    return *a && strcmp(a, b) == 0;
}

/* A replica shares its master's replication id, but takes no vote from it. */
static bool twins(const struct rl_trust_node *a, const struct rl_trust_node *b)
{
    return a->looked && b->looked && strcmp(a->report.role, "master") == 0 &&
           (same_id(a->report.run_id, b->report.run_id) ||
            same_id(a->report.replication_id, b->report.replication_id));
}

/* `joined` is about to be up. */
static bool has_lower_twin(const struct rl_host *host, unsigned node, unsigned joined)
{
    const struct rl_trust_node *nodes = host->trust.nodes;

    for (unsigned i = 0; i < node; i++) {
        if ((i == joined || is_up(host, i)) && twins(&nodes[i], &nodes[node]))
            return true;
    }
    return false;
}

static void judge(struct rl_host *host, unsigned node, struct rl_instant now)
{
    const struct rl_trust_node *known = &host->trust.nodes[node];
    const struct rl_join_rules rules = {
        .allow_eviction = host->options->allow_eviction,
        .same_server = known->same_server,
        .drift_ppm = host->options->drift_ppm,
        .max_ttl_ms = takes_locks(host) ? host->options->max_ttl_ms : 0,
        .allowed_ms = host->trust.known.max_ttl_ms,
    };
    struct rl_admission_status standing = rl_join_evaluate(&known->report, &rules, known->received);

    rl_trust_judged(host, node, &standing, now);
}

/* What one master says of itself may show that another one is the same server, or is not any more. */
static void judge_with_twins(struct rl_host *host, unsigned joined, struct rl_instant now)
{
    host->trust.nodes[joined].same_server = has_lower_twin(host, joined, joined);
    judge(host, joined, now);
    for (unsigned i = joined + 1; i < host->engine.votes.config.n_nodes; i++) {
        struct rl_trust_node *other = &host->trust.nodes[i];
        bool same = other->looked && has_lower_twin(host, i, joined);

        if (!other->looked || same == other->same_server)
            continue;
        other->same_server = same;
        judge(host, i, now);
    }
}

/* --- The deployment --------------------------------------------------------------------------------------------- */

static const char declared_since[] = "max_ttl has been declared since it was looked at";

/* Votes of attempts under way may come from a memory that ought to abstain: see votes/deployment.h. */
static void ask_anew(struct rl_host *host, unsigned node, struct rl_instant now)
{
    static const struct rl_admission_status unjudged = {.kind = RL_ADMISSION_UNEVALUATED, .epoch_checked = true};

    rl_trust_judged(host, node, &unjudged, now);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_disregard(&RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, node);
    rl_transport_fail(&host->transport, node, declared_since);
}

static bool is_known(const struct rl_host *host, unsigned node)
{
    return host->trust.nodes[node].looked && is_up(host, node);
}

/* What one master knows of the deployment may show that what others have said is out of date. */
static void learn(struct rl_host *host, unsigned joined, struct rl_instant now)
{
    struct rl_deployment *known = &host->trust.known;
    uint32_t allowed_ms = known->max_ttl_ms;

    known->longest_ms = known->max_ttl_ms;
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (host->trust.nodes[i].looked)
            rl_deployment_add(known, &host->trust.nodes[i].report, host->trust.nodes[i].received, now);
    }
    host->engine.votes.config.max_ttl_ms = rl_deployment_longest(known, host->options->max_ttl_ms);
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (i == joined || !is_known(host, i))
            continue;
        if (rl_deployment_missed(known, &host->trust.nodes[i].report))
            ask_anew(host, i, now);
        else if (allowed_ms != known->max_ttl_ms)
            judge(host, i, now);
    }
}

/* A question that was on its way when the client learned of a declaration is repeated. */
static bool is_out_of_date(const struct rl_host *host, unsigned node)
{
    return host->options->join <= REDLOCK_JOIN_DECLARE &&
           rl_deployment_missed(&host->trust.known, &host->trust.nodes[node].report);
}

const char *rl_trust_take_report(struct rl_host *host, unsigned node, struct rl_instant sent, struct rl_instant now)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    known->looked = true;
    known->joined = true;
    known->received = now;
    learn(host, node, now);
    if (is_out_of_date(host, node)) {
        ask_anew(host, node, now);
        return declared_since;
    }
    judge_with_twins(host, node, now);
    rl_trust_read_clock(host, node, known->report.time_us, sent, now);
    return NULL;
}

static struct rl_admission_status excluded(enum rl_fault fault)
{
    return (struct rl_admission_status){.kind = RL_ADMISSION_EXCLUDED, .fault = fault};
}

/* A node of a cluster that does not own the marker's slot, or that knows of no owner, says so instead of answering. */
static bool is_cluster_error(struct rl_slice text)
{
    enum rl_detail detail = rl_classify_error(text);

    return detail == RL_DETAIL_MOVED || detail == RL_DETAIL_CLUSTERDOWN;
}

/* Errors that are a judgement: the connection stays, so that people can see why the master does not vote.
 * protocol 5.7: "A less privileged fallback (no script or INFO rights) is allowed only when the user asks for it". */
static bool judge_error(const struct rl_host *host, struct rl_slice text, struct rl_admission_status *ret_standing)
{
    static const struct rl_admission_status unverified = {.kind = RL_ADMISSION_VOTES};

    if (is_cluster_error(text))
        *ret_standing = excluded(RL_FAULT_CLUSTER);
    else if (!rl_join_is_refusal(text))
        return false;
    else
        *ret_standing = host->options->allow_unverified ? unverified : excluded(RL_FAULT_NO_RIGHTS);
    return true;
}

static bool give_up(struct rl_trust_node *known, struct rl_slice text, const char **ret_why)
{
    snprintf(known->why, sizeof known->why, "JOIN: %.*s", (int)text.size, (const char *)text.data);
    *ret_why = known->why;
    return false;
}

static bool on_join_error(struct rl_host *host, unsigned node, struct rl_slice text, struct rl_instant now,
                          const char **ret_why)
{
    struct rl_trust_node *known = &host->trust.nodes[node];
    struct rl_admission_status standing;

    if (!judge_error(host, text, &standing))
        return give_up(known, text, ret_why);
    known->looked = false;
    known->report = (struct rl_join_report){0};
    rl_trust_judged(host, node, &standing, now);
    return true;
}

static bool on_join(struct rl_host *host, unsigned node, const struct rl_reply *reply, struct rl_instant sent,
                    struct rl_instant now, const char **ret_why)
{
    static const struct rl_slice misshapen = {"unexpected reply", 16};
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (reply->root.type == RL_REPLY_ERROR)
        return on_join_error(host, node, reply->root.text, now, ret_why);
    if (!rl_join_parse(reply, &known->report))
        return give_up(known, misshapen, ret_why);
    *ret_why = rl_trust_take_report(host, node, sent, now);
    return !*ret_why;
}

bool rl_trust_greeted(struct rl_host *host, unsigned node, unsigned round, unsigned index, const struct rl_reply *reply,
                      struct rl_instant sent, struct rl_instant now, const char **ret_why)
{
    if (round > 0)
        return on_join(host, node, reply, sent, now, ret_why);
    rl_trust_note_setting(&host->trust.nodes[node], index, reply);
    return true;
}
