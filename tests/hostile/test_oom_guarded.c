/* Without memory, in the guarded profile: the handshake that looks at each master, the guard behind each command, and
 * what comes with it: renewal, repair, the loss alarm, fencing tokens and transfer. See test_oom.c. */
#include <stdio.h>
#include <string.h>

#include "oom_rig.h"

/* --- The run ------------------------------------------------------------------------------------------------- */

static unsigned alarms;

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    ck_assert(alarm->kind != REDLOCK_ALARM_LOST || redlock_remaining_ns(lock) == 0);
    alarms++;
}

/* A long ttl and a short rhythm: a renewal is never far away, and the lock outlives those that fail. */
static void acquire(struct redlock_lock *lock, bool fenced)
{
    struct redlock_acquire_options request;
    struct outcome outcome = {0};

    oom_request(&request);
    request.renew_ms = 4;
    request.fenced = fenced;
    ck_assert_int_eq(redlock_lock_watch(lock, on_alarm, NULL), 0);
    oom_await(redlock_acquire(lock, &request, outcome_record, &outcome), &outcome);
    ck_assert((redlock_lock_fence(lock) > 0) == (fenced && redlock_state(lock) == REDLOCK_STATE_HELD));
}

struct rhythm {
    struct redlock_lock *lock;
    uint64_t until; /* so many renewals by then */
};

static uint64_t renewals_ended(void)
{
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_client_stats(world.client, &stats, sizeof stats), 0);
    return stats.renewals;
}

static bool has_renewed(void *argument)
{
    const struct rhythm *rhythm = argument;

    return renewals_ended() >= rhythm->until || redlock_state(rhythm->lock) != REDLOCK_STATE_HELD;
}

/* The one that is begun last may still be under way: what comes next meets it. */
static void wait_for_renewals(struct redlock_lock *lock, unsigned n)
{
    struct rhythm rhythm = {lock, renewals_ended() + n};

    world_wait(has_renewed, &rhythm, "renewals");
}

/* The exported text holds the lock now. As long as it is valid, whatever an adoption lacks it does not use it up. */
static void adopt(struct redlock_lock *importer, const char *text)
{
    struct redlock_acquire_options request;
    int status;

    oom_request(&request);
    request.renew_ms = 4;
    do
        status = redlock_lock_adopt(importer, &request, text);
    while (oom_is_shortage(status));
    ck_assert_msg(status == 0, "%s", redlock_status_name(status));
    ck_assert_int_eq(redlock_state(importer), REDLOCK_STATE_HELD);
}

static void transfer(struct redlock_lock *lock, struct redlock_lock *importer)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];
    uint64_t fence = redlock_lock_fence(lock);
    int status = redlock_lock_export(lock, text, sizeof text);

    if (status != 0) {
        ck_assert_msg(oom_is_shortage(status) || status == REDLOCK_E_NOT_HELD, "%s", redlock_status_name(status));
        oom_release(lock);
        return;
    }
    adopt(importer, text);
    ck_assert_uint_eq(redlock_lock_fence(importer), fence);
    wait_for_renewals(importer, 1);
    oom_release(importer);
}

/* A key is missing: it is repaired. A memory is lost, and a connection: they are looked at anew. */
static void hold(struct redlock_lock *lock)
{
    acquire(lock, false);
    wait_for_renewals(lock, 1);
    toy_forget(world.toys[2]);
    wait_for_renewals(lock, 2);
    toy_lose(world.toys[0], 5);
    toy_hang_up(world.toys[1]);
    wait_for_renewals(lock, 2);
    oom_release(lock);
}

static void use_client(void)
{
    struct redlock_lock *lock = oom_lock("key"), *importer = oom_lock("key");

    if (lock)
        hold(lock);
    if (lock && importer) {
        acquire(lock, true);
        transfer(lock, importer);
    }
    redlock_lock_destroy(lock);
    redlock_lock_destroy(importer);
}

/* One master has no script loaded, and one has counted far: two rounds for a token. */
static void prepare(void)
{
    world.toys[2]->forgetful = true;
    world.toys[1]->counter = INT64_C(1) << 52; /* its answer is one of the first two: a quorum */
}

static const struct oom_scenario scenario = {prepare, use_client};

/* --- Tests --------------------------------------------------------------------------------------------------- */

static void open_three(void)
{
    oom_open(REDLOCK_PROFILE_GUARDED);
}

static void open_three_with_events_that_fail(void)
{
    oom_open_with_libevent(REDLOCK_PROFILE_GUARDED);
}

GROUP(library, "library", open_three, world_close)

/* What the runs below are about happens in them. */
TEST(library, with_memory_the_run_looks_renews_repairs_raises_and_adopts)
{
    struct redlock_stats stats;

    prepare();
    world_connect();
    use_client();
    ck_assert_int_eq(redlock_client_stats(world.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.acquired, 2);
    ck_assert_uint_eq(stats.released, 2);
    ck_assert_uint_ge(stats.renewals, 6);
    ck_assert_uint_ge(stats.repairs, 1);
    ck_assert_uint_ge(stats.disproved, 1);
    ck_assert_uint_eq(stats.raises, 1);
    ck_assert_uint_ge(stats.script_reloads, 1);
    ck_assert_uint_ge(world.toys[0]->joins, 2);
    ck_assert_uint_eq(alarms, 0);
}

TEST(library, any_one_allocation_of_the_library_may_fail)
{
    oom_fail_each(&scenario, 1);
}

TEST(library, any_ten_allocations_of_the_library_may_fail)
{
    oom_fail_each(&scenario, 10);
}

TEST(library, the_client_may_be_destroyed_without_memory)
{
    struct redlock_acquire_options request;

    oom_request(&request);
    request.fenced = 1;
    prepare();
    oom_destroy_each(&request);
}

GROUP(both, "library and libevent", open_three_with_events_that_fail, world_close)

TEST(both, any_one_allocation_of_libevent_or_the_library_may_fail)
{
    oom_fail_each(&scenario, 1);
}

SUITE("oom-guarded")
