/* Waiters of one client that joined the queue together pass the lock on among themselves: host/contended.c. When not:
 * queue_cohort_parts.c. */
#include <stdio.h>
#include <string.h>

#include "cohort_rig.h"
#include "suite.h"

/* Whose turn it is. */
struct turn_request {
    unsigned turn;
    struct waiter *waiter;
};

static bool is_held(void *argument)
{
    struct turn_request *request = argument;

    for (size_t i = 0; i < COHORT; i++) {
        if (waiters[i].turn == request->turn)
            request->waiter = &waiters[i];
    }
    return request->waiter != NULL;
}

/* --- Passing on --------------------------------------------------------------------------------------------------- */

GROUP(cases, "a cohort", cohort_open, cohort_close)

TEST(cases, they_have_the_lock_one_after_the_other)
{
    struct redlock_acquire_options request = cohort_request();

    cohort_start("chain", &request);
    waiter_leave(&first);
    cohort_serve("chain");
    ck_assert_uint_eq(cohort_passed_on(), COHORT - 1);
    cohort_destroy();
}

/* By SET first: a master's refusals mostly come in one turn. Of a key of which nothing is known yet. */
TEST(cases, those_whose_first_attempts_are_refused_together_are_one)
{
    struct redlock_acquire_options request = cohort_request();
    char key[20];

    request.wait = queue_request().wait;
    for (unsigned tries = 0;; tries++) {
        uint64_t before = cohort_passed_on();

        ck_assert_uint_lt(tries, TRIES);
        queue_open();
        snprintf(key, sizeof key, "refused%u", tries);
        cohort_start(key, &request);
        waiter_leave(&first);
        for (size_t i = 0; i < COHORT; i++) {
            struct turn_request turn = {(unsigned)i + 2, NULL};

            rig_wait(&rig, is_held, &turn, "the next turn");
            waiter_leave(turn.waiter);
        }
        queue_wait_gone(&rig, key);
        cohort_destroy();
        if (cohort_passed_on() - before == COHORT - 1)
            return;
    }
}

/* Of the same key, again and again. */
TEST(cases, one_cohort_after_the_other_passes_the_lock_on)
{
    struct redlock_acquire_options request = cohort_request();

    for (unsigned round = 1; round <= 3; round++) {
        cohort_start("again", &request);
        waiter_leave(&first);
        cohort_serve("again");
        ck_assert_uint_eq(cohort_passed_on(), round * (COHORT - 1));
        cohort_destroy();
    }
}

/* All masters hang: nobody could ask them for anything. */
TEST(cases, no_master_is_needed)
{
    struct redlock_acquire_options request = cohort_request();

    cohort_start("hung", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    rig_hang_masters(&rig, RIG_ALL);
    for (size_t i = 1; i < COHORT; i++) {
        waiter_leave(&waiters[i - 1]);
        waiter_wait_held(&waiters[i]);
    }
    ck_assert_uint_eq(cohort_passed_on(), COHORT - 1);
    rig_resume_masters(&rig, RIG_ALL);
    waiter_leave(&waiters[COHORT - 1]);
    queue_wait_gone(&rig, "hung");
    rig_wait_no_claims(&rig, rig.client);
    cohort_destroy();
}

/* An observer reads the same value when the lock is acquired and when it is released. */
struct tale {
    char acquired[COHORT + 1][REDLOCK_MAX_TOKEN_BYTES + 1];
    char released[COHORT + 1][REDLOCK_MAX_TOKEN_BYTES + 1];
    size_t n_acquired;
    size_t n_released;
};

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct tale *tale = user_data;

    if (event->type == REDLOCK_EVENT_ACQUIRED)
        snprintf(tale->acquired[tale->n_acquired++], sizeof tale->acquired[0], "%s", event->token);
    if (event->type == REDLOCK_EVENT_RELEASED)
        snprintf(tale->released[tale->n_released++], sizeof tale->released[0], "%s", event->token);
}

static struct tale tale;

static void observe(struct redlock_options *options)
{
    options->on_event = on_event;
    options->event_data = &tale;
}

TEST(cases, events_name_the_value_that_is_passed_on)
{
    struct redlock_acquire_options request = cohort_request();

    cohort_close();
    tale = (struct tale){.n_acquired = 0};
    queue_open();
    rig_open_with(&rig, 5, 0, observe);
    rig.options.on_event = NULL;
    other = rig_new_client(&rig);
    cohort_start("tale", &request);
    waiter_leave(&first);
    cohort_serve("tale");
    ck_assert_uint_eq(tale.n_acquired, COHORT);
    ck_assert_uint_eq(tale.n_released, COHORT);
    for (size_t i = 0; i < COHORT; i++) {
        ck_assert_str_eq(tale.acquired[i], tale.acquired[0]);
        ck_assert_str_eq(tale.released[i], tale.acquired[0]);
    }
    ck_assert_str_eq(redlock_lock_token(waiters[0].lock), "");
    cohort_destroy();
}

