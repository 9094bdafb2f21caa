/* Leaving the line: however an acquisition ends, nothing of it stays on any master. */
#include <stdio.h>
#include <string.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

/* The lock that is canceled, or destroyed, from outside the hook at the n-th event of its acquisition. */
static struct plan {
    struct redlock_lock *lock;
    unsigned events;
    unsigned at; /* 0: never */
    bool due;
} plan;

static void on_event(const struct redlock_event *event, void *user_data)
{
    struct plan *to = user_data;

    if (!to->lock || event->lock != to->lock)
        return;
    if (++to->events == to->at)
        to->due = true;
}

static void hooked(struct redlock_options *options)
{
    memset(&plan, 0, sizeof plan);
    options->on_event = on_event;
    options->event_data = &plan;
}

static void open_three(void)
{
    queue_open();
    rig_open_with(&rig, 3, 0, hooked);
}

static bool is_due(void *argument)
{
    const struct waiter *waiter = argument;

    return plan.due || waiter->outcome.calls;
}

/* A waiter behind a holder, who lets go as soon as the waiter is in the queue; the waiter gives up at its n-th event.
 * False: its acquisition had fewer. */
static bool give_up_at(unsigned at, bool destroy)
{
    struct redlock_acquire_options request = queue_request();
    struct waiter waiter = {0};
    struct redlock_lock *holder;
    char key[16];
    bool reached;

    snprintf(key, sizeof key, "leave-%u", at); /* one that was waited for a moment ago begins in the queue */
    holder = rig_hold(&rig, key, 10000);
    memset(&plan, 0, sizeof plan);
    plan.at = at;
    waiter.rig = &rig;
    waiter_start(&rig, &waiter, rig.client, key, &request);
    plan.lock = waiter.lock;
    while (!is_due(&waiter) && redlock_state(waiter.lock) != REDLOCK_STATE_WAITING)
        event_base_loop(rig.base, EVLOOP_ONCE);
    if (!is_due(&waiter))
        ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    rig_wait(&rig, is_due, &waiter, "the waiter's turn to give up");
    reached = plan.due;
    plan.lock = NULL;
    if (!destroy && redlock_cancel(waiter.lock) == 0) {
        rig_wait_outcome(&rig, &waiter.outcome);
        ck_assert_int_eq(waiter.outcome.status, REDLOCK_CANCELED);
        ck_assert_int_eq(redlock_remaining_ns(waiter.lock), 0);
    }
    redlock_lock_destroy(waiter.lock);
    ck_assert_uint_eq(waiter.outcome.calls, 1);
    redlock_lock_destroy(holder);
    queue_wait_gone(&rig, key);
    rig_wait_no_claims(&rig, rig.client);
    return reached;
}

GROUP(three, "three masters", open_three, rig_end)

TEST(three, canceling_at_any_event_leaves_no_key_and_no_entry)
{
    unsigned at = 1;

    while (give_up_at(at, false))
        at++;
    ck_assert_uint_gt(at, 6); /* two refusals, another attempt, two grants, and its end */
}

TEST(three, destroying_at_any_event_leaves_no_key_and_no_entry)
{
    unsigned at = 1;

    while (give_up_at(at, true))
        at++;
    ck_assert_uint_gt(at, 6);
}

TEST(three, the_deadline_takes_the_waiter_out_of_the_line)
{
    struct redlock_acquire_options request = rig_request(10000, 700); /* a refresh and some more */
    struct redlock_lock *holder = rig_hold(&rig, "late", 10000);
    struct waiter waiter;

    waiter_start(&rig, &waiter, rig.client, "late", &request);
    rig_wait_outcome(&rig, &waiter.outcome);
    outcome_expect(&waiter.outcome, REDLOCK_DEADLINE);
    ck_assert_int_eq(waiter.outcome.cause, REDLOCK_HELD);
    ck_assert_int_ge(waiter.outcome.elapsed_us, 700000);
    queue_wait_empty(&rig, "late");
    ck_assert_uint_eq(rig_count_value(&rig, "late", redlock_lock_token(holder)), 3);
    redlock_lock_destroy(holder);
    queue_wait_gone(&rig, "late");
}

/* A deadline that is as near as the hand-off: whatever wins, nothing stays but a lock that is held. The deadline that
 * follows one which has won is earlier, and that which follows a late one is later, so they stay near the hand-off
 * however slow the machine is. */
