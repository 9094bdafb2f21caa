/* Spare votes: handed on during a short hold, asked back by the first extension (core/spare.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "suite.h"

/* 2000 ms of lease, less 1 % and 2 ms. */
#define USABLE_MS 1978

/* Half of that: when the ttl is brought. */
#define EXTENSION_MS 989

static struct rl_acquire wish_for_a_moment(void)
{
    struct rl_acquire wish = core_wish_in_line();

    wish.brief = true;
    return wish;
}

/* Five masters, which have the lock in line and have not granted yet. */
static struct core *start(const struct rl_acquire *wish)
{
    struct core *core = core_start(5);

    core_acquire(core, wish);
    core_answers(core, "qqqqq");
    core_skip(core);
    return core;
}

/* Held with the votes of 0, 1 and 2; those of 3 and 4 have been handed on, which is not confirmed yet. */
static struct core *start_spared(void)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core = start(&wish);

    for (unsigned node = 0; node < 5; node++)
        core_hand_over(core, node);
    core_skip(core);
    return core;
}

static bool counts(const struct core *core, unsigned node)
{
    return core->locks[0].claim->slots[node].bound.ns != RL_LONG_AGO.ns;
}

/* --- Handing on --------------------------------------------------------------------------------------------------- */

START_TEST(what_comes_beyond_a_quorum_is_handed_on_at_once)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core = start(&wish);

    for (unsigned node = 0; node < 3; node++)
        core_hand_over(core, node);
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    core_hand_over(core, 3);
    core_expect(core, "t=0ms SEND release #1: 3\n");
    core_hand_over(core, 4);
    core_expect(core, "t=0ms SEND release #1: 4\n");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    ck_assert_uint_eq(core->engine.counters.spares, 2);
    core_stop(core);
}
END_TEST

START_TEST(what_has_come_before_the_lock_is_handed_on_with_it)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core;

    wish.fenced = true;
    core = start(&wish);
    for (unsigned node = 0; node < 5; node++) {
        core->counters[node] = node < 2 ? 7 : 9; /* no quorum has recorded the token before the last of them has */
        core_hand_over(core, node);
    }
    core_expect(core, "t=0ms SEND raise #1: 0 1\nt=0ms SEND release #1: 3 4\nt=0ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 9);
    core_stop(core);
}
END_TEST

START_TEST(a_hold_that_may_be_long_keeps_all_votes)
{
    struct rl_acquire wish = core_wish_in_line();
    struct core *core = start(&wish);

    for (unsigned node = 0; node < 5; node++)
        core_hand_over(core, node);
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
    ck_assert(counts(core, 3) && counts(core, 4));
    core_stop(core);
}
END_TEST

START_TEST(who_was_not_in_line_keeps_all_votes)
{
    struct rl_acquire wish = core_wish_to_queue();
    struct core *core = core_start(5);

    wish.brief = true;
    core_acquire(core, &wish);
    core_answers(core, "ggggg");
    ck_assert_uint_eq(core->engine.counters.spares, 0);
    core_stop(core);
}
END_TEST

START_TEST(those_that_count_longest_are_kept)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core = start(&wish);

    core_hand_over(core, 0);
    core_run_to(core, 500);
    core_hand_over(core, 1);
    core_hand_over(core, 2);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    core_skip(core);
    core_hand_over(core, 4);
    core_expect(core, "t=500ms SEND release #1: 0\n");
    ck_assert_int_eq(core_deadline_ms(core), 500 + USABLE_MS);
    core_stop(core);
}
END_TEST

/* An extension needs a quorum that can be asked. */
START_TEST(masters_that_cannot_be_asked_are_not_what_is_kept)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core = start(&wish);

    for (unsigned node = 0; node < 3; node++)
        core_hand_over(core, node);
    core_link(core, 0, _i ? RL_LINK_DOWN : RL_LINK_LATE);
    core_skip(core);
    core_hand_over(core, 3);
    core_expect(core, "");
    core_hand_over(core, 4);
    core_expect(core, "t=0ms SEND release #1: 4\n");
    ck_assert(counts(core, 0));
    core_stop(core);
}
END_TEST

