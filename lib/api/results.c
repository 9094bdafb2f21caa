/* Results and callbacks. Completions are queued where they arise and delivered at the end of the loop turn: never
 * inside the call that started the operation, and before the turn's writing, so that what a callback starts joins the
 * same batch. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/client.h"
#include "api/probes.h"
#include "api/reason.h"
#include "host/trust/admission.h"

/* Spare ones are kept: their number is that of the largest number of operations that were ever pending at once. */
/* The notes on the line come last, and those on masters that this client does not have are left out. */
static size_t attempt_size(const struct redlock_client *client)
{
    const struct rl_entry *entry = NULL;

    return offsetof(struct rl_attempt, host.entry) + offsetof(struct rl_entry, seen) +
           client->host.engine.votes.config.n_nodes * sizeof entry->seen[0];
}

struct rl_attempt *rl_attempt_borrow(struct redlock_client *client)
{
    struct rl_attempt *attempt = client->spare_attempts;

    if (attempt)
        client->spare_attempts = attempt->next_spare;
    else
        attempt = malloc(attempt_size(client));
    if (!attempt)
        return NULL;
    memset(attempt, 0, offsetof(struct rl_attempt, host.entry));
    rl_list_init(&attempt->host.company);
    return attempt;
}

static void give_back(struct redlock_client *client, struct rl_attempt *attempt)
{
    attempt->next_spare = client->spare_attempts;
    client->spare_attempts = attempt;
}

void rl_attempts_fini(struct redlock_client *client)
{
    while (client->spare_attempts) {
        struct rl_attempt *attempt = client->spare_attempts;

        client->spare_attempts = attempt->next_spare;
        free(attempt);
    }
}

void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb, void *user_data)
{
    assert(!pending->accepted);
    *pending = (struct rl_pending){.cb = cb, .user_data = user_data, .started = now, .op = (uint8_t)op,
                                   .accepted = true};
}

static int64_t elapsed_us(const struct redlock_client *client, const struct rl_pending *pending)
{
    return rl_until(pending->started, client->host.now).ns / RL_NS_PER_US;
}

/* --- Results ---------------------------------------------------------------------------------------------------- */

int rl_public_status(const struct redlock_lock *lock, enum rl_end end)
{
    switch (end) {
    case RL_END_NONE:
    case RL_END_OK:
        return REDLOCK_OK;
    case RL_END_HELD:
        return REDLOCK_HELD;
    case RL_END_NO_QUORUM:
        return REDLOCK_NO_QUORUM;
    case RL_END_TOO_SLOW:
        return REDLOCK_TOO_SLOW;
    case RL_END_DEADLINE:
        return REDLOCK_DEADLINE;
    case RL_END_CANCELED:
        return REDLOCK_CANCELED;
    case RL_END_LOST:
        return REDLOCK_LOST;
    case RL_END_REFUSED_BY_HOST:
        return lock->host.refusal;
    }
    return REDLOCK_LOST;
}

enum redlock_loss rl_public_loss(enum rl_loss loss)
{
    static const enum redlock_loss losses[] = {
        [RL_LOSS_NONE] = REDLOCK_LOSS_NONE,             [RL_LOSS_EXPIRED] = REDLOCK_LOSS_EXPIRED,
        [RL_LOSS_UNREACHABLE] = REDLOCK_LOSS_UNREACHABLE, [RL_LOSS_REFUSED] = REDLOCK_LOSS_REFUSED,
        [RL_LOSS_CLOCK_STEP] = REDLOCK_LOSS_CLOCK_STEP, [RL_LOSS_HOLD_LIMIT] = REDLOCK_LOSS_HOLD_LIMIT,
    };

    return losses[loss];
}

struct evidence {
    struct redlock_result result;
    struct redlock_node_result nodes[REDLOCK_MAX_MASTERS];
    struct rl_admission_status standings[REDLOCK_MAX_MASTERS];
    char reasons[REDLOCK_MAX_MASTERS][RL_REASON_SIZE];
    char why[RL_WHY_SIZE];
};

