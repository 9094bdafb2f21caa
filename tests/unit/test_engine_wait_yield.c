/* Yielding to a lower ticket; and the tokens of those who were handed the key (engine/wait.c, votes/fence.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "kinds/mutex.h"
#include "suite.h"

/* 2000 ms of lease, less 1 % and 2 ms. */
#define USABLE_MS 1978

/* --- Yielding --------------------------------------------------------------------------------------------------- */

GROUP(yields, "yields", NULL, core_stop_all)

/* The early look, a millisecond after answers that took no time, is answered. */
static void look_again(struct core *core, const char *answers)
{
    core_run_to(core, 1);
    core_expect(core, "t=1ms SEND enqueue #1: 0 1 2\n");
    core_answers(core, answers);
}

TEST(yields, who_was_given_what_a_lower_ticket_waits_for_looks_again_and_yields)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].lower = true;
    core_answers(core, "gqq");
    core_skip(core);
    look_again(core, "g");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
    core_answers(core, "-q");
    core_expect(core, "t=1ms SEND rollback #1: 0 1 2\n"
                      "t=1ms SEND enqueue #2: 0 1 2\n");
    ck_assert_uint_eq(core->entries[0].ticket, 100);
    ck_assert_uint_eq(core->engine.votes.counters.yields, 1);
    core_answers(core, "---");
}

TEST(yields, who_yields_keeps_its_ticket_and_changes_its_value)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 1);
    core_notify_of_lower(core, 1);
    core->reports[1].lower = true;
    look_again(core, "qgq");
    core_expect(core, "t=1ms SEND rollback #1: 0 1 2\n"
                      "t=1ms SEND enqueue #2: 0 1 2\n");
    ck_assert_uint_eq(core->queues[0].commands[core->queues[0].head + 1].ticket, 100);
}

/* The lower ticket has the lock by the other masters, and releases it while this one looks again. */
TEST(yields, who_gets_a_quorum_meanwhile_has_nothing_to_yield)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 1);
    core_notify_of_lower(core, 1);
    core_hand_off(core, 0);
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
}

TEST(yields, the_lowest_never_yields)
{
    struct core *core = core_start_queued(5);

    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_run_to(core, 500);
    core_answers(core, "ggqqq");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
    ck_assert_uint_eq(core->n_claims, 1);
}

TEST(yields, a_majority_is_not_yielded)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].lower = core->reports[1].lower = true;
    core_answers(core, "gg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
}

TEST(yields, a_lower_ticket_where_nothing_was_given_is_no_reason_to_yield)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_notify_of_lower(core, 1);
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
}

/* Whoever had somebody in front of it at its last refresh would else give every turn away. */
TEST(yields, a_hand_off_is_newer_than_what_was_said_of_lower_tickets_before)
{
    struct core *core = core_start_queued(3);

    core_notify_of_lower(core, 0);
    core_hand_off(core, 0);
    core_run_to(core, 2);
    core_expect(core, "");
    core_notify_of_lower(core, 0);
    core_run_to(core, 3);
    core_expect(core, "t=3ms SEND enqueue #1: 0 1 2\n");
}

TEST(yields, nobody_yields_before_it_has_a_ticket_and_has_told_it)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].lower = true;
    core->reports[0].ticket = 99;
    core_answers(core, "g");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
    core_answers(core, "-qq");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 0);
    core_answers(core, "gqq");
    ck_assert_uint_eq(core->engine.votes.counters.yields, 1);
    ck_assert_uint_eq(core->entries[0].ticket, 100);
}

/* --- Tokens ----------------------------------------------------------------------------------------------------- */

static struct core *start_fenced_with(size_t n_nodes)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(n_nodes);

    request.kind = &rl_fenced_kind;
    core_acquire(core, &request);
    core_answers(core, &"qqqqq"[5 - n_nodes]);
    core_skip(core);
    return core;
}

static struct core *start_fenced(void)
{
    return start_fenced_with(3);
}

GROUP(tokens, "tokens", NULL, core_stop_all)

TEST(tokens, a_token_is_made_of_what_the_hand_offs_have_counted)
{
    struct core *core = start_fenced();

    core->counters[0] = core->counters[1] = 41;
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 41);
}

TEST(tokens, a_hand_off_that_has_not_counted_is_no_vote_for_a_token)
{
    struct core *core = start_fenced();

    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
}

