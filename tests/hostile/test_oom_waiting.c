/* Without memory while waiting in the queue: for the table of those who are called, the connections that listen, the
 * answers and notifications, the fresh value after a yield. See test_oom.c. */
#include <stdio.h>
#include <string.h>

#include "oom_rig.h"

/* Short leases, so that what is not heard is soon found out. */
static struct redlock_acquire_options request_for(enum redlock_wait wait, bool fenced)
{
    struct redlock_acquire_options request;

    oom_request(&request);
    request.ttl_ms = 200;
    request.timeout_ms = 5000;
    request.wait = wait;
    request.fenced = fenced;
    return request;
}

static bool is_in_queue(void *argument)
{
    enum redlock_state state = redlock_state(argument);

    return state == REDLOCK_STATE_WAITING || state == REDLOCK_STATE_HELD || state == REDLOCK_STATE_IDLE;
}

/* One holds, one waits; it is handed off. Whoever could not even begin is left out. */
static void hand_off(struct redlock_lock *holder, struct redlock_lock *waiter, enum redlock_wait wait, bool fenced)
{
    struct redlock_acquire_options request = request_for(wait, fenced);
    struct outcome first = {0}, second = {0};
    int status;

    oom_await(redlock_acquire(holder, &request, outcome_record, &first), &first);
    status = redlock_acquire(waiter, &request, outcome_record, &second);
    if (status == 0)
        world_wait(is_in_queue, waiter, "the entry in the queue");
    world_steps(3);
    oom_release(holder);
    oom_await(status, &second);
    ck_assert(second.calls == 0 || second.status == 0 || oom_is_shortage(second.status));
    oom_release(waiter);
}

/* The connections that listen end in the middle. */
static void be_interrupted(struct redlock_lock *holder, struct redlock_lock *waiter)
{
    struct redlock_acquire_options request = request_for(REDLOCK_WAIT_QUEUE, false);
    struct outcome first = {0}, second = {0};
    int status;

    oom_await(redlock_acquire(holder, &request, outcome_record, &first), &first);
    status = redlock_acquire(waiter, &request, outcome_record, &second);
    world_steps(4);
    toy_hang_up(world.toys[0]);
    toy_hang_up(world.toys[1]);
    world_steps(4);
    if (status == 0)
        (void)redlock_cancel(waiter);
    oom_await(status, &second);
    oom_release(holder);
    if (redlock_state(waiter) == REDLOCK_STATE_HELD)
        oom_release(waiter);
}

static void use_client(void)
{
    struct redlock_lock *a = oom_lock("line"), *b = oom_lock("line");

    if (a && b) {
        hand_off(a, b, REDLOCK_WAIT_QUEUE, false);
        hand_off(b, a, REDLOCK_WAIT_FIFO, true);
        be_interrupted(a, b);
    }
    redlock_lock_destroy(a);
    redlock_lock_destroy(b);
}

static const struct oom_scenario scenario = {NULL, use_client};

static void open_guarded(void)
{
    oom_open(REDLOCK_PROFILE_GUARDED);
}

GROUP(classic, "classic", oom_open_classic, world_close)
GROUP(guarded, "guarded", open_guarded, world_close)

TEST(classic, any_one_allocation_may_fail_while_somebody_waits)
{
    oom_fail_each(&scenario, 1);
}

TEST(classic, any_ten_allocations_may_fail_while_somebody_waits)
{
    oom_fail_each(&scenario, 10);
}

TEST(guarded, the_client_may_be_destroyed_without_memory_while_it_waits)
{
    struct redlock_acquire_options request = request_for(REDLOCK_WAIT_FIFO, true);

    oom_destroy_each(&request);
}

TEST_AGAIN(guarded, any_one_allocation_may_fail_while_somebody_waits)
TEST_AGAIN(guarded, any_ten_allocations_may_fail_while_somebody_waits)

SUITE("oom_waiting")
