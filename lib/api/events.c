#include "api/events.h"

#include <stdio.h>
#include <string.h>

#include "api/evidence.h"
#include "api/handle.h"
#include "api/lock_state.h"
#include "api/members.h"
#include "api/probes.h"
#include "api/public.h"
#include "api/results.h"
#include "codec/classify.h"
#include "host/trust/admission.h"
#include "votes/view.h"

/* An event with these members is made only if somebody wants its kind: answers come by the thousand. */
#define OBSERVE(host, kind, ...)                                                                                   \
    do {                                                                                                           \
        struct redlock_client *observed = rl_client_of_host(host);                                                 \
                                                                                                                   \
        if (rl_observes(observed, kind))                                                                           \
            rl_observe(observed, &(struct redlock_event){.type = (kind), __VA_ARGS__});                            \
    } while (0)

static void on_attempt(struct rl_host_lock *lock, const struct rl_claim *claim)
{
    OBSERVE(lock->host, REDLOCK_EVENT_ATTEMPT, .lock = rl_lock_of(lock), .token = rl_host_token(claim));
}

static enum redlock_op op_of_attempt(const struct rl_host_lock *lock)
{
    return rl_public_op((enum rl_op)rl_lock_call_of(rl_lock_of(lock))->call.op);
}

static void on_waiting(struct rl_host_lock *lock, const struct rl_position *position)
{
    int64_t held_ns = rl_until(lock->host->now, position->held_until).ns;

    OBSERVE(lock->host, REDLOCK_EVENT_WAITING, .lock = rl_lock_of(lock), .op = op_of_attempt(lock),
            .position = position->rank + 1,
            .held_for_ms = position->held_until.ns == RL_NEVER.ns ? -1 : held_ns / RL_NS_PER_MS);
}

static void on_backoff(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay)
{
    int status = rl_public_status(rl_lock_of(lock), why);

    rl_evidence_keep_why(rl_lock_of(lock), status);
    OBSERVE(lock->host, REDLOCK_EVENT_BACKOFF, .lock = rl_lock_of(lock), .op = op_of_attempt(lock), .status = status,
            .delay_us = delay.ns / RL_NS_PER_US);
}

/* Only a lock that is held, or has been lost, has a validity that can change. */
static void on_validity(struct rl_host *host, struct rl_host_lock *lock)
{
    bool concerned = !lock || lock->core.state == RL_LOCK_HELD || lock->core.state == RL_LOCK_EXTENDING ||
                     lock->core.state == RL_LOCK_LOST;

    if (concerned)
        OBSERVE(host, REDLOCK_EVENT_VALIDITY, .lock = rl_lock_of(lock));
}

static void on_extending(struct rl_host_lock *lock)
{
    on_validity(lock->host, lock);
    OBSERVE(lock->host, REDLOCK_EVENT_EXTENDING, .op = REDLOCK_OP_EXTEND, .lock = rl_lock_of(lock));
}

static void observe_ledger(struct rl_host_lock *lock, enum redlock_event_type type)
{
    if (rl_observes(rl_client_of_host(lock->host), type))
        rl_observe_ledger(rl_lock_of(lock), &(struct redlock_event){.type = type});
}

static void on_renewed(struct rl_host_lock *lock)
{
    RL_PROBE(renew, lock);
    observe_ledger(lock, REDLOCK_EVENT_RENEWED);
}

static void on_at_risk(struct rl_host_lock *lock)
{
    rl_client_of_host(lock->host)->stats.at_risk++;
    rl_results_queue_alarm(rl_lock_of(lock), REDLOCK_ALARM_AT_RISK);
    observe_ledger(lock, REDLOCK_EVENT_AT_RISK);
}

static void on_lost(struct rl_host_lock *core)
{
    struct redlock_lock *lock = rl_lock_of(core);
    struct redlock_client *client = rl_client_of(lock);

    RL_PROBE_1(lost, core, (int)core->core.loss); /* a bit field */
    client->stats.lost++;
    rl_usage_lost(lock);
    rl_results_queue_alarm(lock, REDLOCK_ALARM_LOST);
    on_validity(core->host, core);
    if (rl_observes(client, REDLOCK_EVENT_LOST))
        rl_observe_ledger(lock, &(struct redlock_event){.type = REDLOCK_EVENT_LOST, .status = REDLOCK_LOST,
                                                        .loss = rl_public_loss((enum rl_loss)core->core.loss)});
}

static void on_complete(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    rl_results_queue(rl_lock_of(lock), op, status, cause);
}

/* --- Of masters ------------------------------------------------------------------------------------------------- */

static void on_link(struct rl_host *host, unsigned node, enum rl_link link, const char *why)
{
    OBSERVE(host, REDLOCK_EVENT_NODE, .node = (int)node, .link = rl_public_link(link), .text = why);
}

