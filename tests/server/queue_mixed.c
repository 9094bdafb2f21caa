/* A mixed fleet: other Redlock libraries, which know SET NX PX and compare-and-delete only, on the same key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

static struct waiter waiters[4];

static void open_five(void)
{
    queue_open();
    rig_open(&rig, 5);
}

/* --- The other library -------------------------------------------------------------------------------------------- */

static size_t foreign_set(const char *key, const char *value, const char *ttl_ms)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++) {
        char *reply =
            masters_command(rig.masters, i, (const char *const[]){"SET", key, value, "NX", "PX", ttl_ms, NULL});

        ck_assert_msg(reply != NULL, "%s", masters_error());
        n += strcmp(reply, "OK") == 0;
        free(reply);
    }
    return n;
}

static void foreign_delete(const char *key, const char *value)
{
    rig_do_all(&rig, "EVAL",
               "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
               "1", key, value, NULL);
}

/* All or nothing, as Redlock has it. */
static bool foreign_lock(const char *key, const char *value)
{
    if (foreign_set(key, value, "10000") >= 3)
        return true;
    foreign_delete(key, value);
    return false;
}

GROUP(five, "five masters", open_five, rig_end)

TEST(five, a_release_that_hands_nothing_on_is_found_out_by_the_next_refresh)
{
    int64_t released_ns;

    ck_assert(foreign_lock("mixed", "foreign"));
    queue_fill(&rig, waiters, 2, "mixed");
    released_ns = watch_now_ns();
    foreign_delete("mixed", "foreign");
    waiter_wait_held(&waiters[0]);
    ck_assert_int_lt(waiters[0].held_at_ns - released_ns, INT64_C(8000000000)); /* before the foreign ttl is over */
    ck_assert_uint_eq(waiters[1].outcome.calls, 0);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[1]);
}

static int64_t lateness_after_a_foreign_ttl(const char *key)
{
    struct redlock_acquire_options request = queue_request();
    int64_t end_ns;

    ck_assert_uint_eq(foreign_set(key, "foreign", "3000"), 5);
    waiter_take(&rig, &waiters[0], rig.client, key, &request);
    end_ns = rig_pttl(&rig, 4, key) * INT64_C(1000000); /* the last that was set */
    end_ns += watch_now_ns();
    waiter_wait_held(&waiters[0]);
    waiter_end(&waiters[0]);
    return waiters[0].held_at_ns - end_ns;
}

/* A loaded machine may delay any wake-up: the best of several is what the library does. */
TEST(five, the_end_of_a_foreign_ttl_is_waited_for_by_a_timer)
{
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < RIG_LATE_ATTEMPTS && best_ns > INT64_C(100000000); i++) {
        char key[16];
        int64_t late_ns;

        snprintf(key, sizeof key, "mixed %d", i);
        late_ns = lateness_after_a_foreign_ttl(key);
        best_ns = late_ns < best_ns ? late_ns : best_ns;
    }
    ck_assert_int_le(best_ns, 100000000);
}

TEST(five, others_never_get_a_key_that_is_handed_over_until_nobody_waits)
{
    struct redlock_lock *holder = rig_hold(&rig, "mixed", 10000);

    queue_fill(&rig, waiters, 4, "mixed");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        waiter_wait_held(&waiters[i]);
        ck_assert(!foreign_lock("mixed", "foreign"));
        ck_assert_int_gt(redlock_remaining_ms(waiters[i].lock), 0);
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "mixed");
    ck_assert(foreign_lock("mixed", "foreign"));
}

TEST(five, a_foreign_release_with_another_value_does_no_harm_to_those_in_the_queue)
{
    struct redlock_lock *holder = rig_hold(&rig, "mixed", 10000);

    queue_fill(&rig, waiters, 2, "mixed");
    foreign_delete("mixed", "foreign");
    ck_assert_uint_eq(queue_count(&rig, "mixed", redlock_lock_token(waiters[0].lock)), 5);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
}

/* The token is all that is needed, wherever it comes from. */
TEST(five, a_lock_that_was_handed_over_can_be_released_by_compare_and_delete)
{
    struct redlock_lock *holder = rig_hold(&rig, "mixed", 10000);

    queue_fill(&rig, waiters, 2, "mixed");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
    foreign_delete("mixed", redlock_lock_token(waiters[0].lock));
    waiter_wait_held(&waiters[1]);
}

TEST(five, what_is_not_a_queue_under_its_name_keeps_nobody_from_releasing)
{
    struct redlock_acquire_options request = rig_request(10000, 600);
    struct redlock_lock *holder = rig_hold(&rig, "mixed", 10000);
    struct waiter waiter;

    rig_do_all(&rig, "SET", "redlock:waiters:mixed", "not a hash", "PX", "20000", NULL);
    waiter_start(&rig, &waiter, rig.client, "mixed", &request);
    rig_wait_outcome(&rig, &waiter.outcome);
    outcome_expect(&waiter.outcome, REDLOCK_DEADLINE);
    rig_expect_release(&rig, holder, REDLOCK_OK);
    queue_wait_gone(&rig, "mixed");
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static struct tally tally;

static void with_prefix(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->key_prefix = "app:";
}

static void open_prefixed(void)
{
    queue_open();
    rig_open_with(&rig, 5, 0, with_prefix);
}

GROUP(prefix, "prefix", open_prefixed, rig_end)

/* Whatever is written, and said, begins with it. */
TEST_SINCE(prefix, a_user_with_the_rights_for_the_prefix_only_can_wait_in_the_queue, 6, 2, "rights on channels")
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder;
    struct waiter waiter;

    rig_do_all(&rig, "ACL", "SETUSER", "default", "resetkeys", "~app:*", "resetchannels", "&app:*", NULL);
    holder = rig_hold(&rig, "mine", 10000);
    waiter_start(&rig, &waiter, rig.client, "mine", &request);
    rig_wait_count(&rig, "app:redlock:queue:mine", 5);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_LISTENING, 5);
    ck_assert_uint_eq(masters_count_key(rig.masters, "app:redlock:waiters:mine"), 5);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiter);
    ck_assert_uint_ge(watch_stats(rig.client).hand_offs, 3);
    waiter_leave(&waiter);
    rig_wait_absent(&rig, "app:redlock:waiters:mine");
}

SUITE_WITH_SERVER("queue_mixed")