static void fill_node(const struct redlock_client *client, const struct rl_slot *slot, struct redlock_node_result *node)
{
    node->vote = rl_public_vote((enum rl_outcome)slot->answer);
    node->latency_us = rl_public_latency_us(slot->latency_us);
    node->valid_for_ms =
        rl_until(rl_after(client->host.now, client->host.engine.votes.config.guard), slot->bound).ns / RL_NS_PER_MS;
}

static void fill_nodes(const struct redlock_lock *lock, const struct rl_pending *pending, struct evidence *evidence)
{
    const struct redlock_client *client = rl_client_of(lock);
    const struct rl_claim *claim = pending->overtaken ? NULL : lock->host.core.claim;
    bool held = rl_lock_deadline(&client->host.engine, &lock->host.core).ns != RL_LONG_AGO.ns;

    for (unsigned i = 0; i < client->host.engine.votes.config.n_nodes; i++) {
        struct redlock_node_result *node = &evidence->nodes[i];

        *node = (struct redlock_node_result){.latency_us = -1};
        if (claim)
            fill_node(client, &claim->slots[i], node);
        evidence->standings[i] = rl_trust_status(&client->host, i, client->host.now);
        node->detail = rl_reason_of(client, i, &evidence->standings[i], claim ? &claim->slots[i] : NULL,
                                    evidence->reasons[i]);
        if (!held)
            node->valid_for_ms = 0;
        node->name = rl_driver_node_name(client->driver, i);
        node->fault = rl_public_fault(evidence->standings[i].fault);
        evidence->result.granted += node->vote == REDLOCK_VOTE_GRANTED;
    }
}

static enum redlock_loss loss_of(const struct redlock_lock *lock, int status)
{
    return status == REDLOCK_LOST ? rl_public_loss((enum rl_loss)lock->host.core.report.loss) : REDLOCK_LOSS_NONE;
}

/* A deadline says nothing of its own. */
static const char *why_of(const struct redlock_client *client, struct evidence *evidence)
{
    const struct redlock_result *result = &evidence->result;

    if (result->status == REDLOCK_OK)
        return "";
    if (!rl_reason_is_masters(result))
        return redlock_strerror(result->status == REDLOCK_DEADLINE ? result->cause : result->status);
    rl_reason_sum_up(client, evidence->standings, result, evidence->why);
    return evidence->why;
}

static void make_evidence(const struct redlock_lock *lock, const struct rl_pending *pending, struct evidence *evidence)
{
    const struct redlock_client *client = rl_client_of(lock);

    memset(&evidence->result, 0, sizeof evidence->result);
    evidence->result = (struct redlock_result){
        .op = rl_public_op((enum rl_op)pending->op),
        .status = pending->status,
        .cause = pending->cause,
        .attempts = pending->op == RL_OP_ACQUIRE ? lock->host.core.report.attempts : 1,
        .quorum = client->options.quorum,
        .elapsed_us = elapsed_us(client, pending),
        .remaining_ms = redlock_remaining_ms(lock),
        .n_nodes = client->host.engine.votes.config.n_nodes,
        .nodes = evidence->nodes,
        .fence = redlock_lock_fence(lock),
        .loss = loss_of(lock, pending->status),
    };
    fill_nodes(lock, pending, evidence);
    rl_reason_count(client, evidence->standings, &evidence->result);
    evidence->result.why = why_of(client, evidence);
}

/* --- Statistics and events -------------------------------------------------------------------------------------- */

static void count_acquire(struct redlock_stats *stats, int status)
{
    stats->acquired += status == REDLOCK_OK;
    stats->held += status == REDLOCK_HELD;
    stats->no_quorum += status == REDLOCK_NO_QUORUM;
    stats->too_slow += status == REDLOCK_TOO_SLOW;
    stats->deadline += status == REDLOCK_DEADLINE;
    stats->canceled += status == REDLOCK_CANCELED;
}

