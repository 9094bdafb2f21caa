/* The acquisition of a set. engine/set.h says what is tried, awaited and given up. */
#include "api/set_acquire.h"

#include <string.h>

#include "api/handle.h"
#include "api/object.h"
#include "api/lock.h"
#include "api/lock_state.h"
#include "api/options.h"
#include "api/results.h"
#include "api/set_hold.h"

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

/* Whole milliseconds, at least one; or without end. */
static int64_t time_left_ms(const struct redlock_set *set)
{
    int64_t left_ns;

    if (set->options.timeout_ms <= 0)
        return set->options.timeout_ms;
    left_ns = rl_until(rl_host_read_clock(&set->object.client->host), set->core.deadline).ns;
    return left_ns > RL_NS_PER_MS ? left_ns / RL_NS_PER_MS : 1;
}

/* A try does not wait. A key that is awaited has just been refused: a plain attempt before the wait queue would be one
 * round trip for nothing. */
static int start_part(struct redlock_set *set, unsigned part, bool once)
{
    struct redlock_acquire_options options = set->options;

    if (set->parts[part].mode != RL_MODE_OF_OPTIONS)
        options.mode = (enum redlock_mode)set->parts[part].mode;
    if (rl_set_is_gate(set, part))
        options.fenced = 0;
    options.timeout_ms = time_left_ms(set);
    if (once) {
        options.wait = REDLOCK_WAIT_SPIN;
        return rl_lock_try(set->parts[part].lock, &options, on_acquired, set);
    }
    if (options.wait == REDLOCK_WAIT_QUEUE)
        options.wait = REDLOCK_WAIT_FIFO;
    return redlock_acquire(set->parts[part].lock, &options, on_acquired, set);
}

/* 0, or the first error. What was refused before does not matter any more when a part is tried again. */
static int start_parts(struct redlock_set *set, const struct rl_set_step *step)
{
    int status = 0;

    if (rl_parts_any(step->try))
        set->work.part = set->n;
    for (unsigned i = 0; i < set->n && status == 0; i++) {
        if (rl_parts_has(step->try, i) || rl_parts_has(step->await, i))
            status = start_part(set, i, rl_parts_has(step->try, i));
    }
    return status;
}

/* The deciding part has been noted. Where there was time to wait, it is up. */
static void fail(struct redlock_set *set, const struct redlock_result *result)
{
    struct rl_set_call *work = &set->work;
    bool refused = work->call.status == REDLOCK_HELD || work->call.status == REDLOCK_NO_QUORUM ||
                   work->call.status == REDLOCK_TOO_SLOW;

    if (refused && set->options.timeout_ms != 0) {
        work->call.cause = work->call.status;
        work->call.status = REDLOCK_DEADLINE;
    }
    rl_set_give_up(set, rl_set_abandon(&set->core.plan).give_up);
    set->state = REDLOCK_STATE_IDLE;
    rl_set_complete(set, &set->work, result);
}

static void fail_with(struct redlock_set *set, int status)
{
    rl_set_note(&set->work, set->n, status, 0, redlock_strerror(status));
    fail(set, NULL);
}

/* While other keys were awaited nothing was held, and nobody was warned. */
static void warn(struct redlock_set *set)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (!rl_set_is_gate(set, i) && set->parts[i].lock->host.core.hold.warned)
            rl_results_queue_alarm(set->parts[i].lock, REDLOCK_ALARM_AT_RISK);
    }
}

/* Callbacks of what is given up run at once; they find a plan that has nothing pending. */
static void follow(struct redlock_set *set, struct rl_set_step step, const struct redlock_result *result)
{
    int status;

    rl_set_give_up(set, step.give_up);
    if (step.outcome == RL_SET_AGAIN)
        step = rl_set_acquire_again(&set->core);
    switch (step.outcome) {
    case RL_SET_HELD:
        set->state = REDLOCK_STATE_HELD;
        warn(set);
        rl_set_note(&set->work, set->n, REDLOCK_OK, 0, "");
        rl_set_complete(set, &set->work, NULL);
        break;
    case RL_SET_FAILED:
        fail(set, result);
        break;
    case RL_SET_TOO_SLOW:
        status = set->core.canceled ? REDLOCK_CANCELED : REDLOCK_TOO_SLOW;
        fail_with(set, status);
        break;
    case RL_SET_PENDING:
    case RL_SET_AGAIN:
        status = start_parts(set, &step);
        if (status < 0)
            fail_with(set, status);
        break;
    }
}

/* A caller error that comes as a result, or the end of the client: there is no use in waiting. */
static bool is_final(int status)
{
    return status == REDLOCK_CANCELED || status <= REDLOCK_E_NOMEM;
}

static void canceled(struct redlock_set *set, unsigned part, const struct redlock_result *result)
{
    int cause = result->status == REDLOCK_CANCELED ? result->cause : result->status;

    rl_set_note(&set->work, part, REDLOCK_CANCELED, cause, redlock_strerror(REDLOCK_CANCELED));
    fail(set, result);
}

