/* How waiting ends without the lock: deadline, cancel, fini, and what is rolled back then (engine/wait.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "suite.h"

GROUP(without, "without", NULL, core_stop_all)

TEST(without, waiting_ends_at_the_callers_deadline_and_leaves_nothing)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.deadline.ns = rl_ms(700).ns;
    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_run_to(core, 500);
    core_answers(core, "qq");
    core_skip(core);
    core_run_to(core, 700);
    core_expect(core, "t=700ms SEND rollback #1: 0 1 2\n"
                      "t=700ms COMPLETE acquire deadline (held)\n");
    ck_assert_int_eq(core->locks[0].claim->votes[2].detail, RL_DETAIL_TIMEOUT);
}

TEST(without, canceling_rolls_back_every_entry_and_every_grant)
{
    struct core *core = core_start_enqueued(5);

    core_answers(core, "qgu");
    core_skip(core);
    ck_assert(core_cancel(core));
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2 3 4\n"
                      "t=0ms COMPLETE acquire canceled\n");
}

TEST(without, a_handle_that_goes_takes_its_places_with_it)
{
    struct core *core = core_start_queued(3);

    core_fini(core);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n");
}

TEST(without, a_master_that_was_away_is_told_when_it_comes_back)
{
    struct core *core = core_start_queued(3);

    core_drop(core, 2);
    core_cancel(core);
    core_skip(core);
    core_link(core, 2, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #1: 2\n");
}

TEST(without, a_master_that_certainly_did_nothing_needs_no_rollback)
{
    struct core *core = core_start_enqueued(3);

    core_answers(core, "qqf");
    core_skip(core);
    core_cancel(core);
    core_expect(core, "t=0ms SEND rollback #1: 0 1\n"
                      "t=0ms COMPLETE acquire canceled\n");
}

TEST(without, a_master_that_did_something_in_an_earlier_round_does)
{
    struct core *core = core_start_queued(3);

    core_run_to(core, 500);
    core_answers(core, "qqf");
    core_run_to(core, 1000);
    core_answers(core, "qqf");
    core_skip(core);
    core_cancel(core);
    core_expect(core, "t=1000ms SEND rollback #1: 0 1 2\n"
                      "t=1000ms COMPLETE acquire canceled\n");
}

/* Of two questions of one round one failed for certain; the other may be carried out. */
TEST(without, a_master_that_was_asked_twice_is_rolled_back_whatever_one_answer_says)
{
    struct core *core = core_start_enqueued(3);

    core_look_again(core, 0);
    core_answers(core, "f");
    core_answers(core, "-qq");
    core_skip(core);
    core_cancel(core);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire canceled\n");
}

TEST(without, an_acquisition_whose_host_has_no_claim_for_a_second_value_ends)
{
    struct core *core = core_start_queued(3);

    core->refuse_claims = true;
    core_hand_off(core, 0);
    core_notify_of_lower(core, 0);
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire refused-by-host\n");
}

TEST(without, nobody_yields_into_a_new_place_after_the_deadline)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.deadline.ns = rl_ms(300).ns;
    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_hand_off(core, 0);
    core_skip(core);
    core_sleep_to(core, 300);
    core_notify_of_lower(core, 0);
    core_expect(core, "t=300ms SEND rollback #1: 0 1 2\n"
                      "t=300ms COMPLETE acquire deadline (no-quorum)\n");
}

SUITE("engine_wait_end")
