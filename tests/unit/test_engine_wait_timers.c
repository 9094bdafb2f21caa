/* Staying in the wait queue: leases, refreshes, looks for the turn, masters that come and go (engine/wait.c). */
#include <stdlib.h>

#include "core_harness.h"
#include "suite.h"

GROUP(timers, "timers", NULL, core_stop_all)

TEST(timers, a_queue_entry_is_refreshed_at_a_quarter_of_its_lease)
{
    struct core *core = core_start_queued(3);

    core_run_to(core, 499);
    core_expect(core, "");
    core_run_to(core, 500);
    core_expect(core, "t=500ms SEND enqueue #1: 0 1 2\n");
    core_answers(core, "qqq");
    core_run_to(core, 1000);
    core_expect(core, "t=1000ms SEND enqueue #1: 0 1 2\n");
}

/* A tick of 48 ms: 1000 is none, and 960 is the last one before. */
TEST(timers, entries_of_many_waiters_are_refreshed_at_ticks)
{
    struct core *core = core_start_queued(3);

    core->engine.votes.config.tick = rl_ms(48);
    core_run_to(core, 500);
    core_answers(core, "qqq");
    core_skip(core);
    core_run_to(core, 1000);
    core_expect(core, "t=960ms SEND enqueue #1: 0 1 2\n");
}

TEST(timers, the_lease_is_the_ttl_where_that_is_short)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.ttl_ms = 1000;
    core_acquire(core, &request);
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 1000);
    core_answers(core, "qqq");
    core_skip(core);
    core_run_to(core, 250);
    core_expect(core, "t=250ms SEND enqueue #1: 0 1 2\n");
}

/* A dead waiter must not be in the way for the longer. */
TEST(timers, the_lease_does_not_grow_with_the_ttl)
{
    struct rl_config config = core_config(1);
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    config.max_ttl_ms = 3600000;
    core = core_new(&config);
    core_link(core, 0, RL_LINK_READY);
    request.ttl_ms = 3600000;
    core_acquire(core, &request);
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 2000);
}

/* Twice what is wanted of it, drift included, so that it does not fall short with every quarter. */
TEST(timers, the_lease_is_long_enough_for_what_the_caller_wants_to_have_left)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.ttl_ms = 5000;
    request.min_validity = rl_ms(1500);
    core_acquire(core, &request);
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 2 * (1500 + 22) + 1);
    core_fini(core);
    request.min_validity = rl_ms(4000);
    core_acquire(core, &request);
    ck_assert_uint_eq(core->locks[0].claim->ttl_ms, 5000);
}

TEST(timers, who_waits_looks_again_when_a_majority_may_have_the_key_free)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].look_ms = 10;
    core->reports[1].look_ms = 70;
    core->reports[2].look_ms = 200;
    core_answers(core, "qqq");
    core_skip(core);
    core_run_to(core, 499);
    core_expect(core, "t=71ms SEND enqueue #1: 0 1 2\n");
}

/* One of three is there, so one more is enough, and the first that may be free is worth a look. */
TEST(timers, who_has_some_votes_looks_for_those_that_are_missing)
{
    struct core *core = core_start_enqueued(3);

    core->reports[0].look_ms = 10;
    core->reports[2].look_ms = 200;
    core_answers(core, "qgq");
    core_skip(core);
    core_run_to(core, 199);
    core_expect(core, "t=11ms SEND enqueue #1: 0 1 2\n");
}

/* The master said "nothing to wait for" again and again: no more than one look in each millisecond and round trip. */
TEST(timers, looks_are_a_millisecond_and_a_round_trip_apart)
{
    struct core *core = core_start_enqueued(3);

    for (unsigned node = 0; node < 3; node++)
        core->reports[node].look_ms = 0;
    for (unsigned look = 0; look < 100; look++) {
        core_answers(core, "qqq");
        core_tick(core);
        core_run_to(core, look);
        ck_assert_uint_eq(core->locks[0].claim->round, look);
        core_run_to(core, look + 1);
        core_tick(core);
        ck_assert_uint_eq(core->locks[0].claim->round, look + 1);
    }
}

/* Notifications that change nothing must not put off the refresh for ever. */
TEST(timers, no_notification_brings_a_look_or_puts_one_off)
{
    struct core *core = core_start_queued(3);

    for (int64_t ms = 1; ms < 500; ms++) {
        core_sleep_to(core, ms);
        core_notify_of_lower(core, (unsigned)ms % 3);
    }
    core_expect(core, "");
    core_run_to(core, 500);
    core_expect(core, "t=500ms SEND enqueue #1: 0 1 2\n");
}

TEST(timers, a_round_without_a_majority_of_answers_is_over_at_the_masters_timeout)
{
    struct rl_config config = core_config(3);
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    config.node_timeout = rl_ms(900);
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "q");
    core_skip(core);
    core_run_to(core, 899);
    core_expect(core, "");
    core_run_to(core, 900);
    core_expect(core, "t=900ms SEND enqueue #1: 0 1 2\n");
}

/* Master 2 needs all of its time. Master 1 has not been asked, since its backlog was full: by then its lease would have
 * ended. */
