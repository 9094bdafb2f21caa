/* Many threads: exclusion, shared handles, cancellation. */
#include <check.h>
#include <sched.h>
#include <stdlib.h>

#include "service_rig.h"

/* --- Exclusion -------------------------------------------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS 12

struct contest {
    atomic_int inside;
    atomic_int overlaps;
    atomic_int failures;
    int unchecked; /* by anything but the lock */
};

static void visit(struct contest *contest, struct redlock_mutex *mutex)
{
    if (redlock_mutex_lock(mutex, 20000) != REDLOCK_OK) {
        atomic_fetch_add(&contest->failures, 1);
        return;
    }
    if (atomic_fetch_add(&contest->inside, 1) != 0)
        atomic_fetch_add(&contest->overlaps, 1);
    contest->unchecked++;
    sched_yield();
    atomic_fetch_sub(&contest->inside, 1);
    redlock_mutex_unlock(mutex);
}

static void *contend(void *argument)
{
    struct redlock_mutex *mutex = world_new_mutex("contested");

    for (int i = 0; i < ROUNDS; i++)
        visit(argument, mutex);
    world_destroy(mutex);
    return NULL;
}

GROUP(three, "threads", world_three, world_close)

TEST(three, threads_with_a_mutex_each_exclude_each_other)
{
    struct contest contest = {0};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, contend, &contest), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(contest.failures, 0);
    ck_assert_int_eq(contest.overlaps, 0);
    ck_assert_int_eq(contest.unchecked, THREADS * ROUNDS);
}

/* --- One handle, several threads -------------------------------------------------------------------------------- */

static void *unlock(void *mutex)
{
    return (void *)(intptr_t)redlock_mutex_unlock(mutex);
}

TEST(three, what_one_thread_has_locked_another_unlocks)
{
    struct redlock_mutex *mutex = world_hold("key", 10000);
    pthread_t thread;
    void *status = NULL;

    ck_assert_int_eq(pthread_create(&thread, NULL, unlock, mutex), 0);
    pthread_join(thread, &status);
    ck_assert_int_eq((intptr_t)status, REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_E_NOT_HELD);
}

TEST(three, a_second_call_on_a_busy_mutex_is_refused)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;

    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 2);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 0, NULL), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
    ck_assert_int_eq(caller_join(&caller), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_ALREADY_HELD);
}

/* --- Cancellation ----------------------------------------------------------------------------------------------- */

TEST(three, a_waiting_thread_is_canceled_by_another)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;

    ck_assert_int_eq(redlock_mutex_cancel(mutex), REDLOCK_E_NOTHING_TO_CANCEL);
    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 2);
    ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
    ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
    world_wait_absent("key");
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_OK);
}

static bool is_free_again(void *argument)
{
    return redlock_mutex_cancel(argument) == REDLOCK_E_NOTHING_TO_CANCEL &&
           redlock_mutex_extend(argument, 0, NULL) == REDLOCK_E_NOT_HELD;
}

/* The lock is free: the attempt that nobody waits for any more may win it. */
TEST(three, the_callers_deadline_is_kept_while_the_services_thread_is_busy)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;
    struct plug plug;

    plug_in(&plug, world.service);
    caller_start(&caller, mutex, 50);
    ck_assert_int_eq(caller_join(&caller), REDLOCK_DEADLINE);
    ck_assert_int_ge(caller.elapsed_ms, 49);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_BUSY);
    plug_out(&plug);
    world_wait(is_free_again, mutex, "the given-up call to end");
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    world_wait_absent("key");
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_OK);
}

/* The masters have granted, the service's thread has not read it, the caller goes: nothing must stay behind. */
static bool is_on_all(void *argument)
{
    return world_count(argument) == 3;
}

TEST(three, a_lock_that_is_won_after_the_caller_has_gone_is_given_back)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;
    struct plug plug;

    rig_hang_masters(&world.rig, 7);
    caller_start(&caller, mutex, 60);
    world_wait_acquires(world.service, 1);
    plug_in(&plug, world.service);
    rig_resume_masters(&world.rig, 7);
    world_wait(is_on_all, (void *)(uintptr_t) "key", "the masters to grant");
    ck_assert_int_eq(caller_join(&caller), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    plug_out(&plug);
    world_wait_absent("key");
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
}

/* --- Everything at once ----------------------------------------------------------------------------------------- */

#define SHARED 3
#define DEEDS 150

struct melee {
    struct redlock_mutex *mutexes[SHARED];
    atomic_int strange;
};

/* Statuses that the calls of such a thread may have. */
static bool is_defined(int status)
{
    static const int statuses[] = {
        REDLOCK_OK, REDLOCK_HELD, REDLOCK_NO_QUORUM, REDLOCK_TOO_SLOW, REDLOCK_DEADLINE, REDLOCK_CANCELED, REDLOCK_LOST,
        REDLOCK_E_BUSY, REDLOCK_E_NOT_HELD, REDLOCK_E_ALREADY_HELD, REDLOCK_E_NOTHING_TO_CANCEL};

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        if (status == statuses[i])
            return true;
    }
    return false;
}

static int deed(struct redlock_mutex *mutex, int kind)
{
    switch (kind) {
    case 0:
        return redlock_mutex_trylock(mutex);
    case 1:
        return redlock_mutex_lock(mutex, 5);
    case 2:
        return redlock_mutex_extend(mutex, 1000, NULL);
    case 3:
        return redlock_mutex_cancel(mutex);
    case 4:
        return redlock_mutex_remaining_ns(mutex) >= 0 ? 0 : -1;
    default:
        return redlock_mutex_unlock(mutex);
    }
}

static void *fight(void *argument)
{
    struct melee *melee = argument;
    unsigned seed = (unsigned)(uintptr_t)&seed;

    for (int i = 0; i < DEEDS; i++) {
        int status = deed(melee->mutexes[rand_r(&seed) % SHARED], rand_r(&seed) % 6);

        if (!is_defined(status))
            atomic_store(&melee->strange, status);
    }
    return NULL;
}

TEST(three, handles_shared_by_all_threads_give_defined_results)
{
    struct melee melee = {.mutexes = {world_new_mutex("a"), world_new_mutex("b"),
                                      world_new_mutex("b")}};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fight, &melee), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_msg(melee.strange == 0, "%s", redlock_status_name(melee.strange));
    for (int i = 0; i < SHARED; i++)
        world_destroy(melee.mutexes[i]);
    world_wait_absent("a");
    world_wait_absent("b");
}

SUITE_WITH_SERVER("threads")
