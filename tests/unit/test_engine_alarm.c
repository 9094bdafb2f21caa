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

/* --- Losses without a warning, and the reasons that are told ------------------------------------------------------ */

GROUP(loss, "loss", NULL, core_stop_all)

TEST(loss, after_a_long_pause_the_lock_is_lost_at_once_and_nothing_else_is_told)
{
    struct core *core = start_watched(300);

    core_sleep_to(core, 5000);
    ck_assert_int_lt(core_deadline_ms(core), 5000);
    core_tick(core);
    core_expect(core, "t=5000ms SEND release #1: 0 1 2\n"
                      "t=5000ms LOST\n");
}

TEST(loss, after_a_pause_into_the_margin_the_warning_comes_at_once)
{
    struct core *core = start_watched(0);

    core_sleep_to(core, 900);
    core_tick(core);
    core_expect(core, "t=900ms AT-RISK\n");
}

TEST(loss, a_lock_that_is_lost_by_an_answer_is_not_said_to_be_at_risk)
{
    struct core *core = start_watched(300);

    core_run_to(core, 300);
    core_answers(core, "rr");
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms SEND release #1: 0 1 2\n"
                      "t=300ms LOST\n");
}

TEST(loss, a_released_lock_raises_no_alarm)
{
    struct core *core = start_watched(300);

    core_release(core);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 3000);
    core_expect(core, "");
}

/* --- Reasons ------------------------------------------------------------------------------------------------------ */

static void expire(struct core *core)
{
}

static void fail_renewals(struct core *core)
{
    core->locks[0].hold.renew_ms = 300;
    core_extend(core, 0);
    core_answers(core, "ff");
}

static void stop_answering(struct core *core)
{
    core_run_to(core, 960);
    core_extend(core, 0);
}

static void take_keys(struct core *core)
{
    core_extend(core, 0);
    core_answers(core, "rr");
}

static void put_other_values(struct core *core)
{
    core_extend(core, 0);
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answer_for(core, 1, RL_REFUSED, RL_DETAIL_FOREIGN);
}

static void step_clocks(struct core *core)
{
    core_step_clock(core, 0, 600);
    core_step_clock(core, 1, 600);
}

static void step_a_clock_and_recover(struct core *core)
{
    core_step_clock(core, 0, 100);
    core_extend(core, 0);
    core_answers(core, "ggg");
}

static const struct {
    void (*play)(struct core *core);
    enum rl_loss reason;
} losses[] = {
    {expire, RL_LOSS_EXPIRED},
    {fail_renewals, RL_LOSS_UNREACHABLE},
    {stop_answering, RL_LOSS_UNREACHABLE},
    {take_keys, RL_LOSS_REFUSED},
    {put_other_values, RL_LOSS_REFUSED},
    {step_clocks, RL_LOSS_CLOCK_STEP},
    {step_a_clock_and_recover, RL_LOSS_EXPIRED},
};

#define N_LOSSES ((int)(sizeof(losses) / sizeof(*losses)))

TESTS(loss, a_loss_says_why, 0, N_LOSSES)
{
    struct core *core = core_start_held(3);

    losses[_i].play(core);
    core_run_to(core, 3000);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    ck_assert_uint_eq(core->lost[0], 1);
    ck_assert_int_eq(core->locks[0].loss, losses[_i].reason);
}

/* Whatever happened to the former hold, this one ended because nobody renewed it. */
TESTS(loss, the_reason_is_that_of_the_latest_hold, 0, N_LOSSES)
{
    struct core *core = core_start_held(3);
    struct rl_acquire request = core_request();
    int64_t start_ms;

    losses[_i].play(core);
    core_run_to(core, 3000);
    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 20000);
    start_ms = core->now.ns / RL_NS_PER_MS;
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "gg");
    core_run_to(core, start_ms + 987);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_run_to(core, start_ms + 988);
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_EXPIRED);
}

/* Held for longer than max_hold, which is no reason where nothing is renewed anyway. */
TESTS(loss, the_hold_limit_is_the_reason_only_where_it_has_kept_from_renewing, 0, 2)
{
    struct rl_acquire request = core_request();
    struct core *core;

    request.max_hold_ms = 200;
    request.renew_ms = _i ? 300 : 0;
    core = core_start_held_as(3, &request);
    core_run_to(core, 2000);
    ck_assert_int_eq(core->locks[0].loss, _i ? RL_LOSS_HOLD_LIMIT : RL_LOSS_EXPIRED);
}

/* --- A lock that is lost does not come back ----------------------------------------------------------------------- */

static const enum rl_detail gone[] = {RL_DETAIL_MISSING, RL_DETAIL_FOREIGN};

GROUP(loss_tests, "loss", NULL, core_stop_all)

TESTS(loss_tests, a_master_without_the_key_loses_its_vote_and_the_others_carry_on, 0, 2)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_answer_for(core, 0, RL_REFUSED, gone[_i]);
    ck_assert_int_eq(core->locks[0].claim->votes[0].bound.ns, RL_LONG_AGO.ns);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, ".gg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

TESTS(loss_tests, the_lock_is_lost_when_too_few_masters_have_the_key, 0, 2)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_skip(core);
    core_answer_for(core, 0, RL_REFUSED, gone[_i]);
    core_answer_for(core, 1, RL_REFUSED, gone[_i]);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n"
                      "t=0ms LOST\n"
                      "t=0ms COMPLETE extend lost\n");
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(loss_tests, grants_after_a_loss_bring_nothing_back)
{
    struct core *core = core_start_held(5);

    core_extend(core, 0);
    core_answers(core, "rrr");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    core_answers(core, "...gg");
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
}

/* rule 4.4: "Extension never resurrects a lock whose deadline has passed." */
TEST(loss_tests, answers_at_the_very_deadline_come_too_late)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 950);
    core_extend(core, 0);
    core_answers(core, "g");
    core_sleep_to(core, 988);
    core_skip(core);
    core_answers(core, ".g");
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n"
                      "t=988ms COMPLETE extend lost\n");
}

TEST(loss_tests, answers_a_nanosecond_before_the_deadline_are_in_time)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 950);
    core_extend(core, 0);
    core_answers(core, "g");
    core->now.ns = rl_ms(988).ns - 1;
    core_answers(core, ".g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 950 + 988);
}

TEST(loss_tests, late_extensions_do_not_resurrect_a_lock_that_overslept_its_deadline_either)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 900);
    core_extend(core, 0);
    core_run_to(core, 960);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_sleep_to(core, 1000);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    ck_assert_int_eq(core_deadline_ms(core), INT64_MIN);
}

TEST(loss_tests, a_held_lock_is_lost_by_its_own_timer_at_the_deadline)
{
    struct core *core = core_start_held(3);

    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(988).ns);
    core_run_to(core, 2000);
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n");
    ck_assert_uint_eq(core->engine.votes.counters.lost, 1);
}

TEST(loss_tests, an_extension_under_way_at_the_deadline_ends_as_lost)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 960);
    core_extend(core, 0);
    core_run_to(core, 2000);
    core_expect(core, "t=960ms SEND extend #1: 0 1 2\n"
                      "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n"
                      "t=988ms COMPLETE extend lost\n");
}

SUITE("engine_alarm")
