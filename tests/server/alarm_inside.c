/* What a program may do inside the loss alarm. */
#include <string.h>

#include "program_rig.h"
#include "watch.h"

static struct watched watched;

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, NULL);
}

/* It is watched before it is held, since it ends soon. */
static void hold(const char *key, redlock_watch_fn watch)
{
    struct redlock_acquire_options request = rig_lease(200, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, key);

    ck_assert_int_eq(redlock_lock_watch(lock, watch, &watched), 0);
    rig_expect_acquire_in_time(&rig, lock, &request, REDLOCK_OK);
}

static void destroy_lock(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    watch_record(lock, alarm, user_data);
    if (alarm->kind == REDLOCK_ALARM_LOST)
        redlock_lock_destroy(lock);
}

static void destroy_client(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    watch_record(lock, alarm, user_data);
    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    redlock_client_destroy(rig.client);
    rig.client = NULL;
}

static struct outcome again;

static void acquire_again(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct redlock_acquire_options request = rig_request(30000, 20000);

    watch_record(lock, alarm, user_data);
    if (alarm->kind == REDLOCK_ALARM_LOST)
        ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &again), 0);
}

static void lose(const char *key, redlock_watch_fn watch)
{
    memset(&watched, 0, sizeof watched);
    hold(key, watch);
    watch_wait_lost(&rig, &watched);
}

GROUP(inside, "inside", open_five, rig_end)

TEST(inside, the_lock_is_destroyed_inside_the_alarm)
{
    lose("inside", destroy_lock);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, "inside");
    ck_assert_uint_eq(watched.lost, 1);
}

static bool is_destroyed(void *argument)
{
    return !rig.client;
}

TEST(inside, the_client_is_destroyed_inside_the_alarm)
{
    hold("other", watch_record); /* its alarm would come in the same turn */
    lose("inside", destroy_client);
    rig_wait(&rig, is_destroyed, NULL, "the client to be destroyed");
    rig_run_for(&rig, 100);
    rig_wait_absent(&rig, "inside");
    ck_assert_uint_le(watched.lost, 2);
}

TEST(inside, the_lock_is_acquired_again_inside_the_alarm)
{
    memset(&again, 0, sizeof again);
    lose("inside", acquire_again);
    rig_wait_outcome(&rig, &again);
    outcome_expect(&again, REDLOCK_OK);
    ck_assert_int_eq(redlock_state(again.lock), REDLOCK_STATE_HELD);
    ck_assert_uint_eq(watched.lost, 1);
}

SUITE_WITH_SERVER("alarm_inside")
