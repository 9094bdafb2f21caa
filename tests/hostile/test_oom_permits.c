/* Permits without memory, one by one and several at once: test_oom.c says what must hold. */
#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "oom_rig.h"

enum { PERMITS = 2 };

static struct redlock_acquire_options one_attempt(void)
{
    struct redlock_acquire_options request;

    oom_request(&request);
    request.timeout_ms = 0;
    return request;
}

static struct redlock_lock *permit_of(const char *key)
{
    struct redlock_lock *lock = NULL;
    int status = redlock_permit_create(world.client, key, 1, PERMITS, &lock);

    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    ck_assert((status == 0) == (lock != NULL));
    return lock;
}

static void take_one_by_one(struct redlock_lock **permits, size_t n)
{
    struct redlock_acquire_options request = one_attempt();

    for (size_t i = 0; i < n; i++) {
        struct outcome outcome = {0};

        if (permits[i])
            oom_await(redlock_acquire(permits[i], &request, outcome_record, &outcome), &outcome);
    }
    for (size_t i = 0; i < n; i++) {
        if (permits[i] && redlock_state(permits[i]) == REDLOCK_STATE_HELD)
            oom_release(permits[i]);
    }
}

static void on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct outcome *outcome = user_data;

    outcome->calls++;
    outcome->status = result->status;
}

static void take_at_once(void)
{
    struct redlock_acquire_options request = one_attempt();
    struct outcome acquired = {0}, released = {0};
    struct redlock_set *set = NULL;
    int status = redlock_set_create(world.client, &set);

    if (status == 0)
        status = redlock_set_add_permits(set, "t", 1, PERMITS, PERMITS);
    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    ck_assert_uint_eq(redlock_set_size(set), status == 0 ? PERMITS : 0);
    if (status == 0)
        oom_await(redlock_set_acquire(set, &request, on_end, &acquired), &acquired);
    if (set && redlock_set_state(set) == REDLOCK_STATE_HELD)
        oom_await(redlock_set_release(set, on_end, &released), &released);
    redlock_set_destroy(set);
}

/* One more than there are. */
static void use_client(void)
{
    struct redlock_lock *permits[PERMITS + 1];

    for (size_t i = 0; i < PERMITS + 1; i++)
        permits[i] = permit_of("s");
    take_one_by_one(permits, PERMITS + 1);
    for (size_t i = 0; i < PERMITS + 1; i++)
        redlock_lock_destroy(permits[i]);
    take_at_once();
}

static const struct oom_scenario scenario = {NULL, use_client};

OOM_SUITE("oom_permits", scenario)
