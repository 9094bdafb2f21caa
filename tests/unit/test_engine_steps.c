/* Masters whose clocks were set forward: their new votes, and those that one has (rule 6.2). */
#include "core_harness.h"
#include "engine/answer.h"
#include "engine/hold.h"
#include "suite.h"
#include "votes/clocks.h"

#define NOT_READ INT64_MIN

static struct rl_instant at_ms(int64_t ms)
{
    return (struct rl_instant){rl_ms(ms).ns};
}

/* --- Clock steps: new votes --------------------------------------------------------------------------------------- */

/* max_ttl is 5000 ms, so its drift is 52 ms. A small step makes keys end early as well, perhaps much later. */
static const int64_t steps_ms[] = {1, 100, 5000, 86400000};

GROUP(new_votes, "new votes", NULL, core_stop_all)

TESTS(new_votes, a_master_whose_clock_was_set_forward_does_not_vote_for_max_ttl, 0,
      (int)(sizeof steps_ms / sizeof *steps_ms))
{
    struct core *core = core_start(1);
    struct rl_acquire request = core_request_once();

    core_step_clock(core, 0, steps_ms[_i]);
    core->now.ns = rl_ms(5052).ns - 1;
    core_acquire(core, &request);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core->last.claim->votes[0].detail, RL_DETAIL_QUARANTINED);
    core_sleep_to(core, 5052);
    core_acquire(core, &request);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
}

/* --- Clock steps: this client's own clock ------------------------------------------------------------------------- */

/* Readings take a millisecond; the first one comes at 1000 ms, and moves_ms says what each has moved by at 2000 ms
 * and later. */
static uint32_t explain(struct core *core, size_t n, const int64_t moves_ms[], struct rl_clock_move *ret_own)
{
    static struct rl_node_clock clocks[5];
    const struct rl_node_clock *pointers[5];
    uint32_t nodes = 0;

    for (unsigned i = 0; i < n; i++) {
        rl_node_clock_init(&clocks[i]);
        pointers[i] = &clocks[i];
        rl_node_clock_read(&clocks[i], 0, 1000000, at_ms(1000), at_ms(1001));
    }
    for (unsigned i = 0; i < n; i++) {
        int64_t ms = 2000 + 2 * i;

        if (moves_ms[i] != NOT_READ &&
            rl_node_clock_read(&clocks[i], 0, 1000 * (ms + moves_ms[i]), at_ms(ms), at_ms(ms + 1)) ==
                RL_CLOCK_FORWARD)
            rl_note_clock_step(&core->engine.votes, core->now, i, &clocks[i].last_move);
    }
    for (unsigned i = 0; i < n && !nodes; i++)
        nodes = rl_explain_clock_steps(&core->engine.votes, pointers, i, ret_own);
    return nodes;
}

/* What each of three masters has moved by, and which of them may vote again. */
static const struct {
    int64_t moves_ms[3];
    uint32_t nodes;
} own_clocks[] = {
    {{100, 100, 100}, 7},
    {{100, 101, 100}, 7},
    {{100, 110, 100}, 0},       /* not by one amount */
    {{100, 100, 0}, 0},         /* one stands against it */
    {{100, 0, 0}, 0},
    {{100, 100, NOT_READ}, 0},  /* nobody knows yet */
    {{2, 2, 0}, 3},             /* too little to be seen at the third */
};

TESTS(new_votes, a_quorum_that_moves_together_shows_that_our_own_clock_stood_still, 0,
      sizeof own_clocks / sizeof own_clocks[0])
{
    struct core *core = core_start(3);
    struct rl_clock_move own;

    ck_assert_uint_eq(explain(core, 3, own_clocks[_i].moves_ms, &own), own_clocks[_i].nodes);
    for (unsigned i = 0; i < 3; i++) {
        if (own_clocks[_i].nodes >> i & 1u)
            ck_assert(!rl_clock_doubted(&core->engine.votes, i, core->now));
        else if (own_clocks[_i].moves_ms[i] >= 100)
            ck_assert(rl_clock_doubted(&core->engine.votes, i, core->now));
    }
}

TEST(new_votes, a_master_that_cannot_be_reached_is_not_waited_for)
{
    struct core *core = core_start(3);
    struct rl_clock_move own;

    core_link(core, 2, RL_LINK_DOWN);
    ck_assert_uint_eq(explain(core, 3, (const int64_t[]){100, 100, NOT_READ}, &own), 3);
    ck_assert_int_ge(own.most.ns, rl_ms(100).ns);
    ck_assert_int_le(own.least.ns, rl_ms(100).ns);
}

/* So many masters, of which the first ones are connected, and have all moved by one amount. */
static const struct {
    size_t n, connected;
    uint32_t nodes;
} too_few[] = {{1, 1, 0}, {2, 1, 0}, {2, 2, 3}, {4, 2, 0}, {4, 3, 7}, {5, 2, 0}, {5, 3, 7}};

TESTS(new_votes, without_a_quorum_or_with_one_master_nobody_can_tell, 0, sizeof too_few / sizeof too_few[0])
{
    struct core *core = core_start(too_few[_i].n);
    int64_t moves_ms[5];
    struct rl_clock_move own;

    for (size_t i = 0; i < too_few[_i].n; i++) {
        moves_ms[i] = i < too_few[_i].connected ? 100 : NOT_READ;
        if (i >= too_few[_i].connected)
            core_link(core, (unsigned)i, RL_LINK_DOWN);
    }
    ck_assert_uint_eq(explain(core, too_few[_i].n, moves_ms, &own), too_few[_i].nodes);
}

