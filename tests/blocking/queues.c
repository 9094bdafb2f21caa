/* Results and alarms by way of a queue. */
#include <check.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "service_rig.h"

static struct redlock_queue *queue;

static void open_three(void)
{
    world_open(3);
    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
}

static void close_world(void)
{
    redlock_queue_destroy(queue);
    world_close();
}

static bool is_readable(void)
{
    struct pollfd request = {.fd = redlock_queue_fd(queue), .events = POLLIN};

    return poll(&request, 1, 0) == 1;
}

static struct redlock_completion *next(void)
{
    struct redlock_completion *completion = NULL;

    ck_assert_int_eq(redlock_queue_next(queue, SUITE_PATIENCE_S * 1000, &completion), 0);
    return completion;
}

/* Takes the next one, which must be of this mutex, and gives its status. */
static int next_status(struct redlock_mutex *mutex, enum redlock_op op, void *user_data)
{
    struct redlock_completion *completion = next();
    int status = completion->status;

    ck_assert_int_eq(completion->kind, REDLOCK_COMPLETION_RESULT);
    ck_assert_ptr_eq(completion->mutex, mutex);
    ck_assert_ptr_eq(completion->user_data, user_data);
    ck_assert_ptr_nonnull(completion->result);
    ck_assert_int_eq(completion->result->op, op);
    ck_assert_int_eq(completion->result->status, status);
    redlock_completion_free(completion);
    return status;
}

static void expect_empty(void)
{
    struct redlock_completion *completion = NULL;

    ck_assert(!is_readable());
    ck_assert_int_eq(redlock_queue_next(queue, 0, &completion), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_queue_next(queue, 5, &completion), REDLOCK_DEADLINE);
    ck_assert_ptr_null(completion);
}

GROUP(three, "queues", open_three, close_world)

TEST(three, each_operation_is_completed_once)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    int mark = 0;

    expect_empty();
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, &mark), 0);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_ACQUIRE, &mark), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_extend_async(mutex, 20000, queue, NULL), 0);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_EXTEND, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_release_async(mutex, queue, &world), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_RELEASE, &world), REDLOCK_OK);
    expect_empty();
}

/* As any foreign loop would. */
TEST(three, epoll_tells_of_results_until_they_are_taken)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(EPOLL_CLOEXEC);

    ck_assert_int_eq(epoll_ctl(epoll, EPOLL_CTL_ADD, redlock_queue_fd(queue), &event), 0);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, 0), 0);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), 0);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, SUITE_PATIENCE_S * 1000), 1);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, 0), 1);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_ACQUIRE, NULL), REDLOCK_OK);
    ck_assert_int_eq(epoll_wait(epoll, &event, 1, 0), 0);
    close(epoll);
}

static bool waits_for_reading(void *argument)
{
    return is_readable();
}

TEST(three, a_mutex_is_busy_until_its_result_is_taken)
{
    struct redlock_mutex *mutex = world_new_mutex("key");

    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), 0);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), REDLOCK_E_BUSY);
    world_wait(waits_for_reading, NULL, "the result");
    ck_assert_int_eq(redlock_mutex_extend(mutex, 0, NULL), REDLOCK_E_BUSY);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_ACQUIRE, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 0, NULL), REDLOCK_OK);
    expect_empty();
}

TEST(three, a_refusal_is_a_result_without_evidence)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_completion *completion;

    ck_assert_int_eq(redlock_mutex_release_async(mutex, queue, NULL), 0);
    completion = next();
    ck_assert_int_eq(completion->status, REDLOCK_E_NOT_HELD);
    ck_assert_ptr_null(completion->result);
    redlock_completion_free(completion);
}

TEST(three, pending_operations_are_canceled_by_cancel_and_by_destruction)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, REDLOCK_FOREVER);

    world_hold("key", 10000);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, &request, queue, NULL), 0);
    ck_assert_int_eq(redlock_mutex_cancel(mutex), 0);
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_ACQUIRE, NULL), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, &request, queue, &request), 0);
    world_destroy(mutex);
    ck_assert_int_eq(next_status(NULL, REDLOCK_OP_ACQUIRE, &request), REDLOCK_CANCELED);
}

TEST(three, what_is_in_the_queue_outlives_the_service)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, REDLOCK_FOREVER);

    world_hold("key", 10000);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, &request, queue, NULL), 0);
    redlock_service_destroy(world.service);
    world.service = NULL;
    ck_assert_int_eq(next_status(mutex, REDLOCK_OP_ACQUIRE, NULL), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), REDLOCK_E_CLOSING);
}

