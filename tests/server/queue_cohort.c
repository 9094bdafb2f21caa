/* Waiters of one client that got in line together pass the lock on among themselves: api/cohort.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue_rig.h"
#include "suite.h"
#include "watch.h"

#define COHORT 4

/* What comes in one turn is for the system to say. */
#define TRIES 50

static struct rig rig;
static struct redlock_client *other;
static struct seat first;
static struct seat seats[COHORT];

static void open_five(void)
{
    queue_open();
    rig_open(&rig, 5);
    other = rig_new_client(&rig);
}

static void close_rig(void)
{
    redlock_client_destroy(other);
    rig_close(&rig);
}

static struct redlock_acquire_options fifo_wish(void)
{
    struct redlock_acquire_options wish = queue_wish();

    wish.wait = REDLOCK_WAIT_FIFO;
    return wish;
}

static uint64_t passed_on(void)
{
    return watch_stats(rig.client).passed_on;
}

struct line_wish {
    const char *key;
    size_t n;
};

static bool is_as_long(void *argument)
{
    const struct line_wish *wish = argument;

    for (size_t node = 0; node < rig.n; node++) {
        if (queue_length(&rig, node, wish->key) != wish->n)
            return false;
    }
    return true;
}

/* A crowd may let others go first: not before that is in line, behind `n`. */
static void join_line(const char *key, size_t n, const struct redlock_acquire_options *wish)
{
    struct line_wish line = {key, n + COHORT};

    for (size_t i = 0; i < COHORT; i++)
        seat_start(&rig, &seats[i], rig.client, key, wish);
    rig_wait(&rig, is_as_long, &line, "the cohort to be in line");
    rig_wait_quiet(&rig, rig.client);
}

/* The other client has the key, and a cohort of this one is in line behind it. */
static void start_cohort(const char *key, const struct redlock_acquire_options *wish)
{
    struct redlock_acquire_options usual = queue_wish();

    seat_start(&rig, &first, other, key, &usual);
    seat_wait_held(&first);
    join_line(key, 0, wish);
}

static void destroy_all(void)
{
    for (size_t i = 0; i < COHORT; i++)
        redlock_lock_destroy(seats[i].lock);
    redlock_lock_destroy(first.lock);
}

/* One after the other, and nobody else holds meanwhile. */
static void serve_all(const char *key)
{
    for (size_t i = 0; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        for (size_t j = i + 1; j < COHORT; j++)
            ck_assert_int_eq(redlock_remaining_ns(seats[j].lock), 0);
        seat_leave(&seats[i]);
        ck_assert_int_eq(redlock_remaining_ns(seats[i].lock), 0);
    }
    queue_wait_gone(&rig, key);
    rig_wait_no_claims(&rig, rig.client);
    for (size_t i = 1; i < COHORT; i++)
        ck_assert_uint_gt(seats[i].turn, seats[i - 1].turn);
}

/* Whose turn it is. */
struct turn_wish {
    unsigned turn;
    struct seat *seat;
};

static bool is_held(void *argument)
{
    struct turn_wish *wish = argument;

    for (size_t i = 0; i < COHORT; i++) {
        if (seats[i].turn == wish->turn)
            wish->seat = &seats[i];
    }
    return wish->seat != NULL;
}

/* --- Passing on --------------------------------------------------------------------------------------------------- */

START_TEST(they_have_the_lock_one_after_the_other)
{
    struct redlock_acquire_options wish = fifo_wish();

    start_cohort("chain", &wish);
    seat_leave(&first);
    serve_all("chain");
    ck_assert_uint_eq(passed_on(), COHORT - 1);
    destroy_all();
}
END_TEST

/* By SET first: a master's refusals mostly come in one turn. Of a key of which nothing is known yet. */
START_TEST(those_whose_first_attempts_are_refused_together_are_one)
{
    struct redlock_acquire_options wish = queue_wish();
    char key[20];

    for (unsigned tries = 0;; tries++) {
        uint64_t before = passed_on();

        ck_assert_uint_lt(tries, TRIES);
        queue_open();
        snprintf(key, sizeof(key), "refused%u", tries);
        start_cohort(key, &wish);
        seat_leave(&first);
        for (size_t i = 0; i < COHORT; i++) {
            struct turn_wish turn = {(unsigned)i + 2, NULL};

            rig_wait(&rig, is_held, &turn, "the next turn");
            seat_leave(turn.seat);
        }
        queue_wait_gone(&rig, key);
        destroy_all();
        if (passed_on() - before == COHORT - 1)
            return;
    }
}
END_TEST

