/* A set goes on in another handle: it is exported and adopted, or detached and released by its tokens. */
#include <stdio.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "set_rig.h"
#include "suite.h"

static char text[REDLOCK_MAX_SET_EXPORT_BYTES];

/* Keys "a" and "b", and two permits of "s". */
static struct record *record_of_four(size_t i, struct redlock_client *client)
{
    struct record *record = set_record(i, client, "ba");

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 3), 0);
    return record;
}

static void adopt(struct record *record, int status)
{
    ck_assert_int_eq(redlock_set_adopt(record->set, NULL, text), status);
    ck_assert_int_eq(redlock_set_state(record->set), status == 0 ? REDLOCK_STATE_HELD : REDLOCK_STATE_IDLE);
}

GROUP(transfer, "transfer", set_open, set_close)

TEST(transfer, another_handle_goes_on_with_every_key)
{
    struct redlock_acquire_options request = rig_request(10000, 20000);
    struct record *record = record_of_four(0, rig.client);
    struct record *next = record_of_four(1, rig_new_client(&rig));
    char tokens[4][REDLOCK_MAX_TOKEN_BYTES + 1];
    uint64_t fences[4];
    int32_t slots[4];

    request.fenced = 1;
    request.own_token = 1;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, set_on_end, record), 0);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), REDLOCK_E_BUSY);
    set_wait_end(record, REDLOCK_OK);
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
    ck_assert_int_eq(redlock_set_extend(next->set, 30000, set_on_end, next), 0);
    set_wait_end(next, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ms(next->set), 20000);
    set_release(next, REDLOCK_OK);
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    set_acquire(record, 0);
}

/* The loss of an adopted key is the loss of the set. */
TEST(transfer, an_adopted_set_has_its_alarms)
{
    struct redlock_acquire_options request = set_renewed_often(0);
    struct record *record = set_record(0, rig.client, "ab");
    struct record *next = set_record(1, rig.client, "ab");

    set_expect(record, &request, REDLOCK_OK);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), 0);
    ck_assert_int_eq(redlock_set_adopt(next->set, &request, text), 0);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, next, "the loss alarm");
    ck_assert_uint_eq(next->lost_part, 1);
    rig_wait_absent(&rig, "a");
    ck_assert_uint_eq(record->lost, 0);
}

TEST(transfer, a_text_that_does_not_fit_changes_nothing)
{
    struct record *record = record_of_four(0, rig.client);
    struct record *fewer = set_record(1, rig.client, "ab");
    struct record *others = set_record(2, rig.client, "abcd");
    char small[100] = "before";
    char *last;

    set_acquire(record, 20000);
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
    set_release(record, REDLOCK_OK);
}

/* The prefix is part of each key. */
TEST(transfer, a_client_with_another_prefix_does_not_adopt_it)
{
    struct record *record = set_record(0, rig.client, "ab");
    struct record *stranger;

    set_acquire(record, 20000);
    ck_assert_int_eq(redlock_set_export(record->set, text, sizeof text), 0);
    rig.options.key_prefix = "other:";
    rig.options.join = REDLOCK_JOIN_DECLARE;
    stranger = set_record(1, rig_further_client(&rig), "ab");
    adopt(stranger, REDLOCK_E_EXPORT);
    set_acquire(stranger, 20000);
    adopt(record, 0);
    set_release(record, REDLOCK_OK);
}

/* Two texts of one permit would be two holds of it. */
TEST(transfer, a_permit_is_not_adopted_twice)
{
    struct record *record = set_record(0, rig.client, "");
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *permit;
    size_t length;

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, 2, 3), 0);
    ck_assert_int_eq(redlock_permit_create(rig.client, "s", 1, 3, &permit), 0);
    rig_expect_acquire_in_time(&rig, permit, &request, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_export(permit, text, REDLOCK_MAX_EXPORT_BYTES), 0);
    length = strlen(text);
    text[length] = ' ';
    memcpy(text + length + 1, text, length);
    text[2 * length + 1] = '\0';
    adopt(record, REDLOCK_E_EXPORT);
}

