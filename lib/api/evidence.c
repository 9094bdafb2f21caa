#include "api/evidence.h"

#include <redlock/semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/lock_state.h"
#include "api/public.h"
#include "codec/classify.h"
#include "engine/hold.h"

bool rl_observes(const struct redlock_client *client, enum redlock_event_type type)
{
    return client->options.event_types & REDLOCK_EVENT_BIT(type);
}

static bool names_a_master(enum redlock_event_type type)
{
    return type == REDLOCK_EVENT_NODE || type == REDLOCK_EVENT_VOTE || type == REDLOCK_EVENT_STANDING ||
           type == REDLOCK_EVENT_CLOCK || type == REDLOCK_EVENT_LISTENING || type == REDLOCK_EVENT_PROVED;
}

/* Node 0 is a master, too, so the type says whether an event names a master; an event that names none gets -1 here. */
void rl_observe(struct redlock_client *client, struct redlock_event *event)
{
    if (!names_a_master(event->type))
        event->node = -1;
    event->client = client;
    event->slot = redlock_lock_slot(event->lock);
    event->mode = redlock_lock_mode(event->lock);
    if (!event->text)
        event->text = "";
    client->options.on_event(event, client->options.event_data);
}

/* The answer of a master to the operation; NULL: there is none. A claim from before a change of the list has fewer. */
static const struct rl_vote *answer_of(const struct redlock_lock *lock, const struct rl_call *call, unsigned node)
{
    const struct rl_claim *claim = lock->host.core.claim;

    if (!call->unanswered)
        return claim && node < claim->n_nodes ? &claim->votes[node] : NULL;
    if (call->op == RL_OP_CONVERT && lock->host.call && lock->host.call->answered)
        return &lock->host.call->answers[node];
    return NULL;
}

static void fill_node(const struct redlock_client *client, const struct rl_vote *vote, struct redlock_node_result *node)
{
    node->vote = rl_public_vote((enum rl_outcome)vote->answer);
    node->latency_us = rl_public_latency_us(vote->latency_us);
    node->valid_for_ms =
        rl_until(rl_after(client->host.now, client->host.engine.votes.config.guard), vote->bound).ns / RL_NS_PER_MS;
}

static void fill_nodes(const struct redlock_lock *lock, const struct rl_call *call, struct rl_evidence *evidence)
{
    const struct redlock_client *client = rl_client_of(lock);
    bool counts =
        !call->unanswered && rl_lock_deadline(&client->host.engine, &lock->host.core).ns != RL_LONG_AGO.ns;

    rl_reasons_init(&evidence->reasons, client);
    for (unsigned i = 0; i < client->host.engine.votes.config.n_nodes; i++) {
        struct redlock_node_result *node = &evidence->nodes[i];
        const struct rl_vote *answer = answer_of(lock, call, i);

        *node = (struct redlock_node_result){.latency_us = -1};
        if (answer)
            fill_node(client, answer, node);
        node->detail = rl_reason_of(&evidence->reasons, i, answer);
        if (!counts)
            node->valid_for_ms = 0;
        node->name = rl_driver_node_name(client->driver, i);
        node->fault = rl_public_fault(evidence->reasons.admissions[i].fault);
        evidence->result.granted += node->vote == REDLOCK_VOTE_GRANTED;
    }
}

/* A warning may come while all masters have done what they were asked for. */
static const char *danger_text(const struct rl_lock *lock)
{
    if (lock->hold.renewing || lock->hold.round_failed || lock->state == RL_LOCK_EXTENDING)
        return "no renewal has succeeded";
    if (lock->wake.ns != RL_NEVER.ns)
        return "the next renewal is not due yet";
    return lock->hold.renew_ms ? "the hold limit has ended the renewals" : "nothing renews it";
}

/* Says why a hold is in danger, or has ended, and on which masters. */
static const char *why_of_hold(const struct redlock_lock *lock, struct rl_evidence *evidence)
{
    const struct redlock_result *result = &evidence->result;
    bool lost = result->status == REDLOCK_LOST;
    const char *masters = rl_reason_by_master(&evidence->reasons, result);

    snprintf(evidence->hold_why, sizeof evidence->hold_why, "%s%s%s",
             lost ? redlock_loss_text(result->loss) : danger_text(&lock->host.core), *masters ? ": " : "", masters);
    return evidence->hold_why;
}

/* Has a master said anything? That it has not answered is all that an attempt knows which the deadline cuts short. */
static bool has_details(const struct redlock_result *result)
{
    for (size_t i = 0; i < result->n_nodes; i++) {
        const char *detail = result->nodes[i].detail;

        if (*detail && strcmp(detail, rl_detail_text(RL_DETAIL_TIMEOUT)) != 0)
            return true;
    }
    return false;
}

/* A deadline gives no reason of its own: the latest attempt has one; or if that has just begun, and no master has said
 * anything, the one before. */