TEST(tokens, unequal_counters_are_raised_before_the_turn_is_taken)
{
    struct core *core = start_fenced();

    core->counters[0] = 41;
    core->counters[1] = 44;
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    core_answers(core, "g");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 44);
}

/* Its record of the token was made in a hold that is over: others may have got more in between. */
TEST(tokens, an_expired_vote_records_no_token)
{
    struct core *core = start_fenced();

    core->counters[0] = 41;
    core->counters[1] = 44;
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_sleep_to(core, USABLE_MS);
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
}

/* A master that grants again has counted for others since; its late word on the first grant must not hide that. */
TEST(tokens, a_late_acknowledgement_does_not_bring_a_larger_answer_down)
{
    struct core *core = start_fenced();
    uint64_t token;

    core->counters[0] = 41;
    core->counters[1] = 44;
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_run_to(core, USABLE_MS + 1);
    core->counters[0] = 50;
    core_hand_off(core, 0);
    core_answers(core, "g"); /* of the raise to 44 */
    token = rl_claim_fence(core->locks[0].claim)->token;
    ck_assert(token == 44 || token == 0);
    ck_assert_uint_eq(rl_claim_fence(core->locks[0].claim)->counters[0], token ? 50 : 0);
}

/* It hides what the master has recorded, so the master is asked once more. */
TEST(tokens, a_late_notification_of_a_grant_that_was_raised_does_not_stop_the_turn)
{
    struct core *core = start_fenced_with(5);

    core->counters[0] = core->counters[1] = 41;
    core->counters[2] = 44;
    for (unsigned node = 0; node < 3; node++)
        core_hand_off(core, node);
    core_expect(core, "t=0ms SEND raise #1: 0 1\n");
    core_answers(core, "g");
    core_hand_off(core, 0);
    core_expect(core, "t=0ms SEND raise #1: 0\n");
    core_answers(core, "gg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 44);
    ck_assert_uint_eq(core->engine.votes.counters.raises, 1);
}

TEST(tokens, a_token_that_cannot_be_recorded_any_more_is_given_up_with_its_value)
{
    struct core *core = start_fenced();

    core->counters[0] = 41;
    core->counters[1] = 44;
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_skip(core);
    core_answers(core, "r");
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms SEND enqueue #2: 0 1 2\n");
    ck_assert_uint_eq(core->entries[0].ticket, 100);
}

/* --- Moving ----------------------------------------------------------------------------------------------------- */

static bool move(struct core *core)
{
    bool moved = rl_lock_move(&core->engine, &core->locks[0], core->now);

    core_drain_for(core, 0);
    return moved;
}

GROUP(moving, "moving", NULL, core_stop_all)

TEST(moving, who_moves_keeps_its_ticket_and_changes_its_value)
{
    struct core *core = core_start_queued(3);

    ck_assert(move(core));
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms SEND enqueue #2: 0 1 2\n");
    ck_assert_uint_eq(core->queues[0].commands[core->queues[0].head + 1].ticket, 100);
    ck_assert_uint_eq(core->engine.votes.counters.moves, 1);
}

TEST(moving, who_has_a_vote_does_not_move)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 1);
    ck_assert(!move(core));
    ck_assert_uint_eq(core->n_claims, 1);
}

/* As long as no quorum has answered, the vote may be one of a hand-off. */
TEST(moving, a_vote_from_before_the_latest_round_binds_nobody)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 1);
    core_run_to(core, 500);
    core_skip(core);
    core_answers(core, "q");
    ck_assert(!move(core));
    core_answers(core, "-g");
    ck_assert(move(core));
    core_expect(core, "t=500ms SEND rollback #1: 0 1 2\n"
                      "t=500ms SEND enqueue #2: 0 1 2\n");
}

TEST(moving, a_vote_that_has_come_since_the_round_began_binds)
{
    struct core *core = core_start_queued(5);

    core_hand_off(core, 1);
    core_run_to(core, 500);
    core_answers(core, "qgq");
    core_hand_off(core, 3);
    ck_assert(!move(core));
    ck_assert_uint_eq(core->n_claims, 1);
}

TEST(moving, who_does_not_wait_does_not_move)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core->locks[0].state, RL_LOCK_HELD);
    ck_assert(!move(core));
    ck_assert_int_eq(core->locks[0].state, RL_LOCK_HELD);
}

SUITE("engine_wait_yield")
