/* In time, whoever turns the loop, or nobody: alarms, and what goes to a queue. */
#include <check.h>

#include "loop_rig.h"
#include "suite.h"
#include "thread.h"

/* --- While a caller owns the loop ------------------------------------------------------------------------------- */

struct watched {
    atomic_long thread;
    atomic_llong at_us;
    int inner;
    size_t n_nodes;
};

static void watch(struct redlock_mutex *watched_mutex, const struct redlock_alarm *alarm, void *user_data)
{
    struct watched *watched = user_data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    watched->inner = redlock_mutex_trylock(watched_mutex);
    watched->n_nodes = alarm->nodes ? alarm->n_nodes : 0;
    atomic_store(&watched->at_us, loop_now_us());
    atomic_store(&watched->thread, thread_self());
}

static bool has_alarmed(void *argument)
{
    struct watched *watched = argument;

    return atomic_load(&watched->thread) != 0;
}

GROUP(three, "loop", loop_open, world_close)

TEST(three, a_watch_is_called_on_the_services_thread_although_a_caller_owns_the_loop)
{
    struct redlock_acquire_options lease = rig_lease(500, PATIENCE_MS);
    struct redlock_mutex *leased = world_new_mutex("leased");
    struct watched watched = {0};
    struct busy busy;

    ck_assert_int_eq(redlock_mutex_watch(leased, watch, &watched), 0);
    ck_assert_int_eq(redlock_mutex_acquire(leased, &lease, NULL), REDLOCK_OK);
    busy_start(&busy, "busy");
    world_wait(has_alarmed, &watched, "the alarm");
    busy_stop(&busy);
    ck_assert_int_eq(watched.thread, world_service_thread());
    ck_assert_int_eq(watched.inner, REDLOCK_E_OWN_THREAD);
    ck_assert_uint_eq(watched.n_nodes, 3);
}

/* --- While the loop is free ------------------------------------------------------------------------------------- */

/* Late alarms are the thread's, which finds out by itself that the loop is free. */
static int64_t lateness_of_alarm(struct watched *watched, void (*before)(void))
{
    struct redlock_acquire_options lease = rig_lease(40, PATIENCE_MS);
    int64_t end_us;

    atomic_store(&watched->thread, 0);
    loop_lock_and_unlock();
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &lease, NULL), REDLOCK_OK);
    end_us = loop_now_us() + redlock_mutex_remaining_ns(mutex) / 1000;
    before();
    world_wait(has_alarmed, watched, "the alarm");
    return atomic_load(&watched->at_us) - end_us;
}

static void do_nothing(void)
{
}

/* The machine may be busy at the end of one lease, but not of all. */
static void expect_alarm(bool (*is_in_time)(void *watched))
{
    struct watched watched = {0};

    ck_assert_int_eq(redlock_mutex_watch(mutex, watch, &watched), 0);
    world_wait(is_in_time, &watched, "an alarm within 5 ms");
    ck_assert_int_eq(redlock_mutex_watch(mutex, NULL, NULL), 0);
}

static bool alarm_is_in_time(void *argument)
{
    return lateness_of_alarm(argument, do_nothing) <= 5000;
}

TEST(three, an_alarm_comes_in_time_although_the_last_call_has_left_the_loop_free)
{
    expect_alarm(alarm_is_in_time);
}

static void wait_in_vain(void)
{
    struct redlock_mutex *other = world_new_mutex("key");

    suite_any(redlock_mutex_lock(other, 10));
}

static bool alarm_is_in_time_afterwards(void *argument)
{
    return lateness_of_alarm(argument, wait_in_vain) <= 5000;
}

TEST(three, an_alarm_comes_in_time_although_a_caller_has_led_for_long)
{
    expect_alarm(alarm_is_in_time_afterwards);
}

struct queued {
    struct redlock_queue *queue;
    struct redlock_mutex *mutex;
};

static int64_t time_of_queued(struct queued *queued)
{
    struct redlock_completion *completion = NULL;
    int64_t began_us;

    loop_lock_and_unlock();
    began_us = loop_now_us();
    ck_assert_int_eq(redlock_mutex_extend_async(queued->mutex, 0, queued->queue, NULL), 0);
    ck_assert_int_eq(redlock_queue_next(queued->queue, PATIENCE_MS, &completion), 0);
    ck_assert_int_eq(completion->status, REDLOCK_E_NOT_HELD);
    redlock_completion_free(completion);
    return loop_now_us() - began_us;
}

/* Nobody asks the masters in these. Waiting for the thread to look around would take a millisecond or two. */
static bool all_are_quick(void *argument)
{
    for (int i = 0; i < 16; i++) {
        if (time_of_queued(argument) > 900)
            return false;
    }
    return true;
}

TEST(three, what_goes_to_a_queue_is_begun_at_once_although_the_loop_is_free)
{
    struct queued queued = {.mutex = world_new_mutex("other")};

    ck_assert_int_eq(redlock_queue_create(world.service, &queued.queue), 0);
    world_wait(all_are_quick, &queued, "a row of operations that are all quick");
    redlock_queue_destroy(queued.queue);
}

SUITE_WITH_SERVER("loop_time")
