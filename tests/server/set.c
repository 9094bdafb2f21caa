/* Sets of locks: all keys or none, in one round trip where they are free, in ascending order where they are not. */
#include <string.h>

#include <redlock/semaphore.h>

#include "set_rig.h"
#include "suite.h"
#include "watch.h"

/* --- Free keys ---------------------------------------------------------------------------------------------------- */

static uint64_t commands(void)
{
    return watch_stats(rig.client).commands;
}

GROUP(free_keys, "free", set_open, set_close)

TEST(free_keys, a_set_that_is_free_takes_one_command_for_each_key_and_master)
{
    struct record *record = set_record(0, rig.client, "cab");
    uint64_t before = commands();

    set_acquire(record, 0);
    ck_assert_uint_eq(watch_stats(rig.client).set_acquired, 1);
    rig_wait_quiet(&rig, rig.client);
    rig_wait_count(&rig, "a", 5);
    rig_wait_count(&rig, "b", 5);
    rig_wait_count(&rig, "c", 5);
    ck_assert_uint_le(commands() - before, 3 * 5 * 2); /* epoch checks among them */
    set_release(record, REDLOCK_OK);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    rig_wait_absent(&rig, "c");
}

TEST(free_keys, its_locks_stand_in_the_order_of_their_keys)
{
    struct record *record = set_record(0, rig.client, "cab");
    size_t size;

    ck_assert_int_eq(redlock_set_add(record->set, "aa", 2), 0);
    ck_assert_uint_eq(redlock_set_size(record->set), 4);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 0), &size), "a", 1);
    ck_assert_uint_eq(size, 1);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 1), &size), "aa", 2);
    ck_assert_mem_eq(redlock_lock_key(redlock_set_lock(record->set, 3), &size), "c", 1);
    ck_assert_ptr_null(redlock_set_lock(record->set, 4));
}

TEST(free_keys, each_key_has_a_fencing_token_of_its_own)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct record *record = set_record(0, rig.client, "ab");
    uint64_t former;

    request.fenced = 1;
    set_expect(record, &request, REDLOCK_OK);
    former = redlock_lock_fence(redlock_set_lock(record->set, 1));
    ck_assert_uint_gt(former, 0);
    ck_assert_uint_gt(redlock_lock_fence(redlock_set_lock(record->set, 0)), 0);
    set_release(record, REDLOCK_OK);
    set_expect(record, &request, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fence(redlock_set_lock(record->set, 1)), former);
}

TEST(free_keys, an_extension_is_one_of_every_key)
{
    struct record *record = set_record(0, rig.client, "ab");

    set_acquire(record, 0);
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 30000, set_on_end, record), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_EXTENDING);
    ck_assert_int_eq(redlock_set_extend(record->set, 30000, set_on_end, record), REDLOCK_E_BUSY);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_int_eq(record->result.op, REDLOCK_OP_EXTEND);
    ck_assert_int_gt(redlock_set_remaining_ms(record->set), 20000);
    set_release(record, REDLOCK_OK);
}

TEST(free_keys, a_release_overtakes_an_extension)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct record *extension = &set_records[1];

    set_acquire(record, 0);
    extension->set = record->set;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, extension), 0);
    set_release(record, REDLOCK_OK);
    ck_assert_uint_eq(extension->ended, 1);
    ck_assert_int_eq(extension->result.status, REDLOCK_CANCELED);
}

/* Two permits of "s", and readers of "a": a third set is refused its permit, and a writer its key. */
TEST(free_keys, parts_are_keys_in_a_mode_and_permits_of_semaphores)
{
    struct redlock_client *others[2] = {rig_new_client(&rig), rig_new_client(&rig)};
    struct redlock_lock *writer = rig_new_lock(rig.client, "a");
    struct redlock_acquire_options request = rig_request(10000, 0);

    for (size_t i = 0; i < 3; i++) {
        struct record *record = set_record(i, i ? others[i - 1] : rig.client, "");

        ck_assert_int_eq(redlock_set_add_permit(record->set, "s", 1, 2), 0);
        ck_assert_int_eq(redlock_set_add_mode(record->set, "a", 1, REDLOCK_SHARED), 0);
        if (i < 2)
            set_acquire(record, 20000);
    }
    ck_assert_int_eq(redlock_lock_mode(redlock_set_lock(set_records[0].set, 0)), REDLOCK_SHARED);
    ck_assert_int_ne(redlock_lock_slot(redlock_set_lock(set_records[0].set, 1)),
                     redlock_lock_slot(redlock_set_lock(set_records[1].set, 1)));
    set_expect_held(&set_records[2]);
    ck_assert_uint_eq(set_records[2].result.part, 1);
    rig_expect_acquire(&rig, writer, &request, REDLOCK_HELD);
    set_release(&set_records[0], REDLOCK_OK);
    set_acquire(&set_records[2], 20000);
}

