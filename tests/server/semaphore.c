/* Semaphores: never more than K permits, each of them a slot of its own; and a permit is a lock like any other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "program_rig.h"
#include "watch.h"

#define KEY "pool"
#define MOST 64

static struct redlock_lock *permits[MOST];
static struct outcome outcomes[MOST];

static void open_three(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open(&rig, 3);
}

static struct redlock_lock *permit_of(struct redlock_client *client, uint32_t limit)
{
    struct redlock_lock *permit;

    ck_assert_int_eq(redlock_permit_create(client, KEY, strlen(KEY), limit, &permit), 0);
    return permit;
}

static const char *slot_name(int32_t slot)
{
    static char name[32];

    snprintf(name, sizeof name, KEY "#%d", (int)slot);
    return name;
}

static struct outcome try_permit(struct redlock_lock *permit)
{
    struct redlock_acquire_options request = rig_request(10000, 0);

    return rig_acquire(&rig, permit, &request);
}

/* Permits 0 to n - 1, held, of n slots of the limit. */
static void hold(size_t n, uint32_t limit)
{
    for (size_t i = 0; i < n; i++) {
        struct outcome outcome;

        permits[i] = permit_of(rig.client, limit);
        outcome = try_permit(permits[i]);
        outcome_expect(&outcome, REDLOCK_OK);
    }
}

static void expect_different_slots(size_t n, uint32_t limit)
{
    bool taken[MOST] = {false};

    for (size_t i = 0; i < n; i++) {
        int32_t slot = redlock_lock_slot(permits[i]);

        ck_assert_int_ge(slot, 0);
        ck_assert_int_lt(slot, (int32_t)limit);
        ck_assert(!taken[slot]);
        taken[slot] = true;
        ck_assert_uint_ge(rig_count_value(&rig, slot_name(slot), redlock_lock_token(permits[i])), 2);
    }
}

static void wait_for(struct redlock_lock *permit, struct outcome *outcome, enum redlock_wait wait)
{
    struct redlock_acquire_options request = rig_request(10000, REDLOCK_FOREVER);

    request.wait = wait;
    ck_assert_int_eq(redlock_acquire(permit, &request, outcome_record, outcome), 0);
}

/* --- How many ----------------------------------------------------------------------------------------------------- */

GROUP(cases, "semaphore", open_three, rig_end)

/* Another client knows nothing of the slots that are taken, and finds the last one. */
TESTS(cases, each_permit_is_found_and_no_other, 0, 6)
{
    static const uint32_t limits[] = {1, 2, 8, 9, 20, MOST};
    uint32_t limit = limits[_i];
    struct outcome outcome;

    hold(limit - 1, limit);
    permits[limit - 1] = permit_of(rig_further_client(&rig), limit);
    outcome = try_permit(permits[limit - 1]);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_different_slots(limit, limit);
    outcome = try_permit(permit_of(rig_further_client(&rig), limit));
    outcome_expect(&outcome, REDLOCK_HELD);
    ck_assert_uint_le(outcome.attempts, 10);
}

TEST(cases, a_single_attempt_is_one_where_the_program_says_so)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct outcome outcome;

    request.max_attempts = 1;
    hold(20, 20);
    outcome = rig_expect_acquire(&rig, permit_of(rig_further_client(&rig), 20), &request, REDLOCK_HELD);
    ck_assert_uint_eq(outcome.attempts, 1);
}

/* Whoever names a larger number gets that many; slots beyond one's own number are no business of one's own. */
TEST(cases, the_largest_limit_counts)
{
    struct outcome outcome;

    hold(5, 5);
    outcome = try_permit(permit_of(rig_further_client(&rig), 3));
    outcome_expect(&outcome, REDLOCK_HELD);
    permits[5] = permit_of(rig_further_client(&rig), 6);
    outcome = try_permit(permits[5]);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_slot(permits[5]), 5);
}

/* This client has released slots that are above the number of another handle, which tries first, and then waits. */
TEST(cases, a_slot_above_the_own_number_is_not_taken)
{
    struct redlock_lock *small = permit_of(rig.client, 3);
    struct outcome outcome;
    size_t below = MOST;

    hold(5, 5);
    for (size_t i = 0; i < 5; i++) {
        if (redlock_lock_slot(permits[i]) < 3) {
            below = i;
            continue;
        }
        outcome = rig_expect_release(&rig, permits[i], REDLOCK_OK);
    }
    outcome = try_permit(small);
    outcome_expect(&outcome, REDLOCK_HELD);
    wait_for(small, &outcomes[0], REDLOCK_WAIT_QUEUE);
    for (size_t i = 0; i < 2; i++) {
        struct redlock_lock *large = permit_of(rig.client, 5);

        outcome = try_permit(large);
        outcome_expect(&outcome, REDLOCK_OK);
        outcome = rig_expect_release(&rig, large, REDLOCK_OK);
    }
    ck_assert_uint_eq(outcomes[0].calls, 0);
    outcome = rig_expect_release(&rig, permits[below], REDLOCK_OK);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
    ck_assert_int_lt(redlock_lock_slot(small), 3);
}

