/* What comes together in one turn of the loop: host/batch.c gathers commands while the locks that want them go on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

static struct event_base *elsewhere; /* the rival's loop, which runs when the test says so */
static struct redlock_client *rival;

static void open_three(void)
{
    queue_open();
    rig_open(&rig, 3);
    elsewhere = event_base_new();
    ck_assert_ptr_nonnull(elsewhere);
}

static void close_rig(void)
{
    redlock_client_destroy(rival);
    event_base_free(elsewhere);
    rig_close(&rig);
}

static void on_end(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
}

/* The rival's loop, until that has happened. */
static void run_elsewhere(const struct outcome *outcome)
{
    while (!outcome->calls)
        ck_assert_int_eq(event_base_loop(elsewhere, EVLOOP_ONCE), 0);
}

static struct redlock_lock *hold_elsewhere(const char *key)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_options options = rig.options;
    struct redlock_error error;
    struct redlock_lock *lock;
    struct outcome outcome = {.calls = 0};

    options.join = REDLOCK_JOIN_VOTE;
    ck_assert_int_eq(redlock_client_create(elsewhere, rig.urls, rig.n, &options, &rival, &error), 0);
    lock = rig_new_lock(rival, key);
    ck_assert_int_eq(redlock_acquire(lock, &request, on_end, &outcome), 0);
    run_elsewhere(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    return lock;
}

/* A ticket far above that of the others: a waiter that has answers of both has to tell this master. */
static void raise_ticket(size_t node, const char *key)
{
    char name[60];
    char number[24];

    snprintf(name, sizeof name, "redlock:waiters:%s", key);
    snprintf(number, sizeof number, "%" PRId64, ((int64_t)time(NULL) + 3600) * 1000000);
    rig_do(&rig, node, "HSET", name, "@last", number, NULL);
}

struct pair {
    struct redlock_lock *waiter;
    struct redlock_lock *held;
    struct outcome extension;
    struct outcome outcome;
};

static void on_turn(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct pair *pair = user_data;

    outcome_record(lock, result, &pair->outcome);
    ck_assert_int_eq(redlock_extend(pair->held, 0, on_end, &pair->extension), 0);
}

static bool is_waiting(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_WAITING;
}

GROUP(cases, "one turn", open_three, close_rig)

/* A master that was hung answers with another ticket, and must be told; before that is written the other two hand the
 * key over. What the callback starts takes over the attempt's memory, and is written behind what was gathered. */
TEST(cases, who_has_won_need_not_tell_its_ticket)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = hold_elsewhere("turn");
    struct pair pair = {.held = rig_hold(&rig, "other", 10000), .waiter = rig_new_lock(rig.client, "turn")};
    struct outcome released = {.calls = 0};
    struct waiter before;

    waiter_take(&rig, &before, rig.client, "turn", &request); /* from now on the client listens */
    raise_ticket(2, "turn");
    ck_assert_int_eq(redlock_cancel(before.lock), 0);
    rig_wait_quiet(&rig, rig.client);
    redlock_lock_destroy(before.lock);
    raise_ticket(2, "turn");
    ck_assert(masters_hang(rig.masters, 2));
    request.wait = REDLOCK_WAIT_FIFO;
    ck_assert_int_eq(redlock_acquire(pair.waiter, &request, on_turn, &pair), 0);
    rig_wait(&rig, is_waiting, pair.waiter, "the answers of the others");
    ck_assert(masters_resume(rig.masters, 2));
    ck_assert_int_eq(redlock_release(holder, on_end, &released), 0);
    run_elsewhere(&released);
    rig_wait_outcome(&rig, &pair.outcome);
    outcome_expect(&pair.outcome, REDLOCK_OK);
    rig_wait_outcome(&rig, &pair.extension);
    outcome_expect(&pair.extension, REDLOCK_OK);
    ck_assert_int_eq(redlock_release(pair.waiter, NULL, NULL), 0);
    queue_wait_empty(&rig, "turn");
    redlock_lock_destroy(pair.waiter);
    redlock_lock_destroy(pair.held);
    redlock_lock_destroy(holder);
}

SUITE_WITH_SERVER("turn")
