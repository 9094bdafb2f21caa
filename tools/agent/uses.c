/* What is done with a lock that is held: extended, converted, entered, released. */
#include <stdio.h>

#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/semaphore.h>

#include "agent/held.h"

struct held *held_find(struct peer *peer, int64_t id, json_t *words, const struct field *fields,
                       const uint64_t *number)
{
    char why[FIELDS_WHY_SIZE];
    struct thing *thing = NULL;

    if (!fields_read(words, fields, why)) {
        answer_wrong(peer, id, why);
        return NULL;
    }
    thing = thing_find(peer, &held_kind, *number);
    if (thing && held_of(thing)->granted)
        return held_of(thing);
    answer_refused(peer, id, "REDLOCK_E_NOT_HELD", "this connection has no lock of that number");
    return NULL;
}

/* NULL, after the answer: it is a set. */
static struct redlock_lock *single_lock(struct peer *peer, int64_t id, const struct held *held)
{
    if (held->subject.kind == &subject_lock)
        return held->subject.handle;
    answer_status(peer, id, REDLOCK_E_SET);
    return NULL;
}

static void on_extended(const struct redlock_result *result, void *data)
{
    struct request *request = data;
    struct held *held = held_of(request->thing);

    if (result->status == REDLOCK_OK && !held->thing.ending)
        answer(request->peer, held_grant(request->id, held));
    else
        answer_failed(request->peer, request->id, result, NULL);
    request_end(request);
}

/* For so long a lock is certain at least that is extended now: the library takes its allowance for clocks off. */
static int64_t certain_ms(uint32_t ttl_ms)
{
    struct redlock_options options;

    redlock_options_init(&options);
    return (int64_t)ttl_ms - (int64_t)ttl_ms * options.drift_ppm / 1000000 - options.drift_ms - options.guard_ms;
}

/* What was told stays true. False, after the answer. */
static bool keeps_word(struct peer *peer, int64_t id, const struct held *held, uint32_t ttl_ms)
{
    int64_t told_ms = boot_left_ms(held->thing.told_us);
    char why[120];

    if (ttl_ms == 0 || certain_ms(ttl_ms) >= told_ms)
        return true;
    snprintf(why, sizeof why, "'ttl' is too short: the lock is promised for another %lld ms, which stays true",
             (long long)told_ms);
    return answer_wrong(peer, id, why);
}

void op_extend(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t number = 0;
    uint32_t ttl_ms = 0;
    const struct field fields[] = {
        {"lock", FIELD_NUMBER, &number, true}, {"ttl", FIELD_DURATION, &ttl_ms, false}, {0}};
    struct held *held = held_find(peer, id, words, fields, &number);
    struct request *request =
        held && keeps_word(peer, id, held, ttl_ms) ? request_begin(peer, id, &held->thing) : NULL;

    if (!request)
        return;
    request->sink.done = on_extended;
    request->cancel = held_cancel;
    if (request_starts(request, held->subject.kind->extend(held->subject.handle, ttl_ms, &request->sink)) &&
        ttl_ms != 0)
        held->ttl_ms = ttl_ms;
}

static void on_converted(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    on_extended(result, data);
}

void op_convert(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t number = 0;
    const char *word = NULL;
    int64_t wait_ms = 0;
    const struct field fields[] = {{"lock", FIELD_NUMBER, &number, true},
                                   {"mode", FIELD_TEXT, &word, true},
                                   {"wait", FIELD_WAIT, &wait_ms, false},
                                   {0}};
    struct held *held = held_find(peer, id, words, fields, &number);
    struct redlock_lock *lock = held ? single_lock(peer, id, held) : NULL;
    enum redlock_mode mode;
    struct request *request =
        lock && mode_read(peer, id, word, &mode) ? request_begin(peer, id, &held->thing) : NULL;

    if (!request)
        return;
    request->sink.done = on_extended;
    request->cancel = held_cancel;
    request_starts(request, redlock_convert(lock, mode, wait_ms, on_converted, request));
}

void op_enter(struct peer *peer, int64_t id, json_t *words)
{
    uint64_t number = 0;
    uint32_t min_validity_ms = 1;
    const struct field fields[] = {{"lock", FIELD_NUMBER, &number, true},
                                   {"min_validity", FIELD_DURATION, &min_validity_ms, false},
                                   {0}};
    struct held *held = held_find(peer, id, words, fields, &number);
    struct redlock_lock *lock = held ? single_lock(peer, id, held) : NULL;
    int status = lock ? redlock_reenter(lock, min_validity_ms) : 0;
    json_t *answered;

    if (!lock)
        return;
    if (status != 0) {
        answer_status(peer, id, status);
        return;
    }
    answered = held_grant(id, held);
    json_object_set_new(answered, "depth", json_integer(redlock_lock_depth(lock)));
    answer(peer, answered);
}