/* --- Held keys ---------------------------------------------------------------------------------------------------- */

GROUP(held_keys, "held", set_open, set_close)

TEST(held_keys, one_attempt_at_a_set_that_is_held_in_part_leaves_nothing)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = set_record(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    set_expect_held(record);
    ck_assert_uint_eq(record->result.part, 1);
    ck_assert_uint_eq(record->result.n_keys, 3);
    ck_assert_str_ne(record->result.why, "");
    ck_assert_uint_eq(watch_stats(other).set_acquires, 1);
    ck_assert_uint_eq(watch_stats(other).set_acquired, 0);
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
}

TEST(held_keys, the_smaller_keys_are_kept_and_the_larger_ones_are_free_while_one_is_awaited)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 10000);
    struct record *record = set_record(0, other, "abc");

    set_start(record, 10000, REDLOCK_FOREVER);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    rig_wait_count(&rig, "a", 5);
    rig_wait_absent(&rig, "c");
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
    rig_wait_count(&rig, "c", 5);
    set_release(record, REDLOCK_OK);
}

TEST(held_keys, a_set_whose_time_is_up_leaves_nothing)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = set_record(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    for (int i = 0; i < RIG_LATE_ATTEMPTS && record->result.cause != REDLOCK_HELD; i++) {
        set_start(record, 10000, 300);
        set_wait_end(record, REDLOCK_DEADLINE);
    }
    ck_assert_int_eq(record->result.cause, REDLOCK_HELD);
    ck_assert_uint_eq(record->result.part, 1);
    ck_assert(record->had_evidence);
    ck_assert_int_ge(record->result.elapsed_us, 290000);
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "redlock:queue:b");
}

/* Each call is refused, and the acquisition goes on as if nothing had been asked for. */
TEST(held_keys, a_set_that_is_being_acquired_takes_no_other_call)
{
    static char text[REDLOCK_MAX_SET_EXPORT_BYTES];
    struct redlock_client *other = rig_new_client(&rig);
    struct redlock_lock *holder = rig_hold(&rig, "b", 10000);
    struct record *record = set_record(0, other, "ab");

    set_start(record, 10000, REDLOCK_FOREVER);
    rig_wait_count(&rig, "a", 5);
    rig_wait_count(&rig, "redlock:queue:b", 5);
    ck_assert_int_eq(redlock_set_acquire(record->set, NULL, set_on_end, record), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_add(record->set, "c", 1), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 2), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_release(record->set, set_on_end, record), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_ACQUIRING);
    ck_assert_uint_eq(masters_count_key(rig.masters, "a"), 5);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_uint_eq(record->result.n_keys, 2);
    set_release(record, REDLOCK_OK);
}

/* Whoever is served releases at once; every order of arrival ends. */
TEST(held_keys, sets_that_overlap_in_a_ring_are_all_served)
{
    static const char *const keys[SET_RECORDS] = {"ab", "cb", "ca", "bca"};

    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < SET_RECORDS; i++) {
            if (round == 0)
                set_record(i, i % 2 ? rig.client : rig_new_client(&rig), keys[i]);
            set_start(&set_records[i], 10000, REDLOCK_FOREVER);
        }
        for (size_t served = 0; served < SET_RECORDS; served++) {
            struct record *next = NULL;

            for (size_t i = 0; i < SET_RECORDS && !next; i++) {
                if (redlock_set_state(set_records[i].set) == REDLOCK_STATE_ACQUIRING && !set_records[i].ended)
                    next = &set_records[i];
            }
            for (size_t i = 0; i < SET_RECORDS; i++) {
                if (redlock_set_state(set_records[i].set) == REDLOCK_STATE_HELD)
                    next = &set_records[i];
            }
            ck_assert_ptr_nonnull(next);
            while (redlock_set_state(next->set) != REDLOCK_STATE_HELD) {
                event_base_loop(rig.base, EVLOOP_ONCE);
                for (size_t i = 0; i < SET_RECORDS; i++) {
                    if (redlock_set_state(set_records[i].set) == REDLOCK_STATE_HELD)
                        next = &set_records[i];
                }
            }
            ck_assert_int_eq(next->result.status, REDLOCK_OK);
            set_release(next, REDLOCK_OK);
        }
    }
}

