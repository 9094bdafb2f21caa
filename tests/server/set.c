/* Sets of locks: all keys or none, in one round trip where they are free, in ascending order where they are not. */
#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "rig.h"
#include "suite.h"
#include "watch.h"

#define N_SETS 4

static struct rig rig;

/* What became of a set's operations, and of itself. */
struct record {
    struct redlock_set *set;
    unsigned ended;      /* callbacks */
    struct redlock_set_result result;
    bool had_evidence;   /* the deciding key's result came with it */
    unsigned at_risk;
    unsigned lost;
    size_t lost_part;
    int64_t others_ns;   /* the validity of the other keys' locks when LOST was told */
    bool destroy;        /* in the callback */
};

static struct record records[N_SETS];

static void open_five(void)
{
    memset(records, 0, sizeof records);
    rig_open(&rig, 5);
}

static void close_rig(void)
{
    rig_close(&rig);
}

/* --- Sets --------------------------------------------------------------------------------------------------------- */

static void on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct record *record = user_data;

    ck_assert_ptr_eq(set, record->set);
    record->ended++;
    record->result = *result;
    record->had_evidence = result->part_result != NULL;
    if (result->part_result)
        ck_assert_uint_eq(result->part_result->n_nodes, 5);
    if (record->destroy)
        redlock_set_destroy(set);
}

static void on_alarm(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm, void *user_data)
{
    struct record *record = user_data;

    record->at_risk += alarm->kind == REDLOCK_ALARM_AT_RISK;
    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    record->lost++;
    record->lost_part = part;
    for (size_t i = 0; i < redlock_set_size(set); i++)
        record->others_ns += redlock_remaining_ns(redlock_set_lock(set, i));
}

/* The keys are letters. */
static struct record *record_of(size_t i, struct redlock_client *client, const char *keys)
{
    struct record *record = &records[i];

    ck_assert_int_eq(redlock_set_create(client, &record->set), 0);
    for (const char *key = keys; *key; key++)
        ck_assert_int_eq(redlock_set_add(record->set, key, 1), 0);
    ck_assert_int_eq(redlock_set_watch(record->set, on_alarm, record), 0);
    return record;
}

static void start_with(struct record *record, const struct redlock_acquire_options *request)
{
    record->ended = 0;
    ck_assert_int_eq(redlock_set_acquire(record->set, request, on_end, record), 0);
    ck_assert_uint_eq(record->ended, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_ACQUIRING);
}

static void start(struct record *record, uint32_t ttl_ms, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, timeout_ms);

    start_with(record, &request);
}

/* A renewal soon finds that a key is gone; a pause of the test's process loses none. */
static struct redlock_acquire_options renewed_often(int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(20000, timeout_ms);

    request.renew_ms = 200;
    return request;
}

static bool has_ended(void *argument)
{
    return ((const struct record *)argument)->ended > 0;
}

static void wait_end(struct record *record, int status)
{
    rig_wait(&rig, has_ended, record, "the end of a set's operation");
    ck_assert_int_eq(record->result.status, status);
    ck_assert_uint_eq(record->ended, 1);
}

/* An acquisition that masters which are late do not end. */
static void expect(struct record *record, const struct redlock_acquire_options *request, int status)
{
    int again = RIG_LATE_ATTEMPTS;

    do {
        start_with(record, request);
        rig_wait(&rig, has_ended, record, "the end of an acquisition");
    } while (record->result.status == REDLOCK_NO_QUORUM && again-- > 0);
    wait_end(record, status);
}

static void expect_held(struct record *record)
{
    struct redlock_acquire_options request = rig_request(10000, 0);

    expect(record, &request, REDLOCK_HELD);
}

static void acquire_renewed_often(struct record *record, int64_t timeout_ms)
{
    struct redlock_acquire_options request = renewed_often(timeout_ms);

    expect(record, &request, REDLOCK_OK);
}

static void acquire(struct record *record, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(10000, timeout_ms);

    expect(record, &request, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
}

static void release(struct record *record, int status)
{
    record->ended = 0;
    ck_assert_int_eq(redlock_set_release(record->set, on_end, record), 0);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    wait_end(record, status);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
}

static uint64_t commands(void)
{
    return watch_stats(rig.client).commands;
}

/* --- Free keys ---------------------------------------------------------------------------------------------------- */

START_TEST(a_set_that_is_free_takes_one_command_for_each_key_and_master)
{
    struct record *record = record_of(0, rig.client, "cab");
    uint64_t before = commands();

    acquire(record, 0);
    rig_wait_quiet(&rig, rig.client);
    rig_wait_count(&rig, "a", 5);
    rig_wait_count(&rig, "b", 5);
    rig_wait_count(&rig, "c", 5);
    ck_assert_uint_le(commands() - before, 3 * 5 * 2); /* epoch checks among them */
    release(record, REDLOCK_OK);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    rig_wait_absent(&rig, "c");
}
END_TEST

START_TEST(its_locks_stand_in_the_order_of_their_keys)
{
    struct record *record = record_of(0, rig.client, "cab");
    size_t size;

    ck_assert_int_eq(redlock_set_add(record->set, "aa", 2), 0);
    ck_assert_uint_eq(redlock_set_size(record->set), 4);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 0), &size), "a", 1);
    ck_assert_uint_eq(size, 1);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 1), &size), "aa", 2);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 3), &size), "c", 1);
    ck_assert_ptr_null(redlock_set_lock(record->set, 4));
}
END_TEST

