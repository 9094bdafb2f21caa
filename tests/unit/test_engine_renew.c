/* Renewal (rule 4.8). Held since t = 0, ttl 1000, renewed every 300 ms: valid until 988 unless renewed. */
#include <string.h>

#include "core_harness.h"
#include "suite.h"

static struct rl_acquire renewing_request(void)
{
    struct rl_acquire request = core_request();

    request.renew_ms = 300;
    return request;
}

static struct core *start_renewing(void)
{
    struct rl_acquire request = renewing_request();

    return core_start_held_as(3, &request);
}

/* --- When --------------------------------------------------------------------------------------------------------- */

GROUP(cases, "time", NULL, core_stop_all)

TEST(cases, a_held_lock_is_renewed_on_time_again_and_again)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    core_answers(core, "..g");
    core_run_to(core, 600);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=310ms RENEWED\n"
                      "t=600ms SEND extend #1: 0 1 2\n");
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 2);
}

TEST(cases, without_the_request_there_is_no_renewal)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 2000);
    core_expect(core, "t=988ms SEND release #1: 0 1 2\n"
                      "t=988ms LOST\n");
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 0);
}

/* A tick of 4 ms: what is due at 301 and at 303 goes out together at 300, and none later than it was asked for. */
TEST(cases, renewals_of_many_locks_go_out_on_one_tick)
{
    struct rl_config config = core_config(1);
    struct core *core;
    struct rl_acquire request = renewing_request();

    config.tick = rl_ms(4);
    core = core_new(&config);
    core_link(core, 0, RL_LINK_READY);
    for (core->handle = 0; core->handle < 2; core->handle++) {
        core_run_to(core, 1 + 2 * (int64_t)core->handle);
        core_acquire(core, &request);
        core_answers(core, "g");
    }
    core_skip(core);
    core_run_to(core, 303);
    core_expect(core, "t=300ms SEND extend #1: 0\n"
                      "t=300ms SEND extend #2: 0\n");
}

TEST(cases, a_tick_that_is_coarse_for_the_interval_is_refined)
{
    struct rl_config config = core_config(1);
    struct core *core;
    struct rl_acquire request = renewing_request();

    config.tick = rl_ms(1000);
    core = core_new(&config);
    core_link(core, 0, RL_LINK_READY);
    core_run_to(core, 5);
    core_acquire(core, &request);
    core_answers(core, "g");
    core_skip(core);
    core_run_to(core, 305);
    core_expect(core, "t=300ms SEND extend #1: 0\n");
}

/* One master, ticks of 4 ms, and so many locks that are acquired at once; `per_tick` renewals fill one tick. */
static struct core *start_together(uint32_t per_tick, unsigned n)
{
    struct rl_config config = core_config(1);
    struct rl_acquire request = renewing_request();
    struct core *core;

    config.renewals_per_tick = per_tick;
    config.tick = rl_ms(4);
    core = core_new(&config);
    core_link(core, 0, RL_LINK_READY);
    for (core->handle = 0; core->handle < n; core->handle++)
        core_acquire(core, &request);
    for (unsigned i = 0; i < n; i++)
        core_answers(core, "g");
    core->handle = 0;
    core_skip(core);
    return core;
}

/* Two of four locks are too many for one tick: they go to the first ticks that have room, and keep that distance. */
TEST(cases, renewals_of_locks_that_were_acquired_at_once_are_spread)
{
    struct core *core = start_together(2, CORE_LOCKS);

    ck_assert_uint_eq(core->engine.n_held, CORE_LOCKS);
    core_run_to(core, 10);
    core_expect(core, "t=4ms SEND extend #3: 0\n"
                      "t=8ms SEND extend #4: 0\n");
    core_answers(core, "g");
    core_answers(core, "g");
    core_skip(core);
    core_run_to(core, 310);
    core_expect(core, "t=300ms SEND extend #1: 0\n"
                      "t=300ms SEND extend #2: 0\n"
                      "t=304ms SEND extend #3: 0\n"
                      "t=308ms SEND extend #4: 0\n");
}

