/* Votes that a short hold does not need go to the next in line before its end, and come back where it gets long. */
#include <stdlib.h>
#include <string.h>

#include "queue_rig.h"
#include "suite.h"
#include "watch.h"

/* A hold is short by the clock, which a slow machine may foil. */
#define TRIES 50

static struct rig rig;
static struct redlock_client *other;
static struct seat holder;
static struct seat waiter;

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

static size_t count_of(const struct seat *seat, const char *key)
{
    return rig_count_value(&rig, key, redlock_lock_token(seat->lock));
}

/* The client has held the key for ms, and another one has waited for it. */
static void hold_before(const char *key, int64_t ms)
{
    struct redlock_acquire_options wish = queue_wish();
    struct seat first;
    struct seat second;

    seat_start(&rig, &first, rig.client, key, &wish);
    seat_wait_held(&first);
    seat_take(&rig, &second, other, key, &wish);
    seat_end(&first);
    seat_wait_held(&second);
    seat_take(&rig, &first, rig.client, key, &wish);
    seat_leave(&second);
    seat_wait_held(&first);
    if (ms)
        rig_run_for(&rig, ms);
    seat_end(&first);
    redlock_lock_destroy(second.lock);
}

/* Whether the holder has kept a quorum only, and the waiter has the rest; if not, both give up. */
static bool has_spared(const char *key)
{
    rig_wait_quiet(&rig, rig.client);
    if (count_of(&holder, key) == 3 && count_of(&waiter, key) == 2)
        return true;
    seat_leave(&holder);
    seat_wait_held(&waiter);
    seat_end(&waiter);
    redlock_lock_destroy(holder.lock);
    return false;
}

/* The waiter's turn comes, and it leaves nothing behind. */
static void serve_waiter(const char *key)
{
    seat_wait_held(&waiter);
    seat_leave(&waiter);
    queue_wait_gone(&rig, key);
}

/* The holder has it on three masters, the waiter on the two others, and is in line on those three. */
static void start_spared(const char *key)
{
    struct redlock_acquire_options wish = queue_wish();

    for (unsigned tries = 0;; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        hold_before(key, 0);
        seat_start(&rig, &holder, rig.client, key, &wish);
        seat_wait_held(&holder);
        seat_take(&rig, &waiter, other, key, &wish);
        if (has_spared(key))
            return;
    }
}

START_TEST(the_next_in_line_has_what_a_short_hold_can_spare)
{
    start_spared("early");
    ck_assert_int_eq(redlock_state(waiter.lock), REDLOCK_STATE_WAITING);
    ck_assert_int_gt(redlock_remaining_ms(holder.lock), 0);
    seat_leave(&holder);
    serve_waiter("early");
}
END_TEST

/* Two of the holder's three masters die: its votes count until their bounds, and one more is enough for the next. */
START_TEST(both_survive_the_loss_of_two_masters)
{
    start_spared("dead");
    for (size_t node = 0, killed = 0; killed < 2; node++) {
        char *value = masters_command(rig.masters, node, (const char *const[]){"GET", "dead", NULL});

        if (strcmp(value, redlock_lock_token(holder.lock)) == 0) {
            ck_assert(masters_kill(rig.masters, node));
            rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_DOWN);
            rig_wait_link(&rig, other, node, REDLOCK_LINK_DOWN);
            killed++;
        }
        free(value);
    }
    ck_assert_int_gt(redlock_remaining_ms(holder.lock), 0);
    ck_assert_uint_eq(waiter.outcome.calls, 0);
    seat_leave(&holder);
    seat_wait_held(&waiter);
}
END_TEST

static bool has_all(void *key)
{
    return count_of(&holder, key) == 5;
}

START_TEST(an_extension_gets_them_back)
{
    start_spared("back");
    outcome_expect(&(struct outcome[]){rig_extend(&rig, holder.lock, 0)}[0], REDLOCK_OK);
    rig_wait(&rig, has_all, (char[]){"back"}, "the holder to have its key on all masters");
    seat_wait_in_line(&waiter, 5);
    ck_assert(masters_kill(rig.masters, 0) && masters_kill(rig.masters, 1));
    outcome_expect(&(struct outcome[]){rig_extend(&rig, holder.lock, 0)}[0], REDLOCK_OK);
    seat_leave(&holder);
    serve_waiter("back");
}
END_TEST

