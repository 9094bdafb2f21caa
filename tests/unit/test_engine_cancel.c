/* Canceling and destroying a handle in every state of its life. */
#include "core_harness.h"
#include "suite.h"

static struct core *start_acquiring(void)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gf");
    core_skip(core);
    return core;
}

static struct core *start_backing_off(void)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "rr");
    core_skip(core);
    return core;
}

static struct core *start_extending(void)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_skip(core);
    return core;
}

static struct core *start_releasing(void)
{
    struct core *core = core_start_held(3);

    core_release(core);
    core_skip(core);
    return core;
}

static struct core *start_lost(void)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 988);
    core_skip(core);
    return core;
}

/* --- Canceling ------------------------------------------------------------------------------------------------ */

GROUP(cases, "cancel", NULL, core_stop_all)

TEST(cases, a_canceled_attempt_is_rolled_back)
{
    struct core *core = start_acquiring();

    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms SEND rollback #1: 0 2\n"
                      "t=0ms COMPLETE acquire canceled\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    core_answers(core, "g.g");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
}

TEST(cases, a_canceled_pause_is_followed_by_no_attempt)
{
    struct core *core = start_backing_off();

    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms COMPLETE acquire canceled (held)\n");
    core_run_to(core, 1000);
    ck_assert_uint_eq(core->n_claims, 1);
}

TEST(cases, a_canceled_extension_leaves_the_lock_held)
{
    struct core *core = start_extending();

    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms COMPLETE extend canceled\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_run_to(core, 500);
    core_expect(core, "");
}

TEST(cases, grants_after_a_canceled_extension_join_the_ledger)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 100);
    core_extend(core, 0);
    core_cancel(core);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 1088);
    ck_assert_uint_eq(core->completed[0], 2);
}

TEST(cases, an_extension_after_a_canceled_one_counts_only_its_own_answers)
{
    struct core *core = start_extending();

    core_cancel(core);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    core_answers(core, "gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

TEST(cases, a_release_cannot_be_canceled)
{
    struct core *core = start_releasing();

    ck_assert(!core_cancel(core));
    core_expect(core, "");
    core_answers(core, "ggg");
    core_expect(core, "t=0ms COMPLETE release ok\n");
}

TEST(cases, without_an_operation_there_is_nothing_to_cancel)
{
    struct core *cores[3] = {core_start(3), core_start_held(3), start_lost()};

    for (size_t i = 0; i < 3; i++) {
        enum rl_lock_state state = core_state(cores[i]);

        ck_assert(!core_cancel(cores[i]));
        core_expect(cores[i], "");
        ck_assert_int_eq(core_state(cores[i]), state);
        core_stop(cores[i]);
    }
}

TEST(cases, a_canceled_handle_can_acquire_again_at_once)
{
    struct core *core = start_acquiring();
    struct rl_acquire request = core_request();

    core_cancel(core);
    core_skip(core);
    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND claim #2: 0 1 2\n");
    core_answers(core, "ggg"); /* the rollback of 0, the new claim of 1, the old claim of 2 */
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

/* --- Destroying ----------------------------------------------------------------------------------------------- */

GROUP(destroy, "destroy", NULL, core_stop_all)

TEST(destroy, destroying_an_idle_handle_does_nothing)
{
    struct core *core = core_start(3);

    core_fini(core);
    core_expect(core, "");
}

TEST(destroy, destroying_an_attempt_rolls_it_back_and_tells_nobody)
{
    struct core *core = start_acquiring();

    core_fini(core);
    core_expect(core, "t=0ms SEND rollback #1: 0 2\n");
    core_answers(core, "g.g");
    core_answers(core, "..g");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TEST(destroy, destroying_a_handle_in_its_pause_ends_the_attempts)
{
    struct core *core = start_backing_off();

    core_fini(core);
    core_run_to(core, 1000);
    core_expect(core, "");
    core_answers(core, "..g");
    core_answers(core, "..g");
    core_expect(core, "t=1000ms DISPOSE #1\n");
}

TEST(destroy, destroying_a_held_lock_releases_it)
{
    struct core *core = core_start_held(3);

    core_fini(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TEST(destroy, destroying_a_lock_that_is_being_extended_releases_it)
{
    struct core *core = start_extending();

    core_fini(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_expect(core, "");
    core_answers(core, "ggg");
    core_expect(core, "t=0ms DISPOSE #1\n");
}

TEST(destroy, a_release_goes_on_after_its_handle_is_destroyed)
{
    struct core *core = start_releasing();

    core_fini(core);
    core_expect(core, "");
    core_answers(core, "gfg");
    core_run_to(core, 250);
    core_expect(core, "t=250ms SEND rollback #1: 1\n");
}

TEST(destroy, destroying_a_lost_lock_leaves_its_rollback_to_itself)
{
    struct core *core = start_lost();

    core_fini(core);
    core_expect(core, "");
    core_answers(core, "ggg");
    core_expect(core, "t=988ms DISPOSE #1\n");
}

SUITE("engine_cancel")