/* Answered behind another one it finds itself among many again, and stays where it is all the same: else it would be
 * renewed at every tick for as long as there is company. */
TEST(cases, a_lock_that_has_been_spread_comes_at_its_interval_after_that)
{
    struct core *core = start_together(1, 2);

    ck_assert_int_eq(core->locks[1].wake.ns, rl_ms(4).ns);
    core_run_to(core, 3);
    core_extend(core, 0);
    core_run_to(core, 4);
    core_answers(core, "g");
    core_answers(core, "g");
    ck_assert_int_eq(core->locks[1].wake.ns, rl_ms(304).ns);
    core_skip(core);
}

/* --- Failed rounds ------------------------------------------------------------------------------------------------ */

GROUP(failure, "failure", NULL, core_stop_all)

/* The time of the second renewal: after a round of 50 ms, and a tenth to a fifth of the interval. */
TEST(failure, a_renewal_without_answers_is_tried_again_inside_the_deadline)
{
    struct core *core = start_renewing();

    core_run_to(core, 379);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n");
    ck_assert_uint_eq(core->engine.votes.counters.renewals_failed, 1);
    core_run_to(core, 410);
    ck_assert_uint_eq(core->engine.votes.counters.renewals, 2);
    core_answers(core, "ggg");
    core_answers(core, "gg");
    ck_assert_int_gt(core_deadline_ms(core), 380 + 988 - 1);
    ck_assert_ptr_nonnull(strstr(core->log, "RENEWED"));
}

TEST(failure, renewals_that_fail_are_tried_until_the_deadline_and_no_longer)
{
    struct core *core = start_renewing();

    core_run_to(core, 5000);
    ck_assert_uint_ge(core->engine.votes.counters.renewals, 5);
    ck_assert_uint_le(core->engine.votes.counters.renewals, 10);
    ck_assert_ptr_nonnull(strstr(core->log, "t=988ms SEND release #1: 0 1 2\nt=988ms LOST\n"));
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_UNREACHABLE);
}

TEST(failure, a_renewal_that_finds_no_master_fails_at_once_and_does_not_spin)
{
    struct core *core = start_renewing();

    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 980);
    ck_assert_uint_ge(core->engine.votes.counters.renewals, 10);
    ck_assert_uint_le(core->engine.votes.counters.renewals, 24);
    ck_assert_uint_eq(core->engine.votes.counters.renewals, core->engine.votes.counters.renewals_failed);
    core_expect(core, "");
}

/* A tenth of the interval would be less than a millisecond. */
TEST(failure, a_short_interval_is_no_reason_to_try_again_in_a_rush)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.renew_ms = 9;
    core = core_start_held_as(3, &request);
    core_run_to(core, 9);
    core_answers(core, "ff");
    ck_assert_int_ge(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(9 + 5).ns);
}