/* What a short hold can spare goes to the next one, too, if that is of the same cohort. */
START_TEST(those_who_hold_for_a_moment_only_hand_on_nothing_else)
{
    struct redlock_acquire_options wish = fifo_wish();

    for (unsigned round = 1; round <= 3; round++) {
        start_cohort("brief", &wish);
        seat_leave(&first);
        serve_all("brief");
        ck_assert_uint_eq(passed_on(), round * (COHORT - 1));
        destroy_all();
    }
}
END_TEST

/* All masters hang: nobody could ask them for anything. */
START_TEST(no_master_is_needed)
{
    struct redlock_acquire_options wish = fifo_wish();

    start_cohort("hung", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert(masters_hang(rig.masters, node));
    for (size_t i = 1; i < COHORT; i++) {
        seat_leave(&seats[i - 1]);
        seat_wait_held(&seats[i]);
    }
    ck_assert_uint_eq(passed_on(), COHORT - 1);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert(masters_resume(rig.masters, node));
    seat_leave(&seats[COHORT - 1]);
    queue_wait_gone(&rig, "hung");
    rig_wait_no_claims(&rig, rig.client);
    destroy_all();
}
END_TEST

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
        snprintf(tale->acquired[tale->n_acquired++], sizeof(tale->acquired[0]), "%s", event->token);
    if (event->type == REDLOCK_EVENT_RELEASED)
        snprintf(tale->released[tale->n_released++], sizeof(tale->released[0]), "%s", event->token);
}

static struct tale tale;

static void observe(struct redlock_options *options)
{
    options->on_event = on_event;
    options->event_data = &tale;
}

START_TEST(events_name_the_value_that_is_passed_on)
{
    struct redlock_acquire_options wish = fifo_wish();

    close_rig();
    tale = (struct tale){.n_acquired = 0};
    queue_open();
    rig_open_with(&rig, 5, 0, observe);
    rig.options.on_event = NULL;
    other = rig_new_client(&rig);
    start_cohort("tale", &wish);
    seat_leave(&first);
    serve_all("tale");
    ck_assert_uint_eq(tale.n_acquired, COHORT);
    ck_assert_uint_eq(tale.n_released, COHORT);
    for (size_t i = 0; i < COHORT; i++) {
        ck_assert_str_eq(tale.acquired[i], tale.acquired[0]);
        ck_assert_str_eq(tale.released[i], tale.acquired[0]);
    }
    ck_assert_str_eq(redlock_lock_token(seats[0].lock), "");
    destroy_all();
}
END_TEST

struct report {
    int status;
    size_t granted;
    size_t handed_on;
    unsigned calls;
};

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct report *report = user_data;

    (void)lock;
    report->calls++;
    report->status = result->status;
    report->granted = result->granted;
    for (size_t i = 0; i < result->n_nodes; i++)
        report->handed_on += strcmp(result->nodes[i].detail, "handed on") == 0;
}