/* Nothing that a master says of a vote after its release was written brings it back. */
START_TEST(a_vote_that_is_handed_on_does_not_count_any_more)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core = start(&wish);

    core_look_again(core, 3); /* asks it once more, in the same round */
    for (unsigned node = 0; node < 4; node++)
        core_hand_over(core, node);
    ck_assert_uint_eq(core->engine.counters.spares, 1);
    core_answer(core, 3, RL_GRANTED);
    core_hand_over(core, 3);
    ck_assert(!counts(core, 3));
    core_answer(core, 3, RL_GRANTED); /* the release */
    core_hand_over(core, 3);
    ck_assert(!counts(core, 3));
    core_stop(core);
}
END_TEST

START_TEST(the_token_stays_what_it_was)
{
    struct rl_acquire wish = wish_for_a_moment();
    struct core *core;

    wish.fenced = true;
    core = start(&wish);
    for (unsigned node = 0; node < 5; node++) {
        core->counters[node] = node < 3 ? 7 : 9;
        core_hand_over(core, node);
    }
    ck_assert_uint_eq(core->engine.counters.spares, 2);
    ck_assert_uint_eq(rl_claim_token(core->locks[0].claim), 7);
    core_stop(core);
}
END_TEST

/* --- The release of the rest -------------------------------------------------------------------------------------- */

START_TEST(the_release_goes_to_the_masters_that_still_have_the_key)
{
    struct core *core = start_spared();

    core_answer(core, 3, RL_GRANTED);
    core_answer(core, 4, RL_REFUSED);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_expect(core, "t=0ms COMPLETE release ok\n");
    core_stop(core);
}
END_TEST

START_TEST(what_is_not_known_to_be_gone_is_released_once_more)
{
    struct core *core = start_spared();

    core_answer(core, 3, RL_GRANTED);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2 4\n");
    core_stop(core);
}
END_TEST

START_TEST(a_release_that_got_lost_is_owed_in_the_end)
{
    struct core *core = start_spared();

    core_answer(core, 3, RL_GRANTED);
    core_drop(core, 4);
    core_release(core);
    core_answers(core, "ggg");
    core_skip(core);
    core_link(core, 4, RL_LINK_READY);
    core_expect(core, "t=0ms SEND rollback #1: 4\n");
    core_stop(core);
}
END_TEST

START_TEST(a_loss_undoes_what_is_left)
{
    struct core *core = start_spared();

    core_answers(core, "   gg");
    core_step_clock(core, 0, 5000);
    core_expect(core, "t=0ms SEND release #1: 0 1 2\nt=0ms LOST\n");
    core_stop(core);
}
END_TEST

/* --- Asking back -------------------------------------------------------------------------------------------------- */

START_TEST(the_first_extension_asks_for_them_in_line)
{
    struct core *core = start_spared();
    uint64_t proposal;

    core_answers(core, "   gg");
    core_run_to(core, EXTENSION_MS);
    core_expect(core, "t=989ms SEND enqueue #1: 3 4\nt=989ms SEND extend #1: 0 1 2\n");
    ck_assert_uint_eq(rl_lock_ticket(&core->locks[0], &proposal), 1);
    core_answers(core, "gggqq");
    core_expect(core, "t=989ms RENEWED\n");
    core_hand_over(core, 3);
    core_hand_over(core, 4);
    ck_assert(counts(core, 3) && counts(core, 4));
    ck_assert_int_eq(core_deadline_ms(core), EXTENSION_MS + 4000 - 42);
    core_expect(core, ""); /* and keeps them */
    core_stop(core);
}
END_TEST

START_TEST(votes_that_came_back_stand_in_for_masters_that_fail)
{
    struct core *core = start_spared();

    core_answers(core, "   gg");
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_run_to(core, EXTENSION_MS);
    core_answers(core, "  gqq");
    core_hand_over(core, 3);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    core_hand_over(core, 4);
    ck_assert_int_eq(core_deadline_ms(core), EXTENSION_MS + 4000 - 42);
    ck_assert_uint_eq(core->locks[0].claim->owed_ttl_ms, 0);
    core_stop(core);
}
END_TEST

