/* What the front end is made of, by itself: the published validity, the inbox, and the owners of a recursive mutex. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include <redlock/status.h>

#include "blocking/bound.h"
#include "blocking/loop.h"
#include "blocking/recursion.h"
#include "suite.h"
#include "util/list.h"

#define MS INT64_C(1000000)

/* --- Bound ------------------------------------------------------------------------------------------------------ */

static struct rl_clock clock_now(void)
{
    struct rl_clock now;

    rl_clock_init(&now);
    return now;
}

static const struct rl_bound_hold shared = {.fence = 5, .mode = REDLOCK_SHARED};

GROUP(bound_tests, "bound", NULL, NULL)

TEST(bound_tests, nothing_is_left_of_what_is_not_held)
{
    struct rl_bound bound;
    struct rl_clock now = clock_now();
    struct rl_bound_hold hold = shared;

    rl_bound_init(&bound);
    ck_assert_int_eq(rl_bound_remaining_ns(&bound, &hold), 0);
    ck_assert_uint_eq(hold.fence, 0);
    ck_assert_int_eq(hold.mode, REDLOCK_EXCLUSIVE);
    rl_bound_publish(&bound, &now, 1000 * MS, shared);
    ck_assert_int_gt(rl_bound_remaining_ns(&bound, &hold), 900 * MS);
    ck_assert_uint_eq(hold.fence, 5);
    ck_assert_int_eq(hold.mode, REDLOCK_SHARED);
    rl_bound_publish(&bound, &now, 0, shared);
    ck_assert_int_eq(rl_bound_remaining_ns(&bound, &hold), 0);
    ck_assert_uint_eq(hold.fence, 0);
    ck_assert_int_eq(hold.mode, REDLOCK_EXCLUSIVE);
}

/* As after a suspend, which only one of the clocks has seen, or with one that is slewed. */
TEST(bound_tests, the_clock_that_has_advanced_more_decides)
{
    struct rl_bound bound;
    struct rl_clock before = clock_now();

    rl_bound_init(&bound);
    before.base_boot_ns -= 400 * MS;
    rl_bound_publish(&bound, &before, 1000 * MS, shared);
    ck_assert_int_le(rl_bound_remaining_ns(&bound, NULL), 600 * MS);
    ck_assert_int_gt(rl_bound_remaining_ns(&bound, NULL), 0);
    before = clock_now();
    before.base_raw_ns -= 1000 * MS;
    rl_bound_publish(&bound, &before, 1000 * MS, shared);
    ck_assert_int_eq(rl_bound_remaining_ns(&bound, NULL), 0);
}

TEST(bound_tests, what_is_withheld_is_not_left_whatever_is_published)
{
    struct rl_bound bound;
    struct rl_clock now = clock_now();
    struct rl_bound_hold hold = shared;

    rl_bound_init(&bound);
    rl_bound_withhold(&bound);
    rl_bound_publish(&bound, &now, 1000 * MS, shared);
    ck_assert_int_eq(rl_bound_remaining_ns(&bound, &hold), 0);
    ck_assert_uint_eq(hold.fence, 0);
    rl_bound_restore(&bound);
    ck_assert_int_gt(rl_bound_remaining_ns(&bound, NULL), 0);
}

struct race {
    struct rl_bound bound;
    atomic_bool stop;
};

/* Two holds that differ in everything. */
static void *publish_in_turns(void *argument)
{
    static const struct rl_bound_hold lasting = {.fence = 1, .mode = REDLOCK_SHARED};
    static const struct rl_bound_hold brief = {.fence = 2, .mode = REDLOCK_EXCLUSIVE};
    struct race *race = argument;

    for (unsigned i = 0; !atomic_load(&race->stop); i++) {
        struct rl_clock now = clock_now();

        rl_bound_publish(&race->bound, &now, i % 2 ? 2000000 * MS : 1000 * MS, i % 2 ? lasting : brief);
    }
    return NULL;
}

TEST(bound_tests, readers_never_see_parts_of_two_publications)
{
    struct race race = {.stop = false};
    pthread_t writer;

    rl_bound_init(&race.bound);
    ck_assert_int_eq(pthread_create(&writer, NULL, publish_in_turns, &race), 0);
    for (int i = 0; i < 200000; i++) {
        struct rl_bound_hold hold;
        int64_t left_ns = rl_bound_remaining_ns(&race.bound, &hold);

        ck_assert(left_ns == 0 || (hold.fence == 1) == (left_ns > 1000 * MS));
        ck_assert(left_ns == 0 || (hold.mode == REDLOCK_SHARED) == (left_ns > 1000 * MS));
    }
    atomic_store(&race.stop, true);
    pthread_join(writer, NULL);
}