static void on_listening(struct rl_host *host, unsigned node, bool on, const char *why)
{
    OBSERVE(host, REDLOCK_EVENT_LISTENING, .node = (int)node, .link = on ? REDLOCK_LINK_READY : REDLOCK_LINK_DOWN,
            .text = why);
}

static enum redlock_op op_of_step(enum rl_step step)
{
    static const enum redlock_op ops[RL_STEP_COUNT] = {
        [RL_STEP_CLAIM] = REDLOCK_OP_ACQUIRE,   [RL_STEP_ENQUEUE] = REDLOCK_OP_ACQUIRE,
        [RL_STEP_RAISE] = REDLOCK_OP_ACQUIRE,   [RL_STEP_EXTEND] = REDLOCK_OP_EXTEND,
        [RL_STEP_REPAIR] = REDLOCK_OP_EXTEND,   [RL_STEP_RELEASE] = REDLOCK_OP_RELEASE,
        [RL_STEP_ROLLBACK] = REDLOCK_OP_RELEASE,
    };

    return ops[step];
}

static void on_vote(struct rl_host *host, unsigned node, const struct rl_vote_report *vote)
{
    if (vote->lock)
        on_validity(host, vote->lock);
    OBSERVE(host, REDLOCK_EVENT_VOTE, .lock = rl_lock_of(vote->lock), .node = (int)node, .op = op_of_step(vote->step),
            .vote = rl_public_vote(vote->answer.outcome), .latency_us = rl_public_latency_us(vote->latency_us),
            .token = rl_host_token(vote->claim), .text = rl_detail_text(vote->answer.detail));
}

/* The epoch check may also show that the answer does not count. */
static void on_verified(struct rl_host *host, unsigned node)
{
    struct redlock_client *client = rl_client_of_host(host);
    struct rl_list *unverified = &host->engine.votes.unverified;

    for (struct rl_list *at = unverified->next; at != unverified && client->options.on_event; at = at->next) {
        struct rl_claim *claim = RL_CONTAINER_OF(at, struct rl_claim, link);

        if (!claim->lock || !(claim->unverified & rl_bit(node)))
            continue;
        on_validity(host, rl_host_owner(rl_host_claim_lock(claim)));
        OBSERVE(host, REDLOCK_EVENT_PROVED, .node = (int)node,
                .lock = rl_lock_of(rl_host_owner(rl_host_claim_lock(claim))));
    }
}

static void on_admission(struct rl_host *host, unsigned node, const struct rl_admission_status *standing)
{
    OBSERVE(host, REDLOCK_EVENT_STANDING, .node = (int)node, .standing = rl_public_standing(standing->kind),
            .fault = rl_public_fault(standing->fault), .text = rl_trust_fault_text(host, node, standing->fault));
}

static void on_clock(struct rl_host *host, unsigned node, struct rl_span step)
{
    OBSERVE(host, REDLOCK_EVENT_CLOCK, .node = (int)node, .delay_us = step.ns / RL_NS_PER_US);
}

static void on_own_clock(struct rl_host *host, uint32_t nodes, const struct rl_clock_move *move)
{
    OBSERVE(host, REDLOCK_EVENT_CLOCK, .node = -1, .delay_us = move->most.ns / RL_NS_PER_US);
}

static void on_members_changed(struct rl_host *host)
{
    struct redlock_client *client = rl_client_of_host(host);
    const struct rl_member_list *configured = rl_client_configured(client);
    const struct rl_member_list *list = &host->trust.view->list;
    bool same = configured && rl_same_text(configured->id, list->id);
    char text[1200] = "the list of masters is now";
    size_t size = strlen(text);

    client->stats.members_changed++;
    if (!rl_observes(client, REDLOCK_EVENT_MEMBERS))
        return;
    for (size_t i = 0; i < list->n && size < sizeof text; i++) {
        const char *name = list->members[i].name;

        size += (size_t)snprintf(text + size, sizeof text - size, "%s%.*s", i ? "," : " ",
                                 (int)rl_name_shown_size(name), name);
    }
    if (size < sizeof text)
        snprintf(text + size, sizeof text - size, ", with a quorum of %u%s", (unsigned)list->quorum,
                 same ? ", as this program is configured" : "; this program's configuration is out of date");
    rl_observe(client, &(struct redlock_event){.type = REDLOCK_EVENT_MEMBERS, .node = -1, .text = text});
}

const struct rl_host_sink rl_client_sink = {
    .complete = on_complete,
    .attempt = on_attempt,
    .waiting = on_waiting,
    .backoff = on_backoff,
    .extending = on_extending,
    .renewed = on_renewed,
    .at_risk = on_at_risk,
    .lost = on_lost,
    .validity = on_validity,
    .link = on_link,
    .listening = on_listening,
    .vote = on_vote,
    .verified = on_verified,
    .admission = on_admission,
    .clock = on_clock,
    .own_clock = on_own_clock,
    .new_member = rl_client_new_member,
    .name_member = rl_client_name_member,
    .place_of = rl_client_place_of,
    .members_changed = on_members_changed,
};
