/* The rhythm of renewals and the warning when extensions change the ttl: in proportion, but inside the validity. */
#include "core_harness.h"
#include "suite.h"

/* One master, held since t = 0 with a ttl of 1000 ms, a guard time, renewed every 300 ms. */
static struct core *start(int64_t guard_ms, uint32_t at_risk_ms)
{
    struct rl_config config = core_config(1);
    struct rl_acquire request = core_request();
    struct core *core;

    config.guard = rl_ms(guard_ms);
    core = core_new(&config);
    core_admit_voting(core, 0, false);
    core_link(core, 0, RL_LINK_READY);
    request.renew_ms = 300;
    request.at_risk_ms = at_risk_ms;
    core_acquire(core, &request);
    core_answers(core, "g");
    return core;
}

static void extend_to(struct core *core, uint32_t ttl_ms)
{
    core_extend(core, ttl_ms);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

static const struct {
    uint32_t ttl_ms, renew_ms, at_risk_ms;
} changes[] = {{2000, 600, 400}, {500, 150, 100}, {10, 3, 1}, {5000, 1500, 1002}};

GROUP(cases, "rhythm", NULL, core_stop_all)

/* The warning's is that to the validity: 200 of 988, 1001.6 of 4948. */
TESTS(cases, renewals_and_warning_keep_their_proportion_to_the_ttl, 0, 4)
{
    struct core *core = start(0, 200);

    extend_to(core, changes[_i].ttl_ms);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, changes[_i].renew_ms);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, changes[_i].at_risk_ms);
}

TEST(cases, changing_the_ttl_again_and_again_loses_nothing)
{
    struct core *core = start(0, 200);

    for (int i = 0; i < 50; i++) {
        extend_to(core, 20);
        extend_to(core, 5000);
    }
    extend_to(core, 1000);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, 300);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 200);
}

/* 620 less the drift of 9 and the guard time of 600 are 11 ms: a third of the ttl would be long after them. The warning
 * had 200 of 388. */
TEST(cases, a_ttl_that_the_guard_time_almost_eats_up_is_renewed_in_time)
{
    struct core *core = start(600, 200);

    extend_to(core, 620);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, 7);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 6);
    core_run_to(core, 8);
    core_answers(core, "g");
    core_run_to(core, 14);
    ck_assert_uint_ge(core->engine.votes.counters.renewals, 1);
    ck_assert_int_eq(core->locks[0].state, RL_LOCK_HELD);
}

/* 1000 less the drift of 12, and 2000 less 22. */
TEST(cases, a_warning_that_is_wanted_early_comes_early_after_an_extension_too)
{
    struct core *core = start(0, 700);

    extend_to(core, 1000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700);
    extend_to(core, 2000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700 * 1978 / 988);
    extend_to(core, 1000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700);
}

TEST(cases, what_was_not_requested_stays_so)
{
    struct core *core = core_start_held(1);

    extend_to(core, 4000);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, 0);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 0);
}

SUITE("engine_rhythm")
