/* A held lock outlives the memory of its masters, as far as that is safe: masters that come back empty do not vote, but
 * get the key back (rule 4.6). */
#include <string.h>

#include "program_rig.h"
#include "watch.h"

/* Quarantines end after that and a second. Long enough for restarts on a loaded machine to come before the deadline. */
#define TTL_MS 20000
#define RENEW_MS 100

static struct tally tally;
static struct watched watched;
static struct redlock_lock *lock;
static char token[64];

static void tune(struct redlock_options *options)
{
    watch_events(options, &tally);
    options->max_ttl_ms = TTL_MS;
    options->node_timeout_ms = 1000;
    options->backoff_max_ms = 50;
}

#define SHORT_TTL_MS 3000

static void tune_short(struct redlock_options *options)
{
    tune(options);
    options->max_ttl_ms = SHORT_TTL_MS;
}

static void hold(uint32_t ttl_ms)
{
    struct redlock_acquire_options request = rig_request(ttl_ms, 0);

    request.renew_ms = RENEW_MS;
    lock = watch_hold_as(&rig, "kept", &request, &watched);
    rig_wait_count(&rig, "kept", 5);
    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, tune);
}

static void open_five_with_short_locks(void)
{
    rig_open_with(&rig, 5, 0, tune_short);
}

static void kill_masters(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_msg(masters_kill(rig.masters, i), "%s", masters_error());
}

static void restart_empty(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
}

static bool is_on_all(void *argument)
{
    return rig_count_value(&rig, "kept", token) == rig.n;
}

static void expect_kept_everywhere(void)
{
    rig_wait(&rig, is_on_all, NULL, "the key to be on all masters again");
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    ck_assert_uint_eq(watched.lost, 0);
    ck_assert_str_eq(redlock_lock_token(lock), token);
}

static bool has_repaired(void *argument)
{
    return watch_stats(rig.client).repairs >= *(const unsigned *)argument;
}

static bool is_kept_or_lost(void *argument)
{
    return watched.lost || rig_count_value(&rig, "kept", token) > rig.n / 2;
}

/* The masters' answers may still be on their way. */
static void wait_for_repairs(unsigned n)
{
    rig_wait(&rig, has_repaired, &n, "the repairs to be counted");
}

/* Another program that wants the lock, all the time. */
struct rival {
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct outcome outcome;
    int64_t won_at_ns;
};

static void on_won(struct redlock_lock *won, const struct redlock_result *result, void *user_data)
{
    struct rival *rival = user_data;

    rival->won_at_ns = watch_now_ns();
    outcome_record(won, result, &rival->outcome);
}

static void make_rival(struct rival *rival)
{
    memset(rival, 0, sizeof *rival);
    rig.options.on_event = NULL;
    rival->client = rig_new_client(&rig);
    rival->lock = rig_new_lock(rival->client, "kept");
}

static void run_rival(struct rival *rival)
{
    struct redlock_acquire_options request = rig_lease(SHORT_TTL_MS, REDLOCK_FOREVER);

    request.retry_delay_ms = request.retry_jitter_ms = 10;
    ck_assert_int_eq(redlock_acquire(rival->lock, &request, on_won, rival), 0);
}

static void start_rival(struct rival *rival)
{
    make_rival(rival);
    run_rival(rival);
}

GROUP(kept, "kept", open_five, rig_end)

TEST(kept, an_emptied_minority_gets_the_key_back_with_the_next_renewal)
{
    hold(TTL_MS);
    kill_masters(0, 2);
    restart_empty(0, 2);
    expect_kept_everywhere();
    wait_for_repairs(2);
}

/* Connections stay: the guard behind the renewal finds out. */
TEST(kept, a_flushed_minority_gets_the_key_back)
{
    hold(TTL_MS);
    for (size_t i = 0; i < 2; i++)
        rig_do(&rig, i, "FLUSHALL", NULL);
    expect_kept_everywhere();
    ck_assert_int_eq(watch_info(rig.client, 0).fault, REDLOCK_FAULT_NEW_MEMORY);
    ck_assert_int_eq(watch_info(rig.client, 1).fault, REDLOCK_FAULT_NEW_MEMORY);
}