struct report {
    int status;
    size_t granted;
    size_t handed_off;
    unsigned calls;
};

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct report *report = user_data;

    report->calls++;
    report->status = result->status;
    report->granted = result->granted;
    for (size_t i = 0; i < result->n_nodes; i++)
        report->handed_off += strcmp(result->nodes[i].detail, "handed off") == 0;
}

TEST(cases, the_release_says_where_the_lock_was_handed_off)
{
    struct redlock_acquire_options request = cohort_request();
    struct report report = {0};

    cohort_start("report", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_int_eq(redlock_release(waiters[0].lock, on_released, &report), 0);
    ck_assert_uint_eq(report.calls, 0); /* never inside the call */
    waiter_wait_held(&waiters[1]);
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_int_eq(report.status, REDLOCK_OK);
    ck_assert_uint_ge(report.granted, 3);
    ck_assert_uint_eq(report.granted, report.handed_off);
    cohort_serve_from(1, "report");
    cohort_destroy();
}

/* Who came before them is before them, and who came after them is behind all of them. */
TEST(cases, nobody_is_overtaken)
{
    struct redlock_acquire_options request = cohort_request();
    struct waiter before;
    struct waiter after;
    struct waiter last[2];

    waiter_start(&rig, &first, other, "order", &request);
    waiter_wait_held(&first);
    waiter_take(&rig, &before, other, "order", &request);
    cohort_join("order", 1, &request);
    waiter_take(&rig, &after, other, "order", &request);
    for (size_t i = 0; i < 2; i++)
        waiter_start(&rig, &last[i], rig.client, "order", &request);
    cohort_wait_in_queue("order", COHORT + 4);
    waiter_leave(&first);
    waiter_wait_held(&before);
    waiter_leave(&before);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_eq(after.turn, 0);
        waiter_leave(&waiters[i]);
    }
    waiter_wait_held(&after);
    ck_assert_uint_eq(last[0].turn, 0);
    waiter_leave(&after);
    for (size_t i = 0; i < 2; i++) {
        waiter_wait_held(&last[i]);
        waiter_leave(&last[i]);
    }
    queue_wait_gone(&rig, "order");
    ck_assert_uint_eq(cohort_passed_on(), COHORT);
    redlock_lock_destroy(last[0].lock);
    redlock_lock_destroy(last[1].lock);
    redlock_lock_destroy(before.lock);
    redlock_lock_destroy(after.lock);
    cohort_destroy();
}

/* --- What the next one has ---------------------------------------------------------------------------------------- */

