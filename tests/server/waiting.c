/* Plain retry: pauses, deadlines, cancellation. Waiting in the queue has tests of its own (queue*.c). */
#include <string.h>

#include "program_rig.h"

#define MAX_EVENTS 64

/* What the event hook has seen. */
static struct trace {
    size_t n_backoffs;
    int64_t delays_us[MAX_EVENTS];
    size_t n_attempts;
    char tokens[MAX_EVENTS][64];
} trace;

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct trace *to = user_data;

    if (event->type == REDLOCK_EVENT_BACKOFF && to->n_backoffs < MAX_EVENTS)
        to->delays_us[to->n_backoffs++] = event->delay_us;
    if (event->type == REDLOCK_EVENT_ATTEMPT && to->n_attempts < MAX_EVENTS)
        snprintf(to->tokens[to->n_attempts++], sizeof to->tokens[0], "%s", event->token);
}

static void traced(struct redlock_options *options)
{
    memset(&trace, 0, sizeof trace);
    options->on_event = on_event;
    options->event_data = &trace;
}

static struct redlock_acquire_options spinning(uint32_t ttl_ms, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, timeout_ms);

    request.wait = REDLOCK_WAIT_SPIN;
    return request;
}

static void open_rig(void)
{
    rig_open_with(&rig, 5, 0, traced);
}

/* Somebody else has a majority, until the ttl ends. */
static void block(const char *key, const char *ttl_ms)
{
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "SET", key, "foreign", "PX", ttl_ms, NULL);
}

GROUP(retries, "retries", open_rig, rig_end)

TEST(retries, no_timeout_means_one_try)
{
    struct redlock_acquire_options request = spinning(5000, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b15");

    block("b15", "60000");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(trace.n_attempts, 1);
    ck_assert_uint_eq(trace.n_backoffs, 0);
}

TEST(retries, the_deadline_ends_the_waiting_and_tells_the_cause)
{
    struct redlock_acquire_options request = spinning(5000, 300);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b15");
    struct outcome outcome;

    block("b15", "60000");
    /* On a busy machine the last attempt may begin too late to be answered: that is the cause then. Or the end itself
     * comes late. */
    for (int i = 0; i == 0 || outcome.cause == REDLOCK_NO_QUORUM || outcome.elapsed_us >= 1000000; i++) {
        ck_assert_int_lt(i, RIG_LATE_ATTEMPTS);
        outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_DEADLINE);
        ck_assert_int_ge(outcome.elapsed_us, 298000); /* the last 2 ms are too short for another attempt */
    }
    ck_assert_int_eq(outcome.cause, REDLOCK_HELD);
    ck_assert_uint_ge(outcome.attempts, 2);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b15"), 3);
}

TEST(retries, each_pause_is_between_delay_and_delay_plus_jitter)
{
    struct redlock_acquire_options request = spinning(5000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b16");
    struct outcome outcome;
    int64_t rounds_us; /* all that was no pause */

    request.retry_delay_ms = 15;
    request.retry_jitter_ms = 10;
    request.max_attempts = 12;
    block("b16", "60000");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(trace.n_backoffs, 11);
    rounds_us = outcome.elapsed_us;
    for (size_t i = 0; i < trace.n_backoffs; i++)
        rounds_us -= trace.delays_us[i];
    for (size_t i = 0; i < trace.n_backoffs; i++) {
        ck_assert_int_ge(trace.delays_us[i], 15000);
        /* A slow round lengthens the pause: it is never shorter than the round was. */
        ck_assert_int_le(trace.delays_us[i], 25000 + rounds_us);
    }
    ck_assert_int_ge(outcome.elapsed_us, 11 * 15000);
}

static bool is_backing_off(void *argument)
{
    return redlock_state(argument) == REDLOCK_STATE_BACKING_OFF;
}

TEST(retries, an_attempt_that_follows_a_refused_one_wins)
{
    struct redlock_acquire_options request = spinning(5000, 20000);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b17");
    struct outcome outcome = {0};

    block("b17", "60000");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, is_backing_off, lock, "the waiter to back off");
    rig_do_all(&rig, "DEL", "b17", NULL);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_ge(outcome.attempts, 2);
    ck_assert_uint_eq(trace.n_attempts, outcome.attempts);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_ge(rig_count_value(&rig, "b17", redlock_lock_token(lock)), 3);
}

TEST(retries, each_attempt_has_a_token_of_its_own)
{
    struct redlock_acquire_options request = spinning(5000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "fresh");

    request.max_attempts = 6;
    block("fresh", "60000");
    rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(trace.n_attempts, 6);
    for (size_t i = 0; i < trace.n_attempts; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(trace.tokens[i], trace.tokens[j]);
}

TEST(retries, exhausted_attempts_end_with_the_last_outcome)
{
    struct redlock_acquire_options request = spinning(5000, 20000);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b17");
    struct outcome outcome;

    request.max_attempts = 3;
    block("b17", "60000");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_HELD);
    ck_assert_uint_eq(outcome.attempts, 3);
    ck_assert_int_lt(outcome.elapsed_us, 15000000);
}

GROUP(cancel, "cancel", open_rig, rig_end)

TEST(cancel, canceling_a_waiter_ends_it_at_once_and_leaves_no_key)
{
    struct redlock_acquire_options request = spinning(5000, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(rig.client, "b18");
    struct outcome outcome = {0};

    request.retry_delay_ms = 60000;
    block("b18", "60000");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, is_backing_off, lock, "the waiter to back off");
    ck_assert_int_eq(redlock_cancel(lock), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    ck_assert_int_eq(outcome.cause, REDLOCK_HELD);
    ck_assert_int_lt(outcome.elapsed_us, 10000000);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(rig_count_value(&rig, "b18", "foreign"), 3);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b18"), 3);
}

TEST(cancel, canceling_an_attempt_before_its_first_byte_leaves_no_key)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "b19");
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_cancel(lock), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "b19"), 0);
}

SUITE_WITH_SERVER("waiting")
