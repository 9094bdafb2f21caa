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
    return suite_run(suite);
}