TEST(timers, a_master_that_a_round_has_not_reached_is_asked_again_meanwhile)
{
    struct rl_config config = core_config(3);
    struct rl_acquire request = core_request_fifo();
    struct core *core;

    config.node_timeout = rl_ms(1800);
    core = core_new(&config);
    for (unsigned node = 0; node < 3; node++)
        core_link(core, node, RL_LINK_READY);
    core_acquire(core, &request);
    core_answers(core, "qf");
    core_skip(core);
    core_run_to(core, 500);
    core_expect(core, "t=500ms SEND enqueue #1: 1\n");
    ck_assert_uint_eq(core->locks[0].claim->round, 0);
    core_answers(core, "-f");
    core_run_to(core, 1000);
    core_expect(core, "t=1000ms SEND enqueue #1: 1\n");
    core_answers(core, "-q");
    core_skip(core);
    core_run_to(core, 1001);
    core_expect(core, "t=1001ms SEND enqueue #1: 0 1 2\n"); /* a quorum has answered, and its interval is over */
}

TEST(timers, a_master_that_comes_back_is_asked_at_once)
{
    struct core *core = core_start_queued(3);

    core_drop(core, 1);
    core_sleep_to(core, 20);
    core_link(core, 1, RL_LINK_READY);
    core_look_again(core, 1);
    core_expect(core, "t=20ms SEND enqueue #1: 1\n");
    core_answers(core, "-g");
    core_hand_off(core, 0);
    core_expect(core, "t=20ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 2000 - 22); /* as of the round's beginning */
}

TEST(timers, a_master_that_may_not_be_asked_is_not_asked_again)
{
    struct core *core = core_start_queued(3);

    core_link(core, 0, RL_LINK_LATE);
    core_look_again(core, 0);
    core_admit_quarantined(core, 1, 1000);
    core_look_again(core, 1);
    core_expect(core, "");
}

TEST(timers, who_does_not_wait_does_not_look)
{
    struct core *core = core_start_queued(3);

    core_cancel(core);
    core_skip(core);
    core_look_again(core, 0);
    core_expect(core, "");
}

/* Nobody refreshes the entry that is left meanwhile. */
TEST(timers, who_cannot_reach_a_majority_leaves_the_line_with_the_lease_and_comes_back_with_its_ticket)
{
    struct core *core = core_start_queued(3);

    core_drop(core, 0);
    core_drop(core, 1);
    core_skip(core);
    core_run_to(core, 1977);
    core_expect(core, "");
    core_run_to(core, 1978);
    core_expect(core, "t=1978ms SEND rollback #1: 2\n"
                      "t=1978ms BACKOFF no-quorum\n");
    core_link(core, 0, RL_LINK_READY);
    core_skip(core);
    while (core_state(core) == RL_LOCK_BACKING_OFF)
        core_run_to(core, core->now.ns / RL_NS_PER_MS + 1);
    ck_assert_int_eq(core_state(core), RL_LOCK_WAITING);
    ck_assert_uint_eq(core->entries[0].ticket, 100);
    ck_assert_uint_eq(core->n_claims, 2);
    ck_assert_uint_eq(core->engine.votes.counters.waits, 1);
}

TEST(timers, who_reaches_the_masters_again_within_the_lease_has_its_turn)
{
    struct core *core = core_start_queued(3);

    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 1900);
    core_expect(core, "");
    for (unsigned node = 0; node < 2; node++) {
        core_link(core, node, RL_LINK_READY);
        core_look_again(core, node);
    }
    core_expect(core, "t=1900ms SEND enqueue #1: 0\n"
                      "t=1900ms SEND enqueue #1: 1\n");
    core_answers(core, "gg");
    core_expect(core, "t=1900ms COMPLETE acquire ok\n");
    ck_assert_int_eq(core_deadline_ms(core), 2000 - 22); /* as of the round's beginning */
}

TEST(timers, the_full_round_follows_when_a_majority_is_there_again)
{
    struct core *core = core_start_queued(3);

    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_run_to(core, 700);
    for (unsigned node = 0; node < 2; node++)
        core_link(core, node, RL_LINK_READY);
    core_skip(core);
    core_run_to(core, 1000);
    core_expect(core, "t=1000ms SEND enqueue #1: 0 1\n");
    core_answers(core, "qq");
    core_drop(core, 0);
    core_run_to(core, 2977);
    core_expect(core, ""); /* the lease is that of the latest round that was answered */
    core_run_to(core, 2978);
    core_expect(core, "t=2978ms SEND rollback #1: 1\n"
                      "t=2978ms BACKOFF no-quorum\n");
}

TEST(timers, a_refresh_that_is_lost_on_its_way_costs_no_turn)
{
    struct core *core = core_start_queued(3);

    core_run_to(core, 500);
    core_skip(core);
    for (unsigned node = 0; node < 3; node++)
        core_drop(core, node);
    core_expect(core, "");
    for (unsigned node = 0; node < 2; node++) {
        core_link(core, node, RL_LINK_READY);
        core_look_again(core, node);
    }
    core_skip(core);
    core_answers(core, "gg");
    core_expect(core, "t=500ms COMPLETE acquire ok\n");
}

TEST(timers, a_caller_whose_time_is_up_does_not_wait_for_the_lease)
{
    struct core *core = core_start(3);
    struct rl_acquire request = core_request_fifo();

    request.deadline = (struct rl_instant){900 * RL_NS_PER_MS};
    core_acquire(core, &request);
    core_answers(core, "qqq");
    core_drop(core, 0);
    core_drop(core, 1);
    core_skip(core);
    core_run_to(core, 900);
    core_expect(core, "t=900ms SEND rollback #1: 2\n"
                      "t=900ms COMPLETE acquire deadline (no-quorum)\n");
}

SUITE("engine_wait_timers")