START_TEST(each_key_has_a_fencing_token_of_its_own)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct record *record = record_of(0, rig.client, "ab");
    uint64_t former;

    request.fenced = 1;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), 0);
    wait_end(record, REDLOCK_OK);
    former = redlock_lock_fence(redlock_set_lock(record->set, 1));
    ck_assert_uint_gt(former, 0);
    ck_assert_uint_gt(redlock_lock_fence(redlock_set_lock(record->set, 0)), 0);
    release(record, REDLOCK_OK);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), 0);
    wait_end(record, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fence(redlock_set_lock(record->set, 1)), former);
}
END_TEST

START_TEST(an_extension_is_one_of_every_key)
{
    struct record *record = record_of(0, rig.client, "ab");

    acquire(record, 0);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 30000, on_end, record), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_EXTENDING);
    ck_assert_int_eq(redlock_set_extend(record->set, 30000, on_end, record), REDLOCK_E_BUSY);
    wait_end(record, REDLOCK_OK);
    ck_assert_int_eq(record->result.op, REDLOCK_OP_EXTEND);
    ck_assert_int_gt(redlock_set_remaining_ms(record->set), 20000);
    release(record, REDLOCK_OK);
}
END_TEST

START_TEST(a_release_overtakes_an_extension)
{
    struct record *record = record_of(0, rig.client, "ab");
    struct record *extension = &records[1];

    acquire(record, 0);
    extension->set = record->set;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, on_end, extension), 0);
    release(record, REDLOCK_OK);
    ck_assert_uint_eq(extension->ended, 1);
    ck_assert_int_eq(extension->result.status, REDLOCK_CANCELED);
}
END_TEST

/* Two permits of "s", and readers of "a": a third set is refused its permit, and a writer its key. */
START_TEST(parts_are_keys_in_a_mode_and_permits_of_semaphores)
{
    struct redlock_client *others[2] = {rig_new_client(&rig), rig_new_client(&rig)};
    struct redlock_lock *writer = rig_new_lock(rig.client, "a");
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct outcome outcome;

    for (size_t i = 0; i < 3; i++) {
        struct record *record = record_of(i, i ? others[i - 1] : rig.client, "");

        ck_assert_int_eq(redlock_set_add_permit(record->set, "s", 1, 2), 0);
        ck_assert_int_eq(redlock_set_add_mode(record->set, "a", 1, REDLOCK_SHARED), 0);
        if (i < 2)
            acquire(record, 20000);
    }
    ck_assert_int_eq(redlock_lock_mode(redlock_set_lock(records[0].set, 0)), REDLOCK_SHARED);
    ck_assert_int_ne(redlock_lock_slot(redlock_set_lock(records[0].set, 1)),
                     redlock_lock_slot(redlock_set_lock(records[1].set, 1)));
    expect_held(&records[2]);
    ck_assert_uint_eq(records[2].result.part, 1);
    outcome = rig_acquire(&rig, writer, &request);
    outcome_expect(&outcome, REDLOCK_HELD);
    release(&records[0], REDLOCK_OK);
    acquire(&records[2], 20000);
}
END_TEST

/* --- Several permits ---------------------------------------------------------------------------------------------- */

static struct record *record_of_permits(size_t i, struct redlock_client *client, uint32_t n, uint32_t limit)
{
    struct record *record = record_of(i, client, "");

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, n, limit), 0);
    return record;
}

static uint32_t slots_of(const struct record *record)
{
    uint32_t slots = 0;

    for (size_t i = 0; i < redlock_set_size(record->set); i++)
        slots |= UINT32_C(1) << redlock_lock_slot(redlock_set_lock(record->set, i));
    return slots;
}