/* --- Inbox ------------------------------------------------------------------------------------------------------ */

#define PRODUCERS 4
#define POSTS 2000

struct numbered {
    struct rl_post post;
    int producer;
    int number;
};

static struct rl_inbox inbox;
static int latest[PRODUCERS];
static int taken;
static bool in_order;

static void note(struct rl_post *post)
{
    struct numbered *numbered = RL_CONTAINER_OF(post, struct numbered, post);

    in_order = in_order && numbered->number == latest[numbered->producer] + 1;
    latest[numbered->producer] = numbered->number;
    taken++;
    free(numbered);
}

static bool push(int producer, int number)
{
    struct numbered *numbered = malloc(sizeof *numbered);

    *numbered = (struct numbered){.post = {.run = note}, .producer = producer, .number = number};
    if (rl_inbox_push(&inbox, &numbered->post) != RL_PUSHED_NOT)
        return true;
    free(numbered);
    return false;
}

static void *produce(void *argument)
{
    for (int i = 1; i <= POSTS; i++)
        push((int)(intptr_t)argument, i);
    return NULL;
}

static void open_inbox(void)
{
    ck_assert(rl_inbox_init(&inbox));
    in_order = true;
}

static void close_inbox(void)
{
    rl_inbox_fini(&inbox);
}

GROUP(post_tests, "inbox", open_inbox, close_inbox)

TEST(post_tests, everything_is_run_once_and_in_the_order_of_each_thread)
{
    pthread_t producers[PRODUCERS];

    for (int i = 0; i < PRODUCERS; i++)
        ck_assert_int_eq(pthread_create(&producers[i], NULL, produce, (void *)(intptr_t)i), 0);
    while (taken < PRODUCERS * POSTS)
        rl_inbox_run(&inbox);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    ck_assert(in_order);
    ck_assert_int_eq(taken, PRODUCERS * POSTS);
}

TEST(post_tests, a_closed_inbox_runs_what_it_has_and_takes_no_more)
{
    ck_assert(push(0, 1));
    ck_assert(push(0, 2));
    rl_inbox_close(&inbox);
    ck_assert_int_eq(taken, 2);
    ck_assert(!push(0, 3));
    ck_assert_int_eq(taken, 2);
}

TEST(post_tests, an_inbox_is_empty_until_something_is_pushed_and_after_it_has_run)
{
    ck_assert(rl_inbox_is_empty(&inbox));
    push(0, 1);
    ck_assert(!rl_inbox_is_empty(&inbox));
    rl_inbox_run(&inbox);
    ck_assert(rl_inbox_is_empty(&inbox));
    ck_assert_int_eq(taken, 1);
}

/* --- Gate ------------------------------------------------------------------------------------------------------- */

GROUP(recursion_tests, "recursion", NULL, NULL)

/* Two threads that act for one owner: one of them enters again while the other ends the hold. */
TEST(recursion_tests, who_finds_that_the_hold_has_ended_meanwhile_does_not_enter_again)
{
    const struct rl_owner owner = {&inbox, 0}, other = {&taken, 0};
    struct rl_recursion *recursion = rl_recursion_create(false);

    ck_assert_int_eq(rl_recursion_enter(recursion, &owner, 0), 0);
    rl_recursion_hold(recursion);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, REDLOCK_LOST), REDLOCK_LOST);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, 0), 0);
    ck_assert_int_eq(rl_recursion_leave(recursion, &owner, false), REDLOCK_E_DEPTH);
    ck_assert_int_eq(rl_recursion_leave(recursion, &owner, false), 0);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, 0), REDLOCK_E_BUSY);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, REDLOCK_LOST), REDLOCK_E_BUSY);
    rl_recursion_pass_on(recursion);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, 0), REDLOCK_E_BUSY);
    ck_assert_int_eq(rl_recursion_enter(recursion, &other, 0), 0);
    rl_recursion_hold(recursion);
    ck_assert_int_eq(rl_recursion_enter_again(recursion, &owner, 0), REDLOCK_E_BUSY);
    ck_assert_uint_eq(rl_recursion_depth(recursion), 1);
    rl_recursion_destroy(recursion);
}

SUITE("parts")
