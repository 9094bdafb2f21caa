/* A set that is held: its extension, release and alarms. */
#include "api/set_hold.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/handle.h"
#include "api/lock_state.h"
#include "api/set_acquire.h"
#include "api/transfer.h"
#include "host/operations.h"

/* A part has done what the call asks of all. `says_more`: its failure is the call's, before what is known so far. */
static void end_part(struct redlock_set *set, struct rl_set_call *work, unsigned part,
                     const struct redlock_result *result, bool says_more)
{
    if (set->object.destroyed || !work->call.accepted || !rl_parts_has(work->parts, part))
        return;
    rl_object_enter(&set->object);
    rl_parts_remove(&work->parts, part);
    if (result->status != REDLOCK_OK && says_more)
        rl_set_note(work, part, result->status, result->cause, result->why);
    if (!rl_parts_any(work->parts)) {
        if (work == &set->release)
            set->state = REDLOCK_STATE_IDLE;
        rl_set_complete(set, work, work->part == part ? result : NULL);
    }
    rl_object_leave(&set->object);
}

static void on_extended(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_set *set = user_data;
    unsigned part = rl_set_part_of(set, lock);

    end_part(set, &set->work, part, result, part < set->work.part && set->work.call.status != REDLOCK_LOST);
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
    rl_set_start(set, &set->work, REDLOCK_OP_EXTEND, cb, user_data);
    rl_parts_add(&set->work.parts, first);
    for (unsigned i = first + 1; i < set->n; i++) {
        if (rl_set_is_gate(set, i))
            continue;
        status = redlock_extend(set->parts[i].lock, ttl_ms, on_extended, set);
        if (status == REDLOCK_E_NOT_HELD)
            status = REDLOCK_LOST;
        if (status == 0)
            rl_parts_add(&set->work.parts, i);
        else if (set->work.part == set->n)
            rl_set_note(&set->work, i, status, 0, redlock_strerror(status));
    }
    return 0;
}

/* LOST says more than NO_QUORUM does. */
static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_set *set = user_data;

    end_part(set, &set->release, rl_set_part_of(set, lock), result,
             set->release.call.status == REDLOCK_OK || result->status == REDLOCK_LOST);
}

int redlock_set_release(struct redlock_set *set, redlock_set_fn cb, void *user_data)
{
    struct rl_parts parts = {{0}};
    int status = rl_set_check(set);

    if (status < 0)
        return status;
    if (set->release.call.accepted || set->state == REDLOCK_STATE_ACQUIRING)
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

    if (set->object.destroyed || part == set->n)
        return;
    rl_object_enter(&set->object);
    if (set->state == REDLOCK_STATE_HELD && is_loss)
        rl_set_lose(set, part);
    if (set->state == REDLOCK_STATE_ACQUIRING && is_loss)
        rl_set_lost_meanwhile(set, part);
    else if (is_news(set, part, alarm->kind) && set->watch && !set->object.destroyed)
        set->watch(set, rl_set_place_of(set, part), alarm, set->watch_data);
    rl_object_leave(&set->object);
}

/* Transfer of a held set: the texts of its locks (transfer.c), in the order of their keys, with a blank between two.
 * All parts go together, or none. */

/* --- Giving ----------------------------------------------------------------------------------------------------- */

static int check_held(struct redlock_set *set)
{
    int status = rl_set_check(set);

    if (status < 0)
        return status;
    if (rl_set_is_busy(set))
        return REDLOCK_E_BUSY;
    return set->state == REDLOCK_STATE_HELD ? 0 : REDLOCK_E_NOT_HELD;
}

/* Gates are given up as soon as the set is held. */
static void detach(struct redlock_set *set, struct rl_parts parts)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (!rl_set_is_gate(set, i) && rl_parts_has(parts, i))
            rl_host_detach(&set->parts[i].lock->host);
    }
}

static void detach_all(struct redlock_set *set)
{
    detach(set, rl_parts_below(set->n));
    set->state = REDLOCK_STATE_IDLE;
}

int redlock_set_detach(struct redlock_set *set)
{
    int status = check_held(set);

    if (status == 0)
        detach_all(set);
    return status;
}

/* There is room for the longest text of each part. */
static int describe_parts(struct redlock_set *set, char *text)
{
    size_t length = 0;
    int status = 0;

    for (unsigned i = 0; i < set->n && status == 0; i++) {
        if (rl_set_is_gate(set, i))
            continue;
        if (length)
            text[length++] = ' ';
        status = rl_lock_describe(set->parts[i].lock, text + length, REDLOCK_MAX_EXPORT_BYTES);
        length += strlen(text + length);
    }
    return status;
}

