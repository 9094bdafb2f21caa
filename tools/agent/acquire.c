/* Acquiring: what a request wants, and how it is answered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "agent/held.h"
#include "cli/locks.h"

enum { DEFAULT_TTL_MS = 10000 };

static const char permits_why[] = "'permits' must be \"N/K\": N of the K permits of the key; they have no mode";

/* --- What is wanted ----------------------------------------------------------------------------------------------- */

static bool read_element(struct peer *peer, int64_t id, json_t *element, struct wanted *ret)
{
    const struct field fields[] = {{"key", FIELD_TEXT, &ret->key, true},
                                   {"mode", FIELD_TEXT, &ret->mode, false},
                                   {"permits", FIELD_TEXT, &ret->permits, false},
                                   {0}};
    char why[FIELDS_WHY_SIZE] = "'keys' must be an array of strings, or of objects with key, and mode or permits";

    ret->key = json_string_value(element);
    return ret->key || (json_is_object(element) && fields_read(element, fields, why)) || answer_wrong(peer, id, why);
}

bool wanted_read(struct peer *peer, int64_t id, json_t *request, const struct field *fields, struct wanted *wanted)
{
    char why[FIELDS_WHY_SIZE];

    if (!fields_read(request, fields, why))
        return answer_wrong(peer, id, why);
    if (!wanted->token && !wanted->key == !wanted->keys)
        return answer_wrong(peer, id, "one of 'key' and 'keys' is needed");
    if (wanted->keys && (json_array_size(wanted->keys) == 0 || wanted->permits))
        return answer_wrong(peer, id, "'keys' must be an array that is not empty; its elements have their own permits");
    if (wanted->hold_ms > wanted->ttl_ms)
        wanted->ttl_ms = wanted->hold_ms;
    if (json_array_size(wanted->keys) != 1)
        return true;
    if (!read_element(peer, id, json_array_get(wanted->keys, 0), wanted))
        return false;
    wanted->keys = NULL;
    return true;
}

bool mode_read(struct peer *peer, int64_t id, const char *word, enum redlock_mode *ret_mode)
{
    for (enum redlock_mode mode = REDLOCK_EXCLUSIVE; mode <= REDLOCK_SHARED; mode++) {
        *ret_mode = mode;
        if (!word || strcmp(word, redlock_mode_name(mode)) == 0)
            return true;
    }
    return answer_wrong(peer, id, "'mode' must be exclusive, upgradeable or shared; permits have none");
}

/* One of several. 0, the library's error, or 1 after an answer. */
static int add_key(struct peer *peer, int64_t id, struct redlock_set *set, const struct wanted *part)
{
    const char *key = part->key;
    enum redlock_mode mode;
    uint32_t n, limit;

    if (!mode_read(peer, id, part->mode, &mode) || !peer_may_use(peer, id, key))
        return 1;
    if (!part->permits && part->mode)
        return redlock_set_add_mode(set, key, strlen(key), mode);
    if (!part->permits)
        return redlock_set_add(set, key, strlen(key));
    if (!cli_permits_of(part->permits, &n, &limit) || mode != REDLOCK_EXCLUSIVE)
        return !answer_wrong(peer, id, permits_why);
    return redlock_set_add_permits(set, key, strlen(key), n, limit);
}

/* The handle goes to *ret as soon as there is one. 0, the library's error, or 1 after an answer. */
static int create_several(struct peer *peer, int64_t id, const struct wanted *wanted, struct subject *ret)
{
    struct redlock_set *set = NULL;
    int status = redlock_set_create(peer->agent->client, &set);

    *ret = (struct subject){&subject_set, set};
    if (status == 0 && wanted->key)
        return add_key(peer, id, set, wanted);
    for (size_t i = 0; status == 0 && i < json_array_size(wanted->keys); i++) {
        struct wanted part = {.key = NULL};

        status = read_element(peer, id, json_array_get(wanted->keys, i), &part) ? add_key(peer, id, set, &part) : 1;
    }
    return status;
}

static int create_subject(struct peer *peer, int64_t id, const struct wanted *wanted, struct subject *ret)
{
    struct redlock_lock *lock = NULL;
    uint32_t n = 1, limit = 0;
    int status;

    if (wanted->permits && !cli_permits_of(wanted->permits, &n, &limit))
        return !answer_wrong(peer, id, permits_why);
    if (!wanted->key || n > 1)
        return create_several(peer, id, wanted, ret);
    status = peer_may_use(peer, id, wanted->key)
                 ? cli_lock_create(peer->agent->client, wanted->key, limit, &lock) : 1;
    *ret = (struct subject){&subject_lock, lock};
    return status;
}

/* As they can be asked for again. */
static json_t *keys_of(const struct wanted *wanted)
{
    if (wanted->keys)
        return json_incref(wanted->keys);
    return wanted->permits ? json_pack("[{s:s, s:s}]", "key", wanted->key, "permits", wanted->permits)
                           : json_pack("[s]", wanted->key);
}