static void count(struct redlock_stats *stats, enum rl_op op, int status)
{
    if (op == RL_OP_ACQUIRE)
        count_acquire(stats, status);
    stats->extended += op == RL_OP_EXTEND && status == REDLOCK_OK;
    stats->released += op == RL_OP_RELEASE && status == REDLOCK_OK;
}

static enum redlock_event_type event_type(enum rl_op op, int status)
{
    if (op == RL_OP_RELEASE)
        return REDLOCK_EVENT_RELEASED;
    if (status != REDLOCK_OK)
        return REDLOCK_EVENT_FAILED;
    return op == RL_OP_ACQUIRE ? REDLOCK_EVENT_ACQUIRED : REDLOCK_EVENT_EXTENDED;
}

void rl_observe_ledger(struct redlock_lock *lock, struct redlock_event *event)
{
    const struct rl_pending latest = {.op = RL_OP_EXTEND};
    struct evidence evidence;

    evidence.result.granted = 0;
    fill_nodes(lock, &latest, &evidence);
    event->lock = lock;
    event->remaining_us = redlock_remaining_ns(lock) / RL_NS_PER_US;
    event->nodes = evidence.nodes;
    event->n_nodes = lock->host.host->engine.votes.config.n_nodes;
    rl_observe(rl_client_of(lock), event);
}

/* A lock that has been handed off has its successor's claim already. */
static void observe_result(struct redlock_lock *lock, const struct rl_pending *pending)
{
    enum rl_op op = (enum rl_op)pending->op;
    bool handed_off = op == RL_OP_RELEASE && lock->host.host->successor && rl_lock_has_handed_off(lock);
    const struct redlock_lock *holder = handed_off ? rl_lock_of(lock->host.host->successor) : lock;
    struct redlock_event event = {.type = event_type(op, pending->status), .op = rl_public_op(op),
                                  .status = pending->status, .cause = pending->cause,
                                  .token = redlock_lock_token(holder)};
    struct evidence evidence;

    if (pending->status != REDLOCK_OK) {
        make_evidence(lock, pending, &evidence);
        event.text = rl_reason_is_masters(&evidence.result) ? evidence.why : "";
    }
    rl_observe_ledger(lock, &event);
}

/* --- Queue and delivery ----------------------------------------------------------------------------------------- */

static void queue(struct redlock_lock *lock)
{
    if (rl_list_empty(&lock->completed))
        rl_list_append(&rl_client_of(lock)->completed, &lock->completed);
    rl_driver_wake(rl_client_of(lock)->driver);
}

void rl_results_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_pending *pending = op == RL_OP_RELEASE ? &lock->release : &rl_attempt_of(lock)->pending;

    assert(pending->accepted && !pending->ended && pending->op == op);
    pending->ended = true;
    pending->status = (int16_t)rl_public_status(lock, status);
    pending->cause = (int16_t)rl_public_status(lock, cause);
    count(&client->stats, op, pending->status);
    if (op == RL_OP_ACQUIRE && pending->status == REDLOCK_OK)
        RL_PROBE_1(grant, &lock->host, elapsed_us(client, pending));
    else if (op == RL_OP_ACQUIRE)
        RL_PROBE_2(refuse, &lock->host, elapsed_us(client, pending), (int)pending->status);
    if (rl_observes(client, event_type(op, pending->status)))
        observe_result(lock, pending);
    queue(lock);
}

void rl_results_queue_alarm(struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    if (!lock->watch)
        return;
    lock->alarms = (uint8_t)(lock->alarms | 1u << kind);
    queue(lock);
}

static void call_back(struct redlock_lock *lock, const struct rl_pending *pending)
{
    struct evidence evidence;

    if (!pending->cb || rl_client_forked(rl_client_of(lock)))
        return;
    make_evidence(lock, pending, &evidence);
    rl_client_of(lock)->depth++;
    pending->cb(lock, &evidence.result, pending->user_data);
    rl_client_of(lock)->depth--;
}

