/* Looks at keys without memory: test_oom.c says what must hold. */
#include <redlock/look.h>

#include "oom_rig.h"

static struct ending {
    unsigned calls;
    int status;
} ending;

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    ending.calls++;
    ending.status = result->status;
}

static bool has_ended(void *argument)
{
    return ending.calls > 0;
}

static void use_client(void)
{
    int status;

    ending = (struct ending){0};
    status = redlock_look(world.client, "taken", 5, on_look, NULL);
    if (status == 0)
        world_wait(has_ended, NULL, "the end of a look");
    else
        ck_assert_msg(oom_is_shortage(status), "%s", redlock_status_name(status));
    ck_assert_uint_eq(ending.calls, status == 0);
    ck_assert(ending.status == REDLOCK_OK || ending.status == REDLOCK_NO_QUORUM || oom_is_shortage(ending.status));
}

static void prepare(void)
{
    for (size_t i = 0; i < 3; i++)
        toy_set(world.toys[i], "taken", "somebody");
}

static const struct oom_scenario scenario = {prepare, use_client};

OOM_SUITE("oom_look", scenario)