TEST(failure, answers_after_the_end_of_the_round_still_prolong_the_lock)
{
    struct core *core = start_renewing();

    core_run_to(core, 351);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

/* A new round would make the answers to the former one worthless, time and again. */
TEST(failure, answers_that_take_longer_than_the_interval_prolong_the_lock)
{
    struct rl_config config = core_config(3);
    struct rl_acquire request = renewing_request();
    struct core *core;

    config.node_timeout = rl_ms(500);
    request.renew_ms = 100;
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 250);
    core_expect(core, "t=100ms SEND extend #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_run_to(core, 251);
    core_expect(core, "t=250ms RENEWED\n"
                      "t=250ms SEND extend #1: 0 1 2\n");
    ck_assert_int_eq(core_deadline_ms(core), 1088);
    core_run_to(core, 582);
    ck_assert_uint_eq(core->engine.votes.counters.renewals_failed, 0);
    core_run_to(core, 584); /* a third of the ttl */
    ck_assert_uint_eq(core->engine.votes.counters.renewals_failed, 1);
}

TEST(failure, a_minority_renews_nothing_and_the_next_try_comes_soon)
{
    struct core *core = start_renewing();

    core_run_to(core, 300);
    core_answers(core, "gfu");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    ck_assert_int_le(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(360).ns);
}

/* --- The end of renewals, and the caller's own extensions --------------------------------------------------------- */

/* --- When no longer ----------------------------------------------------------------------------------------------- */

GROUP(end_tests, "end", NULL, core_stop_all)

TEST(end_tests, no_renewal_begins_after_max_hold)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 600;
    core = core_start_held_as(3, &request);
    core_run_to(core, 300);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 2000);
    core_expect(core, "t=1288ms SEND release #1: 0 1 2\n"
                      "t=1288ms LOST\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_HOLD_LIMIT);
}

TEST(end_tests, a_renewal_that_the_host_is_late_for_does_not_begin_after_max_hold_either)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 301;
    core = core_start_held_as(3, &request);
    core_sleep_to(core, 301);
    core_run_to(core, 900);
    core_expect(core, "");
}

TEST(end_tests, retries_end_with_max_hold_too)
{
    struct rl_acquire request = renewing_request();
    struct core *core;

    request.max_hold_ms = 355;
    core = core_start_held_as(3, &request);
    core_run_to(core, 980);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n");
}

TEST(end_tests, nothing_is_renewed_after_the_release_which_goes_behind_the_renewal)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    core_release(core);
    core_answers(core, "ggg");
    core_answers(core, "ggg");
    core_run_to(core, 3000);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=310ms SEND release #1: 0 1 2\n"
                      "t=310ms COMPLETE release ok\n");
}

TESTS(end_tests, nothing_is_renewed_once_the_handle_is_gone, 0, 2)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    if (_i)
        core_detach(core);
    else
        core_fini(core);
    core_skip(core);
    core_answers(core, "ggg");
    core_run_to(core, 3000);
    ck_assert_ptr_null(strstr(core->log, "extend"));
    ck_assert_ptr_null(strstr(core->log, "RENEWED"));
}

TEST(end_tests, the_next_hold_begins_with_no_renewal_of_the_former)
{
    struct core *core = start_renewing();
    struct rl_acquire request = core_request();

    core_run_to(core, 310);
    core_release(core);
    for (unsigned turn = 0; turn < 2; turn++)
        core_answers(core, "ggg");
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_skip(core);
    core_run_to(core, 1297);
    core_expect(core, "");
}

/* --- The caller's own extensions ---------------------------------------------------------------------------------- */

GROUP(extension, "extension", NULL, core_stop_all)

TEST(extension, an_extension_takes_over_the_renewal_under_way)
{
    struct core *core = start_renewing();

    core_run_to(core, 310);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 310 + 988);
    core_run_to(core, 610);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=310ms SEND extend #1: 0 1 2\n"
                      "t=310ms COMPLETE extend ok\n"
                      "t=610ms SEND extend #1: 0 1 2\n");
}

TESTS(extension, the_rhythm_keeps_its_proportion_to_a_changed_ttl, 0, 3)
{
    static const struct {
        uint32_t ttl_ms;
        int64_t next_ms;
    } changes[] = {{500, 150}, {2000, 600}, {10, 3}};
    struct core *core = start_renewing();

    core_extend(core, changes[_i].ttl_ms);
    core_answers(core, "ggg");
    ck_assert_int_eq(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(changes[_i].next_ms).ns);
}

TEST(extension, an_extension_that_fails_is_followed_by_a_renewal_soon)
{
    struct core *core = start_renewing();

    core_extend(core, 0);
    core_answers(core, "ff");
    ck_assert_int_le(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(60).ns);
}

