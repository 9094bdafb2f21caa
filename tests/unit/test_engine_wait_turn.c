/* The turn: grants by notification, and for how long they count (votes/answer.c, engine/wait.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "suite.h"

/* 2000 ms of lease, less 1 % and 2 ms. */
#define USABLE_MS 1978

/* --- Grants by notification ------------------------------------------------------------------------------------- */

GROUP(grants, "grants", NULL, core_stop_all)

TEST(grants, a_majority_of_notifications_is_the_lock_without_another_round)
{
    struct core *core = core_start_queued(3);

    core_sleep_to(core, 300);
    core_hand_off(core, 0);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_hand_off(core, 2);
    core_expect(core, "t=300ms COMPLETE acquire ok\n");
    ck_assert_uint_eq(core->engine.votes.counters.hand_offs, 2);
}

/* rule 7.3: not from its arrival. */
TEST(grants, a_grant_by_notification_counts_from_the_refresh_that_it_names)
{
    struct core *core = core_start_queued(3);

    core_sleep_to(core, 300);
    core_hand_off(core, 0);
    core_hand_off(core, 2);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
}

/* rule 7.3: "Neither the notification's arrival nor a later refresh counts". */
TEST(grants, a_notification_of_an_earlier_refresh_grants_nothing)
{
    struct core *core = core_start_queued(3);

    core_run_to(core, 500);
    core_hand_off_in(core, 0, 0);
    core_hand_off_in(core, 1, 0);
    core_hand_off_in(core, 2, 0);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_uint_eq(core->engine.votes.counters.hand_offs, 0);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_deadline_ms(core), 500 + USABLE_MS);
}

/* Too much is waiting to be written to master 0: the refresh of t = 500 does not reach it. What its grant is worth is
 * found out at once. */
TEST(grants, a_master_that_the_latest_refresh_has_not_reached_is_asked_when_it_grants)
{
    struct core *core = core_start_queued(3);

    core_clog(core, 0, true);
    core_run_to(core, 500);
    core_answers(core, "-qq");
    core_clog(core, 0, false);
    core_sleep_to(core, 600);
    core_skip(core);
    core_hand_off_in(core, 0, 0);
    core_expect(core, "t=600ms SEND enqueue #1: 0\n");
    core_hand_off_in(core, 1, 0);
    core_expect(core, ""); /* its answer to the latest refresh says what is true */
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core_answers(core, "g");
    core_expect(core, "t=600ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 500 + USABLE_MS);
}

TEST(grants, a_notification_of_a_round_that_was_never_sent_grants_nothing)
{
    struct core *core = core_start_queued(1);

    core_hand_off_in(core, 0, 1);
    core_hand_off_in(core, 0, UINT32_MAX);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
}

TEST(grants, votes_of_one_round_are_counted_with_those_of_another_each_for_its_own_time)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_run_to(core, 500);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS);
    core_answers(core, "g");
    ck_assert_int_eq(core_deadline_ms(core), 500 + USABLE_MS);
}

TEST(grants, a_notification_overtakes_the_reply_that_says_queued)
{
    struct core *core = core_start_enqueued(3);

    core_hand_off(core, 0);
    core_answers(core, "qg");
    core_expect(core, "t=0ms COMPLETE acquire ok\n");
}

TEST(grants, the_evidence_of_a_turn_is_what_was_counted)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_run_to(core, 500); /* asks all of them again */
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(rl_claim_count_answers(core->locks[0].claim, RL_GRANTED), 2);
}

TEST(grants, a_reply_that_is_overtaken_leaves_the_evidence_alone)
{
    struct core *core = core_start_enqueued(3);

    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_answers(core, "qq");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_uint_eq(rl_claim_count_answers(core->locks[0].claim, RL_GRANTED), 2);
}

TEST(grants, queued_in_a_later_round_ends_an_earlier_grant)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_run_to(core, 500);
    core_answers(core, "qg");
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_int_eq(core->locks[0].claim->votes[0].outcome, RL_QUEUED);
}

TEST(grants, a_grant_whose_time_is_over_is_no_vote)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_sleep_to(core, USABLE_MS);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_int_eq(core->locks[0].claim->votes[0].outcome, RL_UNKNOWN);
}

/* The clock is read again between the last vote and the acceptance. */
TEST(grants, a_turn_that_is_over_before_it_is_accepted_is_none)
{
    struct core *core = core_start_queued(3);

    core->accept_delay = rl_ms(USABLE_MS);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    core->accept_delay = rl_ms(0);
}