START_TEST(several_permits_are_held_together_in_different_slots)
{
    struct record *three = record_of_permits(0, rig.client, 3, 5);
    struct record *two = record_of_permits(1, rig_new_client(&rig), 2, 5);

    ck_assert_uint_eq(redlock_set_size(three->set), 3);
    acquire(three, 20000);
    ck_assert_uint_eq(three->result.n_keys, 3);
    acquire(two, 20000);
    ck_assert_uint_eq(slots_of(three) | slots_of(two), 0x1f);
    rig_wait_absent(&rig, "s#gate");
    three->ended = 0;
    ck_assert_int_eq(redlock_set_extend(three->set, 20000, on_end, three), 0);
    wait_end(three, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ms(three->set), 10000);
    release(three, REDLOCK_OK);
    release(two, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
}
END_TEST

START_TEST(too_few_free_permits_are_none)
{
    struct record *two = record_of_permits(0, rig.client, 2, 3);
    struct record *other = record_of_permits(1, rig_new_client(&rig), 2, 3);

    acquire(two, 20000);
    expect_held(other);
    ck_assert_uint_lt(other->result.part, 2);
    ck_assert_uint_eq(other->result.n_keys, 2);
    start(other, 10000, 300);
    wait_end(other, REDLOCK_DEADLINE);
    rig_wait_absent(&rig, "s#gate");
    start(other, 10000, 20000);
    release(two, REDLOCK_OK);
    wait_end(other, REDLOCK_OK);
}
END_TEST

static bool one_has_ended(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < N_SETS; i++) {
        if (records[i].ended)
            return true;
    }
    return false;
}

/* Each wants all that there are, and would get a part of them without the gate. Keys on either side go with them. */
START_TEST(rivals_for_several_permits_are_served_one_after_the_other)
{
    for (size_t i = 0; i < N_SETS; i++) {
        struct record *record = record_of_permits(i, rig_new_client(&rig), 3, 3);

        if (_i)
            ck_assert_int_eq(redlock_set_add_mode(record->set, i % 2 ? "s!" : "a", i % 2 ? 2 : 1, REDLOCK_SHARED), 0);
    }
    for (size_t i = 0; i < N_SETS; i++)
        start(&records[i], 10000, 30000);
    for (size_t served = 0; served < N_SETS; served++) {
        size_t i = 0;

        rig_wait(&rig, one_has_ended, NULL, "the next holder");
        while (!records[i].ended)
            i++;
        ck_assert_int_eq(records[i].result.status, REDLOCK_OK);
        release(&records[i], REDLOCK_OK);
        records[i].ended = 0;
    }
}
END_TEST

/* The permits stand where their key does, wherever the key of the gate would. */
START_TEST(several_permits_are_neighbours_in_the_order_of_the_keys)
{
    struct record *record = record_of(0, rig.client, "ta");
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
    expect_held(record);
    ck_assert_uint_eq(record->result.part, 3);
}
END_TEST

START_TEST(several_permits_that_cannot_be_leave_the_set_as_it_was)
{
    struct record *record = record_of(0, rig.client, "a");
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
END_TEST

START_TEST(a_set_does_not_have_a_permit_and_the_key_of_its_slot)
{
    struct record *record = record_of(0, rig.client, "s#0");
    struct redlock_set *set = record->set;

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
END_TEST

/* As many as there may be, in pairs, each with its gate. */
START_TEST(a_set_may_have_permits_alone)
{
    struct record *record = record_of(0, rig.client, "");
    char key[] = "a";

    for (size_t i = 0; i < REDLOCK_MAX_SET_KEYS / 2; i++, key[0]++)
        ck_assert_int_eq(redlock_set_add_permits(record->set, key, 1, 2, 9), 0);
    acquire(record, 20000);
    ck_assert_uint_eq(record->result.n_keys, REDLOCK_MAX_SET_KEYS);
    rig_wait_absent(&rig, "h#gate");
    release(record, REDLOCK_OK);
}
END_TEST

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
START_TEST(all_permits_are_acquired_in_one_attempt_where_they_are_free)
{
    struct record *record = record_of_permits(0, rig.client, MOST, MOST);

    for (int i = 0; i < 3; i++) {
        uint64_t before = watch_stats(rig.client).attempts;
        uint64_t late = watch_stats(rig.client).no_quorum;

        acquire(record, 0);
        ck_assert_uint_eq(record->result.n_keys, MOST);
        if (watch_stats(rig.client).no_quorum == late)
            ck_assert_uint_eq(watch_stats(rig.client).attempts - before, MOST + 1);
        expect_own_slots(record->set);
        rig_wait_absent(&rig, "s#gate");
        rig_wait_count(&rig, "s#0", 5);
        rig_wait_count(&rig, "s#63", 5);
        release(record, REDLOCK_OK);
        rig_wait_absent(&rig, "s#0");
        rig_wait_absent(&rig, "s#63");
    }
}
END_TEST

/* Some permits are others'. Of the rest all are wanted, and found; of all that there are none is had before the others
 * have released theirs. */
START_TEST(all_that_are_left_are_found)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *held = record_of_permits(0, other, 3, MOST);
    struct record *rest = record_of_permits(1, rig.client, MOST - 3, MOST);
    struct record *all = record_of_permits(2, rig_new_client(&rig), MOST, MOST);

    acquire(held, 20000);
    acquire(rest, 20000);
    expect_own_slots(rest->set);
    expect_held(all);
    start(all, 10000, 20000);
    rig_wait_count(&rig, "s#gate", 5);
    release(rest, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_state(all->set), REDLOCK_STATE_ACQUIRING);
    release(held, REDLOCK_OK);
    wait_end(all, REDLOCK_OK);
    expect_own_slots(all->set);
}
END_TEST

START_TEST(two_sets_of_most_permits_are_served_one_after_the_other)
{
    struct record *first = record_of_permits(0, rig.client, MOST - 10, MOST);
    struct record *second = record_of_permits(1, rig_new_client(&rig), MOST - 10, MOST);

    acquire(first, 20000);
    start(second, 10000, 20000);
    rig_wait_count(&rig, "s#gate", 5);
    release(first, REDLOCK_OK);
    wait_end(second, REDLOCK_OK);
    expect_own_slots(second->set);
    rig_wait_absent(&rig, "s#gate");
}
END_TEST

/* --- Held keys ---------------------------------------------------------------------------------------------------- */

START_TEST(one_attempt_at_a_set_that_is_held_in_part_leaves_nothing)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = record_of(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    expect_held(record);
    ck_assert_uint_eq(record->result.part, 1);
    ck_assert_uint_eq(record->result.n_keys, 3);
    ck_assert_str_ne(record->result.why, "");
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
}
END_TEST

START_TEST(the_smaller_keys_are_kept_and_the_larger_ones_are_free_while_one_is_awaited)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 10000);
    struct record *record = record_of(0, other, "abc");

    start(record, 10000, REDLOCK_FOREVER);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    rig_wait_count(&rig, "a", 5);
    rig_wait_absent(&rig, "c");
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    wait_end(record, REDLOCK_OK);
    rig_wait_count(&rig, "c", 5);
    release(record, REDLOCK_OK);
}
END_TEST

