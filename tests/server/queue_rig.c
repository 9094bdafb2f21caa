#include "queue_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

static unsigned turns;

struct redlock_acquire_options queue_request(void)
{
    return rig_request(10000, REDLOCK_FOREVER);
}

void queue_fill(struct rig *rig, struct waiter *waiters, size_t n, const char *key)
{
    struct redlock_acquire_options request = queue_request();

    for (size_t i = 0; i < n; i++)
        waiter_take(rig, &waiters[i], rig->client, key, &request);
}

void queue_open(void)
{
    turns = 0;
}

/* --- Waiters ------------------------------------------------------------------------------------------------------ */

static void on_end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct waiter *waiter = user_data;
    int64_t now_ns = watch_now_ns();

    outcome_record(lock, result, &waiter->outcome);
    if (result->status != REDLOCK_OK)
        return;
    waiter->held_at_ns = now_ns;
    waiter->turn = ++turns;
    waiter->remaining_ns = redlock_remaining_ns(lock);
    waiter->commands = watch_stats(redlock_lock_client(lock)).commands;
}

void waiter_start(struct rig *rig, struct waiter *waiter, struct redlock_client *client, const char *key,
                  const struct redlock_acquire_options *request)
{
    memset(waiter, 0, sizeof *waiter);
    waiter->rig = rig;
    waiter->lock = rig_new_lock(client, key);
    ck_assert_int_eq(redlock_acquire(waiter->lock, request, on_end, waiter), 0);
}

static size_t count_running(struct rig *rig)
{
    size_t n = 0;

    for (size_t i = 0; i < rig->n; i++)
        n += masters_pid(rig->masters, i) != 0;
    return n;
}

void waiter_take(struct rig *rig, struct waiter *waiter, struct redlock_client *client, const char *key,
                 const struct redlock_acquire_options *request)
{
    waiter_start(rig, waiter, client, key, request);
    waiter_wait_in_queue(waiter, count_running(rig));
}

struct place_request {
    struct waiter *waiter;
    size_t n;
    unsigned looks;
    char what[600]; /* says how it is now, for the case that it stays so */
};

/* What keeps masters from being asked. */
static void describe(struct place_request *request, const char *key, size_t in_queue)
{
    struct redlock_lock *lock = request->waiter->lock;
    const char *state = redlock_state_name(redlock_state(lock));
    size_t granted = rig_count_value(request->waiter->rig, key, redlock_lock_token(lock));
    size_t used = (size_t)snprintf(request->what, sizeof request->what,
                                   "a waiter to be in the queue on %zu masters: it is %s, "
                                   "in the queue or granted on %zu, granted by %zu", request->n, state, in_queue,
                                   granted);

    for (size_t i = 0; i < request->waiter->rig->n && used < sizeof request->what; i++) {
        struct redlock_node_info info = watch_info(redlock_lock_client(lock), i);

        used += (size_t)snprintf(request->what + used, sizeof request->what - used, "; %zu: %s, %s, step %lld us, %s",
                                 i,
                                 redlock_link_name(info.link), redlock_standing_name(info.standing),
                                 (long long)info.clock_step_us, info.last_error);
    }
}

#define DESCRIBE_EVERY 100

/* On a master that the holder's SET had not reached yet the waiter may have got the key at once: it keeps it there, for
 * it is next, and that is as good as a place. */
static bool is_in_queue(void *argument)
{
    struct place_request *request = argument;
    struct redlock_lock *lock = request->waiter->lock;
    const char *token = redlock_lock_token(lock);
    size_t key_size;
    const char *bytes = redlock_lock_key(lock, &key_size);
    char key[REDLOCK_MAX_KEY_BYTES + 1];
    size_t in_queue;

    ck_assert_msg(request->waiter->outcome.calls == 0, "a waiter's acquisition has ended with %s",
                  redlock_status_name(request->waiter->outcome.status));
    snprintf(key, sizeof key, "%.*s", (int)key_size, bytes);
    in_queue = *token ? queue_count(request->waiter->rig, key, token) + rig_count_value(request->waiter->rig, key,
                                                                                       token) : 0;
    if (++request->looks % DESCRIBE_EVERY == 0)
        describe(request, key, in_queue);
    return redlock_state(lock) == REDLOCK_STATE_WAITING && in_queue == request->n;
}

