#include "host/trust/max_ttl.h"

#include "host/host.h"
#include "host/trust/admission.h"

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
