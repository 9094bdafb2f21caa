/* Extremes: few masters and many, few claims, the largest options, keys of any bytes. */
#include <string.h>

#include "world.h"

static void open_one(void)
{
    world_open(1);
}

static void open_two(void)
{
    world_open(2);
}

static void open_most(void)
{
    world_open(REDLOCK_MAX_MASTERS);
}

static struct outcome acquire(const char *key, const struct redlock_acquire_options *request)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(world_lock(world.client, key), request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    return outcome;
}

GROUP(one, "one master", open_one, world_close)

TEST(one, one_master_is_a_quorum)
{
    world_connect();
    world_hold(world.client, "key");
    ck_assert_uint_eq(world_count(), 1);
}

GROUP(two, "two masters", open_two, world_close)

TEST(two, two_masters_with_one_down_are_none)
{
    struct outcome outcome;

    world_connect();
    world_hold(world.client, "held");
    world.toys[1]->hangs_up = true;
    toy_hang_up(world.toys[1]);
    world_wait_link(world.client, 1, REDLOCK_LINK_DOWN);
    outcome = acquire("key", NULL);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    world_wait_clean(world.client);
    ck_assert_ptr_null(toy_value(world.toys[0], "key"));
}

GROUP(most, "31 masters", open_most, world_close)

TEST(most, as_many_masters_as_there_may_be)
{
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    lock = world_hold(world.client, "key");
    ck_assert_uint_eq(world_count(), REDLOCK_MAX_MASTERS);
    for (size_t i = 0; i < REDLOCK_MAX_MASTERS / 2; i++)
        toy_hang_up(world.toys[i]);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), 0);
}

GROUP(three, "three masters", world_three, world_close)

TEST(three, one_claim_is_enough_for_one_lock_with_retries)
{
    struct redlock_acquire_options request;
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world.options.max_claims = 1;
    world_connect();
    for (size_t i = 0; i < world.n; i++)
        toy_set(world.toys[i], "key", "somebody else");
    redlock_acquire_options_init(&request);
    request.timeout_ms = REDLOCK_FOREVER;
    request.max_attempts = 3;
    request.retry_delay_ms = 1;
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_HELD);
    ck_assert_uint_eq(outcome.attempts, 3);
}

TEST(three, a_key_is_any_bytes)
{
    static const unsigned char key[] = {0, '\r', '\n', 0xff, 0, '$', '1', 0};
    struct redlock_lock *lock = NULL, *other = NULL;
    struct outcome outcome = {0};

    world_connect();
    ck_assert_int_eq(redlock_lock_create(world.client, key, sizeof key, &lock), 0);
    ck_assert_int_eq(redlock_lock_create(world.client, key, sizeof key - 1, &other), 0);
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    memset(&outcome, 0, sizeof outcome);
    ck_assert_int_eq(redlock_acquire(other, NULL, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), 2 * world.n);
    redlock_lock_destroy(lock);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), world.n);
}

TEST(three, the_largest_options_work)
{
    struct redlock_acquire_options request;
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world.options.max_ttl_ms = REDLOCK_MAX_TTL_MS;
    world.options.drift_ppm = 500000;
    world.options.drift_ms = world.options.guard_ms = 60000;
    world.options.node_timeout_ms = world.options.connect_timeout_ms = 60000;
    world.options.stall_timeout_ms = 3600000;
    world.options.max_claims = UINT32_MAX;
    world_connect();
    redlock_acquire_options_init(&request);
    request.ttl_ms = REDLOCK_MAX_TTL_MS;
    request.timeout_ms = REDLOCK_MAX_TIMEOUT_MS;
    request.max_attempts = UINT32_MAX;
    request.retry_delay_ms = request.retry_jitter_ms = 60000;
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(lock), 12 * 3600 * 1000 - 130000);
    ck_assert_int_le(redlock_remaining_ms(lock), 12 * 3600 * 1000 - 120000);
    request.timeout_ms = INT64_MAX;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), REDLOCK_E_TIMEOUT);
    request.timeout_ms = INT64_MIN;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), REDLOCK_E_TIMEOUT);
}

static void extend(struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

/* The first extension brings the text along, so that the client knows of it. */
TEST(three, masters_that_forget_their_scripts_are_told_the_text)
{
    struct redlock_stats stats;
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    lock = world_hold(world.client, "key");
    extend(lock);
    for (size_t i = 0; i < world.n; i++)
        world.toys[i]->forgetful = true;
    extend(lock);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_client_stats(world.client, &stats, sizeof stats), 0);
    ck_assert_uint_ge(stats.script_reloads, 2); /* of the extension: a release carries its text */
}

SUITE("extremes")