/* The wait for a step from before goes on. */
TEST(new_votes, a_standstill_does_not_forgive_an_earlier_step)
{
    struct core *core = core_start(3);
    struct rl_clock_move own;

    core_step_clock(core, 0, 1000);
    core_sleep_to(core, 500);
    ck_assert_uint_eq(explain(core, 3, (const int64_t[]){100, 100, 100}, &own), 7);
    ck_assert(rl_clock_doubted(&core->engine.votes, 0, core->now));
    ck_assert(!rl_clock_doubted(&core->engine.votes, 1, core->now));
}

TEST(new_votes, an_answer_to_what_was_sent_before_a_standstill_counts_for_less)
{
    struct core *core = core_start(1);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    rl_lock_own_clock_stood(&core->locks[0], rl_ms(100));
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(rl_lock_deadline(&core->engine, &core->locks[0]).ns,
                     rl_vote_bound(&core->engine.votes.config.drift, (struct rl_instant){0}, request.ttl_ms).ns -
                         rl_ms(100).ns);
}

TEST(new_votes, another_step_begins_the_wait_anew)
{
    struct core *core = core_start(1);

    core_step_clock(core, 0, 3000);
    core_sleep_to(core, 10);
    core_step_clock(core, 0, 10);
    ck_assert_int_eq(core->engine.votes.stepped_until[0].ns, rl_ms(5062).ns);
}

TEST(new_votes, votes_in_flight_at_the_step_do_not_count_and_are_rolled_back)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_step_clock(core, 0, 1000);
    core_step_clock(core, 1, 1000);
    core_skip(core);
    core_answers(core, "gg");
    core_expect(core, "t=0ms SEND rollback #1: 0 1 2\n"
                      "t=0ms COMPLETE acquire no-quorum\n");
    ck_assert_int_eq(core->last.claim->votes[0].detail, RL_DETAIL_QUARANTINED);
}

TEST(new_votes, votes_that_wait_for_their_epoch_check_at_the_step_do_not_count)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_step_clock(core, 0, 1000);
    ck_assert_int_eq(core_vote(core, 0)->outcome, RL_UNKNOWN);
    core_pass_epoch_check(core, 0);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, RL_LONG_AGO.ns);
    core_pass_epoch_check(core, 1);
    core_pass_epoch_check(core, 2);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
}

/* --- Clock steps: votes that one has ------------------------------------------------------------------------------ */

GROUP(bounds, "bounds", NULL, core_stop_all)

TEST(bounds, the_votes_of_a_stepped_master_count_that_much_shorter)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 300);
    ck_assert_int_eq(core_vote(core, 0)->bound.ns, rl_ms(688).ns);
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_step_clock(core, 1, 500);
    ck_assert_int_eq(core_deadline_ms(core), 688);
    core_step_clock(core, 0, 100);
    ck_assert_int_eq(core_deadline_ms(core), 588);
}

TEST(bounds, the_votes_of_every_lock_count_shorter)
{
    struct core *core = core_start_held(1);
    struct rl_acquire request = core_request();

    core->handle = 1;
    core_acquire(core, &request);
    core_answers(core, "g");
    core_step_clock(core, 0, 300);
    for (core->handle = 0; core->handle < 2; core->handle++)
        ck_assert_int_eq(core_deadline_ms(core), 688);
}

TEST(bounds, the_lock_is_lost_at_once_when_the_quorum_of_bounds_is_gone)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 10);
    core_step_clock(core, 0, 978);
    core_expect(core, "");
    core_step_clock(core, 2, 978);
    core_expect(core, "t=10ms SEND release #1: 0 1 2\n"
                      "t=10ms LOST\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_CLOCK_STEP);
}

TEST(bounds, a_lock_that_ends_early_for_a_step_says_so)
{
    struct core *core = core_start_held(1);

    core_step_clock(core, 0, 400);
    core_run_to(core, 1000);
    core_expect(core, "t=588ms SEND release #1: 0\n"
                      "t=588ms LOST\n");
    ck_assert_int_eq(core->locks[0].loss, RL_LOSS_CLOCK_STEP);
}

TEST(bounds, an_attempt_whose_votes_a_step_has_shortened_to_nothing_does_not_win)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, "g");
    core_step_clock(core, 0, 2000);
    core_answers(core, ".g");
    ck_assert_int_eq(core->last.status, RL_END_TOO_SLOW);
}

/* The key has not expired yet, step or no step, so it is there without a gap. */
TEST(bounds, a_stepped_master_may_extend_a_vote_that_still_counts)
{
    struct core *core = core_start_held(1);

    core_step_clock(core, 0, 500);
    core_run_to(core, 100);
    core_extend(core, 0);
    core_answers(core, "g");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 1088);
}

TEST(bounds, a_stepped_master_is_not_asked_to_extend_a_vote_that_is_over)
{
    struct core *core = core_start_held(3);

    core_step_clock(core, 0, 988);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 1 2\n");
    ck_assert_int_eq(core_vote(core, 0)->detail, RL_DETAIL_QUARANTINED);
}

TEST(bounds, an_extension_in_flight_at_the_step_does_not_count_for_a_vote_that_is_over)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_step_clock(core, 0, 988);
    core_answers(core, "g");
    ck_assert(!rl_before(core->now, core_vote(core, 0)->bound));
}

TEST(bounds, steps_of_centuries_do_not_make_a_vote_count_for_ever)
{
    struct core *core = core_start_held(3);

    for (unsigned step = 0; step < 4; step++) {
        core_step_clock(core, 0, INT64_C(200) * 365 * 86400 * 1000);
        ck_assert(!rl_before(core->now, core_vote(core, 0)->bound));
    }
}

SUITE("engine_steps")
