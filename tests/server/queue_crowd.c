/* A crowd of newcomers lets whoever gave the key up last go first, for a moment, and then gets in line: api/crowd.c. */
#include <limits.h>

#include <event2/event.h>

#include "queue_rig.h"
#include "suite.h"
#include "watch.h"

/* Whether a crowd waits goes by the clock, which a slow machine may foil. */
#define TRIES 50

#define CROWD 3

static struct rig rig;
static struct redlock_client *other;

static void allow_long_ttls(struct redlock_options *options)
{
    options->max_ttl_ms = 100000;
}

static void open_five(void)
{
    queue_open();
    rig_open_with(&rig, 5, 0, allow_long_ttls);
    other = rig_new_client(&rig);
}

static void close_rig(void)
{
    redlock_client_destroy(other);
    rig_close(&rig);
}

/* The masters have just answered, and nothing has kept the loop from hearing it: they are near. */
static void hear_from_masters(struct redlock_client *client)
{
    struct redlock_acquire_options wish = rig_wish(10000, 0);
    struct redlock_lock *lock = rig_new_lock(client, "near");

    outcome_expect(&(struct outcome[]){rig_acquire(&rig, lock, &wish)}[0], REDLOCK_OK);
    outcome_expect(&(struct outcome[]){rig_release(&rig, lock)}[0], REDLOCK_OK);
    redlock_lock_destroy(lock);
}

/* Both clients know the key as one that others want. The rig's has it now, and the other has not had it for a while. */
static void contend(const char *key, struct seat *last)
{
    struct redlock_acquire_options wish = queue_wish();
    struct seat first;

    seat_start(&rig, &first, other, key, &wish);
    seat_wait_held(&first);
    seat_take(&rig, last, rig.client, key, &wish);
    seat_end(&first);
    seat_wait_held(last);
    rig_run_for(&rig, 2);
    hear_from_masters(other);
    hear_from_masters(rig.client);
}

/* With leases that outlast the patience of a test: nothing goes by itself. */
static struct redlock_acquire_options long_wish(void)
{
    struct redlock_acquire_options wish = queue_wish();

    wish.ttl_ms = 100000;
    wish.min_validity_ms = 30000;
    return wish;
}

static void start_crowd(struct seat *seats, size_t n, struct redlock_client *client, const char *key)
{
    struct redlock_acquire_options wish = long_wish();

    for (size_t i = 0; i < n; i++)
        seat_start(&rig, &seats[i], client, key, &wish);
}

/* What the client writes in the first turn of the loop. */
static uint64_t commands_of_a_turn(struct redlock_client *client)
{
    uint64_t before = watch_stats(client).commands;

    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    return watch_stats(client).commands - before;
}

struct queue {
    struct seat *seats;
    size_t n;
};

/* Whoever holds the key gives it up; until all have. */
static bool pass_through(void *argument)
{
    struct queue *queue = argument;
    size_t served = 0;

    for (size_t i = 0; i < queue->n; i++) {
        if (queue->seats[i].turn && redlock_state(queue->seats[i].lock) == REDLOCK_STATE_HELD)
            seat_leave(&queue->seats[i]);
        served += redlock_state(queue->seats[i].lock) == REDLOCK_STATE_IDLE;
    }
    return served == queue->n;
}

static void serve(struct seat *seats, size_t n)
{
    struct queue queue = {seats, n};

    rig_wait(&rig, pass_through, &queue, "all to have had their turn");
    for (size_t i = 0; i < n; i++) {
        seat_wait_held(&seats[i]);
        redlock_lock_destroy(seats[i].lock);
    }
}

/* A crowd of the other client, none of which has asked yet. */
static void start_pausing(const char *key, struct seat *seats)
{
    for (unsigned tries = 0;; tries++) {
        struct seat last;

        ck_assert_uint_lt(tries, TRIES);
        contend(key, &last);
        seat_end(&last);
        start_crowd(seats, CROWD, other, key);
        if (commands_of_a_turn(other) == 0)
            return;
        serve(seats, CROWD);
    }
}

/* All come in the same turn, the others first. Was it as it should be: these waited, and the own ones asked at once? */
static bool others_wait(struct seat *seats)
{
    struct seat last;
    uint64_t before;
    bool wait;

    contend("round", &last);
    queue_open();
    start_crowd(seats, CROWD, other, "round");
    seat_leave(&last);
    before = watch_stats(rig.client).commands;
    start_crowd(seats + CROWD, CROWD, rig.client, "round");
    wait = commands_of_a_turn(other) == 0 && watch_stats(rig.client).commands - before >= 5;
    serve(seats, 2 * CROWD);
    redlock_lock_destroy(last.lock);
    return wait;
}