TEST(cases, it_is_a_lock_like_any_other)
{
    struct redlock_acquire_options request = cohort_request();
    const char *token;

    cohort_start("like", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    rig_expect_extend(&rig, waiters[1].lock, 0, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(waiters[1].lock), COHORT_TTL_MS * 9 / 10);
    token = redlock_lock_token(waiters[1].lock);
    ck_assert_uint_ge(rig_count_value(&rig, "like", token), 3);
    waiter_leave(&waiters[1]);
    cohort_serve_from(2, "like");
    cohort_destroy();
}

/* The text gives its importer the full ttl. */
TESTS(cases, it_can_be_exported_and_imported, 0, 2)
{
    struct redlock_acquire_options request = cohort_request();
    struct redlock_lock *importer = rig_new_lock(other, "away");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    cohort_start("away", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    if (_i)
        outcome_expect(&(struct outcome[]){rig_extend(&rig, waiters[0].lock, 0)}[0], REDLOCK_OK);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    ck_assert_int_eq(redlock_lock_export(waiters[1].lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, NULL, text), 0);
    ck_assert_int_gt(redlock_remaining_ms(importer), 0);
    outcome_expect(&(struct outcome[]){rig_extend(&rig, importer, 0)}[0], REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(importer), COHORT_TTL_MS * 9 / 10);
    ck_assert_int_eq(redlock_release(importer, NULL, NULL), 0);
    cohort_serve_from(2, "away");
    redlock_lock_destroy(importer);
    cohort_destroy();
}

/* --- Who is passed by, and which values stay ---------------------------------------------------------------------- */

TEST(cases, who_has_given_up_is_passed_by)
{
    struct redlock_acquire_options request = cohort_request();

    cohort_start("gone", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_cancel(waiters[1].lock), 0);
    redlock_lock_destroy(waiters[2].lock);
    waiters[2].lock = NULL;
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[3]);
    ck_assert_uint_eq(cohort_passed_on(), 1);
    ck_assert_int_eq(waiters[1].outcome.status, REDLOCK_CANCELED);
    ck_assert_int_eq(waiters[2].outcome.status, REDLOCK_CANCELED);
    waiter_leave(&waiters[3]);
    queue_wait_gone(&rig, "gone");
    rig_wait_no_claims(&rig, rig.client);
    cohort_destroy();
}

/* The next holder's would be deleted by whoever has been told of it. */
TEST(cases, a_token_of_its_own_is_not_passed_on)
{
    struct redlock_acquire_options request = cohort_request();
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_lock *cleaner = rig_new_lock(other, "own");

    request.own_token = 1;
    cohort_start("own", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    snprintf(token, sizeof token, "%s", redlock_lock_token(waiters[0].lock));
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    ck_assert_str_ne(redlock_lock_token(waiters[1].lock), token);
    ck_assert_int_eq(redlock_release_token(cleaner, token, NULL, NULL), 0);
    rig_wait_quiet(&rig, other);
    ck_assert_uint_ge(rig_count_value(&rig, "own", redlock_lock_token(waiters[1].lock)), 3);
    cohort_serve_from(1, "own");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    redlock_lock_destroy(cleaner);
    cohort_destroy();
}

/* The second of four: neither the first one's lock goes to it, nor its own to the third. */
TEST(cases, who_wants_a_token_of_its_own_gets_it_from_the_masters)
{
    struct redlock_acquire_options request = cohort_request();
    struct redlock_acquire_options own = request;
    char tokens[COHORT][REDLOCK_MAX_TOKEN_BYTES + 1];

    own.own_token = 1;
    waiter_start(&rig, &first, other, "one", &request);
    waiter_wait_held(&first);
    for (size_t i = 0; i < COHORT; i++)
        waiter_start(&rig, &waiters[i], rig.client, "one", i == 1 ? &own : &request);
    cohort_wait_in_queue("one", COHORT);
    rig_wait_quiet(&rig, rig.client);
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        snprintf(tokens[i], sizeof tokens[i], "%s", redlock_lock_token(waiters[i].lock));
        waiter_leave(&waiters[i]);
    }
    ck_assert_str_ne(tokens[0], tokens[1]);
    ck_assert_str_ne(tokens[1], tokens[2]);
    ck_assert_str_eq(tokens[2], tokens[3]);
    ck_assert_uint_eq(cohort_passed_on(), 1);
    queue_wait_gone(&rig, "one");
    cohort_destroy();
}

TEST(cases, asking_for_the_token_changes_nothing)
{
    struct redlock_acquire_options request = cohort_request();
    char token[REDLOCK_MAX_TOKEN_BYTES + 1] = "";

    cohort_start("asked", &request);
    for (size_t i = 0; i < COHORT; i++)
        ck_assert_str_ne(redlock_lock_token(waiters[i].lock), "");
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        if (i > 0)
            ck_assert_str_eq(redlock_lock_token(waiters[i].lock), token);
        snprintf(token, sizeof token, "%s", redlock_lock_token(waiters[i].lock));
        waiter_leave(&waiters[i]);
    }
    ck_assert_uint_eq(cohort_passed_on(), COHORT - 1);
    queue_wait_gone(&rig, "asked");
    cohort_destroy();
}

/* Whoever has the text may know it still. */
TEST(cases, a_value_that_was_exported_is_not_passed_on)
{
    struct redlock_acquire_options request = cohort_request();
    char text[REDLOCK_MAX_EXPORT_BYTES];

    cohort_start("back", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_lock_export(waiters[0].lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(waiters[0].lock, NULL, text), 0);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
    ck_assert_uint_eq(cohort_passed_on(), 0);
    cohort_serve_from(1, "back");
    cohort_destroy();
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    ck_assert_int_eq(status, REDLOCK_OK);
    *(bool *)user_data = true;
}

static bool is_set(void *argument)
{
    return *(const bool *)argument;
}

/* Those who wait are canceled, all of them. */
TEST(cases, a_client_that_ends_passes_nothing_on)
{
    struct redlock_acquire_options request = cohort_request();
    bool ended = false;

    cohort_start("end", &request);
    waiter_leave(&first);
    waiter_wait_held(&waiters[0]);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shut_down, &ended), 0);
    rig_wait(&rig, is_set, &ended, "the end of the client");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    for (size_t i = 1; i < COHORT; i++) {
        ck_assert_uint_eq(waiters[i].outcome.calls, 1);
        ck_assert_int_eq(waiters[i].outcome.status, REDLOCK_CANCELED);
    }
    queue_wait_gone(&rig, "end");
    cohort_destroy();
}

TEST(cases, fencing_tokens_grow_by_asking_the_masters)
{
    struct redlock_acquire_options request = cohort_request();
    uint64_t latest = 0;

    request.fenced = true;
    cohort_start("fenced", &request);
    waiter_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert_uint_gt(redlock_lock_fence(waiters[i].lock), latest);
        latest = redlock_lock_fence(waiters[i].lock);
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "fenced");
    ck_assert_uint_eq(cohort_passed_on(), 0);
    cohort_destroy();
}

SUITE_WITH_SERVER("cohort")
