/* One thread that waits and one that tells it, by itself. */
#include <check.h>
#include <pthread.h>

#include "blocking/sleepers.h"
#include "suite.h"

#define MS INT64_C(1000000)
#define TOLD 10000

/* Each way has sleepers of its own: the thread that tells acts as the owner of the loop. */
struct way {
    struct rl_sleepers sleepers;
    struct rl_waiter waiter;
};

struct pair {
    struct way there;
    struct way back;
    bool (*say)(struct way *way); /* there */
    atomic_uint unheard;          /* by the other thread */
};

static void way_init(struct way *way)
{
    rl_sleepers_init(&way->sleepers);
    rl_waiter_reset(&way->waiter);
}

static bool give_loop(struct way *way)
{
    return rl_waiter_give_loop(&way->waiter, &way->sleepers);
}

static bool tell(struct way *way)
{
    bool told = rl_waiter_tell(&way->waiter, &way->sleepers);

    rl_sleepers_wake_marked(&way->sleepers);
    return told;
}

static void *answer(void *argument)
{
    struct pair *pair = argument;

    for (int i = 0; i < TOLD; i++) {
        rl_waiter_wait(&pair->there.waiter, &pair->there.sleepers, RL_WAIT_FOREVER);
        rl_waiter_reset(&pair->there.waiter);
        pair->unheard += !tell(&pair->back);
    }
    return NULL;
}

/* For ever, if anything gets lost. */
static void ask_and_answer(struct pair *pair)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, answer, pair), 0);
    for (int i = 0; i < TOLD; i++) {
        rl_waiter_reset(&pair->back.waiter);
        ck_assert(pair->say(&pair->there));
        ck_assert_int_eq(rl_waiter_wait(&pair->back.waiter, &pair->back.sleepers, RL_WAIT_FOREVER), RL_WAITED_DONE);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(pair->unheard, 0);
}

static void fill(struct rl_sleepers *full)
{
    while (rl_sleepers_enter(full) != RL_NO_SLEEPER)
        ;
}

static void ask_by(bool (*say)(struct way *way), bool places)
{
    struct pair pair = {.say = say};

    way_init(&pair.there);
    way_init(&pair.back);
    if (!places) {
        fill(&pair.there.sleepers);
        fill(&pair.back.sleepers);
    }
    ask_and_answer(&pair);
}

static void no_sleepers(void);

GROUP(wait_tests, "waiter", no_sleepers, NULL)

TEST(wait_tests, no_telling_is_missed)
{
    ask_by(tell, true);
}

TEST(wait_tests, no_gift_of_the_loop_is_missed)
{
    ask_by(give_loop, true);
}

TEST(wait_tests, nothing_is_missed_where_all_slots_are_taken)
{
    ask_by(tell, false);
    ask_by(give_loop, false);
}

/* --- One thread -------------------------------------------------------------------------------------------------- */

static struct rl_sleepers sleepers;

static void no_sleepers(void)
{
    rl_sleepers_init(&sleepers);
}

TEST(wait_tests, either_the_waiting_thread_is_told_or_the_teller_learns_that_it_has_gone)
{
    struct rl_waiter waiter;
    int64_t began_ns = rl_monotonic_ns();

    rl_waiter_reset(&waiter);
    ck_assert_int_eq(rl_waiter_wait(&waiter, &sleepers, began_ns + 10 * MS), RL_WAITED_TIMEOUT);
    ck_assert_int_ge(rl_monotonic_ns() - began_ns, 10 * MS);
    ck_assert(!rl_waiter_tell(&waiter, &sleepers));
    ck_assert(!rl_waiter_give_loop(&waiter, &sleepers));
    rl_waiter_reset(&waiter);
    ck_assert(rl_waiter_tell(&waiter, &sleepers));
    ck_assert_int_eq(rl_waiter_wait(&waiter, &sleepers, began_ns), RL_WAITED_DONE);
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++)
        ck_assert_uint_eq(sleepers.groups[i].taken, 0);
}

TEST(wait_tests, a_waiter_that_is_given_the_loop_is_told_afterwards)
{
    struct rl_waiter waiter;
    int64_t began_ns = rl_monotonic_ns();

    rl_waiter_reset(&waiter);
    ck_assert(rl_waiter_give_loop(&waiter, &sleepers));
    ck_assert_int_eq(rl_waiter_wait(&waiter, &sleepers, began_ns), RL_WAITED_OWNER);
    ck_assert(!rl_waiter_is_done(&waiter));
    ck_assert(rl_waiter_tell(&waiter, &sleepers));
    ck_assert(rl_waiter_is_done(&waiter));
    ck_assert(!rl_waiter_give_loop(&waiter, &sleepers));
    ck_assert_int_eq(rl_waiter_wait(&waiter, &sleepers, began_ns), RL_WAITED_DONE);
}

SUITE("waiting")
