/* RELEASE on a real server: who gets the key, for how long, and who is told; and of lower tickets. */
#include <stdio.h>
#include <stdlib.h>

#include "script_queue_rig.h"
#include "suite.h"

/* --- RELEASE ---------------------------------------------------------------------------------------------------- */

GROUP(release, "release", queue_start, subscriber_close)

TEST(release, a_release_without_waiters_deletes_everything)
{
    queue_enqueue("mine", 0, 0);
    expect_answer(queue_release("mine"), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_nothing_left();
    expect_answer(queue_release("mine"), RL_REFUSED, RL_DETAIL_MISSING, 0);
    expect_nothing_left();
}

TEST(release, a_release_hands_over_in_the_order_of_the_tickets)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("third", 30);
    queue_wait("first", 10);
    queue_wait("second", 20);
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("first");
    queue_release("first");
    expect_holder("second");
    queue_release("second");
    expect_holder("third");
    expect_answer(queue_release("third"), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_nothing_left();
}

TEST(release, equal_tickets_go_by_their_values)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("b", 10);
    queue_wait("c", 10);
    queue_wait("a", 10);
    queue_release("holder");
    expect_holder("a");
    queue_release("a");
    expect_holder("b");
}

/* rule 7.2: "so that a dead waiter costs little". */
TEST(release, the_heir_has_the_key_for_the_rest_of_its_lease)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    clock_fault_step_ms(counter_clock, 15000);
    queue_release("holder");
    expect_holder("a");
    ck_assert_int_le(ask_integer(counter_master, 0, "PTTL lock"), 5001);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 0);
}

TEST(release, the_heir_is_told_and_nobody_else)
{
    struct rl_notification call;

    subscriber_open();
    queue_enqueue("holder", 0, 1);
    expect_said(queue_enqueue("a", 17, 10), RL_QUEUED, RL_DETAIL_NONE);
    queue_wait("b", 20);
    subscriber_expect_silence();
    queue_release("holder");
    call = subscriber_expect("a", true, 17, "-");
    ck_assert_uint_eq(call.fence, 0);
    ck_assert_uint_gt(call.time_us, UINT64_C(1600000000000000));
    subscriber_expect_silence();
}

TEST(release, each_is_told_in_its_own_channel)
{
    subscriber_open();
    queue_enqueue("holder", 0, 1);
    queue_channel = "elsewhere and: odd";
    queue_wait("a", 10);
    queue_channel = "grants";
    queue_wait("b", 20);
    queue_release("holder");
    subscriber_expect_silence();
    queue_release("a");
    subscriber_expect("b", true, 0, "-");
}

