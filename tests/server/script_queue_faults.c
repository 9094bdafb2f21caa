/* The queue on a real server when something is wrong: the dead, other memories, wrong types, servers that refuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_queue_rig.h"
#include "suite.h"

/* --- The dead --------------------------------------------------------------------------------------------------- */

GROUP(the_dead_and_the_forgotten, "the dead and the forgotten", queue_start, subscriber_close)

TEST(the_dead_and_the_forgotten, dead_heads_are_dropped_when_the_key_is_handed_over)
{
    queue_enqueue("holder", 0, 1);
    queue_wait("dead-1", 10);
    queue_wait("dead-2", 20);
    clock_fault_step_ms(counter_clock, 25000);
    expect_said(queue_enqueue("alive", 0, 30), RL_GRANTED, RL_DETAIL_NONE); /* the holder's key is over by now, too */
    expect_queue("");
    ck_assert_int_eq(ask_integer(counter_master, 0, "HEXISTS waiters dead-1"), 0);
}

static void hold_for_long(void)
{
    ask_expect(counter_master, 0, "SET lock holder PX 1000000", "OK");
}

TEST(the_dead_and_the_forgotten, a_release_passes_the_dead_by)
{
    hold_for_long();
    queue_wait("dead-1", 10);
    queue_wait("dead-2", 20);
    queue_lease_ms = 500000;
    queue_wait("alive", 30);
    clock_fault_step_ms(counter_clock, 25000);
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("alive");
    expect_queue("");
    ck_assert_int_eq(ask_integer(counter_master, 0, "HEXISTS waiters dead-1"), 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "HEXISTS waiters dead-2"), 0);
}

TEST(the_dead_and_the_forgotten, a_queue_of_the_dead_is_no_queue)
{
    hold_for_long();
    queue_lease_ms = 500000;
    queue_wait("soon-dead", 10);
    queue_lease_ms = 20000;
    queue_wait("dead", 5);
    clock_fault_step_ms(counter_clock, 600000);
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_nothing_left();
}

/* One look is enough, however many of them there are. */
TEST(the_dead_and_the_forgotten, all_the_dead_in_front_of_a_waiter_are_dropped_at_once)
{
    struct said said;

    hold_for_long();
    queue_lease_ms = 500000;
    queue_wait("alive", 1);
    queue_wait("me", 1000);
    queue_lease_ms = 20000;
    for (unsigned i = 0; i < 50; i++) {
        char value[16];

        snprintf(value, sizeof value, "dead-%u", i);
        queue_wait(value, 10 + i);
    }
    clock_fault_step_ms(counter_clock, 25000);
    queue_lease_ms = 500000;
    said = queue_enqueue("me", 1, 1000);
    ck_assert_uint_eq(said.place.rank, 1);
    ck_assert_int_gt(said.place.look_ms, 400000);
    expect_queue("alive me");
}

TEST(the_dead_and_the_forgotten, joins_sweep_the_dead_out_of_the_middle)
{
    hold_for_long();
    queue_lease_ms = 500000;
    queue_wait("first", 1);
    queue_lease_ms = 20000;
    for (unsigned i = 0; i < 6; i++) {
        char value[16];

        snprintf(value, sizeof value, "dead-%u", i);
        queue_wait(value, 10 + i);
    }
    clock_fault_step_ms(counter_clock, 25000);
    queue_lease_ms = 500000;
    for (unsigned i = 0; i < 8; i++) {
        char value[16];

        snprintf(value, sizeof value, "new-%u", i);
        queue_wait(value, 5); /* in front of them: its own look does not reach them */
    }
    expect_queue("first new-0 new-1 new-2 new-3 new-4 new-5 new-6 new-7");
}

/* What was promised until a time that is far away now cannot be told from what is dead. */
TEST(the_dead_and_the_forgotten, a_place_does_not_outlive_its_lease_when_the_clock_is_set_back)
{
    hold_for_long();
    queue_wait("old", 10);
    clock_fault_step_ms(counter_clock, -3600000);
    queue_wait("new", 20);
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("new");
}

TEST(the_dead_and_the_forgotten, the_heir_has_no_more_than_its_lease_when_the_clock_is_set_back)
{
    hold_for_long();
    queue_wait("a", 10);
    clock_fault_step_ms(counter_clock, -10000);
    queue_release("holder");
    expect_holder("a");
    expect_ttl("lock", 20001);
}

TEST(the_dead_and_the_forgotten, a_queue_ends_by_itself_when_nobody_comes_any_more)
{
    hold_for_long();
    queue_wait("a", 10);
    expect_ttl("queue", 40000);
    expect_ttl("waiters", 40000);
    queue_lease_ms = 1000;
    queue_wait("b", 20);
    ck_assert_int_gt(ask_integer(counter_master, 0, "PTTL queue"), 20000);
}

/* --- Memories --------------------------------------------------------------------------------------------------- */