/* There is room for the next operation before the callback runs, which may start it. */
static struct rl_pending take_attempt(struct redlock_lock *lock)
{
    struct rl_pending pending = rl_attempt_of(lock)->pending;

    give_back(rl_client_of(lock), rl_attempt_of(lock));
    lock->host.attempt = NULL;
    return pending;
}

static struct rl_pending take_release(struct redlock_lock *lock)
{
    struct rl_pending pending = lock->release;

    lock->release.accepted = false;
    return pending;
}

static void deliver_attempt(struct redlock_lock *lock)
{
    struct rl_pending pending;

    if (!lock->host.attempt || !rl_attempt_of(lock)->pending.ended || lock->destroyed)
        return;
    pending = take_attempt(lock);
    call_back(lock, &pending);
}

static void deliver_release(struct redlock_lock *lock)
{
    struct rl_pending pending;

    if (!lock->release.accepted || !lock->release.ended || lock->destroyed)
        return;
    pending = take_release(lock);
    call_back(lock, &pending);
}

/* A warning that has come true is not worth telling. */
static bool is_still_true(const struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    if (kind == REDLOCK_ALARM_LOST)
        return lock->host.core.state == RL_LOCK_LOST;
    return lock->host.core.state != RL_LOCK_LOST && redlock_remaining_ns(lock) > 0;
}

static void fire(struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    const struct rl_pending none = {.op = RL_OP_EXTEND};
    struct evidence evidence;
    struct redlock_alarm alarm = {.kind = kind, .remaining_ms = redlock_remaining_ms(lock),
                                  .nodes = evidence.nodes, .n_nodes = lock->host.host->engine.votes.config.n_nodes};

    if (!lock->watch || lock->destroyed || rl_client_forked(rl_client_of(lock)) || !is_still_true(lock, kind))
        return;
    if (kind == REDLOCK_ALARM_LOST)
        alarm.loss = rl_public_loss((enum rl_loss)lock->host.core.report.loss);
    evidence.result.granted = 0;
    fill_nodes(lock, &none, &evidence);
    lock->watch(lock, &alarm, lock->watch_data);
}

static void fire_alarms(struct redlock_lock *lock)
{
    uint8_t alarms = lock->alarms;

    lock->alarms = 0;
    for (int kind = REDLOCK_ALARM_AT_RISK; kind <= REDLOCK_ALARM_LOST; kind++) {
        if (alarms & 1u << kind)
            fire(lock, (enum redlock_alarm_kind)kind);
    }
}

static void deliver(struct redlock_lock *lock)
{
    fire_alarms(lock);
    deliver_attempt(lock);
    deliver_release(lock);
    if (!lock->destroyed && !rl_lock_is_busy(lock))
        rl_lock_forget(&lock->host.host->engine, &lock->host.core);
}

/* What callbacks complete is delivered in the next turn: one turn does not starve the loop. */
void rl_results_deliver(struct redlock_client *client)
{
    struct rl_list due;

    rl_list_init(&due);
    rl_host_read_clock(&client->host);
    rl_list_move_all(&due, &client->completed);
    client->depth++;
    while (!rl_list_empty(&due)) {
        struct redlock_lock *lock = RL_CONTAINER_OF(due.next, struct redlock_lock, completed);

        rl_list_remove(&lock->completed);
        deliver(lock);
    }
    if (!client->destroyed)
        rl_shutdown_check(client);
    if (!client->destroyed)
        rl_host_end_turn(&client->host);
    client->depth--;
    rl_client_free_deferred(client);
}

static void cancel(struct redlock_lock *lock, struct rl_pending pending)
{
    if (!pending.ended)
        count(&rl_client_of(lock)->stats, (enum rl_op)pending.op, REDLOCK_CANCELED);
    pending.status = REDLOCK_CANCELED;
    call_back(lock, &pending);
}

void rl_results_cancel_all(struct redlock_lock *lock)
{
    if (lock->host.attempt)
        cancel(lock, take_attempt(lock));
    if (lock->release.accepted)
        cancel(lock, take_release(lock));
}
