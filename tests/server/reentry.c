/* A held lock that its owner enters again: the masters learn nothing of it, and a loss is a loss at every depth. */
#include <string.h>

#include <event2/event.h>

#include "program_rig.h"
#include "watch.h"

#define TTL_MS 30000
#define SHORT_MS 1500

static void reenter(struct redlock_lock *lock, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        ck_assert_int_eq(redlock_reenter(lock, 1), 0);
}

static uint64_t commands(void)
{
    struct redlock_stats stats = watch_stats(rig.client);

    return stats.commands;
}

/* --- Entering and leaving */

GROUP(entering, "entering", rig_three, rig_end)

TEST(entering, only_the_last_release_is_sent)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome first = {0}, second = {0}, last = {0};
    uint64_t before = commands();

    reenter(lock, 2);
    ck_assert_uint_eq(redlock_lock_depth(lock), 3);
    ck_assert_uint_eq(watch_stats(rig.client).reentries, 2);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &first), 0);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &second), 0);
    ck_assert_uint_eq(first.calls + second.calls, 0); /* never inside the call */
    rig_wait_outcome(&rig, &second);
    outcome_expect(&first, REDLOCK_OK);
    outcome_expect(&second, REDLOCK_OK);
    ck_assert_int_eq(first.op, REDLOCK_OP_RELEASE);
    ck_assert_uint_eq(outcome_count_votes(&first, REDLOCK_VOTE_NONE), 3);
    ck_assert_uint_eq(commands(), before);
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "inner"), 3);
    last = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome_count_votes(&last, REDLOCK_VOTE_GRANTED), 3);
    ck_assert_uint_eq(redlock_lock_depth(lock), 0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "inner"), 0);
}

/* Each of its callbacks enters once more, and leaves again, until it is told to stop. */
struct visitor {
    bool stop;
    bool stopped;
};

static void stop(evutil_socket_t fd, short what, void *arg)
{
    ((struct visitor *)arg)->stop = true;
}

static void visit_again(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct visitor *visitor = user_data;

    visitor->stopped = visitor->stop;
    if (visitor->stop)
        return;
    ck_assert_int_eq(redlock_reenter(lock, 1), 0);
    ck_assert_int_eq(redlock_release(lock, visit_again, visitor), 0);
}

static bool has_stopped(void *argument)
{
    return ((const struct visitor *)argument)->stopped;
}

TEST(entering, entries_without_end_leave_the_loop_its_timers)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    const struct timeval soon = {0, 1000};
    struct visitor visitor = {0};

    reenter(lock, 1);
    ck_assert_int_eq(redlock_release(lock, visit_again, &visitor), 0);
    ck_assert_int_eq(event_base_once(rig.base, -1, EV_TIMEOUT, stop, &visitor, &soon), 0);
    rig_wait(&rig, has_stopped, &visitor, "a timer of the program");
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
}

struct order {
    unsigned n;
    int seen[4];
};

struct visit {
    struct order *order;
    int which;
};

static void note(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct visit *visit = user_data;

    ck_assert_int_eq(result->status, REDLOCK_OK);
    visit->order->seen[visit->order->n++] = visit->which;
}

static bool all_four(void *argument)
{
    return ((struct order *)argument)->n == 4;
}

TEST(entering, releases_in_a_row_call_back_in_their_order)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct order order = {0};
    struct visit visits[4];

    reenter(lock, 3);
    for (int i = 0; i < 4; i++) {
        visits[i] = (struct visit){&order, i};
        ck_assert_int_eq(redlock_release(lock, note, &visits[i]), 0);
    }
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_E_BUSY);
    rig_wait(&rig, all_four, &order, "four callbacks");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(order.seen[i], i);
    rig_wait_absent(&rig, "inner");
}

