/* Shared locks and conversions without memory: test_oom.c says what must hold. */
#include "oom_rig.h"

static struct redlock_acquire_options request_of(enum redlock_mode mode)
{
    struct redlock_acquire_options request;

    oom_request(&request);
    request.mode = mode;
    return request;
}

static void acquire(struct redlock_lock *lock, enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode);
    struct outcome outcome = {0};

    oom_await(redlock_acquire(lock, &request, outcome_record, &outcome), &outcome);
}

/* A lock that could not be acquired, or was not converted before, may be in any mode; one that is held stays so. */
static void convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    struct outcome outcome = {0};
    bool held = redlock_state(lock) == REDLOCK_STATE_HELD;
    enum redlock_mode before = redlock_lock_mode(lock);

    oom_await(redlock_convert(lock, mode, timeout_ms, outcome_record, &outcome), &outcome);
    ck_assert_int_eq(redlock_state(lock) == REDLOCK_STATE_HELD, held);
    if (outcome.calls && outcome.status == REDLOCK_OK)
        ck_assert_int_eq(redlock_lock_mode(lock), mode);
    else
        ck_assert_int_eq(redlock_lock_mode(lock), outcome.calls && mode > before ? mode : before);
}

/* Up and down again; waiting in the queue, and by a single attempt. */
static void go_through_the_modes(struct redlock_lock *lock)
{
    acquire(lock, REDLOCK_UPGRADEABLE);
    convert(lock, REDLOCK_EXCLUSIVE, 40);
    convert(lock, REDLOCK_UPGRADEABLE, 0);
    convert(lock, REDLOCK_EXCLUSIVE, 0);
    convert(lock, REDLOCK_SHARED, 0);
    oom_release(lock);
    acquire(lock, REDLOCK_EXCLUSIVE);
    convert(lock, REDLOCK_UPGRADEABLE, 0);
    oom_release(lock);
}

/* Somebody else shares the key. The last upgrade is pending when its lock is destroyed. */
static void upgrade_in_vain(struct redlock_lock *lock, struct redlock_lock *reader)
{
    struct outcome outcome = {0};
    int status;

    acquire(reader, REDLOCK_SHARED);
    acquire(lock, REDLOCK_UPGRADEABLE);
    convert(lock, REDLOCK_EXCLUSIVE, 0);
    convert(lock, REDLOCK_EXCLUSIVE, 40);
    status = redlock_convert(lock, REDLOCK_EXCLUSIVE, REDLOCK_FOREVER, outcome_record, &outcome);
    world_steps(3);
    redlock_lock_destroy(lock);
    ck_assert_uint_eq(outcome.calls, status == 0);
    redlock_lock_destroy(reader);
}

static void use_client(void)
{
    struct redlock_lock *lock = oom_lock("book"), *reader = oom_lock("book"), *taken = oom_lock("taken");

    if (taken)
        acquire(taken, REDLOCK_SHARED);
    redlock_lock_destroy(taken);
    if (lock && reader) {
        go_through_the_modes(lock);
        upgrade_in_vain(lock, reader);
    } else {
        redlock_lock_destroy(lock);
        redlock_lock_destroy(reader);
    }
}

static void prepare(void)
{
    toy_set(world.toys[1], "taken", "somebody");
    toy_set(world.toys[2], "taken", "somebody");
}

static const struct oom_scenario scenario = {prepare, use_client};

OOM_SUITE("oom_shared", scenario)