TEST(the_dead_and_the_forgotten, in_another_memory_nobody_enters_the_queue)
{
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 1");
    queue_incarnation = "then";
    expect_said(queue_enqueue("a", 0, 10), RL_FAILED, RL_DETAIL_MEMORY_LOST);
    expect_nothing_left();
    queue_incarnation = "now";
    expect_said(queue_enqueue("a", 0, 10), RL_GRANTED, RL_DETAIL_NONE);
}

static const char *const other_memories[] = {"PING", "HSET marker run x", "SET marker then"};

TESTS(the_dead_and_the_forgotten, without_its_marker_it_is_another_memory, 0, 3)
{
    free(ask(counter_master, 0, other_memories[_i]));
    queue_incarnation = "then";
    expect_said(queue_enqueue("a", 0, 10), RL_FAILED, RL_DETAIL_MEMORY_LOST);
    expect_nothing_left();
}

TEST(the_dead_and_the_forgotten, a_place_from_another_memory_is_dropped)
{
    ask_expect(counter_master, 0, "HSET marker inc then", "(integer) 1");
    hold_for_long();
    queue_incarnation = "then";
    queue_wait("old", 10);
    ask_expect(counter_master, 0, "HSET marker inc now", "(integer) 0");
    queue_incarnation = "now";
    queue_wait("new", 20);
    subscriber_open();
    queue_release("holder");
    subscriber_expect("new", true, 0, "now");
    subscriber_expect_silence();
    expect_holder("new");
}

/* --- Tokens ----------------------------------------------------------------------------------------------------- */

GROUP(faults, "faults", queue_start, subscriber_close)

TEST(faults, a_hand_off_counts_for_who_has_tokens)
{
    struct rl_notification call;

    queue_proposal = BIG;
    ck_assert_uint_eq(queue_enqueue("holder", 0, 1).answer.fence, BIG);
    queue_wait("a", 10);
    subscriber_open();
    queue_release("holder");
    call = subscriber_expect("a", true, 0, "-");
    ck_assert_uint_eq(call.fence, BIG + 1);
    expect_counter(BIG + 1);
    expect_ttl("count", 86400000);
    ck_assert_uint_eq(queue_enqueue("a", 1, 10).answer.fence, BIG + 1);
}

TEST(faults, a_hand_off_does_not_count_for_who_has_none)
{
    hold_for_long();
    queue_wait("a", 10);
    queue_release("holder");
    expect_holder("a");
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS count"), 0);
}

TEST(faults, without_a_counter_nobody_with_tokens_enters_the_queue)
{
    queue_proposal = BIG;
    ask_expect(counter_master, 0, "SET count nonsense", "OK");
    expect_said(queue_enqueue("a", 0, 10), RL_UNKNOWN, RL_DETAIL_FOREIGN_COUNTER);
    expect_nothing_left();
}

/* Below 2^53 a counter counts, at or above it is used up: as in tests/server/counter.c. */
static const struct {
    const char *set;
    uint64_t next; /* 0: it does not count */
} ends[] = {
    {"SET count 9007199254740991", UINT64_C(9007199254740992)},
    {"SET count 9007199254740992", 0},
    {"SET count 9007199254740993", 0},
};

#define N_ENDS ((int)(sizeof ends / sizeof ends[0]))

static void expect_taken(int i, struct said said)
{
    if (ends[i].next)
        expect_said(said, RL_QUEUED, RL_DETAIL_NONE);
    else
        expect_said(said, RL_UNKNOWN, RL_DETAIL_FOREIGN_COUNTER);
}

TESTS(faults, nobody_with_tokens_waits_for_a_counter_that_is_used_up, 0, N_ENDS)
{
    struct refresh refreshes[] = {{.value = "a", .round = 1, .ticket = 10}, {.value = "b", .round = 1, .ticket = 20}};

    hold_for_long();
    queue_proposal = BIG;
    queue_wait("a", 10);
    queue_wait("b", 20);
    ask_expect(counter_master, 0, ends[_i].set, "OK");
    queue_refresh_many(2, refreshes);
    expect_taken(_i, refreshes[0].said);
    expect_taken(_i, refreshes[1].said);
    expect_taken(_i, queue_enqueue("c", 0, 30));
}

TESTS(faults, a_counter_that_is_used_up_is_not_counted_in_a_hand_off, 0, N_ENDS)
{
    hold_for_long();
    queue_proposal = BIG;
    queue_wait("a", 10);
    ask_expect(counter_master, 0, ends[_i].set, "OK");
    subscriber_open();
    queue_release("holder");
    ck_assert_uint_eq(subscriber_expect("a", true, 0, "-").fence, ends[_i].next);
}

/* It is told of, and worth nothing to it: it has no number. */
TEST(faults, a_counter_that_is_lost_meanwhile_does_not_stop_the_hand_off)
{
    hold_for_long();
    queue_proposal = BIG;
    queue_wait("a", 10);
    ask_expect(counter_master, 0, "LPUSH count x", "(integer) 1");
    subscriber_open();
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    ck_assert_uint_eq(subscriber_expect("a", true, 0, "-").fence, 0);
}

