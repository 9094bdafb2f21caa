/* Callers that turn the loop themselves: how that ends otherwise than by the masters' answers. */
#include <check.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop_rig.h"
#include "suite.h"

#define ENDS 20

static bool has_been_canceled(void *argument)
{
    return redlock_mutex_cancel(argument) == 0;
}

GROUP(three, "ends", loop_open, world_close)

TEST(three, a_caller_that_owns_the_loop_is_canceled_by_another_thread)
{
    struct redlock_mutex *other = world_new_mutex("key");
    struct caller caller;

    for (int i = 0; i < ENDS; i++) {
        ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
        caller_start(&caller, other, REDLOCK_FOREVER);
        world_wait(has_been_canceled, other, "the call to be canceled");
        ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    }
}

/* Who has left at the deadline of a call that was late on its way has that call still pending. */
static int lock_for_10_ms(struct redlock_mutex *wanted)
{
    int status = REDLOCK_E_BUSY;

    for (int64_t begin_ms = rig_now_ms(); status == REDLOCK_E_BUSY && rig_now_ms() < begin_ms + PATIENCE_MS;)
        status = redlock_mutex_lock(wanted, 10);
    return status;
}

TEST(three, a_caller_that_owns_the_loop_keeps_its_deadline)
{
    struct redlock_mutex *other = world_new_mutex("key");

    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    for (int i = 0; i < ENDS; i++) {
        int64_t began_us = loop_now_us();

        ck_assert_int_eq(lock_for_10_ms(other), REDLOCK_DEADLINE);
        ck_assert_int_ge(loop_now_us() - began_us, 10000);
    }
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

/* With nobody but the caller in any call, and so without anybody who might look at the service's state. */
TEST(three, a_service_is_destroyed_under_a_caller_that_owns_the_loop)
{
    for (int i = 0; i < ENDS; i++) {
        struct redlock_service *service = world_new_service();
        struct redlock_mutex *other = NULL;
        struct caller caller;

        ck_assert_int_eq(redlock_mutex_create(service, "key", 3, &other), 0);
        ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
        caller_start(&caller, other, REDLOCK_FOREVER);
        world_wait_acquires(service, 1);
        poll(NULL, 0, i % 4);
        redlock_service_destroy(service);
        ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
        redlock_mutex_destroy(other);
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    }
}

static int child(void)
{
    bool ok = redlock_mutex_lock(mutex, 10) == REDLOCK_E_FORKED && redlock_mutex_unlock(mutex) == REDLOCK_E_FORKED;

    world_destroy(mutex);
    redlock_service_destroy(world.service);
    return ok ? 0 : 1;
}

TEST(three, fork_does_no_harm_while_a_caller_owns_the_loop)
{
    struct busy busy;

    busy_start(&busy, "busy");
    for (int i = 0; i < ENDS; i++) {
        int status = 0;
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            alarm(SUITE_PATIENCE_S);
            _exit(child());
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was not satisfied: status %x", status);
    }
    busy_wait(&busy);
    busy_stop(&busy);
}

TEST(three, pthread_cancel_ends_no_thread_inside_a_call)
{
    for (int i = 0; i < ENDS; i++) {
        struct busy busy;
        void *result = NULL;

        busy_start(&busy, "busy");
        busy_wait(&busy);
        ck_assert_int_eq(pthread_cancel(busy.thread), 0);
        pthread_join(busy.thread, &result);
        ck_assert_ptr_eq(result, PTHREAD_CANCELED);
        ck_assert_int_eq(redlock_mutex_remaining_ns(busy.mutex), 0);
        ck_assert_int_eq(redlock_mutex_trylock(busy.mutex), REDLOCK_OK);
        loop_lock_and_unlock();
        world_destroy(busy.mutex);
    }
}

struct taker {
    pthread_t thread;
    struct redlock_queue *queue;
    atomic_bool asks;
    atomic_bool took;
};

static void *take_one(void *argument)
{
    struct taker *taker = argument;
    struct redlock_completion *completion = NULL;

    atomic_store(&taker->asks, true);
    if (redlock_queue_next(taker->queue, PATIENCE_MS, &completion) == 0)
        atomic_store(&taker->took, true);
    redlock_completion_free(completion);
    return NULL;
}

static bool does_ask(void *argument)
{
    struct taker *taker = argument;

    return atomic_load(&taker->asks);
}

TEST(three, pthread_cancel_ends_no_thread_that_waits_for_a_queue)
{
    struct taker taker = {0};

    ck_assert_int_eq(redlock_queue_create(world.service, &taker.queue), 0);
    ck_assert_int_eq(pthread_create(&taker.thread, NULL, take_one, &taker), 0);
    world_wait(does_ask, &taker, "the thread to ask");
    poll(NULL, 0, 2);
    ck_assert_int_eq(pthread_cancel(taker.thread), 0);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, taker.queue, NULL), 0);
    pthread_join(taker.thread, NULL);
    ck_assert(taker.took);
    redlock_queue_destroy(taker.queue);
}

/* The mutex is destroyed last, and its service's memory with it. No assertion before the end: it writes. */
static void *create_and_destroy(void *ret_steps)
{
    struct redlock_service *service = NULL;
    struct redlock_mutex *last = NULL;
    struct redlock_queue *queue = NULL;

    pthread_cancel(pthread_self());
    if (redlock_service_create(world.rig.urls, world.rig.n, &world.rig.options, &service, NULL) < 0)
        return NULL;
    atomic_fetch_add((atomic_int *)ret_steps, 1);
    if (redlock_queue_create(service, &queue) < 0)
        return NULL;
    redlock_queue_destroy(queue);
    atomic_fetch_add((atomic_int *)ret_steps, 1);
    if (redlock_mutex_create(service, REDLOCK_KEY("last"), &last) < 0)
        return NULL;
    redlock_service_destroy(service);
    atomic_fetch_add((atomic_int *)ret_steps, 1);
    redlock_mutex_destroy(last);
    atomic_fetch_add((atomic_int *)ret_steps, 1);
    return NULL;
}

TEST(three, pthread_cancel_ends_no_thread_that_creates_or_destroys)
{
    atomic_int steps = 0;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, create_and_destroy, &steps), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(steps, 4);
}

SUITE_WITH_SERVER("loop_ends")