static void on_released(const struct redlock_result *result, void *data)
{
    struct request *request = data;
    struct held *held = held_of(request->thing);
    json_t *words;

    if (result->status == REDLOCK_OK) {
        words = answer_ok(request->id);
        add_masters(words, result);
        answer(request->peer, words);
    } else {
        answer_failed(request->peer, request->id, result, NULL);
    }
    if (held->releasing == request && !held->thing.ending)
        held_end(&held->thing);
    request_end(request);
}

/* It stays held as long as was asked for. */
static void keep_for_a_while(struct peer *peer, int64_t id, struct held *held, int64_t ms)
{
    json_t *words = answer_ok(id);

    json_object_set_new(words, "kept_ms", json_integer(ms));
    answer(peer, words);
    held->released = true;
    held->thing.told_us = 0;
    if (!thing_linger(&held->thing, ms))
        held_end(&held->thing);
}

static void release_held(struct peer *peer, int64_t id, struct held *held, bool keeps)
{
    int64_t hold_ms = keeps ? boot_left_ms(held->thing.hold_until_us) : 0;
    bool is_last = held_depth(held) <= 1;
    struct request *request;

    if (is_last && hold_ms > 0 && held->subject.kind->remaining_ns(held->subject.handle) > 0) {
        keep_for_a_while(peer, id, held, hold_ms);
        return;
    }
    request = request_begin(peer, id, &held->thing);
    if (!request)
        return;
    request->sink.done = on_released;
    if (request_starts(request, held->subject.kind->release(held->subject.handle, &request->sink)) && is_last)
        held->releasing = request;
}

/* --- A lock that no connection has, by its token ------------------------------------------------------------------ */

struct foreign {
    const char *key, *token;
    uint64_t slot; /* of a permit; NO_SLOT: it is none */
};

#define NO_SLOT UINT64_MAX

static void on_token_released(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    struct request *request = data;
    struct held *held = held_of(request->thing);
    json_t *words;

    if (result->status == REDLOCK_OK) {
        words = answer_ok(request->id);
        json_object_set_new(words, "deleted", json_integer(result->granted));
        add_masters(words, result);
        answer(request->peer, words);
    } else {
        answer_failed(request->peer, request->id, result, NULL);
    }
    if (!held->thing.ending)
        held_end(&held->thing);
    request_end(request);
}

/* Of a semaphore no more is known than that it has this slot. */
static void release_foreign(struct peer *peer, int64_t id, const struct foreign *foreign)
{
    char permits[48];
    struct wanted wanted = {.key = foreign->key, .permits = foreign->slot != NO_SLOT ? permits : NULL};
    struct held *held;
    struct request *request;
    struct redlock_lock *lock;

    snprintf(permits, sizeof permits, "1/%llu", (unsigned long long)foreign->slot + 1);
    held = held_create(peer, id, &wanted);
    request = held ? request_begin(peer, id, &held->thing) : NULL;
    lock = held ? held->subject.handle : NULL;
    if (held && (!request ||
                 !request_starts(request, foreign->slot != NO_SLOT
                                              ? redlock_release_permit(lock, (uint32_t)foreign->slot, foreign->token,
                                                                       on_token_released, request)
                                              : redlock_release_token(lock, foreign->token, on_token_released,
                                                                      request))))
        held_end(&held->thing);
}

void op_release(struct peer *peer, int64_t id, json_t *words)
{
    struct foreign foreign = {.slot = NO_SLOT};
    uint64_t number = 0;
    bool keeps = true;
    const struct field held_fields[] = {
        {"lock", FIELD_NUMBER, &number, true}, {"keep", FIELD_FLAG, &keeps, false}, {0}};
    const struct field foreign_fields[] = {{"key", FIELD_TEXT, &foreign.key, true},
                                           {"token", FIELD_TEXT, &foreign.token, true},
                                           {"slot", FIELD_NUMBER, &foreign.slot, false},
                                           {0}};
    char why[FIELDS_WHY_SIZE];
    struct held *held = NULL;

    if (!json_object_get(words, "token"))
        held = held_find(peer, id, words, held_fields, &number);
    else if (fields_read(words, foreign_fields, why))
        release_foreign(peer, id, &foreign);
    else
        answer_wrong(peer, id, why);
    if (held)
        release_held(peer, id, held, keeps);
}