START_TEST(a_set_whose_time_is_up_leaves_nothing)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = record_of(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    for (int i = 0; i < RIG_LATE_ATTEMPTS && record->result.cause != REDLOCK_HELD; i++) {
        start(record, 10000, 300);
        wait_end(record, REDLOCK_DEADLINE);
    }
    ck_assert_int_eq(record->result.cause, REDLOCK_HELD);
    ck_assert_uint_eq(record->result.part, 1);
    ck_assert(record->had_evidence);
    ck_assert_int_ge(record->result.elapsed_us, 290000);
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "redlock:queue:b");
}
END_TEST

/* Whoever is served releases at once; every order of arrival ends. */
START_TEST(sets_that_overlap_in_a_ring_are_all_served)
{
    static const char *const keys[N_SETS] = {"ab", "cb", "ca", "bca"};

    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < N_SETS; i++) {
            if (round == 0)
                record_of(i, i % 2 ? rig.client : rig_new_client(&rig), keys[i]);
            start(&records[i], 10000, REDLOCK_FOREVER);
        }
        for (size_t served = 0; served < N_SETS; served++) {
            struct record *next = NULL;

            for (size_t i = 0; i < N_SETS && !next; i++) {
                if (redlock_set_state(records[i].set) == REDLOCK_STATE_ACQUIRING && !records[i].ended)
                    next = &records[i];
            }
            for (size_t i = 0; i < N_SETS; i++) {
                if (redlock_set_state(records[i].set) == REDLOCK_STATE_HELD)
                    next = &records[i];
            }
            ck_assert_ptr_nonnull(next);
            while (redlock_set_state(next->set) != REDLOCK_STATE_HELD) {
                event_base_loop(rig.base, EVLOOP_ONCE);
                for (size_t i = 0; i < N_SETS; i++) {
                    if (redlock_set_state(records[i].set) == REDLOCK_STATE_HELD)
                        next = &records[i];
                }
            }
            ck_assert_int_eq(next->result.status, REDLOCK_OK);
            release(next, REDLOCK_OK);
        }
    }
}
END_TEST

/* --- The end of a set --------------------------------------------------------------------------------------------- */

START_TEST(a_canceled_acquisition_leaves_nothing)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = record_of(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    ck_assert_int_eq(redlock_set_cancel(record->set), REDLOCK_E_NOTHING_TO_CANCEL);
    start(record, 10000, REDLOCK_FOREVER);
    if (_i)
        rig_wait_count(&rig, "redlock:queue:b", 5);
    ck_assert_int_eq(redlock_set_cancel(record->set), 0);
    ck_assert_uint_eq(record->ended, 0);
    wait_end(record, REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "redlock:queue:b");
}
END_TEST