TEST(cases, a_semaphore_of_one_is_a_mutex)
{
    struct redlock_lock *slot = rig_new_lock(rig_further_client(&rig), KEY "#0");
    struct outcome outcome;

    hold(1, 1);
    outcome = try_permit(slot);
    outcome_expect(&outcome, REDLOCK_HELD);
    outcome = rig_expect_release(&rig, permits[0], REDLOCK_OK);
    outcome = try_permit(slot);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome = try_permit(permits[0]);
    outcome_expect(&outcome, REDLOCK_HELD);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

#define N_WAITING 6

static bool all_have_ended(void *argument)
{
    const size_t *n = argument;

    for (size_t i = 0; i < *n; i++) {
        if (!outcomes[i].calls)
            return false;
    }
    return true;
}

static bool one_has_ended(void *argument)
{
    size_t *next = argument;

    for (size_t i = 0; i < N_WAITING; i++) {
        if (outcomes[i].calls == 1) {
            *next = i;
            return true;
        }
    }
    return false;
}

/* Each waiter that has got a permit gives it back, and the next one has it. */
static void pass_through(size_t n)
{
    for (size_t served = 0; served < n; served++) {
        size_t i = 0;

        rig_wait(&rig, one_has_ended, &i, "a waiter to have a permit");
        outcome_expect(&outcomes[i], REDLOCK_OK);
        outcomes[i].calls++;
        ck_assert_int_eq(redlock_release(outcomes[i].lock, NULL, NULL), 0);
    }
}

TESTS(cases, waiters_are_served_in_each_way_to_wait, REDLOCK_WAIT_QUEUE, REDLOCK_WAIT_SPIN + 1)
{
    size_t n = N_WAITING;

    hold(2, 2);
    for (size_t i = 0; i < n; i++)
        wait_for(permit_of(i % 2 ? rig.client : rig_further_client(&rig), 2), &outcomes[i], (enum redlock_wait)_i);
    rig_expect_release(&rig, permits[0], REDLOCK_OK);
    pass_through(n);
    ck_assert(all_have_ended(&n));
    expect_different_slots(0, 2);
}

TEST(cases, a_waiter_can_give_up_and_leaves_nothing)
{
    struct redlock_lock *waiter = permit_of(rig.client, 2);
    struct redlock_acquire_options request = rig_request(10000, 100);
    struct outcome outcome;

    hold(2, 2);
    outcome = rig_expect_acquire(&rig, waiter, &request, REDLOCK_DEADLINE);
    ck_assert_int_eq(outcome.cause, REDLOCK_HELD);
    wait_for(waiter, &outcomes[0], REDLOCK_WAIT_QUEUE);
    ck_assert_int_eq(redlock_cancel(waiter), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_CANCELED);
    redlock_release(permits[0], NULL, NULL);
    redlock_release(permits[1], NULL, NULL);
    rig_wait_no_claims(&rig, rig.client);
    for (int32_t slot = 0; slot < 2; slot++)
        rig_wait_absent(&rig, slot_name(slot));
}

/* The slot in whose queue all masters have somebody; -1: there is none. */
static int32_t awaited_slot(void)
{
    for (int32_t slot = 0; slot < 2; slot++) {
        char queue[64];

        snprintf(queue, sizeof queue, "redlock:queue:%s", slot_name(slot));
        if (masters_count_key(rig.masters, queue) == 3)
            return slot;
    }
    return -1;
}

static bool somebody_waits(void *unused)
{
    return awaited_slot() >= 0;
}

/* The waiter stands in the queue of one slot, and the other one becomes free. */
TEST(cases, a_move_to_another_slot_is_counted)
{
    struct redlock_client *client = rig_further_client(&rig);
    struct redlock_lock *waiter = permit_of(client, 2);
    size_t elsewhere;

    hold(2, 2);
    wait_for(waiter, &outcomes[0], REDLOCK_WAIT_QUEUE);
    rig_wait(&rig, somebody_waits, NULL, "the waiter in a queue");
    ck_assert_uint_eq(watch_stats(client).moves, 0);
    elsewhere = redlock_lock_slot(permits[0]) == awaited_slot();
    ck_assert_int_eq(redlock_release(permits[elsewhere], NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
    ck_assert_uint_eq(watch_stats(client).moves, 1);
    ck_assert_uint_eq(watch_stats(rig.client).moves, 0);
}

/* --- As a lock ---------------------------------------------------------------------------------------------------- */

TEST(cases, a_permit_is_extended_entered_and_released)
{
    struct outcome outcome;
    size_t size;

    hold(2, 2);
    outcome = rig_expect_extend(&rig, permits[0], 30000, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(permits[0]), 20000);
    ck_assert_int_eq(redlock_reenter(permits[0], 0), 0);
    ck_assert_int_eq(redlock_release(permits[0], NULL, NULL), 0);
    ck_assert_int_eq(redlock_state(permits[0]), REDLOCK_STATE_HELD);
    outcome = rig_expect_release(&rig, permits[0], REDLOCK_OK);
    ck_assert_int_eq(redlock_remaining_ns(permits[0]), 0);
    outcome = try_permit(permits[0]);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_mem_eq(redlock_lock_key(permits[0], &size), KEY, strlen(KEY));
    ck_assert_uint_eq(size, strlen(KEY));
}

/* A token is larger than the earlier ones of the same slot. */
TEST(cases, permits_have_fencing_tokens)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    uint64_t largest[2] = {0, 0};

    request.fenced = 1;
    permits[0] = permit_of(rig.client, 2);
    for (unsigned i = 0; i < 6; i++) {
        struct outcome outcome = rig_acquire(&rig, permits[0], &request);
        int32_t slot = redlock_lock_slot(permits[0]);

        outcome_expect(&outcome, REDLOCK_OK);
        ck_assert_uint_gt(redlock_lock_fence(permits[0]), largest[slot]);
        largest[slot] = redlock_lock_fence(permits[0]);
        outcome = rig_release(&rig, permits[0]);
    }
}

TEST(cases, a_permit_goes_to_another_handle_with_its_slot)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];
    struct redlock_client *client = rig_further_client(&rig);
    struct redlock_lock *other = permit_of(client, 3);
    int32_t slot;

    hold(3, 3);
    slot = redlock_lock_slot(permits[2]);
    ck_assert_int_eq(redlock_lock_export(permits[2], text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(rig_new_lock(client, KEY), NULL, text), REDLOCK_E_EXPORT);
    ck_assert_int_eq(redlock_lock_adopt(rig_new_lock(client, slot_name(slot)), NULL, text), REDLOCK_E_EXPORT);
    if (slot > 0)
        ck_assert_int_eq(redlock_lock_adopt(permit_of(client, (uint32_t)slot), NULL, text), REDLOCK_E_EXPORT);
    ck_assert_int_eq(redlock_lock_adopt(other, NULL, text), 0);
    ck_assert_int_eq(redlock_lock_slot(other), slot);
    rig_expect_extend(&rig, other, 0, REDLOCK_OK);
    rig_expect_release(&rig, other, REDLOCK_OK);
    rig_wait_absent(&rig, slot_name(slot));
}

/* ... whoever has the token and knows the slot; a permit elsewhere stays. */
TEST(cases, a_permit_is_released_by_its_token)
{
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_lock *other = permit_of(rig_further_client(&rig), 3);
    struct outcome outcome = {0};
    int32_t slot;

    hold(3, 3);
    slot = redlock_lock_slot(permits[1]);
    strcpy(token, redlock_lock_token(permits[1]));
    rig_wait_count(&rig, slot_name(slot), 3);
    ck_assert_int_eq(redlock_lock_detach(permits[1]), 0);
    ck_assert_int_eq(redlock_release_permit(other, (uint32_t)slot, token, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    rig_wait_absent(&rig, slot_name(slot));
    ck_assert_uint_ge(masters_count_key(rig.masters, slot_name(redlock_lock_slot(permits[0]))), 2);
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static int32_t slots_seen[2];

static void note_slot(const struct redlock_event *event, void *user_data)
{
    if (event->type == REDLOCK_EVENT_ACQUIRED)
        slots_seen[0] = event->slot;
    else if (event->type == REDLOCK_EVENT_NODE)
        slots_seen[1] = event->slot;
}

static void with_slots(struct redlock_options *options)
{
    options->on_event = note_slot;
}

TEST(cases, events_tell_the_slot)
{
    slots_seen[0] = slots_seen[1] = 7;
    rig_close(&rig);
    rig_open_with(&rig, 3, 0, with_slots);
    hold(1, 5);
    ck_assert_int_eq(slots_seen[0], redlock_lock_slot(permits[0]));
    ck_assert_int_eq(slots_seen[1], -1);
    rig_hold(&rig, "no permit", 10000);
    ck_assert_int_eq(slots_seen[0], -1);
}

SUITE_WITH_SERVER("semaphore")