static int export(struct redlock_set *set, char *text, char *ret_text, size_t size)
{
    int status = describe_parts(set, text);

    if (status == 0 && strlen(text) >= size)
        return REDLOCK_E_LIMIT;
    if (status == 0)
        memcpy(ret_text, text, strlen(text) + 1);
    return status;
}

int redlock_set_export(struct redlock_set *set, char *ret_text, size_t size)
{
    int status = ret_text ? check_held(set) : REDLOCK_E_ARGUMENT;
    size_t room;
    char *text;

    if (status < 0)
        return status;
    room = redlock_set_size(set) * REDLOCK_MAX_EXPORT_BYTES;
    text = calloc(1, room);
    if (!text)
        return REDLOCK_E_NOMEM;
    status = export(set, text, ret_text, size);
    explicit_bzero(text, room);
    free(text);
    if (status == 0)
        detach_all(set);
    return status;
}

/* --- Taking ----------------------------------------------------------------------------------------------------- */

/* Cuts the text at its blanks, in place. As many texts as the set has keys, each a different one: two permits of a
 * semaphore could be adopted from the same. */
static bool split(const struct redlock_set *set, char *text, char *texts[])
{
    size_t n = redlock_set_size(set);

    for (size_t i = 0; i < n; i++) {
        texts[i] = strsep(&text, " ");
        if (!texts[i])
            return false;
        for (size_t j = 0; j < i; j++) {
            if (strcmp(texts[i], texts[j]) == 0)
                return false;
        }
    }
    return !text;
}

static int check_texts(struct redlock_set *set, const struct redlock_acquire_options *options, char *const texts[])
{
    int status = 0;

    for (unsigned i = 0; i < set->n && status == 0; i++) {
        if (!rl_set_is_gate(set, i))
            status = rl_lock_check_text(set->parts[i].lock, options, texts[rl_set_place_of(set, i)]);
    }
    return status;
}

/* A part whose validity has ended is the end of the set. After any other error the text can be adopted later, so the
 * parts are let go of. */
static int adopt_parts(struct redlock_set *set, const struct redlock_acquire_options *options, char *const texts[])
{
    struct rl_parts adopted = {{0}};
    bool lost = false;

    for (unsigned i = 0; i < set->n; i++) {
        int status = rl_set_is_gate(set, i)
                         ? 0
                         : redlock_lock_adopt(set->parts[i].lock, options, texts[rl_set_place_of(set, i)]);

        if (status < 0 && status != REDLOCK_E_NOT_HELD) {
            detach(set, adopted);
            return status;
        }
        lost |= status < 0;
        if (status == 0)
            rl_parts_add(&adopted, i);
    }
    if (lost)
        rl_set_give_up(set, adopted);
    return lost ? REDLOCK_E_NOT_HELD : 0;
}

static int adopt(struct redlock_set *set, const struct redlock_acquire_options *options, char *text)
{
    char *texts[REDLOCK_MAX_SET_KEYS];
    int status = split(set, text, texts) ? check_texts(set, options, texts) : REDLOCK_E_EXPORT;

    if (status < 0)
        return status;
    if (set->state == REDLOCK_STATE_LOST)
        rl_set_give_up(set, rl_parts_below(set->n));
    status = adopt_parts(set, options, texts);
    set->state = status == 0 ? REDLOCK_STATE_HELD : REDLOCK_STATE_IDLE;
    return status;
}

int redlock_set_adopt(struct redlock_set *set, const struct redlock_acquire_options *options, const char *text)
{
    int status = text ? rl_set_check_free(set) : REDLOCK_E_ARGUMENT;
    size_t length;
    char *copy;

    if (status < 0)
        return status;
    length = strnlen(text, REDLOCK_MAX_SET_EXPORT_BYTES);
    if (length == REDLOCK_MAX_SET_EXPORT_BYTES)
        return REDLOCK_E_EXPORT;
    copy = malloc(length + 1);
    if (!copy)
        return REDLOCK_E_NOMEM;
    memcpy(copy, text, length + 1);
    rl_set_describe(set);
    status = adopt(set, options, copy);
    explicit_bzero(copy, length);
    free(copy);
    return status;
}