START_TEST(a_set_that_is_destroyed_calls_back_inside_and_releases)
{
    struct record *record = record_of(0, rig.client, "ab");

    start(record, 10000, REDLOCK_FOREVER);
    if (_i)
        wait_end(record, REDLOCK_OK);
    redlock_set_destroy(record->set);
    ck_assert_uint_eq(record->ended, 1);
    ck_assert_int_eq(record->result.status, _i ? REDLOCK_OK : REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
}
END_TEST

START_TEST(a_set_may_be_destroyed_in_its_callback)
{
    struct record *record = record_of(0, rig.client, "ab");

    record->destroy = true;
    start(record, 10000, REDLOCK_FOREVER);
    wait_end(record, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, "a");
}
END_TEST

START_TEST(a_client_that_is_destroyed_takes_its_sets_with_it)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *held = record_of(0, other, "ab");
    struct record *waiting = record_of(1, other, "bc");

    acquire(held, 0);
    start(waiting, 10000, REDLOCK_FOREVER);
    redlock_client_destroy(other);
    ck_assert_int_eq(waiting->result.status, REDLOCK_CANCELED);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
}
END_TEST

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
    (void)client;
}

static bool is_not_one(void *argument)
{
    return *(const int *)argument != 1;
}

START_TEST(a_client_that_is_shut_down_releases_its_sets)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *held = record_of(0, other, "ab");
    struct record *waiting = record_of(1, other, "bc");
    int status = 1;

    acquire(held, 0);
    start(waiting, 10000, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_client_shutdown(other, 10000, on_shut_down, &status), 0);
    rig_wait(&rig, is_not_one, &status, "the end of the client");
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(waiting->result.status, REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_set_remaining_ns(held->set), 0);
    ck_assert_int_eq(redlock_set_acquire(waiting->set, NULL, on_end, waiting), REDLOCK_E_CLOSING);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    redlock_client_destroy(other);
}
END_TEST

/* --- Loss --------------------------------------------------------------------------------------------------------- */

static bool has_lost(void *argument)
{
    return ((const struct record *)argument)->lost > 0;
}

static bool is_lost(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_LOST;
}

static uint64_t renewals(void)
{
    struct redlock_stats stats = watch_stats(rig.client);

    return stats.renewals - stats.renewals_failed;
}

/* More than two have begun since: so the one before the last has succeeded. */
static bool has_renewed(void *before)
{
    return renewals() > *(const uint64_t *)before + 2;
}

/* Somebody has taken one key everywhere. */
START_TEST(the_loss_of_one_key_is_the_loss_of_the_set)
{
    struct record *record = record_of(0, rig.client, "abc");

    acquire_renewed_often(record, 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost_part, 1);
    ck_assert_int_eq(record->others_ns, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
    if (_i) {
        release(record, REDLOCK_LOST);
    } else {
        rig_do_all(&rig, "DEL", "b", NULL);
        acquire(record, REDLOCK_FOREVER);
    }
    ck_assert_uint_eq(record->lost, 1);
}
END_TEST

/* One after the other is lost, and the set says so once. */
START_TEST(what_is_left_of_a_set_can_be_kept_until_it_is_released)
{
    struct record *record = record_of(0, rig.client, "abc");
    const struct redlock_lock *rest = redlock_set_lock(record->set, 0), *next = redlock_set_lock(record->set, 2);
    uint64_t before;

    ck_assert_int_eq(redlock_set_keep_rest(record->set, 1), 0);
    acquire_renewed_often(record, 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, has_lost, record, "the loss alarm");
    ck_assert_uint_eq(record->lost_part, 1);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_LOST);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_set_extend(record->set, 0, on_end, record), REDLOCK_E_NOT_HELD);
    rig_do_all(&rig, "SET", "c", "somebody", NULL);
    rig_wait(&rig, is_lost, (void *)(uintptr_t)next, "the loss of another key");
    before = renewals();
    rig_wait(&rig, has_renewed, &before, "renewals of the rest");
    ck_assert_uint_eq(record->lost, 1);
    ck_assert_int_gt(redlock_remaining_ns(rest), 0);
    ck_assert_uint_ge(masters_count_key(rig.masters, "a"), 2);
    if (_i) {
        release(record, REDLOCK_LOST);
        rig_wait_absent(&rig, "a");
    } else {
        rig_do_all(&rig, "DEL", "b", "c", NULL);
        acquire(record, REDLOCK_FOREVER);
    }
    ck_assert_uint_eq(record->lost, 1);
}
END_TEST