/* The text of a set is made of those of its locks. */
TEST(transfer, a_set_with_a_key_whose_time_is_over_is_given_back)
{
    struct redlock_acquire_options request = rig_request(2000, 0);
    struct record *record = set_record(0, rig.client, "ab");
    struct redlock_lock *shorter;
    struct redlock_lock *longer = rig_hold(&rig, "a", 10000);
    size_t length;

    request.renew_ms = REDLOCK_NO_RENEWAL;
    shorter = rig_hold_as(&rig, "b", &request);
    ck_assert_int_eq(redlock_lock_export(longer, text, REDLOCK_MAX_EXPORT_BYTES), 0);
    length = strlen(text);
    text[length] = ' ';
    ck_assert_int_eq(redlock_lock_export(shorter, text + length + 1, REDLOCK_MAX_EXPORT_BYTES), 0);
    rig_wait_absent(&rig, "b");
    adopt(record, REDLOCK_E_NOT_HELD);
    rig_wait_absent(&rig, "a");
    set_acquire(record, 0);
}

/* Puts the texts of two locks together, as that of a set with their keys. */
static void export_both(struct redlock_lock *first, struct redlock_lock *second)
{
    size_t length;

    ck_assert_int_eq(redlock_lock_export(first, text, REDLOCK_MAX_EXPORT_BYTES), 0);
    length = strlen(text);
    text[length] = ' ';
    ck_assert_int_eq(redlock_lock_export(second, text + length + 1, REDLOCK_MAX_EXPORT_BYTES), 0);
}

TEST(transfer, a_set_has_the_least_validity_of_any_key)
{
    struct record *record = set_record(0, rig.client, "abc");
    const uint32_t ttls_ms[3] = {30000, 10000, 20000};
    size_t length = 0;

    for (size_t i = 0; i < 3; i++) {
        const char key[] = {(char)('a' + (int)i), '\0'};
        struct redlock_lock *lock = rig_hold(&rig, key, ttls_ms[i]);

        if (i)
            text[length++] = ' ';
        ck_assert_int_eq(redlock_lock_export(lock, text + length, REDLOCK_MAX_EXPORT_BYTES), 0);
        length += strlen(text + length);
    }
    adopt(record, 0);
    ck_assert_int_gt(redlock_set_remaining_ms(record->set), 0);
    ck_assert_int_le(redlock_set_remaining_ms(record->set), 10000);
}

/* What it has kept of itself is released then, and not before the text is known to be good. */
TEST(transfer, a_lost_set_adopts_another)
{
    struct redlock_acquire_options request = set_renewed_often(0);
    struct record *record = set_record(0, rig.client, "ab");
    const struct redlock_lock *rest = redlock_set_lock(record->set, 0);
    struct redlock_client *other = rig_further_client(&rig);
    struct redlock_lock *locks[2] = {rig_new_lock(other, "a"), rig_new_lock(other, "b")};
    struct redlock_acquire_options reading = rig_request(30000, 0);
    int64_t left_ns;

    request.mode = reading.mode = REDLOCK_SHARED;
    ck_assert_int_eq(redlock_set_keep_rest(record->set, 1), 0);
    set_expect(record, &request, REDLOCK_OK);
    rig_hold_lock(&rig, locks[0], &reading);
    rig_hold_lock(&rig, locks[1], &reading);
    export_both(locks[0], locks[1]);
    rig_do_all(&rig, "DEL", "b", NULL);
    rig_do_all(&rig, "SET", "b", "somebody", NULL);
    rig_wait(&rig, set_has_lost, record, "the loss alarm");
    text[strlen(text) - 1] ^= 1;
    ck_assert_int_eq(redlock_set_adopt(record->set, &reading, text), REDLOCK_E_EXPORT);
    left_ns = redlock_remaining_ns(rest);
    ck_assert_int_gt(left_ns, 0);
    text[strlen(text) - 1] ^= 1;
    ck_assert_int_eq(redlock_set_adopt(record->set, &reading, text), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
}

TEST(transfer, a_detached_set_stays_until_its_tokens_are_released)
{
    struct redlock_acquire_options request = rig_request(10000, 20000);
    struct record *record = set_record(0, rig.client, "ab");
    struct outcome outcome = {0};
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    ck_assert_int_eq(redlock_set_detach(NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_NOT_HELD);
    request.own_token = 1;
    ck_assert_int_eq(redlock_set_acquire(record->set, &request, set_on_end, record), 0);
    ck_assert_int_eq(redlock_set_detach(record->set), REDLOCK_E_BUSY);
    set_wait_end(record, REDLOCK_OK);
    snprintf(token, sizeof token, "%s", redlock_lock_token(redlock_set_lock(record->set, 0)));
    ck_assert_int_eq(redlock_set_detach(record->set), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
    redlock_set_destroy(record->set);
    ck_assert_int_eq(redlock_release_token(rig_new_lock(rig.client, "a"), token, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    rig_wait_absent(&rig, "a");
    rig_wait_count(&rig, "b", 5);
}

SUITE_WITH_SERVER("set transfer")