TEST(kept, a_majority_emptied_at_once_gets_the_key_back_before_the_deadline)
{
    struct rival rival;

    hold(TTL_MS);
    start_rival(&rival);
    kill_masters(0, 3);
    restart_empty(0, 3);
    expect_kept_everywhere();
    wait_for_repairs(3);
    rig_run_for(&rig, 500);
    ck_assert_uint_eq(rival.outcome.calls, 0);
    redlock_client_destroy(rival.client);
}

/* The rival, with connections from before, asks when the holder has its keys again. If it asked all the time, its
 * value might be on the emptied masters before the holder asks there: see the next test. */
TEST(kept, all_masters_flushed_at_once_get_the_key_back)
{
    struct rival rival;

    hold(TTL_MS);
    make_rival(&rival);
    rig_do_all(&rig, "FLUSHALL", NULL);
    expect_kept_everywhere();
    run_rival(&rival);
    rig_run_for(&rig, 500);
    ck_assert_uint_eq(rival.outcome.calls, 0);
    redlock_client_destroy(rival.client);
}

GROUP(lost, "lost", open_five_with_short_locks, rig_end)

/* Its value counts for nothing there, but where the holder finds it, the vote is lost. So the lock is kept on a
 * majority, or lost and free again when the masters vote again. */
TEST(lost, a_rival_has_no_lock_from_flushed_masters_while_the_holder_has_it)
{
    struct rival rival;
    int64_t flushed_at_ns;

    hold(SHORT_TTL_MS);
    start_rival(&rival);
    flushed_at_ns = watch_now_ns();
    rig_do_all(&rig, "FLUSHALL", NULL);
    rig_wait(&rig, is_kept_or_lost, NULL, "the lock to be kept or lost");
    ck_assert_uint_eq(rival.outcome.calls, 0);
    if (!watched.lost)
        ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_wait_outcome(&rig, &rival.outcome);
    outcome_expect(&rival.outcome, REDLOCK_OK);
    ck_assert_int_gt(rival.won_at_ns, flushed_at_ns + INT64_C(1000000) * SHORT_TTL_MS);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    redlock_client_destroy(rival.client);
}

TEST(kept, a_rolling_restart_of_every_master_keeps_the_lock)
{
    struct rival rival;

    hold(TTL_MS);
    start_rival(&rival);
    for (size_t i = 0; i < 5; i++) {
        kill_masters(i, i + 1);
        restart_empty(i, i + 1);
        expect_kept_everywhere();
    }
    wait_for_repairs(5);
    ck_assert_uint_eq(rival.outcome.calls, 0);
    redlock_client_destroy(rival.client);
}

static void open_five_durable(void)
{
    struct masters_options options = {.count = 5, .persistence = MASTERS_ALWAYS};

    rig_start(&rig, &options);
    tune(&rig.options);
    rig_connect(&rig);
}

/* As they are started, since nothing of CONFIG SET outlives a restart. */
static void restart_full(size_t i)
{
    static const char *const full[] = {"--maxmemory", "1", NULL};
    struct masters_setup setup = {.persistence = MASTERS_ALWAYS, .extra_args = full};

    kill_masters(i, i + 1);
    ck_assert_msg(masters_set_up(rig.masters, i, &setup), "%s", masters_error());
    restart_empty(i, i + 1);
}

GROUP(full_tests, "full", open_five_durable, rig_end)

TEST(full_tests, full_durable_masters_that_are_restarted_keep_the_lock)
{
    hold(SHORT_TTL_MS);
    for (size_t i = 0; i < rig.n; i++) {
        restart_full(i);
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
        ck_assert_int_eq(watch_info(rig.client, i).standing, REDLOCK_STANDING_VOTES);
    }
    rig_run_for(&rig, SHORT_TTL_MS);
    expect_kept_everywhere();
}