START_TEST(a_key_that_is_lost_while_another_is_awaited_is_acquired_anew)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 10000);
    struct record *record = record_of(0, other, "abc");
    struct redlock_acquire_options request = renewed_often(REDLOCK_FOREVER);

    start_with(record, &request);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    rig_wait_count(&rig, "a", 5);
    rig_do_all(&rig, "SET", "a", "somebody", NULL);
    rig_wait_count(&rig, "redlock:queue:a", 5);
    rig_wait_absent(&rig, "redlock:queue:b");
    rig_do_all(&rig, "DEL", "a", NULL);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    wait_end(record, REDLOCK_OK);
    ck_assert_uint_eq(record->lost, 0);
    release(record, REDLOCK_OK);
}
END_TEST

START_TEST(a_minority_of_dead_masters_does_not_matter)
{
    struct record *record = record_of(0, rig.client, "ab");

    masters_kill(rig.masters, 0);
    masters_kill(rig.masters, 3);
    acquire(record, 5000);
    release(record, REDLOCK_OK);
    masters_kill(rig.masters, 1);
    start(record, 10000, 500);
    wait_end(record, REDLOCK_DEADLINE);
    ck_assert_int_eq(record->result.cause, REDLOCK_NO_QUORUM);
}
END_TEST

/* --- Transfer ----------------------------------------------------------------------------------------------------- */

static char text[REDLOCK_MAX_SET_EXPORT_BYTES];

/* Keys "a" and "b", and two permits of "s". */
static struct record *record_of_four(size_t i, struct redlock_client *client)
{
    struct record *record = record_of(i, client, "ba");

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 3), 0);
    return record;
}

static void adopt(struct record *record, int status)
{
    ck_assert_int_eq(redlock_set_adopt(record->set, NULL, text), status);
    ck_assert_int_eq(redlock_set_state(record->set), status == 0 ? REDLOCK_STATE_HELD : REDLOCK_STATE_IDLE);
}

START_TEST(another_handle_goes_on_with_every_key)
{
    struct redlock_acquire_options request = rig_request(10000, 20000);
    struct record *record = record_of_four(0, rig.client);
    struct record *next = record_of_four(1, rig_new_client(&rig));
    char tokens[4][REDLOCK_MAX_TOKEN_BYTES + 1];
    uint64_t fences[4];
    int32_t slots[4];

    request.fenced = 1;
    request.own_token = 1;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), 0);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), REDLOCK_E_BUSY);
    wait_end(record, REDLOCK_OK);
    for (size_t i = 0; i < 4; i++) {
        const struct redlock_lock *lock = redlock_set_lock(record->set, i);

        snprintf(tokens[i], sizeof tokens[i], "%s", redlock_lock_token(lock));
        fences[i] = redlock_lock_fence(lock);
        slots[i] = redlock_lock_slot(lock);
    }
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), REDLOCK_E_NOT_HELD);
    adopt(next, 0);
    ck_assert_int_gt(redlock_set_remaining_ns(next->set), 0);
    for (size_t i = 0; i < 4; i++) {
        const struct redlock_lock *lock = redlock_set_lock(next->set, i);

        ck_assert_str_eq(redlock_lock_token(lock), tokens[i]);
        ck_assert_uint_eq(redlock_lock_fence(lock), fences[i]);
        ck_assert_int_eq(redlock_lock_slot(lock), slots[i]);
    }
    ck_assert_int_eq(redlock_set_adopt(next->set, NULL, text), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_set_extend(next->set, 30000, on_end, next), 0);
    wait_end(next, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ms(next->set), 20000);
    release(next, REDLOCK_OK);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    acquire(record, 0);
}
END_TEST

/* The loss of an adopted key is the loss of the set. */
START_TEST(an_adopted_set_has_its_alarms)
{
    struct redlock_acquire_options request = renewed_often(0);
    struct record *record = record_of(0, rig.client, "ab");
    struct record *next = record_of(1, rig.client, "ab");

    expect(record, &request, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), 0);
    ck_assert_int_eq(redlock_set_adopt(next->set, &request, text), 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, has_lost, next, "the loss alarm");
    ck_assert_uint_eq(next->lost_part, 1);
    rig_wait_absent(&rig, "a");
    ck_assert_uint_eq(record->lost, 0);
}
END_TEST

