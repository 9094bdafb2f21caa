/* Values without their handle: left to expire, or released for another handle. */
#include "core_harness.h"
#include "suite.h"

GROUP(cases, "values", NULL, core_stop_all)

TEST(cases, a_detached_lock_leaves_its_keys_alone)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gg");
    core_skip(core);
    core_detach(core);
    core_expect(core, "");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    core_answers(core, "..g");
    core_run_to(core, 5000);
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TEST(cases, a_value_of_another_handle_is_released_on_every_master)
{
    struct core *core = core_start(3);

    core_release_value(core, 1000);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_answers(core, "grg");
    core_expect(core, "t=0ms COMPLETE release ok\n");
}

TEST(cases, releasing_a_value_waits_for_links_that_are_just_joining)
{
    struct rl_config config = core_config(3);
    struct core *core = core_new(&config);

    core_release_value(core, 1000);
    core_expect(core, "");
    core_run_to(core, 10);
    core_link(core, 0, RL_LINK_READY);
    core_link(core, 1, RL_LINK_READY);
    core_answers(core, "gg");
    core_expect(core, "t=10ms SEND rollback #1: 0\n"
                      "t=10ms SEND rollback #1: 1\n");
    core_link(core, 2, RL_LINK_DOWN);
    core_expect(core, "t=10ms COMPLETE release ok\n");
}

/* Connecting may take longer than an answer, which is waited for from then on. */
TESTS(cases, the_time_for_a_release_begins_when_the_masters_can_be_told, 0, 2)
{
    struct rl_config config = core_config(3);
    struct core *core = core_new(&config);
    bool answers = _i;

    core_release_value(core, 1000);
    core_run_to(core, 120);
    ck_assert_int_eq(core_state(core), RL_LOCK_RELEASING);
    for (unsigned i = 0; i < 3; i++)
        core_link(core, i, RL_LINK_READY);
    core_run_to(core, 165);
    ck_assert_int_eq(core_state(core), RL_LOCK_RELEASING);
    if (answers)
        core_answers(core, "ggg");
    core_run_to(core, 220);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_int_eq(core->last.status, answers ? RL_END_OK : RL_END_NO_QUORUM);
}

TEST(cases, a_value_that_cannot_be_released_is_pending_until_its_ttl_has_passed)
{
    struct core *core = core_start(3);

    core_link(core, 2, RL_LINK_DOWN);
    core_release_value(core, 900);
    core_answers(core, "gg");
    core_forget(core);
    core_skip(core);
    core_run_to(core, 899);
    core_expect(core, "");
    core_run_to(core, 1200);
    core_expect(core, "t=1000ms DISPOSE #1\n");
}

SUITE("engine_values")
