/* Mutexes that are shared, and that change their mode, from any thread. */
#include <check.h>
#include <stdatomic.h>
#include <string.h>

#include "service_rig.h"
#include "thread.h"

#define KEY "book"
#define X REDLOCK_EXCLUSIVE
#define U REDLOCK_UPGRADEABLE
#define R REDLOCK_SHARED

static int try_in(struct redlock_mutex *mutex, enum redlock_mode mode)
{
    struct redlock_acquire_options request = rig_request(10000, 0);

    request.mode = mode;
    request.fenced = 1;
    return redlock_mutex_acquire(mutex, &request, NULL);
}

static struct redlock_mutex *hold(enum redlock_mode mode)
{
    struct redlock_mutex *mutex = world_new_mutex(KEY);

    ck_assert_int_eq(try_in(mutex, mode), REDLOCK_OK);
    return mutex;
}

/* A further mutex tries once. */
static int try_mode(enum redlock_mode mode)
{
    struct redlock_mutex *mutex = world_new_mutex(KEY);
    int status = try_in(mutex, mode);

    world_destroy(mutex);
    return status;
}

static enum redlock_mode mode_of(struct redlock_mutex *mutex)
{
    enum redlock_mode mode = (enum redlock_mode)-1;

    ck_assert_int_eq(redlock_mutex_mode(mutex, &mode), 0);
    return mode;
}

GROUP(cases, "modes", world_three, world_close)

TEST(cases, a_weaker_mode_lets_others_in)
{
    struct redlock_mutex *mutex = hold(X);
    struct redlock_result *result;

    ck_assert_int_eq(mode_of(mutex), X);
    ck_assert_int_eq(try_mode(R), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, 0, &result), REDLOCK_OK);
    ck_assert_int_eq(result->op, REDLOCK_OP_CONVERT);
    ck_assert_uint_ge(result->granted, result->quorum);
    redlock_result_free(result);
    ck_assert_int_eq(mode_of(mutex), R);
    ck_assert_int_eq(try_mode(R), REDLOCK_OK);
    ck_assert_int_eq(try_mode(X), REDLOCK_HELD);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
}

TEST(cases, an_upgrade_that_cannot_be_leaves_the_mutex_as_it_was)
{
    struct redlock_mutex *mutex = hold(U);

    hold(R);
    ck_assert_int_eq(redlock_mutex_convert(mutex, X, 0, NULL), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_convert(mutex, X, 20, NULL), REDLOCK_DEADLINE);
    ck_assert_int_eq(mode_of(mutex), U);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

/* --- A thread in an upgrade --------------------------------------------------------------------------------------- */

struct upgrader {
    pthread_t thread;
    struct redlock_mutex *mutex;
    int64_t timeout_ms;
    atomic_long id; /* 0: it does not run yet */
    int status;
    struct redlock_result *result;
};

static void *upgrade(void *argument)
{
    struct upgrader *upgrader = argument;

    atomic_store(&upgrader->id, thread_self());
    upgrader->status = redlock_mutex_convert(upgrader->mutex, X, upgrader->timeout_ms, &upgrader->result);
    return NULL;
}

/* An upgrade that waits keeps new readers out. */
static bool keeps_readers_out(void *argument)
{
    return try_mode(R) == REDLOCK_HELD;
}

static void call(struct upgrader *upgrader, struct redlock_mutex *mutex, int64_t timeout_ms)
{
    *upgrader = (struct upgrader){.mutex = mutex, .timeout_ms = timeout_ms};
    ck_assert_int_eq(pthread_create(&upgrader->thread, NULL, upgrade, upgrader), 0);
}

static int join(struct upgrader *upgrader)
{
    pthread_join(upgrader->thread, NULL);
    redlock_result_free(upgrader->result);
    return upgrader->status;
}

static void start(struct upgrader *upgrader, struct redlock_mutex *mutex)
{
    call(upgrader, mutex, REDLOCK_FOREVER);
    world_wait(keeps_readers_out, NULL, "a waiting upgrade");
}

TEST(cases, an_upgrade_waits_for_the_readers)
{
    struct redlock_mutex *mutex = hold(U), *reader = hold(R);
    uint64_t fence = redlock_mutex_fence(mutex);
    struct upgrader upgrader;

    start(&upgrader, mutex);
    ck_assert_int_eq(mode_of(mutex), U);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, 0, NULL), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_mutex_unlock(reader), REDLOCK_OK);
    ck_assert_int_eq(join(&upgrader), REDLOCK_OK);
    ck_assert_int_eq(mode_of(mutex), X);
    ck_assert_uint_gt(redlock_mutex_fence(mutex), fence);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
}