START_TEST(they_are_asked_for_until_they_come)
{
    struct core *core = start_spared();

    core_answers(core, "   gg");
    core_extend(core, 0);
    core_answers(core, "gggqq");
    core_skip(core);
    core_hand_over(core, 3);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND enqueue #1: 4\nt=0ms SEND extend #1: 0 1 2 3\n");
    core_answers(core, "gg gg");
    ck_assert(counts(core, 4));
    core_skip(core);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 0 1 2 3 4\n");
    core_stop(core);
}
END_TEST

/* The release might be carried out behind the new place in line, and take the vote away. */
START_TEST(what_is_not_known_to_be_gone_is_asked_for_when_it_is)
{
    struct core *core = start_spared();

    core_link(core, 0, RL_LINK_DOWN);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 1 2\n");
    core_answers(core, " gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    core_answer(core, 3, RL_GRANTED);
    core_expect(core, "t=0ms SEND enqueue #1: 3\n");
    core_answer(core, 4, RL_REFUSED);
    core_expect(core, "t=0ms SEND enqueue #1: 4\n");
    core_answers(core, "   qq");
    core_hand_over(core, 4);
    core_expect(core, "t=0ms COMPLETE extend ok\n");
    core_stop(core);
}
END_TEST

START_TEST(an_extension_ends_when_they_cannot_come)
{
    struct core *core = start_spared();

    core_link(core, 0, RL_LINK_DOWN);
    core_extend(core, 0);
    core_answers(core, " gg");
    core_skip(core);
    core_answer(core, 3, RL_UNKNOWN);
    core_answer(core, 4, RL_FAILED);
    core_expect(core, "t=0ms COMPLETE extend no-quorum\n");
    ck_assert_int_eq(core->locks[0].claim->slots[4].detail, RL_DETAIL_HANDED_ON);
    core_stop(core);
}
END_TEST

/* Whatever has become of the former question. */
START_TEST(every_extension_asks_for_what_has_not_come)
{
    static const enum rl_outcome outcomes[] = {RL_UNKNOWN, RL_FAILED, RL_QUEUED};
    struct core *core = start_spared();

    core_answers(core, "   gg");
    core_extend(core, 0);
    core_answers(core, "ggg");
    core_answer(core, 3, outcomes[_i]);
    core_skip(core);
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND enqueue #1: 3 4\nt=0ms SEND extend #1: 0 1 2\n");
    core_stop(core);
}
END_TEST

START_TEST(the_script_may_be_sent_again_with_its_text)
{
    struct core *core = start_spared();
    const struct rl_claim *claim = core->locks[0].claim;

    core_answers(core, "   gg");
    core_extend(core, 0);
    ck_assert(rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_ENQUEUE, claim->round, 3));
    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_ENQUEUE, claim->round, 0));
    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_ENQUEUE, claim->round - 1, 3));
    core_answers(core, "ggg");
    core_detach(core);
    ck_assert(!rl_engine_may_repeat(&core->engine, core->now, claim, RL_STEP_ENQUEUE, claim->round, 3));
    core_stop(core);
}
END_TEST

START_TEST(what_was_lost_on_its_way_is_never_asked_for)
{
    struct core *core = start_spared();

    core_answer(core, 3, RL_GRANTED);
    core_drop(core, 4);
    core_link(core, 4, RL_LINK_READY);
    core_run_to(core, EXTENSION_MS);
    core_expect(core, "t=989ms SEND enqueue #1: 3\nt=989ms SEND extend #1: 0 1 2\n");
    core_stop(core);
}
END_TEST

