/* Sets of locks without memory: test_oom.c says what must hold. */
#include <redlock/set.h>

#include "oom_rig.h"

struct ending {
    unsigned calls;
    int status;
};

static void on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct ending *ending = user_data;

    ending->calls++;
    ending->status = result->status;
}

static bool has_ended(void *argument)
{
    return ((const struct ending *)argument)->calls > 0;
}

/* A call that was accepted calls back; one that was not says why. */
static int await(int status, struct ending *ending)
{
    if (status == 0)
        world_wait(has_ended, ending, "the end of a set's operation");
    else
        ck_assert_msg(oom_is_shortage(status) || status == REDLOCK_E_NOT_HELD || status == REDLOCK_E_SET_KEYS, "%s",
                      redlock_status_name(status));
    ck_assert_uint_eq(ending->calls, status == 0);
    return status == 0 ? ending->status : status;
}

static void acquire_and_release(struct redlock_set *set)
{
    struct redlock_acquire_options request;
    struct ending acquired = {0}, extended = {0}, released = {0};
    int status;

    oom_request(&request);
    status = await(redlock_set_acquire(set, &request, on_end, &acquired), &acquired);
    ck_assert_int_eq(redlock_set_state(set), status == 0 ? REDLOCK_STATE_HELD : REDLOCK_STATE_IDLE);
    if (status < 0)
        return;
    await(redlock_set_extend(set, 0, on_end, &extended), &extended);
    await(redlock_set_release(set, on_end, &released), &released);
}

/* With "taken" it waits in vain, and what it has got is given back. */
static void use_client(void)
{
    struct redlock_set *set = NULL;
    int status = redlock_set_create(world.client, &set);

    ck_assert_msg(status == 0 || oom_is_shortage(status), "%s", redlock_status_name(status));
    if (!set)
        return;
    redlock_set_add(set, "b", 1);
    redlock_set_add(set, "a", 1);
    acquire_and_release(set);
    redlock_set_add(set, "taken", 5);
    acquire_and_release(set);
    redlock_set_destroy(set);
}

static void prepare(void)
{
    toy_set(world.toys[1], "taken", "somebody");
    toy_set(world.toys[2], "taken", "somebody");
}

static const struct oom_scenario scenario = {prepare, use_client};

OOM_SUITE("oom_set", scenario)