START_TEST(who_has_just_given_the_key_up_goes_first)
{
    struct seat seats[2 * CROWD];
    unsigned in_a_row = 0; /* once it may be by chance */

    for (unsigned tries = 0; in_a_row < 3; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        in_a_row = others_wait(seats) ? in_a_row + 1 : 0;
        for (size_t i = CROWD; in_a_row && i < 2 * CROWD; i++)
            ck_assert_uint_le(seats[i].turn, CROWD);
    }
    queue_wait_gone(&rig, "round");
}
END_TEST

/* Long before the first refresh, which would flush it, too. */
#define SOON_NS (300 * INT64_C(1000000))

START_TEST(a_crowd_asks_when_nobody_else_does)
{
    struct seat crowd[CROWD];
    int64_t taken_ns = SOON_NS;

    start_pausing("alone", crowd);
    serve(crowd, CROWD); /* from now on the client listens */
    for (unsigned tries = 0; taken_ns >= SOON_NS; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        start_pausing("alone", crowd);
        taken_ns = watch_now_ns();
        serve(crowd, CROWD);
        taken_ns = crowd[0].held_at_ns - taken_ns;
    }
    queue_wait_gone(&rig, "alone");
}
END_TEST

START_TEST(whoever_comes_in_the_pause_joins_it)
{
    struct seat crowd[CROWD];
    struct seat late;
    bool joined = false;

    for (unsigned tries = 0; !joined; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        start_pausing("late", crowd);
        start_crowd(&late, 1, other, "late");
        joined = commands_of_a_turn(other) == 0;
        serve(crowd, CROWD);
        serve(&late, 1);
    }
    queue_wait_gone(&rig, "late");
}
END_TEST

/* Several of the other client write in their first turn. If not, a slow machine may have made it forget that the key is
 * contended, so that they had written before. */
static void expect_haste(size_t n, const struct redlock_acquire_options *wish)
{
    unsigned in_a_row = 0; /* once it may be by chance */

    for (unsigned tries = 0; in_a_row < 3; tries++) {
        struct seat last;
        struct seat seats[CROWD];

        ck_assert_uint_lt(tries, TRIES);
        contend("haste", &last);
        seat_end(&last);
        for (size_t i = 0; i < n; i++)
            seat_start(&rig, &seats[i], other, "haste", wish);
        in_a_row = commands_of_a_turn(other) >= 5 ? in_a_row + 1 : 0;
        for (size_t i = 0; i < n; i++)
            redlock_lock_destroy(seats[i].lock);
        rig_wait_no_claims(&rig, other);
    }
}

START_TEST(few_do_not_wait)
{
    struct redlock_acquire_options wish = queue_wish();

    expect_haste(CROWD - 1, &wish);
}
END_TEST

START_TEST(who_has_little_time_does_not_wait)
{
    struct redlock_acquire_options wish = rig_wish(10000, 10);

    expect_haste(CROWD, &wish);
}
END_TEST

START_TEST(who_gives_up_in_the_pause_leaves_nothing_behind)
{
    struct seat crowd[CROWD];

    start_pausing("given up", crowd);
    for (size_t i = 0; i < CROWD; i++)
        redlock_lock_destroy(crowd[i].lock);
    rig_wait_no_claims(&rig, other);
    queue_wait_gone(&rig, "given up");
}
END_TEST

START_TEST(a_client_that_ends_in_the_pause_leaves_nothing_behind)
{
    struct seat crowd[CROWD];

    start_pausing("ended", crowd);
    redlock_client_destroy(other);
    other = NULL;
    queue_wait_gone(&rig, "ended");
}
END_TEST

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool is_shut_down(void *status)
{
    return *(int *)status != INT_MIN;
}

START_TEST(a_shutdown_in_the_pause_ends_it)
{
    int status = INT_MIN;
    struct seat crowd[CROWD];

    start_pausing("shut down", crowd);
    ck_assert_int_eq(redlock_client_shutdown(other, 20000, on_shutdown, &status), 0);
    rig_wait(&rig, is_shut_down, &status, "the shutdown");
    ck_assert_int_eq(status, REDLOCK_OK);
    for (size_t i = 0; i < CROWD; i++)
        ck_assert_int_eq(crowd[i].outcome.status, REDLOCK_CANCELED);
    queue_wait_gone(&rig, "shut down");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue_crowd");
    TCase *cases = suite_add_case(suite, "a crowd", open_five, close_rig);

    tcase_add_test(cases, who_has_just_given_the_key_up_goes_first);
    tcase_add_test(cases, a_crowd_asks_when_nobody_else_does);
    tcase_add_test(cases, whoever_comes_in_the_pause_joins_it);
    tcase_add_test(cases, few_do_not_wait);
    tcase_add_test(cases, who_has_little_time_does_not_wait);
    tcase_add_test(cases, who_gives_up_in_the_pause_leaves_nothing_behind);
    tcase_add_test(cases, a_client_that_ends_in_the_pause_leaves_nothing_behind);
    tcase_add_test(cases, a_shutdown_in_the_pause_ends_it);
    return suite_run(suite);
}