TEST(three, a_deadline_at_the_moment_of_the_hand_off_loses_nothing)
{
    struct redlock_acquire_options request = rig_request(10000, 15);
    unsigned won = 0, late = 0;

    for (unsigned i = 0; i < 60 && !(won >= 3 && late >= 3); i++) {
        struct redlock_lock *holder = rig_hold(&rig, "race", 10000);
        struct waiter waiter;

        waiter_start(&rig, &waiter, rig.client, "race", &request);
        rig_run_for(&rig, 13);
        ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
        rig_wait_outcome(&rig, &waiter.outcome);
        ck_assert(waiter.outcome.status == REDLOCK_OK || waiter.outcome.status == REDLOCK_DEADLINE);
        if (waiter.outcome.status == REDLOCK_OK) {
            won++;
            request.timeout_ms -= request.timeout_ms / 8 + (request.timeout_ms > 1);
        } else {
            late++;
            request.timeout_ms += request.timeout_ms / 8 + 1;
        }
        redlock_lock_destroy(waiter.lock);
        redlock_lock_destroy(holder);
        queue_wait_gone(&rig, "race");
    }
    ck_assert_uint_ge(won, 1);
    ck_assert_uint_ge(late, 1);
}

TEST(three, destroying_the_client_takes_all_its_waiters_out_of_the_line)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "all", 10000);
    struct waiter waiters[5];

    for (size_t i = 0; i < 5; i++)
        waiter_take(&rig, &waiters[i], client, "all", &request);
    redlock_client_destroy(client);
    for (size_t i = 0; i < 5; i++)
        ck_assert_int_eq(waiters[i].outcome.status, REDLOCK_CANCELED);
    queue_wait_empty(&rig, "all");
    redlock_lock_destroy(holder);
    queue_wait_gone(&rig, "all");
}

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool is_over(void *argument)
{
    return *(const int *)argument != 1;
}

/* The holder knew of nobody in the queue, so its release must be told of the line, and it is not there any more. */
static void end_client(bool released)
{
    struct redlock_acquire_options lease = rig_lease(60000, 0);
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_lock *holder;
    struct waiter waiter = {0};

    ck_assert_int_eq(redlock_lock_create(client, "ends", 4, &holder), 0);
    ck_assert_int_eq(rig_acquire(&rig, holder, &lease).status, REDLOCK_OK);
    waiter_take(&rig, &waiter, rig.client, "ends", &request);
    if (released)
        ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    redlock_client_destroy(client);
    waiter_wait_held(&waiter);
    waiter_leave(&waiter);
    redlock_lock_destroy(waiter.lock);
    queue_wait_gone(&rig, "ends");
}

TESTS(three, a_client_that_ends_hands_its_lock_on, 0, 2)
{
    end_client(_i);
}

TEST(three, a_shutdown_waits_until_no_waiter_is_in_the_queue)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *client = rig_further_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "all", 10000);
    struct waiter waiters[5];
    int status = 1;

    for (size_t i = 0; i < 5; i++)
        waiter_take(&rig, &waiters[i], client, "all", &request);
    ck_assert_int_eq(redlock_client_shutdown(client, 20000, on_shutdown, &status), 0);
    rig_wait(&rig, is_over, &status, "the shutdown");
    ck_assert_int_eq(status, REDLOCK_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(queue_length(&rig, i, "all"), 0);
    ck_assert_int_gt(redlock_remaining_ms(holder), 0);
}

TEST(three, who_leaves_from_the_middle_keeps_nobody_waiting)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder = rig_hold(&rig, "middle", 10000);
    struct waiter waiters[3];

    for (size_t i = 0; i < 3; i++)
        waiter_take(&rig, &waiters[i], rig.client, "middle", &request);
    ck_assert_int_eq(redlock_cancel(waiters[1].lock), 0);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    waiter_wait_held(&waiters[0]);
    waiter_leave(&waiters[0]);
    waiter_wait_held(&waiters[2]);
    ck_assert_uint_eq(waiters[2].turn, 2);
    ck_assert_int_eq(waiters[1].outcome.status, REDLOCK_CANCELED);
}

SUITE_WITH_SERVER("queue_leave")
