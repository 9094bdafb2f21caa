/* Admission status of the masters: it is evaluated from what they answer to JOIN (votes/admission.c) and reported
 * above. */
#include "host/trust/admission.h"

#include <string.h>

#include "codec/classify.h"
#include "host/host.h"
#include "host/trust/servers.h"
#include "host/trust/trust.h"
#include "votes/admission.h"

/* --- Status ----------------------------------------------------------------------------------------------------- */

static struct rl_admission_status excluded(enum rl_fault fault)
{
    return (struct rl_admission_status){.kind = RL_ADMISSION_EXCLUDED, .fault = fault};
}

static struct rl_admission_status quarantined(struct rl_admission_status status, enum rl_fault fault,
                                              struct rl_instant until)
{
    status.kind = RL_ADMISSION_QUARANTINED;
    status.fault = fault;
    status.until = until;
    return status;
}

struct rl_admission_status rl_trust_status(const struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_admission_status status = host->engine.votes.admissions[node];
    struct rl_instant stepped_until = host->engine.votes.stepped_until[node];

    if (status.kind == RL_ADMISSION_UNEVALUATED)
        status.fault = RL_FAULT_UNJUDGED;
    if (!rl_admission_votes(&status, now))
        return status;
    if (host->engine.votes.slow_clocks & rl_bit(node))
        return excluded(RL_FAULT_CLOCK_SLOW);
    if (rl_before(now, stepped_until))
        return quarantined(status, RL_FAULT_CLOCK_STEP, stepped_until);
    status.kind = RL_ADMISSION_VOTES;
    status.fault = RL_FAULT_NONE;
    return status;
}

const char *rl_trust_fault_text(const struct rl_host *host, unsigned node, enum rl_fault fault)
{
    const struct rl_trust_node *known = &host->trust.nodes[node];

    if (fault == RL_FAULT_NOT_MASTER && known->has_report && !known->report.role[0])
        return "its INFO tells no role: it is no Redis server, but something that resembles one";
    return rl_fault_text(fault);
}

static void report(struct rl_host *host, unsigned node, const struct rl_admission_status *status)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (known->reported_kind == status->kind && known->reported_fault == status->fault)
        return;
    known->reported_kind = status->kind;
    known->reported_fault = status->fault;
    host->sink->validity(host, NULL);
    host->sink->admission(host, node, status);
}

void rl_trust_update(struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_admission_status status = rl_trust_status(host, node, now);

    report(host, node, &status);
    rl_transport_arm(&host->transport, &host->trust.nodes[node].timer, rl_trust_recheck_at(&status, now));
}

void rl_trust_set_status(struct rl_host *host, unsigned node, const struct rl_admission_status *status,
                         struct rl_instant now)
{
    rl_engine_admission(&host->engine, node, status);
    rl_engine_admissions_changed(&host->engine, now);
    rl_trust_update(host, node, now);
}

/* --- Evaluation ------------------------------------------------------------------------------------------------- */

bool rl_trust_is_up(const struct rl_host *host, unsigned node)
{
    return host->engine.votes.links[node] == RL_LINK_READY || host->engine.votes.links[node] == RL_LINK_LATE;
}

/* A client that is not asked to take locks says nothing by its max_ttl. */
static bool takes_locks(const struct rl_host *host)
{
    return host->options->join == REDLOCK_JOIN_VOTE || host->options->join == REDLOCK_JOIN_DECLARE;
}

void rl_trust_evaluate(struct rl_host *host, unsigned node, struct rl_instant now)
{
    const struct rl_trust_node *known = &host->trust.nodes[node];
    const struct rl_admission_rules rules = {
        .allow_eviction = host->options->allow_eviction,
        .same_server = known->same_server,
        .no_member = known->left_until.ns != RL_NEVER.ns,
        .two_servers = known->two_servers,
        .drift_ppm = host->options->drift_ppm,
        .max_ttl_ms = takes_locks(host) ? host->options->max_ttl_ms : 0,
        .allowed_ms = host->trust.known.max_ttl_ms,
    };
    struct rl_admission_status status = rl_admission_evaluate(&known->report, &rules, known->received);

    rl_trust_set_status(host, node, &status, now);
}

