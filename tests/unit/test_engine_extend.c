/* Extending a held lock (rule 4.2). Held since t = 0, ttl 1000: valid until 988. */
#include "core_harness.h"
#include "engine/answer.h"
#include "suite.h"

GROUP(cases, "quorum", NULL, core_stop_all)

TEST(cases, an_extension_succeeds_at_the_quorum_th_grant_and_counts_from_its_sending)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n");
    core_run_to(core, 310);
    core_answers(core, "g");
    ck_assert_int_eq(core_deadline_ms(core), 988);
    core_answers(core, ".g");
    core_expect(core, "t=310ms COMPLETE extend ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 1288);
}

TEST(cases, a_minority_extends_nothing_and_takes_nothing)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_answers(core, "gfu");
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=300ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(cases, an_extension_without_answers_ends_with_its_round)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 300);
    core_extend(core, 0);
    core_run_to(core, 349);
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    core_run_to(core, 350);
    core_expect(core, "t=300ms SEND extend #1: 0 1 2\n"
                      "t=350ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core->last.claim->votes[0].detail, RL_DETAIL_TIMEOUT);
}

TEST(cases, grants_after_the_end_of_the_round_still_join_the_ledger)
{
    struct core *core = core_start_held(3);

    core_extend(core, 2000);
    core_run_to(core, 50);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    core_answers(core, "gg");
    ck_assert_int_eq(core_deadline_ms(core), 2000 - 22);
    ck_assert_uint_eq(core->completed[0], 2);
}

TEST(cases, only_ready_masters_are_asked)
{
    struct core *core = core_start_held(5);

    core_link(core, 0, RL_LINK_LATE);
    core_drop(core, 1);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 2 3 4\n");
    ck_assert_int_eq(core->locks[0].claim->votes[0].detail, RL_DETAIL_LATE);
    ck_assert_int_eq(core->locks[0].claim->votes[1].detail, RL_DETAIL_DOWN);
}

TEST(cases, with_too_few_ready_masters_it_fails_at_once_and_the_lock_is_held_on)
{
    struct core *core = core_start_held(3);

    core_drop(core, 0);
    core_drop(core, 1);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 2\n"
                      "t=0ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

GROUP(ledger, "ledger", NULL, core_stop_all)

/* rule 4.2: "A shorter ttl lowers lb_j when sent, not when acknowledged." */
TEST(ledger, a_shorter_ttl_shortens_the_validity_before_any_answer)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 100);
    core_extend(core, 200);
    ck_assert_int_eq(core_deadline_ms(core), 100 + 196);
    core_answers(core, "fff");
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core_deadline_ms(core), 100 + 196);
    core_skip(core);
    core_run_to(core, 1000);
    core_expect(core, "t=296ms SEND release #1: 0 1 2\n"
                      "t=296ms LOST\n");
}

TEST(ledger, a_shorter_ttl_lowers_only_the_votes_of_those_it_was_sent_to)
{
    struct core *core = core_start_held(5);

    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_extend(core, 100);
    ck_assert_int_eq(core->last.status, RL_END_NO_QUORUM);
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(ledger, grants_of_an_older_round_raise_nothing)
{
    struct core *core = core_start_held(3);

    core_run_to(core, 100);
    core_extend(core, 1000);
    core_run_to(core, 200);
    core_extend(core, 400);
    ck_assert_int_eq(core_deadline_ms(core), 200 + 394);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    ck_assert_int_eq(core_deadline_ms(core), 200 + 394);
    core_answers(core, "ggg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_int_eq(core_deadline_ms(core), 200 + 394);
}

TEST(ledger, a_missing_key_told_by_an_older_round_revokes_the_vote)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_run_to(core, 50);
    core_extend(core, 0);
    core_answers(core, "rr");
    ck_assert_int_eq(core_state(core), RL_LOCK_LOST);
}

TEST(ledger, a_late_grant_of_the_claim_adds_no_vote_to_a_later_round)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gg");
    core_extend(core, 200);
    core_answers(core, "..g");
    ck_assert_int_eq(core->locks[0].claim->votes[2].bound.ns, RL_LONG_AGO.ns);
    core_answers(core, "..g");
    ck_assert_int_eq(core->locks[0].claim->votes[2].bound.ns, rl_ms(196).ns);
}

/* The host repeats it, and the repetition is granted: the first may be carried out all the same, after a longer one. */
TEST(ledger, a_repeated_extension_of_unknown_outcome_leaves_the_master_unresolved)
{
    struct core *core = core_start_held(3);

    core_extend(core, 500);
    rl_engine_note_unknown(&core->engine, core->now, core->locks[0].claim, 0);
    core_answers(core, "ggg");
    core_run_to(core, 100);
    core_extend(core, 2000);
    core_answers(core, "ggg");
    ck_assert_int_eq(core->locks[0].claim->votes[0].bound.ns, rl_ms(100 + 493).ns); /* as if it had asked for 500 */
    ck_assert_int_eq(core->locks[0].claim->votes[1].bound.ns, rl_ms(100 + 1978).ns);
}