/* The smallest part that was refused decides; its answer may come before those of smaller ones. */
static void refused(struct redlock_set *set, unsigned part, const struct redlock_result *result)
{
    struct rl_set_step step;

    if (part <= set->work.part || is_final(result->status))
        rl_set_note(&set->work, part, result->status, result->cause, result->why);
    if (is_final(result->status)) {
        fail(set, result);
        return;
    }
    step = rl_set_part_refused(&set->core, rl_host_read_clock(&set->object.client->host), part);
    follow(set, step, step.decisive == part ? result : NULL);
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_set *set = user_data;
    unsigned part = rl_set_part_of(set, lock);
    uint8_t before = part < set->n ? set->core.plan.parts[part] : RL_PART_FREE;

    if (set->object.destroyed || (before != RL_PART_TRIED && before != RL_PART_AWAITED))
        return; /* it has been given up */
    rl_object_enter(&set->object);
    if (set->core.canceled)
        canceled(set, part, result);
    else if (result->status != REDLOCK_OK)
        refused(set, part, result);
    else
        follow(set, rl_set_part_granted(&set->core, rl_host_read_clock(&set->object.client->host), part), NULL);
    rl_object_leave(&set->object);
}

/* The set acquires the lost key anew, with all the rest. */
static void lost_meanwhile(struct redlock_set *set, unsigned part)
{
    follow(set, rl_set_part_lost(&set->core, rl_host_read_clock(&set->object.client->host), part), NULL);
}

/* --- Operations ------------------------------------------------------------------------------------------------- */

static int check_options(const struct redlock_set *set, const struct redlock_acquire_options *options)
{
    struct rl_acquire request;
    int status = rl_acquire_options_check(set->object.client, options, set->object.client->host.now, &request);

    if (status == 0 && request.max_attempts)
        return REDLOCK_E_RETRY;
    return status == 0 && !request.renew_ms ? REDLOCK_E_RENEWAL : status;
}

static void keep_options(struct redlock_set *set, const struct redlock_acquire_options *options)
{
    redlock_acquire_options_init(&set->options);
    if (options)
        memcpy(&set->options, options, options->size < sizeof *options ? options->size : sizeof *options);
    else if (set->options.ttl_ms > set->object.client->options.max_ttl_ms)
        set->options.ttl_ms = set->object.client->options.max_ttl_ms;
    set->options.size = sizeof set->options;
    if (set->options.label)
        set->options.label = strcpy(set->label, set->options.label);
}

static void set_limits(struct redlock_set *set)
{
    set->core.min_validity = rl_ms(set->options.min_validity_ms);
    set->core.deadline = RL_NEVER;
    if (set->options.timeout_ms == 0)
        set->core.deadline = RL_LONG_AGO;
    else if (set->options.timeout_ms > 0)
        set->core.deadline = rl_after(set->object.client->host.now, rl_ms(set->options.timeout_ms));
}

int redlock_set_acquire(struct redlock_set *set, const struct redlock_acquire_options *options, redlock_set_fn cb,
                        void *user_data)
{
    int status = cb ? rl_set_check_free(set) : REDLOCK_E_ARGUMENT;
    struct rl_set_step step;

    if (status < 0)
        return status;
    status = check_options(set, options);
    if (status < 0)
        return status;
    if (set->state == REDLOCK_STATE_LOST)
        rl_set_give_up(set, rl_parts_below(set->n));
    keep_options(set, options);
    rl_set_describe(set);
    set_limits(set);
    step = rl_set_acquire(&set->core);
    status = start_parts(set, &step);
    if (status < 0) {
        rl_set_give_up(set, rl_set_abandon(&set->core.plan).give_up);
        set->state = REDLOCK_STATE_IDLE;
        return status;
    }
    set->state = REDLOCK_STATE_ACQUIRING;
    set->object.client->stats.set_acquires++;
    rl_set_start(set, &set->work, REDLOCK_OP_ACQUIRE, cb, user_data);
    return 0;
}

int redlock_set_cancel(struct redlock_set *set)
{
    bool canceled = false;
    int status = rl_set_check(set);

    if (status < 0)
        return status;
    for (unsigned i = 0; i < set->n && set->work.call.accepted; i++)
        canceled |= redlock_cancel(set->parts[i].lock) == 0;
    set->core.canceled = set->work.call.accepted && set->work.call.op == REDLOCK_OP_ACQUIRE;
    return canceled || set->core.canceled ? 0 : REDLOCK_E_NOTHING_TO_CANCEL;
}

/* --- Alarms ----------------------------------------------------------------------------------------------------- */

/* One loss is reported for each hold, and nothing of what is left after it. */
static bool is_news(const struct redlock_set *set, unsigned part, enum redlock_alarm_kind kind)
{
    if (kind == REDLOCK_ALARM_LOST)
        return set->state == REDLOCK_STATE_LOST && part == set->lost_part;
    return set->state == REDLOCK_STATE_HELD;
}

/* An extension that is pending ends with LOST: its answers are those of locks that are given up here, or that of the
 * lost one, which comes after the alarm. */
void rl_set_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct redlock_set *set = user_data;
    unsigned part = rl_set_part_of(set, lock);
    bool is_loss = alarm->kind == REDLOCK_ALARM_LOST;

    if (set->object.destroyed || part == set->n)
        return;
    rl_object_enter(&set->object);
    if (set->state == REDLOCK_STATE_HELD && is_loss)
        rl_set_lose(set, part);
    if (set->state == REDLOCK_STATE_ACQUIRING && is_loss)
        lost_meanwhile(set, part);
    else if (is_news(set, part, alarm->kind) && set->watch && !set->object.destroyed)
        set->watch(set, rl_set_place_of(set, part), alarm, set->watch_data);
    rl_object_leave(&set->object);
}
