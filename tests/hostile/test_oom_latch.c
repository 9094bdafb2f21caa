/* Latches without memory: test_oom.c says what must hold. */
#include <redlock/latch.h>

#include "oom_rig.h"
#include "suite.h"

static unsigned ended;

static void on_end(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    ck_assert_msg(result->status == REDLOCK_OK, "%s", redlock_status_name(result->status));
    ended++;
}

static bool have_ended(void *argument)
{
    return ended == 2;
}

/* Whatever was lacking for a round is there for a later one. */
static void use_client(void)
{
    struct redlock_latch *latch;
    int status = redlock_latch_create(world.client, "l", 1, 1, 1, "a", NULL, &latch);

    ended = 0;
    if (status < 0) {
        ck_assert_msg(oom_is_shortage(status), "%s", redlock_status_name(status));
        return;
    }
    ck_assert_int_eq(redlock_latch_arrive(latch, REDLOCK_FOREVER, on_end, NULL), 0);
    ck_assert_int_eq(redlock_latch_await(latch, REDLOCK_FOREVER, on_end, NULL), 0);
    world_wait(have_ended, NULL, "an arrival and a wait");
    redlock_latch_destroy(latch);
}

static void prepare(void)
{
}

static const struct oom_scenario scenario = {prepare, use_client};

static void open_three(void)
{
    oom_open(REDLOCK_PROFILE_CLASSIC);
}

GROUP(cases, "latch", open_three, world_close)

TEST(cases, any_one_allocation_may_fail)
{
    oom_fail_each(&scenario, 1);
}

TEST(cases, any_ten_allocations_may_fail)
{
    oom_fail_each(&scenario, 10);
}

SUITE("oom_latch")
