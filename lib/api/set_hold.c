/* A set that is held, and what the operations of a set have in common. */
#include "api/set_hold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/handle.h"
#include "api/lock.h"
#include "api/lock_state.h"
#include "api/transfer.h"
#include "host/operations.h"

/* --- What the operations of a set have in common ------------------------------------------------------------------ */

unsigned rl_set_part_of(const struct redlock_set *set, const struct redlock_lock *lock)
{
    unsigned part = 0;

    while (part < set->n && set->parts[part].lock != lock)
        part++;
    return part;
}

void rl_set_start(struct redlock_set *set, struct rl_set_call *work, enum redlock_op op, redlock_set_fn cb,
                  void *user_data)
{
    rl_call_begin(&work->call, op, set->object.client->host.now, user_data);
    work->call.cb.set = cb;
    work->parts = rl_parts_below(0);
    work->part = set->n;
    work->why[0] = '\0';
}

/* The call makes room before its callback runs, which may start the next one. */
void rl_set_complete(struct redlock_set *set, struct rl_set_call *work, const struct redlock_result *result)
{
    struct rl_set_call ended = *work;
    const struct rl_call call = rl_call_take(&work->call);
    struct redlock_client *client = set->object.client;
    struct redlock_set_result report = {
        .op = (enum redlock_op)call.op,
        .status = call.status,
        .cause = call.cause,
        .elapsed_us = rl_call_elapsed_us(&call, rl_host_read_clock(&client->host)),
        .remaining_ms = redlock_set_remaining_ms(set),
        .n_keys = redlock_set_size(set),
        .part = rl_set_place_of(set, ended.part),
        .part_result = result,
        .why = ended.why,
    };

    client->stats.set_acquired += call.op == REDLOCK_OP_ACQUIRE && call.status == REDLOCK_OK;
    if (!call.cb.set || rl_client_forked(client))
        return;
    rl_object_enter(&set->object);
    call.cb.set(set, &report, call.user_data);
    rl_object_leave(&set->object);
}

void rl_set_note(struct rl_set_call *work, unsigned part, int status, int cause, const char *why)
{
    work->part = part;
    work->call.status = (int16_t)status;
    work->call.cause = (int16_t)cause;
    snprintf(work->why, sizeof work->why, "%s", why);
}

static void cancel(struct redlock_set *set, struct rl_set_call *work)
{
    if (!work->call.accepted)
        return;
    rl_set_note(work, set->n, REDLOCK_CANCELED, 0, redlock_strerror(REDLOCK_CANCELED));
    rl_set_complete(set, work, NULL);
}

void rl_set_cancel_all(struct redlock_set *set)
{
    cancel(set, &set->work);
    cancel(set, &set->release);
}

void rl_set_give_up(struct redlock_set *set, struct rl_parts parts)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (rl_parts_has(parts, i))
            rl_lock_abandon(set->parts[i].lock);
    }
}

/* The others are given up, unless the program wants to end first what it does under them. The lost one is kept, since
 * it has an alarm and perhaps a result to report. */
void rl_set_lose(struct redlock_set *set, unsigned part)
{
    set->state = REDLOCK_STATE_LOST;
    set->lost_part = part;
    if (set->work.call.accepted)
        rl_set_note(&set->work, part, REDLOCK_LOST, 0, redlock_strerror(REDLOCK_LOST));
    if (!set->keeps_rest)
        rl_set_give_up(set, rl_set_rest(&set->core, part));
}

/* While an extension is pending, the loss is left to its alarm: callbacks come from the loop. */
static void notice_loss(struct redlock_set *set)
{
    for (unsigned i = 0; i < set->n; i++) {
        rl_lock_begin(set->parts[i].lock);
        if (set->state == REDLOCK_STATE_HELD && !set->work.call.accepted &&
            set->parts[i].lock->host.core.state == RL_LOCK_LOST)
            rl_set_lose(set, i);
    }
}

int rl_set_check(struct redlock_set *set)
{
    int status = rl_object_check(set ? &set->object : NULL);

    if (status < 0)
        return status;
    rl_host_read_clock(&set->object.client->host);
    notice_loss(set);
    return 0;
}

bool rl_set_is_busy(const struct redlock_set *set)
{
    return set->work.call.accepted || set->release.call.accepted;
}

int rl_set_check_new(struct redlock_set *set)
{
    int status = rl_set_check(set);

    if (status == 0)
        status = rl_object_check_new(&set->object);
    return status == 0 && rl_set_is_busy(set) ? REDLOCK_E_BUSY : status;
}

/* What a program may ask of a set. */

int64_t redlock_set_remaining_ns(const struct redlock_set *set)
{
    int64_t least = INT64_MAX;

    if (!set || set->object.destroyed || set->state != REDLOCK_STATE_HELD)
        return 0;
    for (unsigned i = 0; i < set->n; i++) {
        int64_t remaining = rl_set_is_gate(set, i) ? INT64_MAX : redlock_remaining_ns(set->parts[i].lock);

        if (remaining < least)
            least = remaining;
    }
    return least;
}

int64_t redlock_set_remaining_ms(const struct redlock_set *set)
{
    return redlock_set_remaining_ns(set) / RL_NS_PER_MS;
}

enum redlock_state redlock_set_state(const struct redlock_set *set)
{
    if (!set || set->object.destroyed)
        return REDLOCK_STATE_IDLE;
    if (set->state == REDLOCK_STATE_HELD && redlock_set_remaining_ns(set) == 0)
        return REDLOCK_STATE_LOST;
    if (set->state == REDLOCK_STATE_HELD && set->work.call.accepted)
        return REDLOCK_STATE_EXTENDING;
    return set->state;
}

size_t redlock_set_size(const struct redlock_set *set)
{
    return set ? rl_set_place_of(set, set->n) : 0;
}

const struct redlock_lock *redlock_set_lock(const struct redlock_set *set, size_t part)
{
    for (unsigned i = 0; set && i < set->n; i++) {
        if (!rl_set_is_gate(set, i) && part-- == 0)
            return set->parts[i].lock;
    }
    return NULL;
}

int rl_set_check_free(struct redlock_set *set)
{
    int status = rl_set_check_new(set);

    if (status < 0)
        return status;
    if (set->state == REDLOCK_STATE_HELD)
        return REDLOCK_E_ALREADY_HELD;
    return redlock_set_size(set) < 2 ? REDLOCK_E_SET_KEYS : 0;
}

void rl_set_describe(struct redlock_set *set)
{
    set->core.engine = &set->object.client->host.engine;
    set->core.n = set->n;
    set->core.gates = set->core.permits = rl_parts_below(0);
    for (unsigned i = 0; i < set->n; i++) {
        set->core.locks[i] = &set->parts[i].lock->host.core;
        if (rl_set_is_gate(set, i))
            rl_parts_add(&set->core.gates, i);
        if (set->parts[i].is_behind_gate)
            rl_parts_add(&set->core.permits, i);
    }
}

/* --- Extension and release ---------------------------------------------------------------------------------------- */

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
        if (rl_set_is_gate(set, i) || !rl_parts_has(parts, i))
            continue;
        rl_usage_end_hold(set->parts[i].lock);
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
