/* ENQUEUE on a real server: joining the queue, staying there, and the turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_queue_rig.h"
#include "suite.h"

/* --- ENQUEUE ---------------------------------------------------------------------------------------------------- */

GROUP(enqueue, "enqueue", queue_start, subscriber_close)

TEST(enqueue, who_finds_the_key_free_gets_it_for_its_lease)
{
    struct said said = queue_enqueue("mine", 0, 0);

    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    ck_assert_uint_eq(said.place.ticket, 1000);
    ck_assert(!said.place.lower);
    expect_holder("mine");
    expect_queue("");
    expect_ttl("lock", 20001);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
}

TEST(enqueue, who_finds_it_held_is_queued_and_told_for_how_long)
{
    struct said said;

    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    said = queue_enqueue("mine", 0, 0);
    expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
    ck_assert_uint_eq(said.place.rank, 0);
    ck_assert_int_gt(said.place.held_ms, 900000);
    ck_assert_int_le(said.place.held_ms, 1000000);
    ck_assert_int_gt(said.place.look_ms, 900000);
    ck_assert_uint_gt(said.place.time_us, UINT64_C(1600000000000000));
    expect_queue("mine");
    expect_holder("other");
}

TEST(enqueue, a_key_that_does_not_expire_is_said_not_to)
{
    struct said said;

    ask_expect(counter_master, 0, "SET lock other", "OK");
    said = queue_enqueue("mine", 0, 0);
    expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
    ck_assert_int_eq(said.place.held_ms, -1);
    ck_assert_int_eq(said.place.look_ms, -1);
}

TEST(enqueue, each_entry_has_a_larger_number_than_all_before)
{
    struct said said;

    queue_enqueue("holder", 0, 0);
    said = queue_enqueue("a", 0, 0);
    ck_assert_uint_eq(said.place.ticket, 1001);
    said = queue_enqueue("b", 0, 5000);
    ck_assert_uint_eq(said.place.ticket, 5000);
    said = queue_enqueue("c", 0, 0);
    ck_assert_uint_eq(said.place.ticket, 5001);
    ck_assert_uint_eq(said.place.rank, 2);
    said = queue_enqueue("a", 1, 0);
    ck_assert_uint_eq(said.place.ticket, 1001);
    expect_queue("a b c");
}

TEST(enqueue, a_ticket_that_is_told_moves_the_place)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    queue_wait("b", 20);
    expect_said(queue_enqueue("a", 1, 30), RL_QUEUED, RL_DETAIL_NONE);
    expect_queue("b a");
}

TEST(enqueue, no_clients_clock_pushes_the_tickets_further_than_a_day)
{
    struct said said;
    uint64_t now_us;

    queue_enqueue("holder", 0, 1);
    said = queue_enqueue("a", 0, 2);
    now_us = said.place.time_us;
    queue_proposal = 0;
    said = queue_enqueue("b", 0, 0);
    ck_assert_uint_eq(said.place.ticket, 1000);
    ask_expect(counter_master, 0, "HSET waiters @last 1700000000000000", "(integer) 0");
    said = queue_enqueue("c", 0, 0);
    ck_assert_uint_eq(said.place.ticket, UINT64_C(1700000000000001));
    ck_assert_uint_gt(now_us, UINT64_C(1700000000000000));
}

TEST(enqueue, who_waits_looks_when_the_one_in_front_may_be_dead)
{
    struct said said;

    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    queue_lease_ms = 1000000;
    queue_wait("b", 20);
    said = queue_enqueue("c", 0, 30);
    ck_assert_uint_eq(said.place.rank, 2);
    ck_assert_int_gt(said.place.look_ms, 900000);
    said = queue_enqueue("b", 1, 20);
    ck_assert_uint_eq(said.place.rank, 1);
    ck_assert_int_le(said.place.look_ms, 20000);
}

/* --- Refreshes -------------------------------------------------------------------------------------------------- */

TEST(enqueue, a_refresh_by_the_holder_prolongs_and_never_shortens)
{
    struct said said;

    queue_enqueue("mine", 0, 7);
    ask_expect(counter_master, 0, "PEXPIRE lock 5000", "(integer) 1");
    said = queue_enqueue("mine", 1, 7);
    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    expect_ttl("lock", 20001);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 15000);
    ask_expect(counter_master, 0, "PEXPIRE lock 1000000", "(integer) 1");
    expect_said(queue_enqueue("mine", 2, 7), RL_GRANTED, RL_DETAIL_NONE);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL lock"), 900000);
}

TEST(enqueue, a_refresh_prolongs_the_place)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    clock_fault_step_ms(counter_clock, 15000);
    expect_said(queue_enqueue("a", 1, 10), RL_QUEUED, RL_DETAIL_NONE);
    clock_fault_step_ms(counter_clock, 15000); /* the holder's key is over, the place is not */
    ck_assert_int_eq(queue_release("holder").outcome, RL_REFUSED);
    expect_holder("a");
}

TEST(enqueue, a_refresh_that_was_held_up_changes_nothing)
{
    queue_enqueue("holder", 0, 1);
    expect_said(queue_enqueue("a", 5, 10), RL_QUEUED, RL_DETAIL_NONE);
    clock_fault_step_ms(counter_clock, 10000);
    expect_said(queue_enqueue("a", 4, 99), RL_QUEUED, RL_DETAIL_NONE);
    ask_expect(counter_master, 0, "ZSCORE queue a", "10");
    subscriber_open();
    queue_release("holder");
    subscriber_expect("a", true, 5, "-");
    ck_assert_int_le(ask_integer(counter_master, 0, "PTTL lock"), 10001);
}

TEST(enqueue, who_comes_back_when_the_key_is_free_gets_it_if_its_turn_has_come)
{
    struct said said;

    queue_enqueue("holder", 0, 1);
    queue_wait("a", 10);
    queue_wait("b", 20);
    ask_expect(counter_master, 0, "DEL lock", "(integer) 1");
    subscriber_open();
    said = queue_enqueue("b", 1, 20);
    expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
    ck_assert_uint_eq(said.place.rank, 0);
    expect_holder("a");
    subscriber_expect("a", true, 0, "-");
    subscriber_expect_silence();
    expect_queue("b");
}

SUITE_WITH_SERVER("script_queue")
