/* Completions are queued where they arise and delivered at the end of the loop turn: never inside the call that started
 * the operation, and before the turn's writing, so that what a callback starts joins the same batch. */
#include "api/results.h"

#include <assert.h>

#include "api/call.h"
#include "api/evidence.h"
#include "api/handle.h"
#include "api/lock_state.h"
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

/* An acquisition is measured, too. */
static void note_end(struct redlock_lock *lock, const struct rl_call *call)
{
    count(&rl_client_of(lock)->stats, (enum rl_op)call->op, call->status);
    if (call->op == RL_OP_ACQUIRE)
        rl_usage_acquired(lock, call);
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
static void observe_result(struct redlock_lock *lock, const struct rl_call *call)
{
    enum rl_op op = (enum rl_op)call->op;
    bool handed_off = op == RL_OP_RELEASE && lock->host.host->successor && rl_lock_has_handed_off(lock);
    const struct redlock_lock *holder = handed_off ? rl_lock_of(lock->host.host->successor) : lock;
    struct redlock_event event = {.type = event_type(op, call->status), .op = rl_public_op(op),
                                  .status = call->status, .cause = call->cause,
                                  .token = redlock_lock_token(holder)};
    struct rl_evidence evidence;

    if (call->status != REDLOCK_OK) {
        rl_evidence_of_result(lock, call, &evidence);
        event.text = rl_reason_is_masters(&evidence.result) ? evidence.reasons.why : "";
    }
    rl_observe_ledger(lock, &event);
}

/* --- Queue and delivery ----------------------------------------------------------------------------------------- */

void rl_results_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    struct redlock_client *client = rl_client_of(lock);
    struct rl_call *call = op == RL_OP_RELEASE ? &lock->release : &rl_lock_call_of(lock)->call;

    assert(call->accepted && !call->ended && call->op == op);
    rl_call_end(call, rl_public_status(lock, status), rl_public_status(lock, cause));
    if (op == RL_OP_CONVERT && call->status == REDLOCK_OK)
        call->unanswered = false;
    note_end(lock, call);
    if (op == RL_OP_ACQUIRE && call->status == REDLOCK_OK)
        rl_usage_begin_hold(lock);
    if (op == RL_OP_ACQUIRE && call->status == REDLOCK_OK)
        RL_PROBE_1(grant, &lock->host, rl_call_elapsed_us(call, client->host.now));
    else if (op == RL_OP_ACQUIRE)
        RL_PROBE_2(refuse, &lock->host, rl_call_elapsed_us(call, client->host.now), (int)call->status);
    if (rl_observes(client, event_type(op, call->status)))
        observe_result(lock, call);
    rl_object_due(&lock->object);
}

void rl_results_queue_inner_release(struct redlock_lock *lock, redlock_fn cb, void *user_data)
{
    bool held = redlock_remaining_ns(lock) > 0;
    struct rl_call call = {.cb.lock = cb, .user_data = user_data, .started = lock->host.host->now, .op = RL_OP_RELEASE,
                           .accepted = true, .ended = true, .unanswered = true,
                           .status = held ? REDLOCK_OK : REDLOCK_LOST};

    if (!cb)
        return;
    rl_inner_releases_push(lock, &call);
    rl_object_due(&lock->object);
}

void rl_results_queue_alarm(struct redlock_lock *lock, enum redlock_alarm_kind kind)
{
    if (!lock->watch)
        return;
    lock->object.alarms = (uint8_t)(lock->object.alarms | 1u << kind);
    rl_object_due(&lock->object);
}

static bool is_told(const struct redlock_lock *lock, const struct rl_call *call)
{
    return call->cb.lock && !rl_client_forked(rl_client_of(lock));
}

static void tell(struct redlock_lock *lock, const struct rl_call *call, const struct rl_evidence *evidence)
{
    rl_object_enter(&lock->object);
    call->cb.lock(lock, &evidence->result, call->user_data);
    rl_object_leave(&lock->object);
}

static void call_back(struct redlock_lock *lock, const struct rl_call *call)
{
    struct rl_evidence evidence;

    if (!is_told(lock, call))
        return;
    rl_evidence_of_result(lock, call, &evidence);
    tell(lock, call, &evidence);
}

/* The call is given back before its callback runs, since the callback may start the next operation; but some of the
 * evidence is the call's. */
static void end_call(struct redlock_lock *lock, struct rl_call call)
{
    struct rl_evidence evidence;
    bool told = is_told(lock, &call);

    if (told)
        rl_evidence_of_result(lock, &call, &evidence);
    rl_lock_call_give_back(lock);
    if (told)
        tell(lock, &call, &evidence);
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

    if (!lock->watch || lock->object.destroyed || rl_client_forked(rl_client_of(lock)) || !is_still_true(lock, kind))
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
    uint8_t alarms = lock->object.alarms;

    lock->object.alarms = 0;
    for (int kind = REDLOCK_ALARM_AT_RISK; kind <= REDLOCK_ALARM_LOST; kind++) {
        if (alarms & 1u << kind)
            fire(lock, (enum redlock_alarm_kind)kind);
    }
}

/* Tells of the inner releases that there are by now: callbacks may add others. */
static void deliver_inner_releases(struct redlock_lock *lock)
{
    struct rl_call call;

    for (uint32_t n = rl_inner_releases_count(lock); n && !lock->object.destroyed; n--) {
        if (rl_inner_releases_shift(lock, &call))
            call_back(lock, &call);
    }
}

static void deliver_call(struct redlock_lock *lock, bool acquisition)
{
    const struct rl_lock_call *call = rl_lock_call_of(lock);

    if (call && call->call.ended && acquisition == (call->call.op == RL_OP_ACQUIRE))
        end_call(lock, call->call);
}

/* Each callback may destroy the lock. Whoever is told that it holds the lock is told of its loss after that. */
void rl_results_deliver(struct redlock_lock *lock)
{
    struct rl_call call;

    deliver_call(lock, true);
    if (!lock->object.destroyed)
        fire_alarms(lock);
    if (!lock->object.destroyed)
        deliver_inner_releases(lock);
    if (!lock->object.destroyed)
        deliver_call(lock, false);
    if (!lock->object.destroyed && lock->release.accepted && lock->release.ended) {
        call = rl_call_take(&lock->release);
        call_back(lock, &call);
    }
    if (!lock->object.destroyed && !rl_lock_is_busy(lock))
        rl_lock_forget(&lock->host.host->engine, &lock->host.core);
}

static struct rl_call canceled(struct redlock_lock *lock, struct rl_call call)
{
    call.status = REDLOCK_CANCELED;
    if (!call.ended)
        note_end(lock, &call);
    return call;
}

static void cancel(struct redlock_lock *lock, struct rl_call call)
{
    call = canceled(lock, call);
    call_back(lock, &call);
}

void rl_results_cancel_all(struct redlock_lock *lock)
{
    struct rl_call call;

    while (rl_inner_releases_shift(lock, &call))
        cancel(lock, call);
    if (lock->host.call)
        end_call(lock, canceled(lock, rl_lock_call_of(lock)->call));
    if (lock->release.accepted)
        cancel(lock, rl_call_take(&lock->release));
}