/* What the marker says of durability changes, and the next handshake has to write that. */
TEST(full_tests, full_masters_whose_persistence_was_changed_are_joined_again)
{
    hold(SHORT_TTL_MS);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "1", NULL);
    rig_do_all(&rig, "CONFIG", "SET", "appendfsync", "everysec", NULL);
    rig_do_all(&rig, "CLIENT", "KILL", "TYPE", "normal", NULL);
    rig_run_for(&rig, SHORT_TTL_MS);
    expect_kept_everywhere();
    for (size_t i = 0; i < rig.n; i++)
        ck_assert_uint_eq(watch_info(rig.client, i).durable, 0);
}

/* As `redlock nodes --max-ttl` does. */
static void declare_max_ttl(uint32_t max_ttl_ms)
{
    static const enum redlock_join steps[] = {REDLOCK_JOIN_ANNOUNCE, REDLOCK_JOIN_CONFIRM, REDLOCK_JOIN_ALLOW};
    struct redlock_options ours = rig.options;

    rig.options.on_event = NULL;
    rig.options.max_ttl_ms = max_ttl_ms;
    rig.options.declaration = 2;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        rig.options.join = steps[i];
        redlock_client_destroy(rig_new_client(&rig));
    }
    rig.options = ours;
}

static bool is_kept_out(void *argument)
{
    for (size_t i = 0; i < rig.n; i++) {
        if (watch_info(rig.client, i).fault != REDLOCK_FAULT_MAX_TTL)
            return false;
    }
    return true;
}

TEST(kept, a_smaller_max_ttl_costs_no_lock_that_it_allows)
{
    struct redlock_acquire_options request = rig_lease(SHORT_TTL_MS, 0);
    struct outcome outcome;

    hold(SHORT_TTL_MS);
    declare_max_ttl(2 * SHORT_TTL_MS);
    rig_wait(&rig, is_kept_out, NULL, "the client to be kept out");
    rig_run_for(&rig, SHORT_TTL_MS);
    expect_kept_everywhere();
    outcome = rig_expect_acquire(&rig, rig_new_lock(rig.client, "another"), &request, REDLOCK_NO_QUORUM);
    outcome = rig_extend(&rig, lock, TTL_MS);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
}

TEST(kept, what_was_given_back_is_removed_by_the_release)
{
    hold(TTL_MS);
    kill_masters(0, 3);
    restart_empty(0, 3);
    expect_kept_everywhere();
    rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_absent(&rig, "kept");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(lost, a_majority_that_stays_away_costs_the_lock_on_time_and_before_a_rival_has_it)
{
    struct rival rival;
    int64_t deadline_ns;

    hold(SHORT_TTL_MS);
    start_rival(&rival);
    kill_masters(0, 3);
    deadline_ns = watch_now_ns() + INT64_C(1000000) * SHORT_TTL_MS; /* no later than that */
    watch_wait_lost(&rig, &watched);
    ck_assert_int_eq(watched.loss, REDLOCK_LOSS_UNREACHABLE);
    ck_assert_int_eq(watched.state, REDLOCK_STATE_LOST);
    ck_assert_uint_eq(watched.at_risk, 1);
    ck_assert_int_lt(watched.lost_at_ns, deadline_ns + INT64_C(1000000000));
    ck_assert_uint_eq(rival.outcome.calls, 0);
    restart_empty(0, 3);
    rig_wait_outcome(&rig, &rival.outcome);
    outcome_expect(&rival.outcome, REDLOCK_OK);
    ck_assert_int_gt(rival.won_at_ns, watched.lost_at_ns);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    redlock_client_destroy(rival.client);
}

/* Nothing is set up again once the deadline has passed. */
TEST(lost, masters_that_come_back_empty_after_the_loss_do_not_get_the_key)
{
    hold(SHORT_TTL_MS);
    kill_masters(0, 3);
    watch_wait_lost(&rig, &watched);
    restart_empty(0, 3);
    for (size_t i = 0; i < 3; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
    rig_run_for(&rig, 300);
    ck_assert_uint_eq(masters_count_key(rig.masters, "kept"), 0);
    redlock_lock_destroy(lock);
    rig_wait_no_claims(&rig, rig.client);
}

SUITE_WITH_SERVER("keeping")
