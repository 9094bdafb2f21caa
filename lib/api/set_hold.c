/* A set that is held: its extension, release and alarms. */
#include "api/set_hold.h"

#include "api/handle.h"
#include "api/set_acquire.h"
#include "api/set_pending.h"

static void on_extended(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_set *set = user_data;
    struct rl_set_pending *pending = &set->attempt;
    unsigned part = rl_set_part_of(set, lock);

    if (set->destroyed || !pending->accepted || !rl_parts_has(pending->parts, part))
        return;
    rl_set_enter(set);
    rl_parts_remove(&pending->parts, part);
    if (result->status != REDLOCK_OK && part < pending->part && pending->status != REDLOCK_LOST)
        rl_set_note(pending, part, result->status, result->cause, result->why);
    if (!rl_parts_any(pending->parts))
        rl_set_complete(set, pending, pending->part == part ? result : NULL);
    rl_set_leave(set);
}

/* A later key may be lost, or have no memory for its extension; the first has none of that, or the call fails. */
int redlock_set_extend(struct redlock_set *set, uint32_t ttl_ms, redlock_set_fn cb, void *user_data)
{
    int status = cb ? rl_set_check_new(set) : REDLOCK_E_ARGUMENT;
    unsigned first;

    if (status < 0)
        return status;
    if (set->state != REDLOCK_STATE_HELD)
        return REDLOCK_E_NOT_HELD;
    first = rl_set_is_gate(set, 0);
    status = redlock_extend(set->parts[first].lock, ttl_ms, on_extended, set);
    if (status < 0)
        return status;
    rl_set_start(set, &set->attempt, REDLOCK_OP_EXTEND, cb, user_data);
    rl_parts_add(&set->attempt.parts, first);
    for (unsigned i = first + 1; i < set->n; i++) {
        if (rl_set_is_gate(set, i))
            continue;
        status = redlock_extend(set->parts[i].lock, ttl_ms, on_extended, set);
        if (status == REDLOCK_E_NOT_HELD)
            status = REDLOCK_LOST;
        if (status == 0)
            rl_parts_add(&set->attempt.parts, i);
        else if (set->attempt.part == set->n)
            rl_set_note(&set->attempt, i, status, 0, redlock_strerror(status));
    }
    return 0;
}

/* LOST says more than NO_QUORUM does. */
static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_set *set = user_data;
    struct rl_set_pending *pending = &set->release;
    unsigned part = rl_set_part_of(set, lock);

    if (set->destroyed || !pending->accepted || !rl_parts_has(pending->parts, part))
        return;
    rl_set_enter(set);
    rl_parts_remove(&pending->parts, part);
    if (result->status != REDLOCK_OK && (pending->status == REDLOCK_OK || result->status == REDLOCK_LOST))
        rl_set_note(pending, part, result->status, result->cause, result->why);
    if (!rl_parts_any(pending->parts)) {
        set->state = REDLOCK_STATE_IDLE;
        rl_set_complete(set, pending, pending->part == part ? result : NULL);
    }
    rl_set_leave(set);
}

int redlock_set_release(struct redlock_set *set, redlock_set_fn cb, void *user_data)
{
    struct rl_parts parts = {{0}};
    int status = rl_set_check(set);

    if (status < 0)
        return status;
    if (set->release.accepted || set->state == REDLOCK_STATE_ACQUIRING)
        return REDLOCK_E_BUSY;
    if (set->state == REDLOCK_STATE_IDLE)
        return REDLOCK_E_NOT_HELD;
    for (unsigned i = 0; i < set->n; i++) {
        if (redlock_release(set->parts[i].lock, on_released, set) == 0)
            rl_parts_add(&parts, i);
    }
    if (!rl_parts_any(parts))
        return REDLOCK_E_NOT_HELD;
    set->state = REDLOCK_STATE_RELEASING;
    rl_set_start(set, &set->release, REDLOCK_OP_RELEASE, cb, user_data);
    set->release.parts = parts;
    return 0;
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

    if (set->destroyed || part == set->n)
        return;
    rl_set_enter(set);
    if (set->state == REDLOCK_STATE_HELD && is_loss)
        rl_set_lose(set, part);
    if (set->state == REDLOCK_STATE_ACQUIRING && is_loss)
        rl_set_lost_meanwhile(set, part);
    else if (is_news(set, part, alarm->kind) && set->watch && !set->destroyed)
        set->watch(set, rl_set_place_of(set, part), alarm, set->watch_data);
    rl_set_leave(set);
}
