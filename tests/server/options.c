/* Options have the defaults of the header, and do what they say. */
#include <string.h>

#include "program_rig.h"

GROUP(plain, "defaults", NULL, NULL)

TEST(plain, the_defaults_are_the_documented_ones)
{
    struct redlock_options options;
    struct redlock_acquire_options request;

    redlock_options_init(&options);
    redlock_acquire_options_init(&request);
    ck_assert_uint_eq(options.size, sizeof options);
    ck_assert_uint_eq(options.quorum, 0);
    ck_assert_uint_eq(options.max_ttl_ms, 60000);
    ck_assert_uint_eq(options.drift_ppm, 10000);
    ck_assert_uint_eq(options.drift_ms, 2);
    ck_assert_uint_eq(options.guard_ms, 0);
    ck_assert_uint_eq(options.node_timeout_ms, 500);
    ck_assert_uint_eq(options.connect_timeout_ms, 1000);
    ck_assert_uint_eq(options.stall_timeout_ms, 5000);
    ck_assert_uint_eq(options.backoff_min_ms, 50);
    ck_assert_uint_eq(options.backoff_max_ms, 1000);
    ck_assert_uint_eq(options.max_claims, 1048576);
    ck_assert_uint_eq(options.max_buffer_bytes, 1 << 20);
    ck_assert_ptr_null(options.client_name);
    ck_assert_uint_eq(request.size, sizeof request);
    ck_assert_uint_eq(request.ttl_ms, 10000);
    ck_assert_int_eq(request.timeout_ms, 0);
    ck_assert_uint_eq(request.max_attempts, 0);
    ck_assert_uint_eq(request.retry_delay_ms, 20);
    ck_assert_uint_eq(request.retry_jitter_ms, 60);
    ck_assert_uint_eq(request.min_validity_ms, 1);
}

GROUP(served, "effects", NULL, rig_end)

TESTS(served, the_default_quorum_is_the_majority, 1, 10)
{
    size_t n = (size_t)_i;
    struct outcome outcome;

    rig_open(&rig, n);
    outcome = rig_expect_acquire(&rig, rig_new_lock(rig.client, "quorum"), NULL, REDLOCK_OK);
    ck_assert_uint_eq(outcome.quorum, n / 2 + 1);
}

/* An operator has declared them new, so that the default profile finds them ready to vote. */
static void start_known_masters(void)
{
    rig_start_masters(&rig, 3, NULL);
    rig.options.profile = REDLOCK_PROFILE_GUARDED;
    redlock_client_destroy(rig_new_client(&rig));
}

TEST(served, no_options_at_all_are_the_defaults)
{
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    start_known_masters();
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, NULL, &rig.client, NULL), 0);
    lock = rig_new_lock(rig.client, "defaults");
    outcome = rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    ck_assert_int_le(outcome.remaining_ms, 10000 - 102);
    ck_assert_int_gt(outcome.remaining_ms, 5000);
}

static void large_drift(struct redlock_options *options)
{
    options->drift_ppm = 200000;
    options->drift_ms = 1000;
}

TEST(served, the_drift_allowance_is_taken_off_the_validity)
{
    struct redlock_lock *lock;

    rig_open_with(&rig, 3, 0, large_drift);
    lock = rig_hold(&rig, "drift", 20000);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000 - 5000);
    ck_assert_int_gt(redlock_remaining_ms(lock), 10000);
    ck_assert_int_gt(rig_pttl(&rig, 0, "drift"), 15001);
}

static void large_guard(struct redlock_options *options)
{
    options->guard_ms = 5000;
}

TEST(served, the_guard_time_is_taken_off_the_validity)
{
    struct redlock_acquire_options request = rig_request(5000, 0);
    struct redlock_lock *lock;

    rig_open_with(&rig, 3, 0, large_guard);
    lock = rig_hold(&rig, "guard", 20000);
    ck_assert_int_le(redlock_remaining_ms(lock), 20000 - 202 - 5000);
    ck_assert_int_eq(redlock_acquire(rig_new_lock(rig.client, "short"), &request, outcome_record, NULL),
                     REDLOCK_E_TTL);
}

TEST(served, the_options_of_one_call_do_not_touch_the_next)
{
    struct redlock_acquire_options request = rig_request(30000, 0);
    struct redlock_lock *lock;
    struct outcome outcome;

    rig_open(&rig, 3);
    lock = rig_new_lock(rig.client, "override");
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
    ck_assert_int_gt(outcome.remaining_ms, 20000);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    outcome = rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    ck_assert_int_le(outcome.remaining_ms, 10000);
}

/* Too little would be left, however fast the masters are. */
TEST(served, less_than_the_least_validity_is_too_slow)
{
    struct redlock_acquire_options request = rig_request(10000, 0);
    struct redlock_lock *lock;

    rig_open(&rig, 3);
    lock = rig_new_lock(rig.client, "least");
    ck_assert(masters_hang(rig.masters, 0));
    ck_assert(masters_hang(rig.masters, 1));
    request.min_validity_ms = 10000 - 102 - 1;
    rig_expect_acquire(&rig, lock, &request, REDLOCK_TOO_SLOW);
    ck_assert(masters_resume(rig.masters, 0));
    ck_assert(masters_resume(rig.masters, 1));
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "least"), 0);
}

/* An options structure of a program built against an older header ends earlier. */
TEST(served, a_shorter_structure_keeps_the_defaults_of_the_rest)
{
    struct redlock_options options;
    size_t size = offsetof(struct redlock_options, event_data);

    memset(&options, 0xff, sizeof options);
    redlock_options_init_size(&options, size);
    ck_assert_uint_eq(options.size, size);
    start_known_masters();
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 3, &options, &rig.client, NULL), 0);
    rig_hold(&rig, "older", 10000);
}

SUITE_WITH_SERVER("options")