START_TEST(a_text_that_does_not_fit_changes_nothing)
{
    struct record *record = record_of_four(0, rig.client);
    struct record *fewer = record_of(1, rig.client, "ab");
    struct record *others = record_of(2, rig.client, "abcd");
    char small[100] = "before";
    char *last;

    acquire(record, 20000);
    ck_assert_int_eq(redlock_set_export(record->set, small, sizeof small), REDLOCK_E_LIMIT);
    ck_assert_str_eq(small, "before");
    ck_assert_int_eq(redlock_set_export(record->set, NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), 0);
    adopt(fewer, REDLOCK_E_EXPORT);
    adopt(others, REDLOCK_E_EXPORT);
    ck_assert_int_eq(redlock_set_adopt(record->set, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_adopt(record->set, NULL, ""), REDLOCK_E_EXPORT);
    last = strrchr(text, ' ');
    *last = '\0';
    adopt(record, REDLOCK_E_EXPORT); /* one key is missing */
    *last = ' ';
    last[20] ^= 1;
    adopt(record, REDLOCK_E_EXPORT); /* the last one is damaged */
    last[20] ^= 1;
    adopt(record, 0);
    release(record, REDLOCK_OK);
}
END_TEST

/* Two texts of one permit would be two holds of it. */
START_TEST(a_permit_is_not_adopted_twice)
{
    struct record *record = record_of(0, rig.client, "");
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *permit;
    struct outcome outcome = {0};
    size_t length;

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 3), 0);
    ck_assert_int_eq(redlock_permit_create(rig.client, "s", 1, 3, &permit), 0);
    outcome = rig_acquire(&rig, permit, &request);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_export(permit, text, REDLOCK_MAX_EXPORT_BYTES), 0);
    length = strlen(text);
    text[length] = ' ';
    memcpy(text + length + 1, text, length);
    text[2 * length + 1] = '\0';
    adopt(record, REDLOCK_E_EXPORT);
}
END_TEST

/* The text of a set is made of those of its locks. */
START_TEST(a_set_with_a_key_whose_time_is_over_is_given_back)
{
    struct redlock_acquire_options request = rig_request(300, 0);
    struct record *record = record_of(0, rig.client, "ab");
    struct redlock_lock *shorter;
    struct redlock_lock *longer = rig_hold(&rig, "a", 10000);
    size_t length;

    request.renew_ms = REDLOCK_NO_RENEWAL;
    shorter = rig_hold_as(&rig, "b", &request);
    ck_assert_int_eq(redlock_lock_export(longer, text, REDLOCK_MAX_EXPORT_BYTES), 0);
    length = strlen(text);
    text[length] = ' ';
    ck_assert_int_eq(redlock_lock_export(shorter, text + length + 1, REDLOCK_MAX_EXPORT_BYTES), 0);
    rig_run_for(&rig, 400);
    adopt(record, REDLOCK_E_NOT_HELD);
    rig_wait_absent(&rig, "a");
    acquire(record, 0);
}
END_TEST

