/* The loss alarm (rule 4.10): losses without warning, and the reasons that are told. Held since t = 0, ttl 1000,
 * warned with 200 ms left: at risk at 788, lost at 988. */
#include "core_harness.h"
#include "suite.h"

static struct core *start_watched(uint32_t renew_ms)
{
    struct rl_acquire request = core_request();

    request.at_risk_ms = 200;
    request.renew_ms = renew_ms;
    return core_start_held_as(3, &request);
}

/* --- Loss without warning ----------------------------------------------------------------------------------------- */

GROUP(cases, "loss", NULL, core_stop_all)

TEST(cases, after_a_long_pause_the_lock_is_lost_at_once_and_nothing_else_is_told)
{
    struct core *core = start_watched(300);

    core_sleep_to(core, 5000);
    ck_assert_int_lt(core_deadline_ms(core), 5000);
    core_tick(core);
    core_expect(core, "t=5000ms SEND release #1: 0 1 2\n"
                      "t=5000ms LOST\n");
}

TEST(cases, after_a_pause_into_the_margin_the_warning_comes_at_once)
{
    struct core *core = start_watched(0);

    core_sleep_to(core, 900);
    core_tick(core);
    core_expect(core, "t=900ms AT-RISK\n");
}

TEST(cases, a_lock_that_is_lost_by_an_answer_is_not_said_to_be_at_risk)
{
    struct core *core = start_watched(300);

    core_run_to(core, 300);
    core_answers(core, "rr");
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms SEND release #1: 0 1 2\n"
                      "t=300ms LOST\n");
}

TEST(cases, a_released_lock_raises_no_alarm)
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

TESTS(cases, a_loss_says_why, 0, N_LOSSES)
{
    struct core *core = core_start_held(3);

    losses[_i].play(core);
    core_run_to(core, 3000);
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
    ck_assert_uint_eq(core->lost[0], 1);
    ck_assert_int_eq(core->locks[0].loss, losses[_i].reason);
}

/* Whatever happened to the former hold, this one ended because nobody renewed it. */
TESTS(cases, the_reason_is_that_of_the_latest_hold, 0, N_LOSSES)
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
TESTS(cases, the_hold_limit_is_the_reason_only_where_it_has_kept_from_renewing, 0, 2)
{
    struct rl_acquire request = core_request();
    struct core *core;

    request.max_hold_ms = 200;
    request.renew_ms = _i ? 300 : 0;
    core = core_start_held_as(3, &request);
    core_run_to(core, 2000);
    ck_assert_int_eq(core->locks[0].loss, _i ? RL_LOSS_HOLD_LIMIT : RL_LOSS_EXPIRED);
}

SUITE("engine_alarm_loss")
