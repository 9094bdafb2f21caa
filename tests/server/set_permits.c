/* Several permits of one semaphore in a set: all or none, one owner after the other. */
#include <string.h>

#include <redlock/semaphore.h>

#include "set_rig.h"
#include "suite.h"
#include "watch.h"

GROUP(permits, "several permits", set_open, set_close)

TEST(permits, several_permits_are_held_together_in_different_slots)
{
    struct record *three = set_record_of_permits(0, rig.client, 3, 5);
    struct record *two = set_record_of_permits(1, rig_new_client(&rig), 2, 5);

    ck_assert_uint_eq(redlock_set_size(three->set), 3);
    set_acquire(three, 20000);
    ck_assert_uint_eq(three->result.n_keys, 3);
    set_acquire(two, 20000);
    ck_assert_uint_eq(set_slots(three) | set_slots(two), 0x1f);
    rig_wait_absent(&rig, "s#gate");
    three->ended = 0;
    ck_assert_int_eq(redlock_set_extend(three->set, 20000, set_on_end, three), 0);
    set_wait_end(three, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ms(three->set), 10000);
    set_release(three, REDLOCK_OK);
    set_release(two, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
}

TEST(permits, too_few_free_permits_are_none)
{
    struct record *two = set_record_of_permits(0, rig.client, 2, 3);
    struct record *other = set_record_of_permits(1, rig_new_client(&rig), 2, 3);

    set_acquire(two, 20000);
    set_expect_held(other);
    ck_assert_uint_lt(other->result.part, 2);
    ck_assert_uint_eq(other->result.n_keys, 2);
    set_start(other, 10000, 300);
    set_wait_end(other, REDLOCK_DEADLINE);
    rig_wait_absent(&rig, "s#gate");
    set_start(other, 10000, 20000);
    set_release(two, REDLOCK_OK);
    set_wait_end(other, REDLOCK_OK);
}

static bool one_has_ended(void *unused)
{
    for (size_t i = 0; i < SET_RECORDS; i++) {
        if (set_records[i].ended)
            return true;
    }
    return false;
}

/* A gate guards nothing outside the masters. */
TEST(permits, permits_have_fencing_tokens_and_their_gate_has_none)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct record *record = set_record_of_permits(0, rig.client, 2, 2);

    request.fenced = 1;
    set_expect(record, &request, REDLOCK_OK);
    for (size_t i = 0; i < 2; i++)
        ck_assert_uint_gt(redlock_lock_fence(redlock_set_lock(record->set, i)), 0);
    rig_wait_absent(&rig, "s#gate");
    rig_wait_count(&rig, "redlock:fence:s#0", 5);
    ck_assert_uint_eq(masters_count_key(rig.masters, "redlock:fence:s#gate"), 0);
}

/* Each wants all that there are, and would get a part of them without the gate. Keys on either side go with them. */
TESTS(permits, rivals_for_several_permits_are_served_one_after_the_other, 0, 2)
{
    for (size_t i = 0; i < SET_RECORDS; i++) {
        struct record *record = set_record_of_permits(i, rig_new_client(&rig), 3, 3);

        if (_i)
            ck_assert_int_eq(redlock_set_add_mode(record->set, i % 2 ? "s!" : "a", i % 2 ? 2 : 1, REDLOCK_SHARED), 0);
    }
    for (size_t i = 0; i < SET_RECORDS; i++)
        set_start(&set_records[i], 10000, 30000);
    for (size_t served = 0; served < SET_RECORDS; served++) {
        size_t i = 0;

        rig_wait(&rig, one_has_ended, NULL, "the next holder");
        while (!set_records[i].ended)
            i++;
        ck_assert_int_eq(set_records[i].result.status, REDLOCK_OK);
        set_release(&set_records[i], REDLOCK_OK);
        set_records[i].ended = 0;
    }
}

/* The permits stand where their key does, wherever the key of the gate would. */
TEST(permits, several_permits_are_neighbours_in_the_order_of_the_keys)
{
    struct record *record = set_record(0, rig.client, "ta");
    const char *const expected[] = {"a", "s", "s", "s!", "t"};

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 2), 0);
    ck_assert_int_eq(redlock_set_add(record->set, "s!", 2), 0);
    ck_assert_uint_eq(redlock_set_size(record->set), 5);
    for (size_t i = 0; i < 5; i++) {
        size_t size;
        const char *key = redlock_lock_key(redlock_set_lock(record->set, i), &size);

        ck_assert_uint_eq(size, strlen(expected[i]));
        ck_assert_mem_eq(key, expected[i], size);
    }
    ck_assert_ptr_null(redlock_set_lock(record->set, 5));
    rig_hold(&rig, "s!", 10000);
    set_expect_held(record);
    ck_assert_uint_eq(record->result.part, 3);
}

TEST(permits, several_permits_that_cannot_be_leave_the_set_as_it_was)
{
    struct record *record = set_record(0, rig.client, "a");
    struct redlock_set *set = record->set;
    size_t size = redlock_set_size(set);

    ck_assert_int_eq(redlock_set_add(set, "x#gate", 6), 0);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, 0, 3), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, 4, 3), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, 2, REDLOCK_MAX_PERMITS + 1), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, REDLOCK_MAX_SET_KEYS, 100), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permits(set, "a", 1, 2, 3), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permits(set, "x", 1, 2, 3), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permits(set, "", 0, 2, 3), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_set_add_permits(NULL, "p", 1, 2, 3), REDLOCK_E_ARGUMENT);
    ck_assert_uint_eq(redlock_set_size(set), size + 1);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, 2, 3), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#gate", 6), REDLOCK_E_SET_KEYS);
}

