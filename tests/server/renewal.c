/* Renewal: a lock that is held lives on without a call of its holder, for as long as it is wanted. */
#include <string.h>

#include "program_rig.h"
#include "watch.h"

/* A lock with one of these lives through a pause of the test's process. The shorter one is waited for. */
#define TTL_MS 20000
#define SHORT_TTL_MS 4000

static struct tally tally;
static struct watched watched;

static void quick_to_give_up(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->node_timeout_ms = 400;
}

static void open_three(void)
{
    rig_open_with(&rig, 3, 0, quick_to_give_up);
}

/* Held, watched, and renewed every `renew_ms` (0: the default). */
static struct redlock_lock *hold(const char *key, uint32_t ttl_ms, uint32_t renew_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, 0);

    request.renew_ms = renew_ms;
    return watch_hold_as(&rig, key, &request, &watched);
}

static void expect_no_more_renewals(void)
{
    uint64_t before = watch_stats(rig.client).renewals;

    rig_run_for(&rig, 300);
    ck_assert_uint_eq(watch_stats(rig.client).renewals, before);
    ck_assert_uint_eq(watched.at_risk + watched.lost, 0);
}

static void expect_kept_out(const char *key)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);
    struct redlock_lock *rival = rig_new_lock(rig.client, key);

    rig_expect_acquire_in_time(&rig, rival, &request, REDLOCK_HELD);
    redlock_lock_destroy(rival);
}

GROUP(goes, "goes on", open_three, rig_end)

TEST(goes, a_lock_outlives_its_ttl)
{
    struct redlock_lock *lock = hold("long", SHORT_TTL_MS, 0);
    char token[64];

    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
    rig_run_for(&rig, SHORT_TTL_MS + SHORT_TTL_MS / 2);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_str_eq(redlock_lock_token(lock), token);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_ge(rig_count_value(&rig, "long", token), 2);
    ck_assert_uint_ge(tally.n[REDLOCK_EVENT_RENEWED], 2);
    ck_assert_uint_ge(watch_stats(rig.client).renewals, tally.n[REDLOCK_EVENT_RENEWED]);
    expect_kept_out("long");
}

/* The default is a third of the ttl; the library may come a little early to renew many locks at once. */
TEST(goes, it_is_renewed_no_more_often_than_asked)
{
    int64_t start = rig_now_ms();

    hold("rhythm", 30000, 100);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 8);
    ck_assert_int_ge(rig_now_ms() - start, 8 * 100 * 9 / 10);
}

TEST(goes, a_short_hold_is_not_renewed_at_all)
{
    rig_expect_release(&rig, hold("quick", 30000, 0), REDLOCK_OK);
    ck_assert_uint_eq(watch_stats(rig.client).renewals, 0);
}

GROUP(ends, "ends", open_three, rig_end)

TEST(ends, renewal_ends_with_the_release)
{
    struct redlock_lock *lock = hold("released", 30000, 20);

    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 3);
    rig_expect_release(&rig, lock, REDLOCK_OK);
    expect_no_more_renewals();
    ck_assert_uint_eq(masters_count_key(rig.masters, "released"), 0);
}

TEST(ends, a_detached_lock_is_left_to_its_ttl)
{
    struct redlock_lock *lock = hold("detached", SHORT_TTL_MS, 20);

    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 3);
    ck_assert_int_eq(redlock_lock_detach(lock), 0);
    expect_no_more_renewals();
    rig_wait_absent(&rig, "detached");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
}

TEST(ends, renewal_ends_with_the_handle)
{
    struct redlock_lock *lock = hold("destroyed", 30000, 20);

    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 3);
    redlock_lock_destroy(lock);
    expect_no_more_renewals();
    rig_wait_absent(&rig, "destroyed");
}

TEST(ends, without_renewal_the_lock_ends_with_its_ttl)
{
    hold("lease", 300, REDLOCK_NO_RENEWAL);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(watched.loss, REDLOCK_LOSS_EXPIRED);
    ck_assert_uint_eq(watch_stats(rig.client).renewals, 0);
    rig_wait_absent(&rig, "lease");
}

