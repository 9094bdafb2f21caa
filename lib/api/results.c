/* Completions are queued where they arise and delivered at the end of the loop turn: never inside the call that started
 * the operation, and before the turn's writing, so that what a callback starts joins the same batch. */
#include "api/results.h"

#include <assert.h>

#include "api/attempts.h"
#include "api/evidence.h"
#include "api/handle.h"
#include "api/lock_state.h"
#include "api/observe.h"
#include "api/probes.h"
#include "api/public.h"

/* --- Statistics and events -------------------------------------------------------------------------------------- */

static void count(struct redlock_stats *stats, enum rl_op op, int status)
{
    stats->extended += op == RL_OP_EXTEND && status == REDLOCK_OK;
    stats->released += op == RL_OP_RELEASE && status == REDLOCK_OK;
    stats->converted += op == RL_OP_CONVERT && status == REDLOCK_OK;
    if (op != RL_OP_ACQUIRE)
        return;
    stats->acquired += status == REDLOCK_OK;
    stats->held += status == REDLOCK_HELD;
    stats->no_quorum += status == REDLOCK_NO_QUORUM;
    stats->too_slow += status == REDLOCK_TOO_SLOW;
    stats->deadline += status == REDLOCK_DEADLINE;
    stats->canceled += status == REDLOCK_CANCELED;
}

static enum redlock_event_type event_type(enum rl_op op, int status)
{
    if (op == RL_OP_RELEASE)
        return REDLOCK_EVENT_RELEASED;
    if (status != REDLOCK_OK)
        return REDLOCK_EVENT_FAILED;
    if (op == RL_OP_CONVERT)
        return REDLOCK_EVENT_CONVERTED;
    return op == RL_OP_ACQUIRE ? REDLOCK_EVENT_ACQUIRED : REDLOCK_EVENT_EXTENDED;
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
    struct rl_evidence evidence;

    if (pending->status != REDLOCK_OK) {
        rl_evidence_of_result(lock, pending, &evidence);
        event.text = rl_reason_is_masters(&evidence.result) ? evidence.reasons.why : "";
    }
    rl_observe_ledger(lock, &event);
}

/* --- Queue and delivery ----------------------------------------------------------------------------------------- */

static void queue(struct redlock_lock *lock)
{
    if (rl_list_empty(&lock->completed))
        rl_list_append(&rl_client_of(lock)->completed, &lock->completed);
    rl_transport_wake(&rl_client_of(lock)->host.transport);
}

void rl_results_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_pending *pending = op == RL_OP_RELEASE ? &lock->release : &rl_attempt_of(lock)->pending;

    assert(pending->accepted && !pending->ended && pending->op == op);
    pending->ended = true;
    pending->status = (int16_t)rl_public_status(lock, status);
    pending->cause = (int16_t)rl_public_status(lock, cause);
    if (op == RL_OP_CONVERT && pending->status == REDLOCK_OK)
        pending->unanswered = false;
    count(&client->stats, op, pending->status);
    if (op == RL_OP_ACQUIRE && pending->status == REDLOCK_OK)
        RL_PROBE_1(grant, &lock->host, rl_pending_elapsed_us(pending, client->host.now));
    else if (op == RL_OP_ACQUIRE)
        RL_PROBE_2(refuse, &lock->host, rl_pending_elapsed_us(pending, client->host.now), (int)pending->status);
    if (rl_observes(client, event_type(op, pending->status)))
        observe_result(lock, pending);
    queue(lock);
}

void rl_results_queue_inner_release(struct redlock_lock *lock, redlock_fn cb, void *user_data)
{
    bool held = redlock_remaining_ns(lock) > 0;
    struct rl_pending pending = {.cb = cb, .user_data = user_data, .started = lock->host.host->now, .op = RL_OP_RELEASE,
                                 .accepted = true, .ended = true, .unanswered = true,
                                 .status = held ? REDLOCK_OK : REDLOCK_LOST};

    if (!cb)
        return;
    rl_inner_releases_push(lock, &pending);
    queue(lock);
}

void rl_results_queue_alarm(struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    if (!lock->watch)
        return;
    lock->alarms = (uint8_t)(lock->alarms | 1u << kind);
    queue(lock);
}

static bool is_told(const struct redlock_lock *lock, const struct rl_pending *pending)
{
    return pending->cb && !rl_client_forked(rl_client_of(lock));
}

static void tell(struct redlock_lock *lock, const struct rl_pending *pending, const struct rl_evidence *evidence)
{
    rl_client_of(lock)->depth++;
    pending->cb(lock, &evidence->result, pending->user_data);
    rl_client_of(lock)->depth--;
}