/* --- Limits, types, refusals ------------------------------------------------------------------------------------ */

static const char fill[] = "for i = 1, 100000 do redis.call('ZADD', KEYS[1], i, 'w' .. i) end";

TEST(faults, a_full_queue_takes_nobody_more)
{
    const char *words[] = {"EVAL", fill, "1", "queue", NULL};

    hold_for_long();
    free(masters_command(counter_master, 0, words));
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD queue"), 100000);
    expect_said(queue_enqueue("a", 0, 10), RL_FAILED, RL_DETAIL_QUEUE_FULL);
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD queue"), 100000);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS waiters"), 0);
}

TEST(faults, a_key_of_another_type_is_foreign)
{
    ask_expect(counter_master, 0, "LPUSH lock x", "(integer) 1");
    expect_said(queue_enqueue("a", 0, 10), RL_REFUSED, RL_DETAIL_FOREIGN);
    expect_answer(queue_release("a"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS queue waiters"), 0);
}

static const struct {
    const char *by;
    enum rl_detail detail;
} taken[] = {
    {"SET queue x", RL_DETAIL_FOREIGN_QUEUE},
    {"SET waiters x", RL_DETAIL_FOREIGN_WAITERS},
    {"LPUSH queue x", RL_DETAIL_FOREIGN_QUEUE},
};

#define N_TAKEN ((int)(sizeof taken / sizeof taken[0]))

/* The queue is empty, so nothing of it has to be deleted with the key. */
TEST(faults, a_release_leaves_alone_what_has_the_name_of_the_waiters)
{
    hold_for_long();
    ask_expect(counter_master, 0, "SET waiters x", "OK");
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_NONE, 0);
    ask_expect(counter_master, 0, "GET waiters", "x");
}

TESTS(faults, names_that_are_taken_keep_nobody_from_releasing, 0, N_TAKEN)
{
    free(ask(counter_master, 0, taken[_i].by));
    if (taken[_i].detail == RL_DETAIL_FOREIGN_WAITERS)
        ask_expect(counter_master, 0, "ZADD queue 1 somebody", "(integer) 1");
    expect_said(queue_enqueue("a", 0, 10), RL_REFUSED, taken[_i].detail);
    hold_for_long();
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_NONE, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
    ck_assert_int_ge(ask_integer(counter_master, 0, "EXISTS queue waiters"), 1);
}

TEST(faults, a_server_out_of_memory_takes_nobody_and_may_have_done_something)
{
    ask_expect(counter_master, 0, "CONFIG SET maxmemory 1", "OK");
    expect_said(queue_enqueue("a", 0, 10), RL_UNKNOWN, RL_DETAIL_OOM);
    expect_nothing_left();
}

TEST(faults, a_server_out_of_memory_hands_over_and_deletes_all_the_same)
{
    hold_for_long();
    queue_wait("a", 10);
    ask_expect(counter_master, 0, "CONFIG SET maxmemory 1", "OK");
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("a");
    expect_answer(queue_release("a"), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_nothing_left();
}

TEST(faults, a_replica_takes_nobody)
{
    hold_for_long();
    ask_expect(counter_master, 0, "REPLICAOF 127.0.0.1 1", "OK");
    expect_said(queue_enqueue("a", 0, 10), RL_UNKNOWN, RL_DETAIL_READONLY);
    expect_answer(queue_release("holder"), RL_FAILED, RL_DETAIL_READONLY, 0);
}

/* "Foreign" would be the end of it, and the place in the queue would stay. */
TEST(faults, a_replica_does_not_say_that_a_waiter_has_left)
{
    hold_for_long();
    queue_wait("a", 10);
    ask_expect(counter_master, 0, "REPLICAOF 127.0.0.1 1", "OK");
    expect_answer(queue_release("a"), RL_FAILED, RL_DETAIL_READONLY, 0);
}

static const char *const narrowed[] = {"ACL SETUSER default -hdel", "ACL SETUSER default -zpopmin",
                                       "ACL SETUSER default -hdel -zpopmin -zcard"};

/* With no more rights than a client needs that never waits. */
TESTS(faults, who_may_not_look_at_queues_can_release, 0, sizeof narrowed / sizeof narrowed[0])
{
    hold_for_long();
    queue_wait("a", 10);
    ask_expect(counter_master, 0, narrowed[_i], "OK");
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_NONE, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
    expect_said(queue_enqueue("a", 1, 10), RL_UNKNOWN, RL_DETAIL_NOPERM);
}

/* A script that may not tell must not fail half-way. */
TEST_SINCE(faults, who_may_not_publish_hands_over_in_silence, 6, 2, "rights on channels")
{
    hold_for_long();
    queue_wait("a", 10);
    ask_expect(counter_master, 0, "ACL SETUSER default resetchannels", "OK");
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("a");
}

SUITE_WITH_SERVER("script_queue_faults")
