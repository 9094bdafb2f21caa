/* Whom the engine asks, and whose answers it believes: admission statuses (rules 2.7 and 5.1). */
#include "core_harness.h"
#include "suite.h"

#define LONG_MS INT64_C(100000)

/* --- Standings ---------------------------------------------------------------------------------------------------- */

static void make_unfit(struct core *core, unsigned node, int how)
{
    if (how == 0)
        core_admit_quarantined(core, node, LONG_MS);
    else
        core_admit(core, node, how == 1 ? RL_ADMISSION_EXCLUDED : RL_ADMISSION_UNEVALUATED);
}

GROUP(cases, "admission statuses", NULL, core_stop_all)

TESTS(cases, masters_without_a_vote_are_not_asked_and_have_failed_at_once, 0, 3)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    make_unfit(core, 0, _i);
    make_unfit(core, 2, _i);
    core_acquire(core, &request);
    core_expect(core, "t=0ms COMPLETE acquire no-quorum\n");
}

TESTS(cases, the_others_decide_without_them, 0, 3)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    make_unfit(core, 1, _i);
    core_acquire(core, &request);
    ck_assert_int_eq(core_vote(core, 1)->detail, _i == 1 ? RL_DETAIL_EXCLUDED : RL_DETAIL_QUARANTINED);
    core_answers(core, "g.g");
    core_expect(core, "t=0ms SEND claim #1: 0 2\n"
                      "t=0ms COMPLETE acquire ok\n");
}

TESTS(cases, a_master_votes_from_the_very_end_of_its_quarantine, 0, 2)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_admit_quarantined(core, 0, 500);
    core->now.ns = rl_ms(500).ns - _i;
    core_acquire(core, &request);
    ck_assert_int_eq(core_vote(core, 0)->outcome, _i ? RL_FAILED : RL_PENDING);
}

TESTS(cases, masters_that_are_excluded_or_unjudged_get_no_extension_either, 1, 3)
{
    struct core *core = core_start_held(3);

    make_unfit(core, 0, _i);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 1 2\n");
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_EXCLUDED);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(988).ns);
}

/* The rollback goes wherever the value may be, whatever is thought of the master. */
TESTS(cases, a_value_is_rolled_back_on_masters_that_do_not_vote_any_more, 0, 3)
{
    struct core *core = core_start_held(3);

    make_unfit(core, 0, _i);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
}

SUITE("engine_trust")
