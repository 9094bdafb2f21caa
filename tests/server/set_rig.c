#include "set_rig.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include <redlock/semaphore.h>

struct record set_records[SET_RECORDS];

void set_open(void)
{
    memset(set_records, 0, sizeof set_records);
    rig_open(&rig, 5);
}

void set_close(void)
{
    rig_close(&rig);
}

void set_on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
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

struct record *set_record(size_t i, struct redlock_client *client, const char *keys)
{
    struct record *record = &set_records[i];

    ck_assert_int_eq(redlock_set_create(client, &record->set), 0);
    for (const char *key = keys; *key; key++)
        ck_assert_int_eq(redlock_set_add(record->set, key, 1), 0);
    ck_assert_int_eq(redlock_set_watch(record->set, on_alarm, record), 0);
    return record;
}

struct record *set_record_of_permits(size_t i, struct redlock_client *client, uint32_t n, uint32_t limit)
{
    struct record *record = set_record(i, client, "");

    ck_assert_int_eq(redlock_set_add_permits(record->set, "s", 1, n, limit), 0);
    return record;
}

void set_start_with(struct record *record, const struct redlock_acquire_options *request)
{
    record->ended = 0;
    ck_assert_int_eq(redlock_set_acquire(record->set, request, set_on_end, record), 0);
    ck_assert_uint_eq(record->ended, 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_ACQUIRING);
}

void set_start(struct record *record, uint32_t ttl_ms, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, timeout_ms);

    set_start_with(record, &request);
}

struct redlock_acquire_options set_renewed_often(int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(20000, timeout_ms);

    request.renew_ms = 200;
    return request;
}

bool set_has_ended(void *argument)
{
    return ((const struct record *)argument)->ended > 0;
}

void set_wait_end(struct record *record, int status)
{
    rig_wait(&rig, set_has_ended, record, "the end of a set's operation");
    ck_assert_int_eq(record->result.status, status);
    ck_assert_uint_eq(record->ended, 1);
}

void set_expect(struct record *record, const struct redlock_acquire_options *request, int status)
{
    int again = RIG_LATE_ATTEMPTS;

    do {
        set_start_with(record, request);
        rig_wait(&rig, set_has_ended, record, "the end of an acquisition");
    } while (record->result.status == REDLOCK_NO_QUORUM && again-- > 0);
    set_wait_end(record, status);
}

void set_expect_held(struct record *record)
{
    struct redlock_acquire_options request = rig_request(10000, 0);

    set_expect(record, &request, REDLOCK_HELD);
}

void set_acquire_renewed_often(struct record *record, int64_t timeout_ms)
{
    struct redlock_acquire_options request = set_renewed_often(timeout_ms);

    set_expect(record, &request, REDLOCK_OK);
}

void set_acquire(struct record *record, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(10000, timeout_ms);

    set_expect(record, &request, REDLOCK_OK);
    ck_assert_int_gt(redlock_set_remaining_ns(record->set), 0);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
}

void set_release(struct record *record, int status)
{
    record->ended = 0;
    ck_assert_int_eq(redlock_set_release(record->set, set_on_end, record), 0);
    ck_assert_int_eq(redlock_set_remaining_ns(record->set), 0);
    set_wait_end(record, status);
    ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_IDLE);
}

void set_wait_votes(struct redlock_client *client, const char *keys)
{
    char words[64];

    snprintf(words, sizeof words, "%s", keys);
    for (const char *key = strtok(words, " "); key; key = strtok(NULL, " "))
        rig_wait_count(&rig, key, rig.n);
    rig_wait_quiet(&rig, client);
}

bool set_has_lost(void *record)
{
    return ((const struct record *)record)->lost > 0;
}

uint32_t set_slots(const struct record *record)
{
    uint32_t slots = 0;

    for (size_t i = 0; i < redlock_set_size(record->set); i++)
        slots |= UINT32_C(1) << redlock_lock_slot(redlock_set_lock(record->set, i));
    return slots;
}
