/* The loss alarm (rule 4.10). Held since t = 0, ttl 1000, warned with 200 ms left: at risk at 788, lost at 988. */
#include <string.h>

#include "core_harness.h"
#include "suite.h"

static struct core *start_watched(uint32_t renew_ms)
{
    struct rl_acquire request = core_request();

    request.at_risk_ms = 200;
    request.renew_ms = renew_ms;
    return core_start_held_as(3, &request);
}

/* --- Warning ------------------------------------------------------------------------------------------------------ */

GROUP(cases, "warning", NULL, core_stop_all)

TEST(cases, the_holder_is_warned_once_and_told_of_the_loss_at_the_deadline)
{
    struct core *core = start_watched(0);

    for (int64_t ms = 0; ms < 2000; ms += 7)
        core_run_to(core, ms);
    core_expect(core, "t=788ms AT-RISK\n"
                      "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n");
}

TEST(cases, a_lock_that_is_renewed_is_never_at_risk)
{
    struct core *core = start_watched(300);

    for (int64_t ms = 300; ms <= 3000; ms += 300) {
        core_run_to(core, ms);
        core_answers(core, "ggg");
    }
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 10);
    ck_assert_ptr_null(strstr(core->log, "AT-RISK"));
}

TEST(cases, without_a_margin_there_is_no_warning)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 2000);
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n");
}

TEST(cases, after_an_extension_the_next_danger_is_told_again)
{
    struct core *core = start_watched(0);

    core_run_to(core, 800);
    core_extend(core, 0);
    core_answers(core, "gg");
    core_run_to(core, 2000);
    core_expect(core, "t=788ms AT-RISK\n"
                      "t=800ms SEND extend #1: 0 1 2\n"
                      "t=800ms COMPLETE extend ok\n"
                      "t=1588ms AT-RISK\n"
                      "t=1788ms SEND release #1: 0 1 2\n"
                      "t=1788ms LOST\n");
}

/* The renewal at 900 comes through, those after it do not. */
TEST(cases, after_a_renewal_the_next_danger_is_told_again)
{
    struct core *core = start_watched(900);

    core_run_to(core, 900);
    core_answers(core, "ggg");
    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 2000);
    core_expect(core, "t=788ms AT-RISK\n"
                      "t=900ms SEND extend #1: 0 1 2\n"
                      "t=900ms RENEWED\n"
                      "t=1688ms AT-RISK\n"
                      "t=1888ms LOST\n");
}

TEST(cases, a_lock_that_stays_at_risk_is_not_told_so_again)
{
    struct core *core = start_watched(0);

    core_run_to(core, 800);
    core_extend(core, 0);
    core_answers(core, "gff");
    core_run_to(core, 980);
    core_expect(core, "t=788ms AT-RISK\n"
                      "t=800ms SEND extend #1: 0 1 2\n"
                      "t=800ms COMPLETE extend no-quorum\n");
}

TEST(cases, a_lock_may_be_at_risk_while_its_extension_is_under_way)
{
    struct core *core = start_watched(0);

    core_run_to(core, 780);
    core_extend(core, 0);
    core_run_to(core, 800);
    core_expect(core, "t=780ms SEND extend #1: 0 1 2\n"
                      "t=788ms AT-RISK\n");
}

TEST(cases, a_hold_begins_unwarned_whatever_the_former_one_ended_with)
{
    struct core *core = start_watched(0);
    struct rl_acquire request = core_request();

    request.at_risk_ms = 200;
    core_run_to(core, 988);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    core_answers(core, "ggg");
    core_run_to(core, 2000);
    core_acquire(core, &request);
    core_answers(core, "gg");
    core_skip(core);
    core_run_to(core, 2788);
    core_expect(core, "t=2788ms AT-RISK\n");
}

TEST(cases, the_margin_keeps_its_proportion_to_a_changed_ttl)
{
    struct core *core = start_watched(0);

    core_extend(core, 500);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 400);
    core_expect(core, "t=393ms AT-RISK\n");
}

SUITE("engine_alarm")