START_TEST(the_release_says_where_the_lock_was_handed_on)
{
    struct redlock_acquire_options wish = fifo_wish();
    struct report report = {0};

    start_cohort("report", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_int_eq(redlock_release(seats[0].lock, on_released, &report), 0);
    ck_assert_uint_eq(report.calls, 0); /* never inside the call */
    seat_wait_held(&seats[1]);
    ck_assert_uint_eq(report.calls, 1);
    ck_assert_int_eq(report.status, REDLOCK_OK);
    ck_assert_uint_ge(report.granted, 3);
    ck_assert_uint_eq(report.granted, report.handed_on);
    for (size_t i = 1; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "report");
    destroy_all();
}
END_TEST

/* Who came before them is before them, and who came after them is behind all of them. */
START_TEST(nobody_is_overtaken)
{
    struct redlock_acquire_options wish = fifo_wish();
    struct seat before;
    struct seat after;
    struct seat last[2];

    seat_start(&rig, &first, other, "order", &wish);
    seat_wait_held(&first);
    seat_take(&rig, &before, other, "order", &wish);
    join_line("order", 1, &wish);
    seat_take(&rig, &after, other, "order", &wish);
    for (size_t i = 0; i < 2; i++)
        seat_start(&rig, &last[i], rig.client, "order", &wish);
    rig_wait(&rig, is_as_long, &(struct line_wish){"order", COHORT + 4}, "another cohort to be in line");
    seat_leave(&first);
    seat_wait_held(&before);
    seat_leave(&before);
    for (size_t i = 0; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        ck_assert_uint_eq(after.turn, 0);
        seat_leave(&seats[i]);
    }
    seat_wait_held(&after);
    ck_assert_uint_eq(last[0].turn, 0);
    seat_leave(&after);
    for (size_t i = 0; i < 2; i++) {
        seat_wait_held(&last[i]);
        seat_leave(&last[i]);
    }
    queue_wait_gone(&rig, "order");
    ck_assert_uint_eq(passed_on(), COHORT);
    redlock_lock_destroy(last[0].lock);
    redlock_lock_destroy(last[1].lock);
    redlock_lock_destroy(before.lock);
    redlock_lock_destroy(after.lock);
    destroy_all();
}
END_TEST

/* --- Who leaves the cohort ---------------------------------------------------------------------------------------- */

START_TEST(who_has_given_up_is_passed_by)
{
    struct redlock_acquire_options wish = fifo_wish();

    start_cohort("gone", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    ck_assert_int_eq(redlock_cancel(seats[1].lock), 0);
    redlock_lock_destroy(seats[2].lock);
    seats[2].lock = NULL;
    seat_leave(&seats[0]);
    seat_wait_held(&seats[3]);
    ck_assert_uint_eq(passed_on(), 1);
    ck_assert_int_eq(seats[1].outcome.status, REDLOCK_CANCELED);
    ck_assert_int_eq(seats[2].outcome.status, REDLOCK_CANCELED);
    seat_leave(&seats[3]);
    queue_wait_gone(&rig, "gone");
    rig_wait_no_claims(&rig, rig.client);
    destroy_all();
}
END_TEST

/* The next holder's would be deleted by whoever has been told of it. */
START_TEST(a_value_that_the_application_knows_is_not_passed_on)
{
    struct redlock_acquire_options wish = fifo_wish();
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_lock *cleaner = rig_new_lock(other, "told");

    start_cohort("told", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    snprintf(token, sizeof(token), "%s", redlock_lock_token(seats[0].lock));
    seat_leave(&seats[0]);
    seat_wait_held(&seats[1]);
    ck_assert_uint_eq(passed_on(), 0);
    ck_assert_str_ne(redlock_lock_token(seats[1].lock), token);
    ck_assert_int_eq(redlock_release_token(cleaner, token, NULL, NULL), 0);
    rig_wait_quiet(&rig, other);
    ck_assert_uint_ge(rig_count_value(&rig, "told", redlock_lock_token(seats[1].lock)), 3);
    for (size_t i = 1; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "told");
    ck_assert_uint_eq(passed_on(), 1); /* nobody knows the third one's */
    redlock_lock_destroy(cleaner);
    destroy_all();
}
END_TEST

static size_t count_of(const struct seat *seat, const char *key)
{
    return rig_count_value(&rig, key, redlock_lock_token(seat->lock));
}

/* Where nothing can be passed on, what a short hold can spare is handed on to the next one as to anybody: when both is
 * known. A hold is short by the clock, which a slow machine may foil. */
START_TEST(who_cannot_pass_the_lock_on_hands_on_what_it_can_spare)
{
    struct redlock_acquire_options wish = fifo_wish();
    bool spared = false;

    for (unsigned tries = 0; !spared; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        start_cohort("spare", &wish);
        seat_leave(&first);
        for (size_t i = 0; i < COHORT; i++) {
            seat_wait_held(&seats[i]);
            rig_wait_quiet(&rig, rig.client);
            spared |= count_of(&seats[i], "spare") == 3 && i + 1 < COHORT && count_of(&seats[i + 1], "spare") == 2;
            seat_leave(&seats[i]);
        }
        queue_wait_gone(&rig, "spare");
        destroy_all();
        ck_assert_uint_eq(passed_on(), 0);
    }
}
END_TEST

/* Whoever has the text may know it still. */
START_TEST(a_value_that_was_exported_is_not_passed_on)
{
    struct redlock_acquire_options wish = fifo_wish();
    char text[REDLOCK_MAX_EXPORT_BYTES];

    start_cohort("back", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    ck_assert_int_eq(redlock_lock_export(seats[0].lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_lock_adopt(seats[0].lock, NULL, text), 0);
    seat_leave(&seats[0]);
    seat_wait_held(&seats[1]);
    ck_assert_uint_eq(passed_on(), 0);
    for (size_t i = 1; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "back");
    destroy_all();
}
END_TEST

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    (void)client;
    ck_assert_int_eq(status, REDLOCK_OK);
    *(bool *)user_data = true;
}

static bool is_set(void *argument)
{
    return *(const bool *)argument;
}

/* Those who wait are canceled, all of them. */
START_TEST(a_client_that_ends_passes_nothing_on)
{
    struct redlock_acquire_options wish = fifo_wish();
    bool ended = false;

    start_cohort("end", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 10000, on_shut_down, &ended), 0);
    rig_wait(&rig, is_set, &ended, "the end of the client");
    ck_assert_uint_eq(passed_on(), 0);
    for (size_t i = 1; i < COHORT; i++) {
        ck_assert_uint_eq(seats[i].outcome.calls, 1);
        ck_assert_int_eq(seats[i].outcome.status, REDLOCK_CANCELED);
    }
    queue_wait_gone(&rig, "end");
    destroy_all();
}
END_TEST

START_TEST(fencing_tokens_grow_by_asking_the_masters)
{
    struct redlock_acquire_options wish = fifo_wish();
    uint64_t latest = 0;

    wish.fenced = true;
    start_cohort("fenced", &wish);
    seat_leave(&first);
    for (size_t i = 0; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        ck_assert_uint_gt(redlock_lock_fence(seats[i].lock), latest);
        latest = redlock_lock_fence(seats[i].lock);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "fenced");
    ck_assert_uint_eq(passed_on(), 0);
    destroy_all();
}
END_TEST

/* --- What the next one has ---------------------------------------------------------------------------------------- */

START_TEST(it_is_a_lock_like_any_other)
{
    struct redlock_acquire_options wish = fifo_wish();
    struct outcome outcome;
    const char *token;

    start_cohort("like", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    seat_leave(&seats[0]);
    seat_wait_held(&seats[1]);
    outcome = rig_extend(&rig, seats[1].lock, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(seats[1].lock), 9000);
    token = redlock_lock_token(seats[1].lock);
    ck_assert_uint_ge(rig_count_value(&rig, "like", token), 3);
    seat_leave(&seats[1]);
    for (size_t i = 2; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "like");
    destroy_all();
}
END_TEST

/* By the text the adopter gets the ttl that is owed. */
START_TEST(it_can_be_exported_and_adopted)
{
    struct redlock_acquire_options wish = fifo_wish();
    struct redlock_lock *heir = rig_new_lock(other, "away");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    start_cohort("away", &wish);
    seat_leave(&first);
    seat_wait_held(&seats[0]);
    if (_i)
        outcome_expect(&(struct outcome[]){rig_extend(&rig, seats[0].lock, 0)}[0], REDLOCK_OK);
    seat_leave(&seats[0]);
    seat_wait_held(&seats[1]);
    ck_assert_int_eq(redlock_lock_export(seats[1].lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_lock_adopt(heir, NULL, text), 0);
    ck_assert_int_gt(redlock_remaining_ms(heir), 0);
    outcome_expect(&(struct outcome[]){rig_extend(&rig, heir, 0)}[0], REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(heir), 9000);
    ck_assert_int_eq(redlock_release(heir, NULL, NULL), 0);
    for (size_t i = 2; i < COHORT; i++) {
        seat_wait_held(&seats[i]);
        seat_leave(&seats[i]);
    }
    queue_wait_gone(&rig, "away");
    redlock_lock_destroy(heir);
    destroy_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cohort");
    TCase *cases = suite_add_case(suite, "a cohort", open_five, close_rig);

    tcase_add_test(cases, they_have_the_lock_one_after_the_other);
    tcase_add_test(cases, those_whose_first_attempts_are_refused_together_are_one);
    tcase_add_test(cases, those_who_hold_for_a_moment_only_hand_on_nothing_else);
    tcase_add_test(cases, no_master_is_needed);
    tcase_add_test(cases, the_release_says_where_the_lock_was_handed_on);
    tcase_add_test(cases, events_name_the_value_that_is_passed_on);
    tcase_add_test(cases, nobody_is_overtaken);
    tcase_add_test(cases, who_has_given_up_is_passed_by);
    tcase_add_test(cases, a_value_that_the_application_knows_is_not_passed_on);
    tcase_add_test(cases, a_value_that_was_exported_is_not_passed_on);
    tcase_add_test(cases, a_client_that_ends_passes_nothing_on);
    tcase_add_test(cases, who_cannot_pass_the_lock_on_hands_on_what_it_can_spare);
    tcase_add_test(cases, fencing_tokens_grow_by_asking_the_masters);
    tcase_add_test(cases, it_is_a_lock_like_any_other);
    tcase_add_loop_test(cases, it_can_be_exported_and_adopted, 0, 2);
    return suite_run_with_server(suite);
}