/* As when the first of several commands could not be written. */
START_TEST(a_waiter_who_gives_up_has_its_own_ticket_still)
{
    struct core *core = core_start_queued(3);
    uint64_t ticket = core->lines[0].ticket;
    uint64_t proposal;

    ck_assert_uint_gt(ticket, 1);
    core_link(core, 0, RL_LINK_DOWN);
    core_link(core, 1, RL_LINK_DOWN);
    core_run_to(core, 500);
    ck_assert_int_eq(core_state(core), RL_LOCK_BACKING_OFF);
    ck_assert_uint_eq(rl_lock_ticket(&core->locks[0], &proposal), ticket);
    core_stop(core);
}
END_TEST

START_TEST(a_place_in_line_is_left_with_the_release)
{
    struct core *core = start_spared();

    core_answers(core, "   gg");
    core_extend(core, 0);
    core_answers(core, "gggqq");
    core_skip(core);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2 3 4\n");
    core_stop(core);
}
END_TEST

START_TEST(whoever_adopts_the_lock_does_without_them)
{
    struct rl_instant at_1000 = {rl_ms(1000).ns};
    struct rl_instant bounds[RL_MAX_NODES] = {at_1000, at_1000, at_1000, RL_LONG_AGO, RL_LONG_AGO};
    struct rl_inheritance inheritance = {1000, 1000, UINT32_MAX, 0, bounds, 0, 0, 1u << 3 | 1u << 4};
    struct rl_acquire wish = core_wish();
    struct core *core = core_start(5);

    ck_assert(rl_lock_adopt(&core->engine, &core->locks[0], core->now, core_make_claim(core, false), &wish,
                            &inheritance));
    core_extend(core, 0);
    core_expect(core, "t=0ms SEND extend #1: 0 1 2\n");
    core_answers(core, "ggg");
    core_skip(core);
    core_release(core);
    core_expect(core, "t=0ms SEND release #1: 0 1 2 3 4\n");
    core_stop(core);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_spare");
    TCase *on = suite_add_case(suite, "handing on", NULL, NULL);
    TCase *rest = suite_add_case(suite, "the rest", NULL, NULL);
    TCase *back = suite_add_case(suite, "asking back", NULL, NULL);

    tcase_add_test(on, what_comes_beyond_a_quorum_is_handed_on_at_once);
    tcase_add_test(on, what_has_come_before_the_lock_is_handed_on_with_it);
    tcase_add_test(on, a_hold_that_may_be_long_keeps_all_votes);
    tcase_add_test(on, who_was_not_in_line_keeps_all_votes);
    tcase_add_test(on, those_that_count_longest_are_kept);
    tcase_add_loop_test(on, masters_that_cannot_be_asked_are_not_what_is_kept, 0, 2);
    tcase_add_test(on, a_vote_that_is_handed_on_does_not_count_any_more);
    tcase_add_test(on, the_token_stays_what_it_was);
    tcase_add_test(rest, the_release_goes_to_the_masters_that_still_have_the_key);
    tcase_add_test(rest, what_is_not_known_to_be_gone_is_released_once_more);
    tcase_add_test(rest, a_release_that_got_lost_is_owed_in_the_end);
    tcase_add_test(rest, a_loss_undoes_what_is_left);
    tcase_add_test(back, the_first_extension_asks_for_them_in_line);
    tcase_add_test(back, votes_that_came_back_stand_in_for_masters_that_fail);
    tcase_add_test(back, they_are_asked_for_until_they_come);
    tcase_add_test(back, what_is_not_known_to_be_gone_is_asked_for_when_it_is);
    tcase_add_test(back, an_extension_ends_when_they_cannot_come);
    tcase_add_loop_test(back, every_extension_asks_for_what_has_not_come, 0, 3);
    tcase_add_test(back, the_script_may_be_sent_again_with_its_text);
    tcase_add_test(back, what_was_lost_on_its_way_is_never_asked_for);
    tcase_add_test(back, a_waiter_who_gives_up_has_its_own_ticket_still);
    tcase_add_test(back, a_place_in_line_is_left_with_the_release);
    tcase_add_test(back, whoever_adopts_the_lock_does_without_them);
    return suite_run(suite);
}