TEST(three, destroying_a_queue_drops_its_results_and_the_operations_go_on)
{
    struct redlock_mutex *done = world_new_mutex("done");
    struct redlock_mutex *pending = world_new_mutex("pending");
    struct plug plug;

    ck_assert_int_eq(redlock_mutex_acquire_async(done, NULL, queue, NULL), 0);
    world_wait(waits_for_reading, NULL, "the result");
    plug_in(&plug, world.service);
    ck_assert_int_eq(redlock_mutex_acquire_async(pending, NULL, queue, NULL), 0);
    redlock_queue_destroy(queue);
    queue = NULL;
    plug_out(&plug);
    ck_assert_int_eq(redlock_mutex_unlock(done), REDLOCK_OK);
    world_wait_acquires(world.service, 2);
    world_destroy(done);
    world_destroy(pending);
    world_wait_absent("pending");
}

/* --- Waiting and alarms ----------------------------------------------------------------------------------------- */

/* A thread that waits for ever, and what it got. */
struct taker {
    pthread_t thread;
    int status;
    struct redlock_completion *completion;
};

static void *wait_for_any(void *argument)
{
    struct taker *taker = argument;

    taker->status = redlock_queue_next(queue, REDLOCK_FOREVER, &taker->completion);
    return NULL;
}

static void taker_start(struct taker *taker)
{
    *taker = (struct taker){.completion = NULL};
    ck_assert_int_eq(pthread_create(&taker->thread, NULL, wait_for_any, taker), 0);
}

TEST(three, a_waiting_thread_takes_what_comes)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct taker taker;

    taker_start(&taker);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, queue, NULL), 0);
    pthread_join(taker.thread, NULL);
    ck_assert_int_eq(taker.status, 0);
    ck_assert_int_eq(taker.completion->status, REDLOCK_OK);
    redlock_completion_free(taker.completion);
}

/* Acquires a lock that is not renewed, and gives the warning before its loss. A process that is stopped from before the
 * warning to the loss is told of the loss alone. */
static struct redlock_completion *let_it_end(struct redlock_mutex *mutex)
{
    struct redlock_acquire_options lease = rig_lease(900, PATIENCE_MS);
    struct redlock_completion *completion;
    int again = RIG_LATE_ATTEMPTS;

    for (;;) {
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &lease, NULL), REDLOCK_OK);
        completion = next();
        if (completion->alarm != REDLOCK_ALARM_LOST || again-- == 0)
            return completion;
        redlock_completion_free(completion);
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_LOST);
    }
}

TEST(three, the_loss_of_a_lock_makes_the_descriptor_readable)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_completion *completion;
    enum redlock_alarm_kind expected = REDLOCK_ALARM_AT_RISK;

    ck_assert_int_eq(redlock_mutex_watch_queue(mutex, queue, &world), 0);
    for (; expected <= REDLOCK_ALARM_LOST; expected++) {
        completion = expected == REDLOCK_ALARM_AT_RISK ? let_it_end(mutex) : next();
        ck_assert_int_eq(completion->kind, REDLOCK_COMPLETION_ALARM);
        ck_assert_int_eq(completion->alarm, expected);
        ck_assert_ptr_eq(completion->mutex, mutex);
        ck_assert_ptr_eq(completion->user_data, &world);
        ck_assert_int_eq(completion->status, expected == REDLOCK_ALARM_LOST ? REDLOCK_LOST : 0);
        ck_assert_int_eq(completion->loss,
                         expected == REDLOCK_ALARM_LOST ? REDLOCK_LOSS_EXPIRED : REDLOCK_LOSS_NONE);
        redlock_completion_free(completion);
    }
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_LOST);
    expect_empty();
}

TEST(three, an_alarm_that_is_not_taken_is_not_repeated)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options lease = rig_lease(200, PATIENCE_MS);
    int alarms = 0;

    ck_assert_int_eq(redlock_mutex_watch_queue(mutex, queue, NULL), 0);
    for (uint64_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &lease, NULL), REDLOCK_OK);
        world_wait_lost(world.service, i);
    }
    world_destroy(mutex);
    for (struct redlock_completion *completion; redlock_queue_next(queue, 0, &completion) == 0; alarms++) {
        ck_assert_int_eq(completion->kind, REDLOCK_COMPLETION_ALARM);
        ck_assert_ptr_null(completion->mutex);
        redlock_completion_free(completion);
    }
    ck_assert_int_eq(alarms, 2);
}

SUITE_WITH_SERVER("queues")
