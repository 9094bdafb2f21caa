/* Many threads that sleep, and those of them that are woken together. */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "blocking/sleepers.h"
#include "suite.h"
#include "thread.h"

static struct rl_sleepers sleepers;

static void no_sleepers(void)
{
    rl_sleepers_init(&sleepers);
}

static pthread_t begin(void *(*run)(void *argument), void *argument)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, run, argument), 0);
    return thread;
}

static void end(pthread_t thread)
{
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* --- One --------------------------------------------------------------------------------------------------------- */

GROUP(one, "one", no_sleepers, NULL)

TEST(one, nobody_sleeps_when_the_state_has_changed_nor_longer_than_wanted)
{
    _Atomic uint32_t state = 1;
    int64_t began_ns = rl_monotonic_ns();

    for (unsigned place = 0; place <= RL_NO_SLEEPER; place += RL_NO_SLEEPER) {
        ck_assert(rl_sleepers_sleep(&sleepers, place, &state, 2, RL_WAIT_FOREVER));
        ck_assert(!rl_sleepers_sleep(&sleepers, place, &state, 1, began_ns));
    }
}

/* --- Many ------------------------------------------------------------------------------------------------------- */

#define N_MEMBERS (RL_SLEEPER_PLACES + 20)
#define ROUNDS 50

/* A thread that waits, again and again. */
struct member {
    struct rl_waiter waiter;
    pthread_t thread;
    long id;
    unsigned rounds;
    unsigned done;
};

static atomic_uint ready;

static void *wait_each_round(void *argument)
{
    struct member *member = argument;

    member->id = thread_self();
    for (unsigned i = 0; i < member->rounds; i++) {
        atomic_fetch_add(&ready, 1);
        member->done += rl_waiter_wait(&member->waiter, &sleepers, RL_WAIT_FOREVER) == RL_WAITED_DONE;
        rl_waiter_reset(&member->waiter);
    }
    return NULL;
}

static struct member *gather(unsigned n, unsigned rounds)
{
    struct member *members = calloc(n, sizeof *members);

    atomic_store(&ready, 0);
    for (unsigned i = 0; i < n; i++) {
        rl_waiter_reset(&members[i].waiter);
        members[i].rounds = rounds;
        members[i].thread = begin(wait_each_round, &members[i]);
    }
    return members;
}

static void part(struct member *members, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        end(members[i].thread);
        ck_assert_uint_eq(members[i].done, members[i].rounds);
    }
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++)
        ck_assert_uint_eq(sleepers.groups[i].taken, 0);
    free(members);
}

static void await_ready(unsigned count)
{
    while (atomic_load(&ready) < count)
        sched_yield();
}

static void tell_every_other(struct member *members, unsigned first)
{
    for (unsigned i = first; i < N_MEMBERS; i += 2)
        ck_assert(rl_waiter_tell(&members[i].waiter, &sleepers));
    rl_sleepers_wake_marked(&sleepers);
}

GROUP(many, "many", no_sleepers, NULL)

/* More threads than places, asleep or about to be. */
TEST(many, all_who_are_told_wake)
{
    struct member *members = gather(N_MEMBERS, ROUNDS);

    for (unsigned round = 1; round <= ROUNDS; round++) {
        await_ready(round * N_MEMBERS);
        tell_every_other(members, 1);
        tell_every_other(members, 0);
    }
    part(members, N_MEMBERS);
}

/* None of them has had a reason to wake, and to sleep again, since `before`. */
static void still_asleep(const struct member *members, unsigned n, const unsigned long *before)
{
    for (unsigned i = 0; i < n; i++)
        ck_assert_uint_eq(thread_await_sleep(members[i].id), before[i]);
}

TEST(many, who_is_told_of_many_sleeps_until_all_are_woken_and_who_is_not_told_sleeps_on)
{
    enum { FEW = 40 }; /* at more than one futex */
    struct member *members = gather(FEW, 1);
    unsigned long before[FEW];

    await_ready(FEW);
    for (unsigned i = 0; i < FEW; i++)
        before[i] = thread_await_sleep(members[i].id);
    for (unsigned i = 1; i < FEW; i++)
        ck_assert(rl_waiter_tell(&members[i].waiter, &sleepers));
    poll(NULL, 0, 20);
    still_asleep(members, FEW, before);
    rl_sleepers_wake_marked(&sleepers);
    for (unsigned i = 1; i < FEW; i++)
        end(members[i].thread);
    for (unsigned i = 0; i < RL_SLEEPER_GROUPS; i++)
        ck_assert_uint_eq(sleepers.groups[i].marked, 0);
    still_asleep(members, 1, before);
    ck_assert(rl_waiter_tell(&members[0].waiter, &sleepers));
    rl_sleepers_wake_marked(&sleepers);
    end(members[0].thread);
    free(members);
}

SUITE("sleeping")