void rl_trust_evaluate_joined(struct rl_host *host, unsigned joined, struct rl_instant now)
{
    host->trust.nodes[joined].same_server = rl_trust_is_same_as_lower(host, joined);
    rl_trust_evaluate(host, joined, now);
    for (unsigned i = joined + 1; i < host->engine.votes.config.n_nodes; i++) {
        struct rl_trust_node *other = &host->trust.nodes[i];
        bool same = other->has_report && rl_trust_is_same_as_lower(host, i);

        if (!other->has_report || same == other->same_server)
            continue;
        other->same_server = same;
        rl_trust_evaluate(host, i, now);
    }
}

/* A node of a cluster that does not own the marker's slot, or that knows of no owner, says so instead of answering. */
static bool is_cluster_error(struct rl_slice text)
{
    enum rl_detail detail = rl_classify_error(text);

    return detail == RL_DETAIL_MOVED || detail == RL_DETAIL_CLUSTERDOWN;
}

/* One that cannot be verified might store another list (rule 15.4). */
static bool may_vote_unverified(const struct rl_host *host)
{
    return host->options->allow_unverified && !host->trust.followed;
}

/* Some errors decide the status: then the connection stays, so that people can see why the master does not vote.
 * rule 5.10: "A less privileged fallback (no script or INFO rights) is allowed only when the user asks for it". */
bool rl_trust_evaluate_error(const struct rl_host *host, struct rl_slice text, struct rl_admission_status *ret_status)
{
    static const struct rl_admission_status unverified = {.kind = RL_ADMISSION_VOTES};

    if (is_cluster_error(text))
        *ret_status = excluded(RL_FAULT_CLUSTER);
    else if (!rl_join_is_refusal(text))
        return false;
    else
        *ret_status = may_vote_unverified(host) ? unverified : excluded(RL_FAULT_NO_RIGHTS);
    return true;
}

/* --- Names and incarnations ------------------------------------------------------------------------------------- */

struct rl_slice rl_trust_prefix(const struct rl_host *host)
{
    return (struct rl_slice){host->trust.prefix, host->trust.prefix_size};
}

static struct rl_slice if_guarded(const struct rl_host *host, unsigned node, const char *text)
{
    return (struct rl_slice){text, host->engine.votes.admissions[node].epoch_checked ? strlen(text) : 0};
}

struct rl_slice rl_trust_marker(const struct rl_host *host, unsigned node)
{
    return if_guarded(host, node, host->trust.marker);
}

struct rl_slice rl_trust_incarnation(const struct rl_host *host, unsigned node)
{
    return if_guarded(host, node, host->trust.nodes[node].report.incarnation);
}

static const char declared_since[] = "it has not heard of the latest declaration of max_ttl, and is asked again";

/* Votes of attempts under way may come from a memory that ought to abstain: see votes/max_ttl.h. */
static void ask_again(struct rl_host *host, unsigned node, struct rl_instant now)
{
    static const struct rl_admission_status unevaluated = {.kind = RL_ADMISSION_UNEVALUATED, .epoch_checked = true};

    rl_trust_set_status(host, node, &unevaluated, now);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_disregard(&RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, node);
    rl_transport_fail(&host->transport, node, declared_since);
}

static void add_reports(struct rl_host *host, struct rl_instant now)
{
    struct rl_deployment *known = &host->trust.known;

    known->longest_ms = known->max_ttl_ms;
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (host->trust.nodes[i].has_report)
            rl_deployment_add(known, &host->trust.nodes[i].report, host->trust.nodes[i].received, now);
    }
    host->engine.votes.config.max_ttl_ms = rl_deployment_longest(known, host->options->max_ttl_ms);
}

/* A question that was on its way when the client learned of a declaration is repeated. A client that takes the steps of
 * a change is told by each master what that master knows, and needs no more. */
static bool is_out_of_date(const struct rl_host *host, unsigned node)
{
    return host->options->join <= REDLOCK_JOIN_DECLARE &&
           rl_deployment_missed(&host->trust.known, &host->trust.nodes[node].report);
}

const char *rl_trust_learn(struct rl_host *host, unsigned joined, struct rl_instant now)
{
    const struct rl_deployment *known = &host->trust.known;
    uint32_t allowed_ms = known->max_ttl_ms;

    add_reports(host, now);
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (i == joined || !host->trust.nodes[i].has_report || !rl_trust_is_up(host, i))
            continue;
        if (rl_deployment_missed(known, &host->trust.nodes[i].report))
            ask_again(host, i, now);
        else if (allowed_ms != known->max_ttl_ms)
            rl_trust_evaluate(host, i, now);
    }
    if (!is_out_of_date(host, joined))
        return NULL;
    ask_again(host, joined, now);
    return declared_since;
}