static const char *why_of(const struct redlock_lock *lock, struct rl_evidence *evidence)
{
    const struct rl_lock_call *pending = rl_lock_call_of(lock);
    const struct redlock_result *result = &evidence->result;

    if (result->status == REDLOCK_OK)
        return "";
    if (result->status == REDLOCK_LOST)
        return why_of_hold(lock, evidence);
    if (!rl_reason_is_masters(result))
        return redlock_strerror(result->status == REDLOCK_DEADLINE ? result->cause : result->status);
    if (result->status == REDLOCK_DEADLINE && pending && pending->why && !has_details(result)) {
        snprintf(evidence->reasons.why, sizeof evidence->reasons.why, "%s", pending->why);
        return evidence->reasons.why;
    }
    return rl_reason_sum_up(&evidence->reasons, result);
}

void rl_evidence_of_result(const struct redlock_lock *lock, const struct rl_call *call,
                           struct rl_evidence *evidence)
{
    const struct redlock_client *client = rl_client_of(lock);

    evidence->result = (struct redlock_result){
        .op = rl_public_op((enum rl_op)call->op),
        .status = call->status,
        .cause = call->cause,
        .attempts = call->op == RL_OP_ACQUIRE ? lock->host.core.attempts : 1,
        .quorum = (unsigned)client->host.engine.votes.config.quorum,
        .elapsed_us = rl_call_elapsed_us(call, client->host.now),
        .remaining_ms = redlock_remaining_ms(lock),
        .n_nodes = client->host.engine.votes.config.n_nodes,
        .nodes = evidence->nodes,
        .fence = redlock_lock_fence(lock),
    };
    if (call->status == REDLOCK_LOST)
        evidence->result.loss = rl_public_loss((enum rl_loss)lock->host.core.loss);
    fill_nodes(lock, call, evidence);
    rl_reason_count(&evidence->reasons, &evidence->result);
    evidence->result.why = why_of(lock, evidence);
}

void rl_evidence_keep_why(struct redlock_lock *lock, int status)
{
    struct rl_lock_call *pending = rl_lock_call_of(lock);
    struct rl_evidence evidence;
    struct rl_call failed;

    if (!pending || (status != REDLOCK_NO_QUORUM && status != REDLOCK_TOO_SLOW))
        return;
    failed = pending->call;
    failed.status = (int16_t)status;
    rl_evidence_of_result(lock, &failed, &evidence);
    free(pending->why);
    pending->why = has_details(&evidence.result) ? strdup(evidence.result.why) : NULL;
}

/* A master that is being asked again may have said before that the key is gone. */
static const char *say_of_silence(const struct redlock_lock *lock, size_t node, enum redlock_loss loss)
{
    const struct rl_claim *claim = lock->host.core.claim;

    if (loss != REDLOCK_LOSS_REFUSED)
        return "no answer yet";
    return claim && node < claim->n_nodes && claim->votes[node].bound.ns == RL_LONG_AGO.ns ? "missing" : "";
}

void rl_evidence_of_ledger(const struct redlock_lock *lock, struct rl_evidence *evidence)
{
    const struct rl_call latest = {.op = RL_OP_EXTEND};
    bool lost = lock->host.core.state == RL_LOCK_LOST;

    evidence->result = (struct redlock_result){
        .op = REDLOCK_OP_EXTEND,
        .status = lost ? REDLOCK_LOST : REDLOCK_OK,
        .quorum = (unsigned)lock->host.host->engine.votes.config.quorum,
        .remaining_ms = redlock_remaining_ms(lock),
        .n_nodes = lock->host.host->engine.votes.config.n_nodes,
        .nodes = evidence->nodes,
        .fence = redlock_lock_fence(lock),
        .loss = lost ? rl_public_loss((enum rl_loss)lock->host.core.loss) : REDLOCK_LOSS_NONE,
    };
    fill_nodes(lock, &latest, evidence);
    for (size_t i = 0; i < evidence->result.n_nodes; i++) {
        if (evidence->nodes[i].vote == REDLOCK_VOTE_PENDING && !*evidence->nodes[i].detail)
            evidence->nodes[i].detail = say_of_silence(lock, i, evidence->result.loss);
    }
    rl_reason_count(&evidence->reasons, &evidence->result);
    evidence->result.why = why_of_hold(lock, evidence);
}

void rl_observe_ledger(struct redlock_lock *lock, struct redlock_event *event)
{
    struct rl_evidence evidence;

    rl_evidence_of_ledger(lock, &evidence);
    event->lock = lock;
    event->remaining_us = redlock_remaining_ns(lock) / RL_NS_PER_US;
    event->nodes = evidence.nodes;
    event->n_nodes = evidence.result.n_nodes;
    if (event->type == REDLOCK_EVENT_LOST || event->type == REDLOCK_EVENT_AT_RISK)
        event->text = evidence.reasons.why;
    rl_observe(rl_client_of(lock), event);
}