START_TEST(a_detached_set_stays_until_its_tokens_are_released)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct record *record = record_of(0, rig.client, "ab");
    struct outcome outcome = {0};
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    ck_assert_int_eq(redlock_set_detach(NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_NOT_HELD);
    request.own_token = 1;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), 0);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_BUSY);
    wait_end(record, REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lock_token(redlock_set_lock(record->set, 0)));
    ck_assert_int_eq(redlock_set_detach(record->set), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    redlock_set_destroy(record->set);
    ck_assert_int_eq(redlock_release_token(rig_new_lock(rig.client, "a"), token, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    rig_wait_absent(&rig, "a");
    rig_wait_count(&rig, "b", 5);
}
END_TEST

/* --- Bad input ---------------------------------------------------------------------------------------------------- */

START_TEST(keys_are_checked_and_nothing_is_lost)
{
    struct record *record = record_of(0, rig.client, "a");
    struct redlock_set *set = record->set;
    char key[2] = {'b', 'x'};

    ck_assert_int_eq(redlock_set_acquire(set, NULL, on_end, record), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add(set, "a", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add(set, "", 0), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_set_add(set, NULL, 3), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_add(NULL, "a", 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_add(set, "redlock:queue:x", 15), REDLOCK_E_KEY_RESERVED);
    ck_assert_int_eq(redlock_set_add_mode(set, "m", 1, (enum redlock_mode)7), REDLOCK_E_MODE);
    ck_assert_int_eq(redlock_set_add_mode(set, "a", 1, REDLOCK_SHARED), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permit(set, "p", 1, 0), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_set_add_permit(set, "a", 1, 2), REDLOCK_E_SET_KEYS);
    ck_assert_uint_eq(redlock_set_size(set), 1);
    for (; redlock_set_size(set) < REDLOCK_MAX_SET_KEYS; key[1]++)
        ck_assert_int_eq(redlock_set_add(set, key, 2), 0);
    ck_assert_int_eq(redlock_set_add(set, "z", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_release(set, NULL, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_set_extend(set, 0, on_end, record), REDLOCK_E_NOT_HELD);
    acquire(record, 0);
    ck_assert_int_eq(redlock_set_add(set, "z", 1), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_set_acquire(set, NULL, on_end, record), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_set_extend(set, UINT32_MAX, on_end, record), REDLOCK_E_TTL);
    release(record, REDLOCK_OK);
}
END_TEST

START_TEST(options_are_checked)
{
    struct redlock_acquire_options request = rig_request(10000, 1000);
    struct record *record = record_of(0, rig.client, "ab");

    ck_assert_int_eq(redlock_set_acquire(record->set, &request, NULL, NULL), REDLOCK_E_ARGUMENT);
    request.max_attempts = 3;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), REDLOCK_E_RETRY);
    request.max_attempts = 0;
    request.renew_ms = REDLOCK_NO_RENEWAL;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), REDLOCK_E_RENEWAL);
    request.renew_ms = 0;
    request.ttl_ms = UINT32_MAX;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, on_end, record), REDLOCK_E_TTL);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    acquire(record, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("set");
    TCase *free_keys = suite_add_case(suite, "free", open_five, close_rig);
    TCase *permits = suite_add_case(suite, "several permits", open_five, close_rig);
    TCase *held_keys = suite_add_case(suite, "held", open_five, close_rig);
    TCase *ends = suite_add_case(suite, "ends", open_five, close_rig);
    TCase *losses = suite_add_case(suite, "losses", open_five, close_rig);
    TCase *transfer = suite_add_case(suite, "transfer", open_five, close_rig);
    TCase *input = suite_add_case(suite, "input", open_five, close_rig);

    tcase_add_test(free_keys, a_set_that_is_free_takes_one_command_for_each_key_and_master);
    tcase_add_test(free_keys, its_locks_stand_in_the_order_of_their_keys);
    tcase_add_test(free_keys, each_key_has_a_fencing_token_of_its_own);
    tcase_add_test(free_keys, parts_are_keys_in_a_mode_and_permits_of_semaphores);
    tcase_add_test(free_keys, an_extension_is_one_of_every_key);
    tcase_add_test(free_keys, a_release_overtakes_an_extension);
    tcase_add_test(permits, several_permits_are_held_together_in_different_slots);
    tcase_add_test(permits, too_few_free_permits_are_none);
    tcase_add_loop_test(permits, rivals_for_several_permits_are_served_one_after_the_other, 0, 2);
    tcase_add_test(permits, several_permits_are_neighbours_in_the_order_of_the_keys);
    tcase_add_test(permits, several_permits_that_cannot_be_leave_the_set_as_it_was);
    tcase_add_test(permits, a_set_does_not_have_a_permit_and_the_key_of_its_slot);
    tcase_add_test(permits, a_set_may_have_permits_alone);
    tcase_add_test(permits, all_permits_are_acquired_in_one_attempt_where_they_are_free);
    tcase_add_test(permits, all_that_are_left_are_found);
    tcase_add_test(permits, two_sets_of_most_permits_are_served_one_after_the_other);
    tcase_add_test(held_keys, one_attempt_at_a_set_that_is_held_in_part_leaves_nothing);
    tcase_add_test(held_keys, the_smaller_keys_are_kept_and_the_larger_ones_are_free_while_one_is_awaited);
    tcase_add_test(held_keys, a_set_whose_time_is_up_leaves_nothing);
    tcase_add_test(held_keys, sets_that_overlap_in_a_ring_are_all_served);
    tcase_add_loop_test(ends, a_canceled_acquisition_leaves_nothing, 0, 2);
    tcase_add_loop_test(ends, a_set_that_is_destroyed_calls_back_inside_and_releases, 0, 2);
    tcase_add_test(ends, a_set_may_be_destroyed_in_its_callback);
    tcase_add_test(ends, a_client_that_is_destroyed_takes_its_sets_with_it);
    tcase_add_test(ends, a_client_that_is_shut_down_releases_its_sets);
    tcase_add_loop_test(losses, the_loss_of_one_key_is_the_loss_of_the_set, 0, 2);
    tcase_add_loop_test(losses, what_is_left_of_a_set_can_be_kept_until_it_is_released, 0, 2);
    tcase_add_test(losses, a_key_that_is_lost_while_another_is_awaited_is_acquired_anew);
    tcase_add_test(losses, a_minority_of_dead_masters_does_not_matter);
    tcase_add_test(transfer, another_handle_goes_on_with_every_key);
    tcase_add_test(transfer, an_adopted_set_has_its_alarms);
    tcase_add_test(transfer, a_text_that_does_not_fit_changes_nothing);
    tcase_add_test(transfer, a_permit_is_not_adopted_twice);
    tcase_add_test(transfer, a_set_with_a_key_whose_time_is_over_is_given_back);
    tcase_add_test(transfer, a_detached_set_stays_until_its_tokens_are_released);
    tcase_add_test(input, keys_are_checked_and_nothing_is_lost);
    tcase_add_test(input, options_are_checked);
    return suite_run_with_server(suite);
}