static bool runs(void *argument)
{
    struct upgrader *upgrader = argument;

    return atomic_load(&upgrader->id) != 0;
}

static bool is_past(void *end_ms)
{
    return rig_now_ms() > *(int64_t *)end_ms;
}

/* The time of the call is over before the service can begin. */
TEST(cases, the_time_of_an_upgrade_runs_while_the_services_thread_is_busy)
{
    struct redlock_mutex *mutex = hold(U);
    struct upgrader upgrader;
    struct plug plug;
    int64_t end_ms;

    plug_in(&plug, world.service);
    call(&upgrader, mutex, 20);
    world_wait(runs, &upgrader, "the call");
    thread_await_sleep(atomic_load(&upgrader.id));
    end_ms = rig_now_ms() + 20;
    world_wait(is_past, &end_ms, "the end of the caller's time");
    plug_out(&plug);
    pthread_join(upgrader.thread, NULL);
    ck_assert_int_eq(upgrader.status, REDLOCK_DEADLINE);
    ck_assert_ptr_nonnull(upgrader.result);
    ck_assert_int_eq(upgrader.result->op, REDLOCK_OP_CONVERT);
    ck_assert_int_eq(upgrader.result->status, REDLOCK_DEADLINE);
    ck_assert_uint_eq(upgrader.result->n_nodes, 0);
    redlock_result_free(upgrader.result);
    ck_assert_int_eq(mode_of(mutex), U);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
}

TEST(cases, another_thread_ends_an_upgrade)
{
    struct redlock_mutex *mutex = hold(U), *reader = hold(R);
    struct upgrader upgrader;

    start(&upgrader, mutex);
    ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
    ck_assert_int_eq(join(&upgrader), REDLOCK_CANCELED);
    ck_assert_int_eq(mode_of(mutex), U);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    start(&upgrader, mutex);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(join(&upgrader), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(reader), REDLOCK_OK);
    world_wait_absent(KEY);
}

/* --- What is wrong ------------------------------------------------------------------------------------------------ */

static void convert_inside(struct redlock_client *client, void *mutex)
{
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, 0, NULL), REDLOCK_E_OWN_THREAD);
}

TEST(cases, what_is_wrong_is_told)
{
    struct redlock_mutex *mutex = hold(R), *free = world_new_mutex("free"), *set, *recursive;
    enum redlock_mode mode;

    ck_assert_int_eq(redlock_mutex_convert(NULL, R, 0, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_mode(NULL, &mode), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_mode(mutex, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_convert(mutex, X, 0, NULL), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_mutex_convert(mutex, (enum redlock_mode)3, 0, NULL), REDLOCK_E_MODE);
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, REDLOCK_MAX_TIMEOUT_MS + 1, NULL), REDLOCK_E_TIMEOUT);
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, -2, NULL), REDLOCK_E_TIMEOUT);
    ck_assert_int_eq(redlock_mutex_convert(free, R, 0, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_service_run(world.service, convert_inside, mutex), 0);
    ck_assert_int_eq(redlock_mutex_create_set(world.service, &set), 0);
    ck_assert_int_eq(redlock_mutex_convert(set, R, 0, NULL), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_mode(set, &mode), REDLOCK_E_SET);
    ck_assert_int_eq(redlock_mutex_create_recursive(world.service, "k", 1, REDLOCK_OWNERS_THREADS, &recursive), 0);
    ck_assert_int_eq(redlock_mutex_lock(recursive, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_convert(recursive, R, 0, NULL), REDLOCK_E_OWNER);
    ck_assert_int_eq(mode_of(recursive), X);
    redlock_mutex_destroy(recursive);
    redlock_mutex_destroy(set);
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, 5000, NULL), REDLOCK_OK);
    redlock_service_destroy(world.service);
    world.service = NULL;
    ck_assert_int_eq(redlock_mutex_convert(mutex, R, 0, NULL), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_mutex_mode(mutex, &mode), REDLOCK_E_CLOSING);
}

SUITE_WITH_SERVER("modes")