TEST(release, who_leaves_the_queue_leaves_the_key_alone)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    queue_wait("b", 20);
    expect_answer(queue_release("a"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_holder("holder");
    expect_queue("b");
    ck_assert_int_eq(ask_integer(counter_master, 0, "HEXISTS waiters a"), 0);
}

static void hold_for_ms(int ms)
{
    char line[64];

    snprintf(line, sizeof line, "SET lock former PX %d", ms);
    ask_expect(counter_master, 0, line, "OK");
}

/* Leases of 20 s are refreshed after 5 s. */
TEST(release, who_becomes_the_first_is_told_if_the_key_ends_before_its_refresh)
{
    hold_for_ms(4000);
    queue_wait("a", 10);
    queue_wait("b", 20);
    queue_wait("c", 30);
    subscriber_open();
    expect_answer(queue_release("b"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    subscriber_expect_silence();
    expect_answer(queue_release("a"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    ck_assert_int_eq(subscriber_expect("c", false, 0, "-").kind, RL_TOLD_FIRST);
    expect_answer(queue_release("c"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    subscriber_expect_silence();
    expect_holder("former");
}

TEST(release, who_becomes_the_first_long_before_the_end_of_the_key_is_not_told)
{
    hold_for_ms(1000000);
    queue_wait("a", 10);
    queue_wait("b", 20);
    subscriber_open();
    queue_release("a");
    ask_expect(counter_master, 0, "PERSIST lock", "(integer) 1");
    queue_wait("c", 30);
    queue_release("b");
    subscriber_expect_silence();
    expect_queue("c");
}

TEST(release, whoever_leaves_a_queue_whose_key_is_gone_hands_it_over)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    queue_wait("b", 20);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    subscriber_open();
    expect_answer(queue_release("a"), RL_REFUSED, RL_DETAIL_MISSING, 0);
    expect_holder("b");
    subscriber_expect("b", true, 0, "-");
}

TEST(release, the_last_one_to_leave_a_queue_without_a_key_leaves_nothing)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    queue_release("a");
    expect_nothing_left();
}

TEST(release, a_lock_of_another_library_is_waited_for_and_left_alone)
{
    ask_expect(counter_master, 0, "SET lock foreign NX PX 1000000", "OK");
    queue_wait("a", 10);
    expect_answer(queue_release("b"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_holder("foreign");
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    expect_said(queue_enqueue("a", 1, 10), RL_GRANTED, RL_DETAIL_NONE);
}

/* --- Lower tickets ---------------------------------------------------------------------------------------------- */

TEST(release, whoever_was_there_first_by_chance_is_told_of_a_lower_ticket)
{
    struct said said;

    subscriber_open();
    queue_enqueue("late", 0, 20);
    said = queue_enqueue("early", 0, 10);
    expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
    subscriber_expect("late", false, 0, "-");
    said = queue_enqueue("late", 1, 20);
    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    ck_assert(said.place.lower);
    queue_wait("later", 30);
    subscriber_expect_silence();
    queue_release("late");
    expect_holder("early");
}

TEST(release, who_is_queued_is_not_told_of_lower_tickets)
{
    struct said said;

    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    said = queue_enqueue("b", 0, 20);
    ck_assert(!said.place.lower);
}

TEST(release, whoever_has_the_key_without_having_waited_is_told_of_nobody)
{
    queue_enqueue("former", 0, 50);
    queue_release("former");
    ask_expect(counter_master, 0, "SET lock plain NX PX 1000000", "OK");
    subscriber_open();
    queue_wait("a", 10);
    subscriber_expect_silence();
}

/* --- RELEASE by who knows of nobody in the queue ---------------------------------------------------------------- */

GROUP(short_release, "short_release", queue_start, subscriber_close)

TEST(short_release, a_short_release_deletes_the_own_key_only)
{
    ask_expect(counter_master, 0, "SET lock mine PX 20000", "OK");
    expect_answer(queue_release_alone("other"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_holder("mine");
    expect_answer(queue_release_alone("mine"), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_nothing_left();
    expect_answer(queue_release_alone("mine"), RL_REFUSED, RL_DETAIL_MISSING, 0);
}

TEST(short_release, a_short_release_that_finds_a_line_gives_the_key_up_and_the_long_one_hands_it_on)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    subscriber_open();
    expect_answer(queue_release_alone("holder"), RL_GRANTED, RL_DETAIL_OTHERS_WAIT, 0);
    ask_expect(counter_master, 0, "EXISTS lock", "(integer) 0");
    expect_queue("a");
    subscriber_expect_silence();
    expect_answer(queue_release("holder"), RL_REFUSED, RL_DETAIL_MISSING, 0);
    expect_holder("a");
    subscriber_expect("a", true, 0, "-");
}

TEST(short_release, a_short_release_does_not_leave_the_own_place_behind)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    expect_answer(queue_release_alone("a"), RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0);
    expect_queue("a");
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    expect_answer(queue_release_alone("holder"), RL_FAILED, RL_DETAIL_OTHERS_WAIT, 0);
    expect_queue("a");
}

TEST(short_release, who_neither_holds_nor_waits_need_not_name_the_line)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    expect_answer(queue_release_alone("stranger"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_holder("holder");
    expect_queue("a");
}

SUITE_WITH_SERVER("script_queue_release")