TEST(ledger, without_a_ttl_the_latest_one_is_used_again)
{
    struct core *core = core_start_held(3);

    core_extend(core, 600);
    core_answers(core, "ggg");
    core_run_to(core, 100);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_int_eq(core_deadline_ms(core), 100 + 592);
}

/* --- Extensions that may still be carried out --------------------------------------------------------------------- */

static uint32_t unresolved(const struct core *core)
{
    return rl_claim_unresolved(core->locks[0].claim);
}

static int64_t bound_ms(const struct core *core, unsigned node)
{
    return core->locks[0].claim->votes[node].bound.ns / RL_NS_PER_MS;
}

static void reconnect(struct core *core, unsigned node)
{
    core_drop(core, node);
    core_link(core, node, RL_LINK_READY);
}

GROUP(unresolved_tests, "unresolved", NULL, core_stop_all)

TEST(unresolved_tests, a_claim_without_an_answer_is_no_extension)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(unresolved_tests, masters_owe_an_answer_until_they_have_given_it)
{
    struct core *core = core_start_held(5);

    core_extend(core, 500);
    ck_assert_uint_eq(unresolved(core), 31);
    core_answers(core, "ggg");
    ck_assert_int_eq(core->last.status, RL_END_OK);
    ck_assert_uint_eq(unresolved(core), 8 + 16);
    core_answers(core, "...f");
    ck_assert_uint_eq(unresolved(core), 16);
    core_answers(core, "....g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(unresolved_tests, an_answer_to_an_earlier_round_leaves_the_later_one_unresolved)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(unresolved_tests, a_master_that_is_not_asked_again_owes_nothing_once_all_is_answered)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_link(core, 2, RL_LINK_LATE);
    core_extend(core, 0);
    core_answers(core, "gg");
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(unresolved_tests, a_key_that_is_given_back_is_unresolved_too)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    core_answer_for(core, 2, RL_REFUSED, RL_DETAIL_MISSING);
    ck_assert_uint_eq(unresolved(core), 4);
    core_answers(core, "..g");
    ck_assert_uint_eq(unresolved(core), 0);
}

TEST(unresolved_tests, a_lost_one_stays_unresolved)
{
    struct core *core = core_start_held(3);

    core_extend(core, 0);
    core_answers(core, "gg");
    reconnect(core, 2);
    ck_assert_uint_eq(unresolved(core), 4);
    core_extend(core, 0);
    core_answers(core, "ggg");
    ck_assert_uint_eq(unresolved(core), 4);
}

TEST(unresolved_tests, a_short_one_is_forgotten_when_all_have_answered)
{
    struct core *core = core_start_held(1);

    core_extend(core, 100);
    core_answers(core, "g");
    core_extend(core, 1000);
    reconnect(core, 0);
    core_extend(core, 2000);
    core_answers(core, "g");
    ck_assert_int_eq(core_deadline_ms(core), 988);
}

TEST(unresolved_tests, a_short_one_that_one_master_has_not_answered_counts_against_that_one)
{
    struct core *core = core_start_held(3);

    core_extend(core, 100);
    core_answers(core, "gg");
    core_extend(core, 1000);
    core_answers(core, "gg");
    reconnect(core, 2);
    core_extend(core, 1000);
    core_answers(core, "ggg");
    ck_assert_int_eq(bound_ms(core, 0), 988);
    ck_assert_int_eq(bound_ms(core, 1), 988);
    ck_assert_int_eq(bound_ms(core, 2), 97);
}

/* A vote that has counted for long counts for the shortest extension only, once another one is lost on its master. The
 * host has armed its timer for the former deadline. */
TEST(unresolved_tests, a_grant_that_brings_the_deadline_forward_is_told_to_the_host)
{
    struct core *core = core_start_held(3);

    core->engine.votes.config.node_timeout = rl_ms(4000); /* so that nothing else wakes the lock before */
    core_extend(core, 500);
    core_answers(core, "gg");
    core_drop(core, 2);
    core_extend(core, 4000);
    core_answers(core, "gg");
    core_extend(core, 4000);
    core_answer(core, 0, RL_GRANTED);
    reconnect(core, 1);
    ck_assert_int_gt(core_deadline_ms(core), 3000);
    core_extend(core, 4000);
    core_answers(core, ".g");
    ck_assert_int_lt(core_deadline_ms(core), 500);
    core_run_to(core, 500);
    ck_assert_uint_eq(core->lost[0], 1);
}

SUITE("engine_extend")