static void call_back(struct redlock_lock *lock, const struct rl_pending *pending)
{
    struct rl_evidence evidence;

    if (!is_told(lock, pending))
        return;
    rl_evidence_of_result(lock, pending, &evidence);
    tell(lock, pending, &evidence);
}

/* The attempt is given back before its callback runs, since the callback may start the next operation; but some of the
 * evidence is the attempt's. */
static void end_attempt(struct redlock_lock *lock, struct rl_pending pending)
{
    struct rl_evidence evidence;
    bool told = is_told(lock, &pending);

    if (told)
        rl_evidence_of_result(lock, &pending, &evidence);
    rl_attempt_give_back(lock);
    if (told)
        tell(lock, &pending, &evidence);
}

static struct rl_pending take_release(struct redlock_lock *lock)
{
    struct rl_pending pending = lock->release;

    lock->release.accepted = false;
    return pending;
}

/* The watch is not told of a danger that is over, nor of one that has come true. */
static bool is_still_true(const struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    if (kind == REDLOCK_ALARM_LOST)
        return lock->host.core.state == RL_LOCK_LOST;
    return lock->host.core.state != RL_LOCK_LOST && redlock_remaining_ns(lock) > 0;
}

static void fire(struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    struct rl_evidence evidence;

    if (!lock->watch || lock->destroyed || rl_client_forked(rl_client_of(lock)) || !is_still_true(lock, kind))
        return;
    rl_evidence_of_ledger(lock, &evidence);
    lock->watch(lock,
                &(struct redlock_alarm){.kind = kind,
                                        .loss = evidence.result.loss,
                                        .remaining_ms = evidence.result.remaining_ms,
                                        .n_nodes = evidence.result.n_nodes,
                                        .nodes = evidence.nodes,
                                        .why = evidence.result.why},
                lock->watch_data);
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

/* Those that there are; the callbacks may add to them. */
static void deliver_inner_releases(struct redlock_lock *lock)
{
    struct rl_pending pending;

    for (uint32_t n = rl_inner_releases_count(lock); n && !lock->destroyed; n--) {
        if (rl_inner_releases_shift(lock, &pending))
            call_back(lock, &pending);
    }
}

static void deliver_attempt(struct redlock_lock *lock, bool acquisition)
{
    const struct rl_attempt *attempt = rl_attempt_of(lock);

    if (attempt && attempt->pending.ended && acquisition == (attempt->pending.op == RL_OP_ACQUIRE))
        end_attempt(lock, attempt->pending);
}

/* Each callback may destroy the lock. Whoever is told that it holds the lock is told of its loss after that. */
static void deliver(struct redlock_lock *lock)
{
    struct rl_pending pending;

    deliver_attempt(lock, true);
    if (!lock->destroyed)
        fire_alarms(lock);
    if (!lock->destroyed)
        deliver_inner_releases(lock);
    if (!lock->destroyed)
        deliver_attempt(lock, false);
    if (!lock->destroyed && lock->release.accepted && lock->release.ended) {
        pending = take_release(lock);
        call_back(lock, &pending);
    }
    if (!lock->destroyed && !rl_lock_is_busy(lock))
        rl_lock_forget(&lock->host.host->engine, &lock->host.core);
}

/* What callbacks complete is delivered in the next turn, so that no turn starves the loop. */
void rl_results_deliver(struct redlock_client *client)
{
    struct rl_list due;

    rl_list_init(&due);
    rl_list_move_all(&due, &client->completed);
    while (!rl_list_empty(&due)) {
        struct redlock_lock *lock = RL_CONTAINER_OF(due.next, struct redlock_lock, completed);

        rl_list_remove(&lock->completed);
        deliver(lock);
    }
}

static struct rl_pending canceled(struct redlock_lock *lock, struct rl_pending pending)
{
    if (!pending.ended)
        count(&rl_client_of(lock)->stats, (enum rl_op)pending.op, REDLOCK_CANCELED);
    pending.status = REDLOCK_CANCELED;
    return pending;
}

static void cancel(struct redlock_lock *lock, struct rl_pending pending)
{
    pending = canceled(lock, pending);
    call_back(lock, &pending);
}

void rl_results_cancel_all(struct redlock_lock *lock)
{
    struct rl_pending pending;

    while (rl_inner_releases_shift(lock, &pending))
        cancel(lock, pending);
    if (lock->host.call)
        end_attempt(lock, canceled(lock, rl_attempt_of(lock)->pending));
    if (lock->release.accepted)
        cancel(lock, take_release(lock));
}