TEST(grants, masters_that_must_not_vote_hand_nothing_over)
{
    struct core *core = core_start_queued(3);

    core_admit_quarantined(core, 0, 10000);
    core_admit(core, 1, RL_ADMISSION_EXCLUDED);
    core_step_clock(core, 2, 100);
    for (unsigned node = 0; node < 3; node++)
        core_hand_off(core, node);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_uint_eq(core->engine.votes.counters.hand_offs, 0);
}

TEST(grants, a_grant_by_reply_of_a_master_whose_clock_was_set_is_none)
{
    struct core *core = core_start_enqueued(3);

    core_step_clock(core, 0, 100);
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_int_eq(core->locks[0].claim->votes[0].outcome, RL_UNKNOWN);
}

TEST(grants, votes_in_hand_count_shorter_when_the_clock_is_set)
{
    struct core *core = core_start_queued(3);

    core_hand_off(core, 0);
    core_step_clock(core, 0, 700);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
    ck_assert_int_eq(core_deadline_ms(core), USABLE_MS - 700);
}

TEST(grants, a_notification_while_the_lock_is_held_joins_the_ledger)
{
    struct core *core = core_start_queued(3);

    core_run_to(core, 500);
    core_answers(core, "g-g");
    core_drop(core, 0);
    core_restart(core, 2, 5000);
    core_hand_off(core, 1);
    ck_assert_int_eq(core_deadline_ms(core), 500 + USABLE_MS);
    ck_assert_int_eq(core->locks[0].claim->votes[1].outcome, RL_GRANTED);
}

TEST(grants, a_notification_after_an_extension_has_been_sent_changes_nothing)
{
    struct core *core = core_start_queued(3);
    struct rl_instant bound;

    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_extend(core, 0);
    bound = core->locks[0].claim->votes[2].bound;
    core_hand_off_in(core, 2, 0);
    ck_assert_int_eq(core->locks[0].claim->votes[2].bound.ns, bound.ns);
    ck_assert_int_eq(core->locks[0].claim->votes[2].answer, RL_PENDING);
}

TEST(grants, a_notification_behind_the_rollback_counts_for_nothing)
{
    struct core *core = core_start_queued(1);
    struct core_claim *claim = core_claim_of(core->locks[0].claim);
    struct rl_notification notification = {.kind = RL_TOLD_GRANTED};

    core_cancel(core);
    core_notify(core, claim, 0, &notification);
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_uint_eq(core->engine.votes.counters.hand_offs, 0);
}

/* The script looks at the marker itself. */
TEST(grants, a_queue_entry_has_no_epoch_check_and_needs_none)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = core_request_fifo();

    core_acquire(core, &request);
    ck_assert_uint_eq(core_queued(core, 0), 1);
    core_answers(core, "gg");
    ck_assert_int_eq(core_state(core), RL_LOCK_HELD);
}

TEST(grants, a_reply_behind_the_rollback_counts_for_nothing)
{
    struct core *core = core_start_enqueued(1);

    core_cancel(core);
    core_answers(core, "g");
    ck_assert_int_eq(core_state(core), RL_LOCK_IDLE);
    ck_assert_uint_eq(core->engine.votes.counters.late_grants, 1);
}

/* --- What is left of it ----------------------------------------------------------------------------------------- */

static struct core *start_wanting(int64_t min_validity_ms)
{
    struct rl_acquire request = core_request_fifo();
    struct core *core = core_start(3);

    request.ttl_ms = 2000;
    request.min_validity = rl_ms(min_validity_ms);
    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_skip(core);
    return core;
}

TEST(grants, a_turn_with_too_little_left_is_lengthened_by_a_refresh)
{
    struct core *core = start_wanting(1800);

    core_sleep_to(core, 300);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    core_expect(core, "t=300ms SEND enqueue #1: 0 1 2\n");
    core_answers(core, "gg");
    core_expect(core, "t=300ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 300 + USABLE_MS);
}

TEST(grants, masters_that_are_too_slow_three_times_are_too_slow)
{
    struct core *core = start_wanting(1900);
    unsigned rounds = 0;

    core_run_to(core, 80);
    core_hand_off(core, 0);
    core_hand_off(core, 1);
    while (core_state(core) == RL_LOCK_WAITING) {
        core_run_to(core, core->now.ns / RL_NS_PER_MS + 80);
        core_answers(core, "ggg");
        rounds++;
        ck_assert_uint_le(rounds, 3);
    }
    ck_assert_uint_eq(rounds, 3);
    ck_assert_int_eq(core_state(core), RL_LOCK_BACKING_OFF);
    ck_assert_int_eq(core->locks[0].attempt, RL_END_TOO_SLOW);
}

SUITE("engine_wait_turn")