/* Renewal off: the extension that brings the full ttl is the library's own. */
START_TEST(a_hold_that_gets_long_gets_them_back_by_itself)
{
    start_spared("long");
    rig_wait(&rig, has_all, (char[]){"long"}, "the holder to have its key on all masters");
    seat_wait_in_line(&waiter, 5);
    ck_assert_int_gt(redlock_remaining_ms(holder.lock), 0);
    ck_assert_uint_eq(waiter.outcome.calls, 0);
}
END_TEST

START_TEST(who_has_held_it_for_longer_keeps_all_votes)
{
    struct redlock_acquire_options wish = queue_wish();

    hold_before("kept", _i ? 600 : 30); /* for longer than the client remembers rivals */
    seat_start(&rig, &holder, rig.client, "kept", &wish);
    seat_wait_held(&holder);
    seat_take(&rig, &waiter, other, "kept", &wish);
    ck_assert_uint_eq(count_of(&holder, "kept"), 5);
}
END_TEST

START_TEST(an_adopter_does_without_them)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];
    struct redlock_lock *heir;

    start_spared("heir");
    ck_assert_int_eq(redlock_lock_export(holder.lock, text, sizeof(text)), 0);
    heir = rig_new_lock(rig.client, "heir");
    ck_assert_int_eq(redlock_lock_adopt(heir, NULL, text), 0);
    outcome_expect(&(struct outcome[]){rig_extend(&rig, heir, 0)}[0], REDLOCK_OK);
    ck_assert_uint_eq(rig_count_value(&rig, "heir", redlock_lock_token(heir)), 3);
    ck_assert_uint_eq(count_of(&waiter, "heir"), 2);
    ck_assert_int_eq(redlock_release(heir, NULL, NULL), 0);
    serve_waiter("heir");
}
END_TEST

/* --- The one that decides, and those that wait for it ------------------------------------------------------------- */

static bool has_it(size_t node, const char *key)
{
    char *value = masters_get(rig.masters, node, key);
    bool has = value && strcmp(value, redlock_lock_token(holder.lock)) == 0;

    free(value);
    return has;
}

/* The first of the holder's masters: the one that decides, where all have answered fast. */
static size_t first_of_holder(const char *key)
{
    size_t node = 0;

    while (!has_it(node, key))
        ck_assert_uint_lt(++node, rig.n);
    return node;
}

/* Whatever the tests have kept the holder's client from reading in time before: now its masters answer fast. */
static void hear_from_all(void)
{
    struct redlock_lock *another = rig_hold(&rig, "another", 10000);

    outcome_expect(&(struct outcome[]){rig_release(&rig, another)}[0], REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    redlock_lock_destroy(another);
}

/* As start_spared(), but the waiter was in line before the holder had the key: so it was the holder who handed it the
 * votes. */
static void start_handed_on(const char *key)
{
    struct redlock_acquire_options wish = queue_wish();
    struct seat first;

    for (unsigned tries = 0;; tries++) {
        ck_assert_uint_lt(tries, TRIES);
        hold_before(key, 0);
        seat_start(&rig, &first, other, key, &wish);
        seat_wait_held(&first);
        seat_take(&rig, &holder, rig.client, key, &wish);
        seat_take(&rig, &waiter, other, key, &wish);
        seat_end(&first);
        seat_wait_held(&holder);
        if (has_spared(key))
            return;
    }
}

static size_t unsent_bytes(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof(stats)), 0);
    return stats.unsent_bytes;
}

static size_t count_unsent(void)
{
    size_t count = 0;

    for (size_t node = 0; node < rig.n; node++)
        count += unsent_bytes(node) > 0;
    return count;
}

/* The holder gives up: it has written to one master, and waits for its answer with the two others. On a machine that is
 * so slow that the masters always take too long to count as near, all are written to at once; what follows must be
 * true of that, too. */