void waiter_wait_in_queue(struct waiter *waiter, size_t n)
{
    struct place_request request = {.waiter = waiter, .n = n, .what = "a waiter to be in the queue"};

    rig_wait(waiter->rig, is_in_queue, &request, request.what);
}

void waiter_wait_held(struct waiter *waiter)
{
    rig_wait_outcome(waiter->rig, &waiter->outcome);
    outcome_expect(&waiter->outcome, REDLOCK_OK);
    ck_assert_uint_eq(waiter->outcome.calls, 1);
    ck_assert_uint_ge(waiter->outcome.granted, waiter->outcome.quorum);
    ck_assert_int_gt(waiter->remaining_ns, 0);
}

void waiter_leave(struct waiter *waiter)
{
    ck_assert_int_eq(redlock_release(waiter->lock, NULL, NULL), 0);
}

void waiter_end(struct waiter *waiter)
{
    waiter_leave(waiter);
    rig_wait_quiet(waiter->rig, redlock_lock_client(waiter->lock));
    redlock_lock_destroy(waiter->lock);
}

/* --- Looks -------------------------------------------------------------------------------------------------------- */

/* Of commands that answer one integer; 0 for masters that are down or hung. */
static size_t ask(struct rig *rig, size_t node, const char *command, const char *prefix, const char *key)
{
    char name[REDLOCK_MAX_KEY_BYTES + 32];
    char *reply = NULL;
    size_t n = 0;

    snprintf(name, sizeof name, "%s%s", prefix, key);
    if (masters_pid(rig->masters, node))
        reply = masters_command(rig->masters, node, (const char *const[]){command, name, NULL});
    if (reply)
        ck_assert_int_eq(sscanf(reply, "(integer) %zu", &n), 1);
    free(reply);
    return n;
}

size_t queue_length(struct rig *rig, size_t node, const char *key)
{
    return ask(rig, node, "ZCARD", "redlock:queue:", key);
}

size_t queue_count(struct rig *rig, const char *key, const char *value)
{
    char name[REDLOCK_MAX_KEY_BYTES + 32];
    size_t n = 0;

    snprintf(name, sizeof name, "redlock:queue:%s", key);
    for (size_t i = 0; i < rig->n; i++) {
        char *reply = NULL;

        if (masters_pid(rig->masters, i))
            reply = masters_command(rig->masters, i, (const char *const[]){"ZSCORE", name, value, NULL});
        n += reply && strcmp(reply, "(nil)") != 0;
        free(reply);
    }
    return n;
}

struct gone_request {
    struct rig *rig;
    const char *key;
};

static bool is_gone(void *argument)
{
    static const char *const prefixes[] = {"", "redlock:queue:", "redlock:waiters:"};
    const struct gone_request *request = argument;
    size_t n = 0;

    for (size_t i = 0; i < request->rig->n; i++) {
        for (size_t j = 0; j < 3; j++)
            n += ask(request->rig, i, "EXISTS", prefixes[j], request->key);
    }
    return n == 0;
}

void queue_wait_gone(struct rig *rig, const char *key)
{
    struct gone_request request = {rig, key};

    rig_wait(rig, is_gone, &request, "the key, its queue and its waiters to be gone");
}

static bool is_empty(void *argument)
{
    const struct gone_request *request = argument;
    size_t n = 0;

    for (size_t i = 0; i < request->rig->n; i++)
        n += queue_length(request->rig, i, request->key);
    return n == 0;
}

void queue_wait_empty(struct rig *rig, const char *key)
{
    struct gone_request request = {rig, key};

    rig_wait(rig, is_empty, &request, "the queue to be empty");
}