TEST(entering, the_token_and_the_fence_are_those_of_the_outermost_entry)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct redlock_lock *lock;
    char token[64];
    uint64_t fence;

    request.fenced = 1;
    lock = rig_hold_as(&rig, "inner", &request);
    fence = redlock_lock_fence(lock);
    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
    reenter(lock, 1);
    ck_assert_uint_eq(redlock_lock_fence(lock), fence);
    ck_assert_str_eq(redlock_lock_token(lock), token);
    ck_assert_uint_eq(rig_count_value(&rig, "inner", token), 3);
}

TEST(entering, a_rival_waits_for_the_last_release)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *rival = rig_new_lock(other, "inner");
    struct redlock_acquire_options request = rig_request(TTL_MS, 20000);
    struct outcome outcome = {0};

    reenter(lock, 1);
    ck_assert_int_eq(redlock_acquire(rival, &request, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_run_for(&rig, 400);
    ck_assert_uint_eq(outcome.calls, 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(entering, an_extension_may_be_pending_meanwhile)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome extended = {0}, left = {0};

    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    reenter(lock, 1);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &left), 0);
    rig_wait_outcome(&rig, &extended);
    rig_wait_outcome(&rig, &left);
    outcome_expect(&extended, REDLOCK_OK);
    outcome_expect(&left, REDLOCK_OK);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}

TEST(entering, cancel_leaves_the_depth_as_it_is)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome extended = {0};

    reenter(lock, 2);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    ck_assert_int_eq(redlock_cancel(lock), 0);
    rig_wait_outcome(&rig, &extended);
    outcome_expect(&extended, REDLOCK_CANCELED);
    ck_assert_uint_eq(redlock_lock_depth(lock), 3);
}

/* Many releases with callbacks wait at once, and as many entries are possible as before afterwards. */
TEST(entering, entries_and_their_callbacks_have_a_limit)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome outcome = {0};

    for (unsigned i = 1; i < REDLOCK_MAX_DEPTH; i++) {
        reenter(lock, 1);
        ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    }
    ck_assert_int_eq(redlock_reenter(lock, 0), REDLOCK_E_DEPTH);
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
    rig_wait_outcome(&rig, &outcome);
    ck_assert_uint_eq(outcome.calls, REDLOCK_MAX_DEPTH - 1);
    reenter(lock, REDLOCK_MAX_DEPTH - 1);
}

/* --- Loss */

static struct redlock_lock *lose_at_depth_three(struct watched *watched)
{
    struct redlock_acquire_options request = rig_lease(SHORT_MS, 0);
    struct redlock_lock *lock = watch_hold_as(&rig, "inner", &request, watched);

    reenter(lock, 2);
    watch_wait_lost(&rig, watched);
    return lock;
}

GROUP(loss, "loss", rig_three, rig_end)

TEST(loss, a_loss_is_a_loss_at_every_depth)
{
    struct watched watched;
    struct redlock_lock *lock = lose_at_depth_three(&watched);
    struct outcome outcome;

    ck_assert_uint_eq(watched.lost, 1);
    ck_assert_uint_eq(redlock_lock_depth(lock), 3);
    for (unsigned depth = 3; depth > 0; depth--) {
        ck_assert_int_eq(redlock_remaining_ns(lock), 0);
        outcome = rig_expect_release(&rig, lock, REDLOCK_LOST);
        ck_assert_int_eq(outcome.loss, REDLOCK_LOSS_EXPIRED);
    }
    ck_assert_uint_eq(redlock_lock_depth(lock), 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_E_NOT_HELD);
}

TEST(loss, a_lost_lock_is_neither_entered_nor_acquired_before_it_is_released)
{
    struct watched watched;
    struct redlock_lock *lock = lose_at_depth_three(&watched);
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    ck_assert_int_eq(redlock_reenter(lock, 0), REDLOCK_LOST);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, NULL), REDLOCK_E_DEPTH);
    ck_assert_int_eq(redlock_release_token(lock, "x", NULL, NULL), REDLOCK_E_DEPTH);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, NULL), REDLOCK_E_DEPTH);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
}