static size_t start_giving_up(const char *key, bool hung, struct outcome *release)
{
    for (unsigned tries = 0;; tries++) {
        size_t first;

        start_handed_on(key);
        first = first_of_holder(key);
        hear_from_all();
        if (hung)
            ck_assert(masters_hang(rig.masters, first));
        *release = (struct outcome){0};
        ck_assert_int_eq(redlock_release(holder.lock, outcome_record, release), 0);
        event_base_loop(rig.base, EVLOOP_NONBLOCK);
        if ((count_unsent() == 2 && unsent_bytes(first) == 0) || tries == TRIES)
            return first;
        if (hung)
            ck_assert(masters_resume(rig.masters, first));
        seat_wait_held(&waiter);
        seat_end(&waiter);
        rig_wait_outcome(&rig, release);
        redlock_lock_destroy(holder.lock);
    }
}

START_TEST(the_others_are_released_when_it_has_answered)
{
    struct outcome release;
    size_t first = start_giving_up("first", false, &release);

    while (has_it(first, "first"))
        continue; /* the loop does not run, and no timer with it */
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(count_unsent(), 0);
    seat_wait_held(&waiter);
    rig_wait_outcome(&rig, &release);
    outcome_expect(&release, REDLOCK_OK);
    seat_leave(&waiter);
    queue_wait_gone(&rig, "first");
}
END_TEST

/* Then no single vote decides. */
START_TEST(who_has_them_all_again_releases_all_at_once)
{
    start_handed_on("all");
    outcome_expect(&(struct outcome[]){rig_extend(&rig, holder.lock, 0)}[0], REDLOCK_OK);
    rig_wait(&rig, has_all, (char[]){"all"}, "the holder to have its key on all masters");
    seat_wait_in_line(&waiter, 5);
    hear_from_all();
    seat_leave(&holder);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(count_unsent(), 0);
    seat_wait_held(&waiter);
}
END_TEST

/* The release itself ends when the hung master's time to answer is over. */
START_TEST(if_it_hangs_nobody_waits_for_it)
{
    struct outcome release;
    size_t first = start_giving_up("hung", true, &release);

    seat_wait_held(&waiter);
    ck_assert_uint_eq(release.calls, 0);
    ck_assert(masters_resume(rig.masters, first));
    seat_leave(&waiter);
    queue_wait_gone(&rig, "hung");
}
END_TEST

START_TEST(if_it_dies_nobody_waits_for_it)
{
    struct outcome release;
    size_t first = start_giving_up("dies", true, &release);

    ck_assert(masters_kill(rig.masters, first));
    serve_waiter("dies");
}
END_TEST

START_TEST(who_ends_before_it_has_answered_leaves_nothing_behind)
{
    struct outcome release;
    size_t first = start_giving_up("ends", true, &release);

    redlock_client_destroy(rig.client);
    rig.client = NULL;
    ck_assert(masters_resume(rig.masters, first));
    serve_waiter("ends");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("queue_spare");
    TCase *cases = suite_add_case(suite, "spare votes", open_five, close_rig);

    tcase_add_test(cases, the_next_in_line_has_what_a_short_hold_can_spare);
    tcase_add_test(cases, both_survive_the_loss_of_two_masters);
    tcase_add_test(cases, an_extension_gets_them_back);
    tcase_add_test(cases, a_hold_that_gets_long_gets_them_back_by_itself);
    tcase_add_loop_test(cases, who_has_held_it_for_longer_keeps_all_votes, 0, 2);
    tcase_add_test(cases, an_adopter_does_without_them);
    cases = suite_add_case(suite, "the vote that decides", open_five, close_rig);
    tcase_add_test(cases, the_others_are_released_when_it_has_answered);
    tcase_add_loop_test(cases, who_has_them_all_again_releases_all_at_once, 0, 6); /* it takes five fast answers */
    tcase_add_test(cases, if_it_hangs_nobody_waits_for_it);
    tcase_add_test(cases, if_it_dies_nobody_waits_for_it);
    tcase_add_test(cases, who_ends_before_it_has_answered_leaves_nothing_behind);
    return suite_run(suite);
}
