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

SUITE("engine_renew")