/* --- The end of a set --------------------------------------------------------------------------------------------- */

GROUP(ends, "ends", set_open, set_close)

TESTS(ends, a_canceled_acquisition_leaves_nothing, 0, 2)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *record = set_record(0, other, "abc");

    rig_hold(&rig, "b", 10000);
    ck_assert_int_eq(redlock_set_cancel(record->set), REDLOCK_E_NOTHING_TO_CANCEL);
    set_start(record, 10000, REDLOCK_FOREVER);
    if (_i)
        rig_wait_count(&rig, "redlock:queue:b", 5);
    ck_assert_int_eq(redlock_set_cancel(record->set), 0);
    ck_assert_uint_eq(record->ended, 0);
    set_wait_end(record, REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, other);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "redlock:queue:b");
}

TESTS(ends, a_set_that_is_destroyed_calls_back_inside_and_releases, 0, 3)
{
    struct record *record = set_record(0, rig.client, "ab");

    set_start(record, 10000, REDLOCK_FOREVER);
    if (_i)
        set_wait_end(record, REDLOCK_OK);
    if (_i == 2) {
        record->ended = 0;
        ck_assert_int_eq(redlock_set_release(record->set, set_on_end, record), 0);
    }
    redlock_set_destroy(record->set);
    ck_assert_uint_eq(record->ended, 1);
    ck_assert_int_eq(record->result.status, _i == 1 ? REDLOCK_OK : REDLOCK_CANCELED);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
}

TEST(ends, a_set_may_be_destroyed_in_its_callback)
{
    struct record *record = set_record(0, rig.client, "ab");

    record->destroy = true;
    set_start(record, 10000, REDLOCK_FOREVER);
    set_wait_end(record, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, "a");
}

TEST(ends, a_client_that_is_destroyed_takes_its_sets_with_it)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct record *held = set_record(0, other, "ab");
    struct record *waiting = set_record(1, other, "bc");

    set_acquire(held, 0);
    set_start(waiting, 10000, REDLOCK_FOREVER);
    redlock_client_destroy(other);
    ck_assert_int_eq(waiting->result.status, REDLOCK_CANCELED);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "c");
}

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool is_not_one(void *argument)
{
    return *(const int *)argument != 1;
}

TEST(ends, a_client_that_is_shut_down_releases_its_sets)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct record *held = set_record(0, other, "ab");
    struct record *waiting = set_record(1, other, "bc");
    int status = 1;

    set_acquire(held, 0);
    set_start(waiting, 10000, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_client_shutdown(other, 10000, on_shut_down, &status), 0);
    rig_wait(&rig, is_not_one, &status, "the end of the client");
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(waiting->result.status, REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_set_remaining_ns(held->set), 0);
    ck_assert_int_eq(redlock_set_acquire(waiting->set, NULL, set_on_end, waiting), REDLOCK_E_CLOSING);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
}

TESTS(ends, a_set_is_not_held_while_its_client_shuts_down_nor_afterwards, 0, 2)
{
    static char text[REDLOCK_MAX_SET_EXPORT_BYTES];
    struct redlock_client *other = rig_further_client(&rig);
    struct record *record = set_record(0, other, "ab");
    int status = 1;

    set_acquire(record, 0);
    if (_i == 1)
        ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), 0);
    ck_assert_int_eq(redlock_client_shutdown(other, 10000, on_shut_down, &status), 0);
    ck_assert_int_eq(redlock_set_detach(record->set), _i == 1 ? REDLOCK_E_BUSY : REDLOCK_E_NOT_HELD);
    rig_wait(&rig, is_not_one, &status, "the end of the client");
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_set_release(record->set, NULL, NULL), REDLOCK_E_NOT_HELD);
}

