/* Two clients and a master that has forgotten: what a bare majority and a restart do to a lock (acceptance Z9, Z10). */
#include <string.h>

#include "program_rig.h"
#include "watch.h"

/* Short where a test waits for the end of the quarantine, and long where it must not end before the test does. */
#define MAX_TTL_MS 4000
#define QUARANTINE_MS (MAX_TTL_MS + 1000)
#define LONG_MAX_TTL_MS 60000

static struct watched watched;
static struct redlock_lock *lock;
static int64_t restarted_ms;

static void tune(struct redlock_options *options)
{
    rig_tune_for_rivals(options);
    options->max_ttl_ms = MAX_TTL_MS;
}

static void tune_long(struct redlock_options *options)
{
    tune(options);
    options->max_ttl_ms = LONG_MAX_TTL_MS;
}

static void tune_classic(struct redlock_options *options)
{
    tune_long(options);
    options->profile = REDLOCK_PROFILE_CLASSIC;
}

/* Three masters, of which the last is down while a lock is taken: a bare majority. Then the first forgets it, and the
 * last comes back: another majority, which knows nothing of the lock. The first client has told both its max_ttl before
 * another one comes: a master that is told it is looked at again. */
static void open_and_forget(void (*how)(struct redlock_options *options))
{
    struct redlock_acquire_options request;

    rig_open_with(&rig, 3, 0, how);
    rig_kill_master(&rig, 2);
    request = rig_lease(rig.options.max_ttl_ms, 0);
    lock = watch_hold_as(&rig, "rivals", &request, &watched);
    rig_kill_master(&rig, 0);
    restarted_ms = rig_now_ms();
    ck_assert_msg(masters_restart(rig.masters, 0) && masters_restart(rig.masters, 2), "%s", masters_error());
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    rig_wait_link(&rig, rig.client, 2, REDLOCK_LINK_READY);
}

static void open_guarded(void)
{
    open_and_forget(tune);
}

static void open_long(void)
{
    open_and_forget(tune_long);
}

static void open_classic(void)
{
    open_and_forget(tune_classic);
}

static struct outcome win(struct redlock_client *client)
{
    struct redlock_acquire_options request = rig_lease(rig.options.max_ttl_ms, REDLOCK_FOREVER);
    struct redlock_lock *rival = rig_new_lock(client, "rivals");

    request.retry_delay_ms = request.retry_jitter_ms = 5;
    return rig_acquire(&rig, rival, &request);
}

GROUP(classic, "classic", open_classic, rig_end)

/* The contrast: this is what the guarded profile is for. */
TEST(classic, classic_clients_may_both_hold_the_lock)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct outcome outcome = win(other);

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    ck_assert_int_gt(redlock_remaining_ns(outcome.lock), 0);
}

GROUP(guarded, "guarded", open_guarded, rig_end)

TEST(guarded, guarded_clients_do_not_both_hold_it)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct outcome outcome = win(other);
    int64_t won_ms = rig_now_ms();

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(watched.lost, 1);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    ck_assert_int_ge(won_ms - restarted_ms, QUARANTINE_MS);
}

/* The quarantine is the master's, not the client's: who comes later and has seen nothing finds it in the marker. */
TEST(guarded, a_client_that_comes_later_finds_the_quarantine_too)
{
    struct redlock_client *witness = rig_new_client(&rig), *late;
    struct outcome outcome;

    redlock_client_destroy(witness);
    rig_run_for(&rig, 300);
    late = rig_further_client(&rig);
    ck_assert_int_eq(watch_info(late, 0).fault, REDLOCK_FAULT_NEW_MEMORY);
    ck_assert_int_le(watch_info(late, 0).quarantine_ms, QUARANTINE_MS - 200);
    ck_assert_int_eq(watch_info(late, 1).standing, REDLOCK_STANDING_VOTES);
    outcome = win(late);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_ge(rig_now_ms() - restarted_ms, QUARANTINE_MS);
}

GROUP(quarantined, "quarantined", open_long, rig_end)

TEST(quarantined, masters_in_quarantine_refuse_and_say_why)
{
    struct redlock_acquire_options request = rig_lease(LONG_MAX_TTL_MS, 0);
    struct redlock_client *other = rig_further_client(&rig);
    struct outcome outcome = rig_acquire(&rig, rig_new_lock(other, "another"), &request);

    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_failed(&outcome, 0, "in quarantine, ");
    outcome_expect_failed(&outcome, 2, "in quarantine, ");
}

SUITE_WITH_SERVER("rivals")