TEST(permits, a_set_does_not_have_a_permit_and_the_key_of_its_slot)
{
    struct record *record = set_record(0, rig.client, "");
    struct redlock_set *set = record->set;

    ck_assert_int_eq(redlock_set_add(set, "s#0", 3), 0);
    ck_assert_int_eq(redlock_set_add_permit(set, "s", 1, 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permits(set, "s", 1, 2, 12), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permits(set, "p", 1, 2, 12), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#0", 3), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_mode(set, "p#11", 4, REDLOCK_SHARED), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add(set, "p#12", 4), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#01", 4), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#4294967296", 12), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#", 2), 0);
    ck_assert_int_eq(redlock_set_add(set, "p#1x", 4), 0);
    ck_assert_int_eq(redlock_set_add_permit(set, "p#0", 3, 3), 0);
}

/* As many as there may be, in pairs, each with its gate. */
TEST(permits, a_set_may_have_permits_alone)
{
    struct record *record = set_record(0, rig.client, "");
    char key[] = "a";

    for (size_t i = 0; i < REDLOCK_MAX_SET_KEYS / 2; i++, key[0]++)
        ck_assert_int_eq(redlock_set_add_permits(record->set, key, 1, 2, 9), 0);
    set_acquire(record, 20000);
    ck_assert_uint_eq(record->result.n_keys, REDLOCK_MAX_SET_KEYS);
    rig_wait_absent(&rig, "h#gate");
    set_release(record, REDLOCK_OK);
}

/* --- As many as a set may have ------------------------------------------------------------------------------------ */

#define MOST REDLOCK_MAX_SET_KEYS

/* All slots are different ones. */
static void expect_own_slots(const struct redlock_set *set)
{
    bool taken[MOST] = {false};

    for (size_t i = 0; i < redlock_set_size(set); i++) {
        int32_t slot = redlock_lock_slot(redlock_set_lock(set, i));

        ck_assert_int_ge(slot, 0);
        ck_assert_int_lt(slot, MOST);
        ck_assert(!taken[slot]);
        taken[slot] = true;
    }
}

/* One attempt for each is enough, since each is made at a slot of its own; masters that are late make them more. */
TEST(permits, all_permits_are_acquired_in_one_attempt_where_they_are_free)
{
    struct record *record = set_record_of_permits(0, rig.client, MOST, MOST);

    for (int i = 0; i < 3; i++) {
        uint64_t before = watch_stats(rig.client).attempts;
        uint64_t late = watch_stats(rig.client).no_quorum;

        set_acquire(record, 0);
        ck_assert_uint_eq(record->result.n_keys, MOST);
        if (watch_stats(rig.client).no_quorum == late)
            ck_assert_uint_eq(watch_stats(rig.client).attempts - before, MOST + 1);
        expect_own_slots(record->set);
        rig_wait_absent(&rig, "s#gate");
        rig_wait_count(&rig, "s#0", 5);
        rig_wait_count(&rig, "s#63", 5);
        set_release(record, REDLOCK_OK);
        rig_wait_absent(&rig, "s#0");
        rig_wait_absent(&rig, "s#63");
    }
}

/* Some permits are others'. Of the rest all are wanted, and found; of all that there are none is had before the others
 * have released theirs. */
TEST(permits, all_that_are_left_are_found)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *held = set_record_of_permits(0, other, 3, MOST);
    struct record *rest = set_record_of_permits(1, rig.client, MOST - 3, MOST);
    struct record *all = set_record_of_permits(2, rig_new_client(&rig), MOST, MOST);

    set_acquire(held, 20000);
    set_acquire(rest, 20000);
    expect_own_slots(rest->set);
    set_expect_held(all);
    set_start(all, 10000, 20000);
    rig_wait_count(&rig, "s#gate", 5);
    set_release(rest, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_state(all->set), REDLOCK_STATE_ACQUIRING);
    set_release(held, REDLOCK_OK);
    set_wait_end(all, REDLOCK_OK);
    expect_own_slots(all->set);
}

/* Those that are free are found without a wait, whatever the timeout is. */
TEST(permits, a_set_that_may_wait_does_not_where_enough_permits_are_free)
{
    struct record *held = set_record_of_permits(0, rig_new_client(&rig), 3, MOST);
    struct record *rest = set_record_of_permits(1, rig.client, MOST - 3, MOST);

    set_acquire(held, 20000);
    for (int i = 0; i < 3; i++) {
        struct redlock_stats before = watch_stats(rig.client);

        set_acquire(rest, 20000);
        if (watch_stats(rig.client).no_quorum == before.no_quorum)
            ck_assert_uint_eq(watch_stats(rig.client).waits, before.waits);
        set_release(rest, REDLOCK_OK);
    }
}

TEST(permits, two_sets_of_most_permits_are_served_one_after_the_other)
{
    struct record *first = set_record_of_permits(0, rig.client, MOST - 10, MOST);
    struct record *second = set_record_of_permits(1, rig_new_client(&rig), MOST - 10, MOST);

    set_acquire(first, 20000);
    set_start(second, 10000, 20000);
    rig_wait_count(&rig, "s#gate", 5);
    set_release(first, REDLOCK_OK);
    set_wait_end(second, REDLOCK_OK);
    expect_own_slots(second->set);
    rig_wait_absent(&rig, "s#gate");
}

SUITE_WITH_SERVER("set permits")