/* The lock's callback comes first: the answers about the keys have arrived with its own, and wait to be told. */
static void shut_down_inside(struct redlock_lock *lock, const struct redlock_result *result, void *status)
{
    ck_assert_int_eq(result->status, REDLOCK_OK);
    ck_assert_int_eq(redlock_client_shutdown(redlock_lock_client(lock), 10000, on_shut_down, status), 0);
}

TESTS(ends, an_acquisition_that_is_decided_when_its_client_shuts_down_is_canceled, 0, 2)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct record *record = set_record(0, other, "bc");
    int status = 1;

    if (_i)
        rig_hold(&rig, "c", 10000);
    ck_assert_int_eq(redlock_acquire(rig_new_lock(other, "a"), NULL, shut_down_inside, &status), 0);
    set_start(record, 10000, REDLOCK_FOREVER);
    set_wait_end(record, REDLOCK_CANCELED);
    rig_wait(&rig, is_not_one, &status, "the end of the client");
    ck_assert_int_eq(status, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    rig_wait_absent(&rig, "b");
}

/* --- Bad input ---------------------------------------------------------------------------------------------------- */

GROUP(input, "input", set_open, set_close)

TEST(input, keys_are_checked_and_nothing_is_lost)
{
    struct record *record = set_record(0, rig.client, "a");
    struct redlock_set *set = record->set;
    char key[2] = {'b', 'x'};

    ck_assert_int_eq(redlock_set_acquire(set, NULL, set_on_end, record), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add(set, "a", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add(set, "", 0), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_set_add(set, NULL, 3), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_add(NULL, "a", 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_add(set, "redlock:queue:x", 15), REDLOCK_E_KEY_RESERVED);
    ck_assert_int_eq(redlock_set_add_mode(set, "m", 1, (enum redlock_mode)7), REDLOCK_E_MODE);
    ck_assert_int_eq(redlock_set_add_mode(NULL, "m", 1, (enum redlock_mode)7), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_add_mode(set, "a", 1, REDLOCK_SHARED), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_add_permit(set, "p", 1, 0), REDLOCK_E_PERMITS);
    ck_assert_int_eq(redlock_set_add_permit(set, "a", 1, 2), REDLOCK_E_SET_KEYS);
    ck_assert_uint_eq(redlock_set_size(set), 1);
    for (; redlock_set_size(set) < REDLOCK_MAX_SET_KEYS; key[1]++)
        ck_assert_int_eq(redlock_set_add(set, key, 2), 0);
    ck_assert_int_eq(redlock_set_add(set, "z", 1), REDLOCK_E_SET_KEYS);
    ck_assert_int_eq(redlock_set_release(set, NULL, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_set_extend(set, 0, set_on_end, record), REDLOCK_E_NOT_HELD);
    set_acquire(record, 0);
    ck_assert_int_eq(redlock_set_add(set, "z", 1), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_set_acquire(set, NULL, set_on_end, record), REDLOCK_E_ALREADY_HELD);
    ck_assert_int_eq(redlock_set_extend(set, UINT32_MAX, set_on_end, record), REDLOCK_E_TTL);
    set_release(record, REDLOCK_OK);
}

TEST(input, options_are_checked)
{
    struct redlock_acquire_options request = rig_request(10000, 1000);
    struct record *record = set_record(0, rig.client, "ab");

    ck_assert_int_eq(redlock_set_acquire(record->set, &request, NULL, NULL), REDLOCK_E_ARGUMENT);
    request.max_attempts = 3;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, set_on_end, record), REDLOCK_E_RETRY);
    request.max_attempts = 0;
    request.renew_ms = REDLOCK_NO_RENEWAL;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, set_on_end, record), REDLOCK_E_RENEWAL);
    request.renew_ms = 0;
    request.ttl_ms = UINT32_MAX;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, set_on_end, record), REDLOCK_E_TTL);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    set_acquire(record, 0);
}

SUITE_WITH_SERVER("set")
