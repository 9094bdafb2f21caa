/* Entering the wait queue: who does, its place, its ticket (engine/wait.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "engine/wait.h"
#include "suite.h"

/* --- Entering the wait queue -------------------------------------------------------------------------------------- */

GROUP(line, "line", NULL, core_stop_all)

TEST(line, who_is_refused_enters_the_queue_with_a_fresh_value)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_to_queue();

    core_acquire(core, &request);
    core_answers(core, "grr");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=0ms SEND rollback #1: 0\n"
                      "t=0ms SEND enqueue #2: 0 1 2\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_uint_eq(core->engine.votes.counters.waits, 1);
}

TEST(line, who_is_not_refused_never_enters_the_queue)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_to_queue();

    core_acquire(core, &request);
    core_answers(core, "grg");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(core->engine.votes.counters.waits, 0);
}

TEST(line, who_fails_for_want_of_masters_tries_again_and_does_not_enter_the_queue)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_to_queue();

    core_acquire(core, &request);
    core_answers(core, "fu");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=0ms SEND rollback #1: 1 2\n"
                      "t=0ms BACKOFF no-quorum\n");
    core_run_to(core, 100);
    ck_assert_int_eq(core_state(core), RL_LOCK_ACQUIRING);
}

TEST(line, a_single_attempt_ends_refused_whatever_it_would_do_then)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.once = true;
    core_acquire(core, &request);
    core_answers(core, "rr");
    core_expect(core, "t=0ms SEND claim #1: 0 1 2\n"
                      "t=0ms SEND rollback #1: 2\n"
                      "t=0ms COMPLETE acquire held\n");
}

TEST(line, strict_order_has_no_first_attempt)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND enqueue #1: 0 1 2\n");
}

TEST(line, who_is_first_in_the_queue_has_the_lock_by_the_replies_alone)
{
    struct core *core = core_start_enqueued(3);

    core_answers(core, "gg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 2000 - 22);
}

TEST(line, masters_that_must_not_vote_are_not_asked_for_a_place)
{
    struct core *core = core_start(5);
    struct rl_acquire request = core_request_fifo();

    core_admit_quarantined(core, 0, 1000);
    core_link(core, 1, RL_LINK_LATE);
    core_acquire(core, &request);
    core_expect(core, "t=0ms SEND enqueue #1: 2 3 4\n");
    ck_assert_int_eq(core->locks[0].claim->votes[0].detail, RL_DETAIL_QUARANTINED);
    ck_assert_int_eq(core->locks[0].claim->votes[1].detail, RL_DETAIL_LATE);
}

/* The pause is in proportion to the length of a round, not to the age of the client. */
TEST(line, the_pause_before_the_next_try_to_enter_the_queue_is_short)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_sleep_to(core, 3600000);
    core_acquire(core, &request);
    core_link(core, 0, RL_LINK_READY);
    core_run_to(core, 3600100);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
}

TEST(line, without_a_majority_of_masters_nobody_is_in_the_queue)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_acquire(core, &request);
    core_expect(core, "t=0ms BACKOFF no-quorum\n");
    core_link(core, 0, RL_LINK_READY);
    core_run_to(core, 100);
    core_expect(core, "t=100ms DISPOSE #1\n"
                      "t=100ms SEND enqueue #2: 0 2\n");
}

/* --- The place -------------------------------------------------------------------------------------------------- */

TEST(line, the_place_is_told_once_a_majority_has_answered_and_when_it_changes)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].rank = 4;
    core->reports[1].rank = 6;
    core_answers(core, "q");
    core_expect(core, "");
    core_answers(core, "-q");
    core_expect(core, "t=0ms WAITING behind 6\n");
    core_answers(core, "--q");
    core_expect(core, "t=0ms WAITING behind 4\n");
    core_run_to(core, 500);
    core_answers(core, "qqq");
    core_expect(core, "t=500ms SEND enqueue #1: 0 1 2\n");
}

TEST(line, the_holders_rest_is_what_a_majority_says)
{
    struct core *core = core_start_enqueued(3);
    struct rl_instant held_until;
    uint32_t rank;

    core->reports[0].held_ms = 700;
    core->reports[1].held_ms = 900;
    core->reports[2].held_ms = 5000;
    core_answers(core, "qqq");
    rl_lock_queue_position(&core->engine, &core->locks[0], &rank, &held_until);
    ck_assert_int_eq(held_until.ns, 901 * RL_NS_PER_MS);
}

/* --- The ticket ------------------------------------------------------------------------------------------------- */

TEST(line, a_majority_with_the_same_number_needs_no_second_round)
{
    struct core *core = core_start_enqueued(3);

    core_answers(core, "qqq");
    ck_assert_uint_eq(core->entries[0].ticket, 100);
    core_expect(core, "t=0ms WAITING behind 0\n");
}

/* As long as it has another number there, the order of the waiters is another one there. */
TEST(line, a_master_with_a_number_of_its_own_is_told_the_ticket)
{
    struct core *core = core_start_enqueued(3);

    core->reports[2].ticket = 99;
    core_answers(core, "qqq");
    core_expect(core, "t=0ms WAITING behind 0\n"
                      "t=0ms SEND enqueue #1: 2\n");
    ck_assert_uint_eq(core->queues[2].commands[core->queues[2].head].ticket, 100);
    ck_assert_uint_eq(core->locks[0].claim->round, 0);
}

TEST(line, it_is_told_once_in_each_round)
{
    struct core *core = core_start_enqueued(3);

    core->reports[2].ticket = 99;
    core_answers(core, "qqq");
    core_skip(core);
    core_answers(core, "--q");
    core_expect(core, "");
}

TEST(line, the_largest_of_a_majoritys_numbers_is_told_to_all)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].ticket = 101;
    core_answers(core, "q-q");
    core_expect(core, "t=0ms SEND enqueue #1: 0 1 2\n");
    ck_assert_uint_eq(core->entries[0].ticket, 101);
    ck_assert_uint_eq(core->locks[0].claim->round, 1);
}

TEST(line, a_ticket_does_not_change_any_more)
{
    struct core *core = core_start_queued(3);

    core->reports[0].ticket = core->reports[1].ticket = 500;
    core_run_to(core, 500);
    core_answers(core, "qqq");
    ck_assert_uint_eq(core->entries[0].ticket, 100);
    core_run_to(core, 1000);
    ck_assert_uint_eq(core->queues[0].commands[core->queues[0].head].ticket, 100);
}

/* --- Waits that end without the lock ------------------------------------------------------------------------------ */

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
    core_run_to(core, 1);
    core_skip(core);
    core->reports[0].lower = true;
    core_answers(core, "gqq");
    core_expect(core, "t=1ms SEND rollback #1: 0 1 2\n"
                      "t=1ms COMPLETE acquire refused-by-host\n");
}

TEST(without, nobody_yields_into_a_new_place_after_the_deadline)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.deadline.ns = rl_ms(300).ns;
    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_hand_off(core, 0);
    core_notify_of_lower(core, 0);
    core_run_to(core, 1);
    core_skip(core);
    core_sleep_to(core, 300);
    core->reports[0].lower = true;
    core_answers(core, "gqq");
    core_expect(core, "t=300ms SEND rollback #1: 0 1 2\n"
                      "t=300ms COMPLETE acquire deadline (no-quorum)\n");
}

SUITE("engine_wait")
