/* Who may vote, as far as is known: standings, clocks, and what follows from changes of either. */
#include "host/standing.h"

#include <string.h>

#include "host/host.h"

/* A master that votes is looked at again, since its settings may be changed; an excluded one, so that mending it is
 * enough; one in quarantine is asked for its marker, so that an operator's word for it is noticed. */
static const struct rl_span look_again_after = {10000 * RL_NS_PER_MS};
static const struct rl_span ask_again_after = {1000 * RL_NS_PER_MS};

/* --- Standing --------------------------------------------------------------------------------------------------- */

static struct rl_admission_status quarantined(struct rl_admission_status standing, enum rl_fault fault,
                                              struct rl_instant until)
{
    standing.kind = RL_ADMISSION_QUARANTINED;
    standing.fault = fault;
    standing.until = until;
    return standing;
}

struct rl_admission_status rl_trust_standing(const struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_admission_status standing = host->engine.votes.admissions[node];
    struct rl_instant stepped_until = host->engine.votes.stepped_until[node];

    if (standing.kind == RL_ADMISSION_UNEVALUATED)
        standing.fault = RL_FAULT_UNJUDGED;
    if (!rl_admission_votes(&standing, now))
        return standing;
    if (rl_before(now, stepped_until))
        return quarantined(standing, RL_FAULT_CLOCK_STEP, stepped_until);
    standing.kind = RL_ADMISSION_VOTES;
    standing.fault = RL_FAULT_NONE;
    return standing;
}

static void tell_standing(struct rl_host *host, unsigned node, const struct rl_admission_status *standing)
{
    struct rl_trust_node *known = &host->trust.nodes[node];

    if (known->told_kind == standing->kind && known->told_fault == standing->fault)
        return;
    known->told_kind = standing->kind;
    known->told_fault = standing->fault;
    host->sink->validity(host, NULL);
    host->sink->standing(host, node, standing);
}

void rl_trust_follow(struct rl_host *host, unsigned node, struct rl_instant now)
{
    struct rl_admission_status standing = rl_trust_standing(host, node, now);
    struct rl_instant next = RL_NEVER;

    tell_standing(host, node, &standing);
    if (standing.kind == RL_ADMISSION_EXCLUDED || (standing.kind == RL_ADMISSION_VOTES && standing.epoch_checked))
        next = rl_after(now, look_again_after);
    else if (standing.kind == RL_ADMISSION_QUARANTINED)
        next = rl_earlier(standing.until, rl_after(now, ask_again_after));
    rl_transport_arm(&host->transport, &host->trust.nodes[node].timer, next);
}

void rl_trust_judged(struct rl_host *host, unsigned node, const struct rl_admission_status *standing,
                     struct rl_instant now)
{
    rl_engine_admission(&host->engine, now, node, standing);
    rl_trust_follow(host, node, now);
}

/* --- Clocks ----------------------------------------------------------------------------------------------------- */

static void stepped_forward(struct rl_host *host, unsigned node, struct rl_span step, struct rl_instant now)
{
    host->counters.clock_steps++;
    rl_engine_clock_stepped(&host->engine, now, node);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        struct rl_host_lock *lock = RL_CONTAINER_OF(at, struct rl_host_lock, link);

        rl_lock_clock_stepped(&host->engine, &lock->core, now, node, step);
        rl_host_rearm(lock);
    }
    rl_trust_follow(host, node, now);
}

void rl_trust_read_clock(struct rl_host *host, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now)
{
    struct rl_nodeclock *clock = &host->trust.nodes[node].clock;
    enum rl_clock_finding finding = rl_nodeclock_read(clock, host->options->drift_ppm, node_us, sent, now);

    if (finding == RL_CLOCK_STEADY)
        return;
    host->sink->validity(host, NULL);
    host->sink->clock(host, node, clock->last_step);
    if (finding == RL_CLOCK_FORWARD)
        stepped_forward(host, node, clock->last_step, now);
}

/* --- Names and incarnations ------------------------------------------------------------------------------------- */

struct rl_slice rl_trust_prefix(const struct rl_host *host)
{
    return (struct rl_slice){host->trust.prefix, host->trust.prefix_size};
}

static struct rl_slice where_guarded(const struct rl_host *host, unsigned node, const char *text)
{
    return (struct rl_slice){text, host->engine.votes.admissions[node].epoch_checked ? strlen(text) : 0};
}

struct rl_slice rl_trust_marker(const struct rl_host *host, unsigned node)
{
    return where_guarded(host, node, host->trust.marker);
}

struct rl_slice rl_trust_incarnation(const struct rl_host *host, unsigned node)
{
    return where_guarded(host, node, host->trust.nodes[node].report.incarnation);
}