TEST(ends, a_lock_held_for_too_long_is_renewed_no_more)
{
    struct redlock_acquire_options request = rig_request(3000, 0);
    int64_t start = rig_now_ms();

    request.renew_ms = 50;
    request.max_hold_ms = 1000;
    watch_hold_as(&rig, "limit", &request, &watched);
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(watched.loss, REDLOCK_LOSS_HOLD_LIMIT);
    ck_assert_int_ge(rig_now_ms() - start, 3000); /* the first renewal has not come at once */
    ck_assert_uint_ge(tally.n[REDLOCK_EVENT_RENEWED], 1);
    ck_assert_uint_le(tally.n[REDLOCK_EVENT_RENEWED], 1000 / (50 * 9 / 10));
    rig_wait_absent(&rig, "limit");
}

static bool is_backing_off(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_BACKING_OFF;
}

TEST(goes, a_lock_won_at_the_second_attempt_is_renewed_too)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, REDLOCK_FOREVER);
    struct redlock_lock *holder = rig_hold_lease(&rig, "contended", TTL_MS);
    struct redlock_lock *lock = rig_new_lock(rig.client, "contended");
    struct outcome outcome = {0};

    request.renew_ms = 50;
    request.wait = REDLOCK_WAIT_SPIN; /* the lock is granted for the whole ttl, not for the lease of a waiter */
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(&rig, is_backing_off, lock, "the first attempt to be refused");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_ge(outcome.attempts, 2);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 3);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
}

static bool a_renewal_is_under_way(void *argument)
{
    return watch_stats(rig.client).renewals > *(const uint64_t *)argument;
}

TEST(ends, a_release_during_a_renewal_leaves_nothing)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 20000);
    struct redlock_lock *lock = hold("race", 30000, 50);
    struct outcome outcome = {0};
    uint64_t before;

    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, 1);
    rig_wait_quiet(&rig, rig.client);
    rig_hang_masters(&rig, RIG_ALL);
    before = watch_stats(rig.client).renewals;
    rig_wait(&rig, a_renewal_is_under_way, &before, "a renewal without an answer");
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    rig_resume_masters(&rig, RIG_ALL);
    rig_wait_outcome(&rig, &outcome);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_eq(masters_count_key(rig.masters, "race"), 0);
    expect_no_more_renewals();
    ck_assert_uint_eq(masters_count_key(rig.masters, "race"), 0);
    outcome = rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
}

TEST(goes, renewal_goes_on_with_a_new_ttl)
{
    struct redlock_lock *lock = hold("changed", 30000, 0);

    rig_expect_extend(&rig, lock, SHORT_TTL_MS, REDLOCK_OK);
    rig_run_for(&rig, SHORT_TTL_MS + SHORT_TTL_MS / 2);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_uint_ge(tally.n[REDLOCK_EVENT_RENEWED], 2);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_le(rig_pttl(&rig, i, "changed"), SHORT_TTL_MS);
    ck_assert_uint_eq(watched.lost, 0);
}

TEST(goes, a_renewal_that_found_nobody_is_tried_again_in_time)
{
    struct redlock_lock *lock = hold("hiccup", 20000, 100);
    unsigned renewed;

    rig_hang_masters(&rig, RIG_ALL);
    while (watch_stats(rig.client).renewals_failed < 2)
        event_base_loop(rig.base, EVLOOP_ONCE);
    renewed = tally.n[REDLOCK_EVENT_RENEWED];
    rig_resume_masters(&rig, RIG_ALL);
    watch_wait_event(&rig, &tally, REDLOCK_EVENT_RENEWED, renewed + 2);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_uint_eq(watched.lost, 0);
    expect_kept_out("hiccup");
}

TEST(goes, a_dead_minority_does_not_matter)
{
    struct redlock_lock *lock = hold("minority", TTL_MS, 50);

    rig_kill_master(&rig, 2);
    watch_wait_renewed(&rig);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_uint_eq(watched.lost, 0);
    expect_kept_out("minority");
}

SUITE_WITH_SERVER("renewal")
