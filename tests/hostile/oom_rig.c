#include "oom_rig.h"

#include <string.h>

#include "suite.h"

/* --- Operations ---------------------------------------------------------------------------------------------- */

bool oom_is_shortage(int status)
{
    return status == REDLOCK_E_NOMEM || status == REDLOCK_E_SYSTEM;
}

void oom_await(int status, const struct outcome *outcome)
{
    if (status == 0)
        world_wait_outcome(outcome);
    else
        ck_assert_msg(oom_is_shortage(status) || status == REDLOCK_E_NOT_HELD, "%s", redlock_status_name(status));
    ck_assert_uint_eq(outcome->calls, status == 0);
}

void oom_request(struct redlock_acquire_options *ret_request)
{
    redlock_acquire_options_init(ret_request);
    ret_request->timeout_ms = 40;
    ret_request->retry_delay_ms = ret_request->retry_jitter_ms = 2;
}

struct redlock_lock *oom_lock(const char *key)
{
    struct redlock_lock *lock = NULL;
    int status = redlock_lock_create(world.client, key, strlen(key), &lock);

    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    ck_assert((status == 0) == (lock != NULL));
    return lock;
}

void oom_release(struct redlock_lock *lock)
{
    struct outcome outcome = {0};

    oom_await(redlock_release(lock, outcome_record, &outcome), &outcome);
}

/* --- There is memory again ----------------------------------------------------------------------------------- */

static unsigned shutdowns;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    shutdowns++;
}

static bool has_shut_down(void *argument)
{
    return shutdowns > 0;
}

static void expect_recovery(void)
{
    struct redlock_stats stats;

    for (size_t i = 0; i < world.n; i++)
        world_wait_link(world.client, i, REDLOCK_LINK_READY);
    world_hold(world.client, "after");
    shutdowns = 0;
    ck_assert_int_eq(redlock_client_shutdown(world.client, 10000, on_shutdown, NULL), 0);
    world_wait(has_shut_down, NULL, "the end of the shutdown");
    world_wait_clean(world.client);
    ck_assert_int_eq(redlock_client_stats(world.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.claims, 0);
}

/* --- Runs ---------------------------------------------------------------------------------------------------- */

void oom_create_client(unsigned first, unsigned burst)
{
    int status;

    shortage.count = 0;
    shortage.first = first;
    shortage.burst = burst;
    shortage.armed = true;
    status = redlock_client_create(world.base, world.urls, world.n, &world.options, &world.client, NULL);
    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    ck_assert((status == 0) == (world.client != NULL));
}

static void end_client(void)
{
    shortage.armed = false;
    redlock_client_destroy(world.client);
    world.client = NULL;
    world_steps(2);
}

static size_t waiting(void)
{
    size_t n = 0;

    for (size_t i = 0; i < world.n; i++)
        n += toy_waiting(world.toys[i]);
    return n;
}

static void forget_all(void)
{
    for (size_t i = 0; i < world.n; i++)
        toy_forget(world.toys[i]);
}

static void run(const struct oom_scenario *scenario, unsigned first, unsigned burst)
{
    size_t prepared;

    if (scenario->prepare)
        scenario->prepare();
    prepared = world_count();
    oom_create_client(first, burst);
    if (world.client) {
        scenario->use();
        shortage.armed = false;
        expect_recovery();
    }
    end_client();
    ck_assert_uint_eq(world_count(), prepared);
    ck_assert_uint_eq(waiting(), 0);
    forget_all();
}

void oom_fail_each(const struct oom_scenario *scenario, unsigned burst)
{
    unsigned first = 1;

    do
        run(scenario, first, burst);
    while (shortage.count >= first++);
    ck_assert_uint_gt(first, 50); /* the hooks are in place */
}

/* Nobody comes back: what a master keeps, it keeps for its ttl. */
static void run_into_destroy(const struct redlock_acquire_options *request, unsigned first, unsigned turns)
{
    struct outcome outcome = {0};
    struct redlock_lock *lock;
    unsigned accepted;

    oom_create_client(first, 1000);
    if (!world.client)
        return;
    lock = oom_lock("key");
    accepted = lock && redlock_acquire(lock, request, outcome_record, &outcome) == 0;
    world_steps(turns);
    end_client();
    ck_assert_uint_eq(outcome.calls, accepted);
    forget_all();
}

void oom_destroy_each(const struct redlock_acquire_options *request)
{
    for (unsigned first = 1; first <= 120; first++) {
        for (unsigned turns = 0; turns < 8; turns++)
            run_into_destroy(request, first, turns);
    }
}

/* --- Worlds -------------------------------------------------------------------------------------------------- */

void oom_open(enum redlock_profile profile)
{
    world_open(3);
    world.options.profile = profile;
    world.options.backoff_min_ms = 1;
    world.options.backoff_max_ms = 2;
    world.options.node_timeout_ms = 20;
    world.options.connect_timeout_ms = 500;
    world.options.stall_timeout_ms = 500;
}

void oom_open_classic(void)
{
    oom_open(REDLOCK_PROFILE_CLASSIC);
}

void oom_open_with_libevent(enum redlock_profile profile)
{
    shortage_hook_libevent();
    oom_open(profile);
}