/* The masters say that the lock is gone; the key is another's. */
TEST(loss, a_lock_that_was_deleted_and_is_anothers_is_not_entered)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct watched watched;
    struct redlock_lock *lock;

    request.renew_ms = 100;
    lock = watch_hold_as(&rig, "inner", &request, &watched);
    reenter(lock, 1);
    rig_do_all(&rig, "SET", "inner", "somebody", NULL);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(redlock_reenter(lock, 0), REDLOCK_LOST);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    ck_assert_int_eq(rig_release(&rig, lock).status, REDLOCK_LOST);
    ck_assert_uint_eq(rig_count_value(&rig, "inner", "somebody"), 3);
}

/* The clock decides, not the loop, which does not run meanwhile. */
TEST(loss, an_expired_validity_is_seen_although_the_loop_has_not_run)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "inner", SHORT_MS);

    ck_assert_int_eq(redlock_reenter(lock, SHORT_MS), REDLOCK_EXPIRING);
    ck_assert_int_eq(redlock_reenter(lock, SHORT_MS / 10), 0);
    while (redlock_remaining_ns(lock) > 0)
        ;
    ck_assert_int_eq(redlock_reenter(lock, 0), REDLOCK_LOST);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    ck_assert_uint_eq(redlock_lock_depth(lock), 2);
}

/* --- Ends */

static struct redlock_lock *released_in_callback;

static void enter_again(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    ck_assert_int_eq(result->status, REDLOCK_OK);
    ck_assert_int_eq(redlock_reenter(lock, 0), 0);
    ck_assert_int_eq(redlock_release(lock, outcome_record, user_data), 0);
    released_in_callback = lock;
}

GROUP(ends, "ends", rig_three, rig_end)

TEST(ends, a_callback_may_enter_and_leave)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome outcome = {0};

    reenter(lock, 1);
    ck_assert_int_eq(redlock_release(lock, enter_again, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_ptr_eq(released_in_callback, lock);
    ck_assert_uint_eq(redlock_lock_depth(lock), 1);
}

static void destroy_it(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    ck_assert_int_eq(result->status, REDLOCK_OK);
    redlock_lock_destroy(lock);
}

TEST(ends, destroying_a_lock_at_depth_three_releases_it)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct outcome outcome = {0};

    reenter(lock, 3);
    ck_assert_int_eq(redlock_release(lock, destroy_it, NULL), 0);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    rig_wait_absent(&rig, "inner");
    ck_assert_uint_eq(outcome.calls, 1);
}

static void shut_down(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool has_ended(void *argument)
{
    return *(int *)argument <= 0;
}

TEST(ends, shutdown_releases_whatever_the_depth)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    int status = 1;

    reenter(lock, 2);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 20000, shut_down, &status), 0);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_reenter(lock, 0), REDLOCK_E_CLOSING);
    rig_wait(&rig, has_ended, &status, "the shutdown");
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_uint_eq(masters_count_key(rig.masters, "inner"), 0);
    ck_assert_uint_eq(redlock_lock_depth(lock), 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), REDLOCK_E_NOT_HELD);
}

TEST(ends, a_lock_is_transferred_at_depth_one_and_begins_there)
{
    struct redlock_lock *lock = rig_hold(&rig, "inner", TTL_MS);
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *importer = rig_new_lock(other, "inner");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    reenter(lock, 1);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), REDLOCK_E_DEPTH);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_uint_eq(redlock_lock_depth(lock), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, NULL, text), 0);
    ck_assert_uint_eq(redlock_lock_depth(importer), 1);
    reenter(importer, 1);
    ck_assert_int_eq(redlock_release(importer, NULL, NULL), 0);
    ck_assert_int_eq(rig_release(&rig, importer).status, REDLOCK_OK);
    ck_assert_uint_eq(masters_count_key(rig.masters, "inner"), 0);
}

SUITE_WITH_SERVER("reentry")