TEST(extension, a_canceled_extension_does_not_put_the_renewal_off)
{
    struct core *core = start_renewing();

    core_run_to(core, 290);
    core_extend(core, 0);
    core_cancel(core);
    ck_assert_int_le(rl_lock_wakeup(&core->engine, &core->locks[0]).ns, rl_ms(350).ns);
}

/* --- The rhythm of renewals, and the warning, when extensions change the ttl -------------------------------------- */

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

GROUP(rhythm, "rhythm", NULL, core_stop_all)

/* The warning's is that to the validity: 200 of 988, 1001.6 of 4948. */
TESTS(rhythm, renewals_and_warning_keep_their_proportion_to_the_ttl, 0, 4)
{
    struct core *core = start(0, 200);

    extend_to(core, changes[_i].ttl_ms);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, changes[_i].renew_ms);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, changes[_i].at_risk_ms);
}

TEST(rhythm, changing_the_ttl_again_and_again_loses_nothing)
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
TEST(rhythm, a_ttl_that_the_guard_time_almost_eats_up_is_renewed_in_time)
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
TEST(rhythm, a_warning_that_is_wanted_early_comes_early_after_an_extension_too)
{
    struct core *core = start(0, 700);

    extend_to(core, 1000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700);
    extend_to(core, 2000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700 * 1978 / 988);
    extend_to(core, 1000);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 700);
}

TEST(rhythm, what_was_not_requested_stays_so)
{
    struct core *core = core_start_held(1);

    extend_to(core, 4000);
    ck_assert_uint_eq(core->locks[0].hold.renew_ms, 0);
    ck_assert_uint_eq(core->locks[0].hold.at_risk_ms, 0);
}

/* --- What is measured --------------------------------------------------------------------------------------------- */

static struct rl_measures measures;

static struct core *start_measured(void)
{
    struct rl_config config = core_config(3);
    struct rl_acquire request = renewing_request();
    struct core *core;

    memset(&measures, 0, sizeof measures);
    config.measures = &measures;
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "ggg");
    return core;
}

GROUP(measured, "what is measured", NULL, core_stop_all)

/* The first renewal begins in time and takes 10 ms. The second begins 40 ms late, since nobody has looked. */
TEST(measured, how_late_a_renewal_begins_and_how_long_it_takes)
{
    struct core *core = start_measured();

    core_run_to(core, 310);
    core_answers(core, "ggg");
    core_sleep_to(core, 640);
    core_run_to(core, 640);
    ck_assert_uint_eq(measures.renewals.count, 1);
    ck_assert_uint_eq(measures.renewals.sum_ns, 10 * RL_NS_PER_MS);
    ck_assert_uint_eq(measures.renewals_late.count, 2);
    ck_assert_uint_eq(measures.renewals_late.sum_ns, 40 * RL_NS_PER_MS);
}

/* One master says that the key is another's, one hangs until the round is over, and the third grants. */
TEST(measured, what_each_master_lacked_in_a_renewal_that_failed)
{
    struct core *core = start_measured();

    core_run_to(core, 300);
    core_answer_for(core, 0, RL_REFUSED, RL_DETAIL_FOREIGN);
    core_answer(core, 1, RL_GRANTED);
    core_run_to(core, 349);
    ck_assert_uint_eq(core->engine.votes.counters.renewals_failed, 0);
    core_run_to(core, 350);
    ck_assert_uint_eq(core->engine.votes.counters.renewals_failed, 1);
    ck_assert_uint_eq(measures.renewals.count, 0);
    ck_assert_uint_eq(measures.failures[0][RL_DETAIL_FOREIGN], 1);
    ck_assert_uint_eq(measures.failures[2][RL_DETAIL_TIMEOUT], 1);
    for (unsigned why = 0; why < RL_DETAIL_COUNT; why++)
        ck_assert_uint_eq(measures.failures[1][why], 0);
}

SUITE("engine_renew")