struct held *held_create(struct peer *peer, int64_t id, const struct wanted *wanted)
{
    struct held *held = calloc(1, sizeof *held);
    int status;

    if (!held) {
        answer_status(peer, id, REDLOCK_E_NOMEM);
        return NULL;
    }
    held_begin(held, peer);
    held->keys = keys_of(wanted);
    held->renews = wanted->renews;
    held->ttl_ms = wanted->ttl_ms;
    held->linger_ms = wanted->linger_ms;
    held->hold_ms = wanted->hold_ms;
    status = create_subject(peer, id, wanted, &held->subject);
    if (status == 0)
        status = held_follow(held);
    if (status == 0)
        return held;
    if (status < 0)
        answer_status(peer, id, status);
    held_end(&held->thing);
    return NULL;
}

/* --- Acquiring ---------------------------------------------------------------------------------------------------- */

/* Of several the key that decided. */
static const char *key_that_decided(const struct held *held, const struct redlock_result *result, char buffer[1200])
{
    json_t *key = held->n > 1 && result->part < held->n ? held_key(held->parts[result->part].lock) : NULL;

    if (!key)
        return NULL;
    snprintf(buffer, 1200, "%s", json_string_value(key));
    json_decref(key);
    return buffer;
}

static void answer_acquired(struct request *request, struct held *held, const struct redlock_result *result)
{
    json_t *words;

    held->granted = true;
    if (held->hold_ms != 0)
        held->thing.hold_until_us = boot_now_us() + held->hold_ms * INT64_C(1000);
    words = held_grant(request->id, held);
    json_object_set_new(words, "elapsed_us", json_integer(result->elapsed_us));
    json_object_set_new(words, "attempts", json_integer(result->attempts));
    answer(request->peer, words);
}

static void on_acquired(const struct redlock_result *result, void *data)
{
    struct request *request = data;
    struct held *held = held_of(request->thing);
    char key[1200];

    if (held->thing.ending) {
        answer_status(request->peer, request->id, REDLOCK_CANCELED);
    } else if (result->status == REDLOCK_OK) {
        answer_acquired(request, held, result);
    } else {
        answer_failed(request->peer, request->id, result, key_that_decided(held, result, key));
        held_end(&held->thing);
    }
    request_end(request);
}

static void start(struct peer *peer, int64_t id, struct held *held, const struct redlock_acquire_options *options)
{
    struct request *request = request_begin(peer, id, &held->thing);

    if (request) {
        request->cancel = held_cancel;
        request->sink.done = on_acquired;
    }
    if (!request ||
        !request_starts(request, held->subject.kind->acquire(held->subject.handle, options, &request->sink)))
        held_end(&held->thing);
}

void op_acquire(struct peer *peer, int64_t id, json_t *words)
{
    struct wanted wanted = {.ttl_ms = DEFAULT_TTL_MS, .min_validity_ms = 1, .renews = true};
    const struct field fields[] = {
        {"key", FIELD_TEXT, &wanted.key, false},
        {"keys", FIELD_ANY, &wanted.keys, false},
        {"mode", FIELD_TEXT, &wanted.mode, false},
        {"permits", FIELD_TEXT, &wanted.permits, false},
        {"ttl", FIELD_DURATION, &wanted.ttl_ms, false},
        {"wait", FIELD_WAIT, &wanted.wait_ms, false},
        {"fenced", FIELD_FLAG, &wanted.fenced, false},
        {"own_token", FIELD_FLAG, &wanted.own_token, false},
        {"label", FIELD_TEXT, &wanted.label, false},
        {"renew", FIELD_FLAG, &wanted.renews, false},
        {"min_validity", FIELD_DURATION, &wanted.min_validity_ms, false},
        {"hold_at_least", FIELD_DURATION, &wanted.hold_ms, false},
        {"linger", FIELD_DURATION, &wanted.linger_ms, false},
        {0},
    };
    char label[REDLOCK_MAX_LABEL_BYTES + 1];
    struct redlock_acquire_options options;
    struct held *held = NULL;

    redlock_acquire_options_init(&options);
    if (thing_fits(peer, id) && wanted_read(peer, id, words, fields, &wanted) &&
        mode_read(peer, id, wanted.mode, &options.mode) && peer_label(peer, id, wanted.label, label))
        held = held_create(peer, id, &wanted);
    if (!held)
        return;
    options.ttl_ms = wanted.ttl_ms;
    options.timeout_ms = wanted.wait_ms;
    options.min_validity_ms = wanted.min_validity_ms;
    options.fenced = wanted.fenced;
    options.own_token = wanted.own_token;
    options.label = label;
    if (!wanted.renews)
        options.renew_ms = REDLOCK_NO_RENEWAL;
    start(peer, id, held, &options);
}
