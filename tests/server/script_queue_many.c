/* Several join the queue by one command: what it leaves on a real server, and what each of them is told, is what single
 * commands in the same order would leave and tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_queue_rig.h"
#include "suite.h"

#define N 4

static const char *const values[N] = {"a", "b", "c", "d"};
static struct said said[N];

static void enqueue_all(void)
{
    queue_enqueue_many(N, values, said);
}

static void expect_all(enum rl_outcome outcome, enum rl_detail detail)
{
    for (size_t i = 0; i < N; i++)
        expect_said(said[i], outcome, detail);
}

/* Without the end of the lease, which is a time. */
static char *entry_of(const char *value)
{
    char command[64];
    char *entry;
    char *rest;

    snprintf(command, sizeof command, "HGET waiters %s", value);
    entry = ask(counter_master, 0, command);
    rest = strchr(entry, ' ');
    ck_assert_msg(rest != NULL, "%s has no entry", value);
    memmove(entry, rest + 1, strlen(rest));
    return entry;
}

static void expect_entries_like(const char *model)
{
    char *expected = entry_of(model);

    for (size_t i = 0; i < N; i++) {
        char *entry = entry_of(values[i]);

        ck_assert_str_eq(entry, expected);
        free(entry);
    }
    free(expected);
}

GROUP(cases, "script_queue_many", queue_start, subscriber_close)

TEST(cases, who_comes_first_gets_a_free_key_and_the_others_queue_behind)
{
    enqueue_all();
    expect_said(said[0], RL_GRANTED, RL_DETAIL_NONE);
    ck_assert_uint_eq(said[0].place.ticket, 1000);
    ck_assert(!said[0].place.lower);
    for (size_t i = 1; i < N; i++) {
        expect_said(said[i], RL_QUEUED, RL_DETAIL_NONE);
        ck_assert_uint_eq(said[i].place.ticket, 1000 + i);
        ck_assert_uint_eq(said[i].place.rank, i - 1);
        ck_assert_int_gt(said[i].place.held_ms, 10000);
    }
    ck_assert_int_gt(said[1].place.look_ms, 10000);
    ck_assert_int_eq(said[2].place.look_ms, -1);
    expect_holder("a");
    expect_queue("b c d");
    expect_ttl("queue", 40000);
    expect_ttl("waiters", 40000);
}

TEST(cases, they_enter_the_queue_behind_those_who_wait)
{
    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    queue_wait("before", 0);
    enqueue_all();
    expect_all(RL_QUEUED, RL_DETAIL_NONE);
    for (size_t i = 0; i < N; i++) {
        ck_assert_uint_eq(said[i].place.ticket, 1001 + i);
        ck_assert_uint_eq(said[i].place.rank, 1 + i);
    }
    expect_queue("before a b c d");
    expect_entries_like("before");
    ck_assert_uint_eq(queue_enqueue("after", 0, 0).place.ticket, 1001 + N);
}

/* Without an end of their own they would stay for ever where the first has emptied the queue by getting the key. */
TEST(cases, the_queue_ends_when_nobody_is_left)
{
    enqueue_all();
    clock_fault_step_ms(counter_clock, 41000);
    expect_nothing_left();
}

/* Of all who wait the one with the longest lease says how long that is. */
TEST(cases, short_leases_leave_the_queue_its_life)
{
    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    queue_lease_ms = 500000;
    queue_wait("before", 0);
    queue_lease_ms = 100;
    enqueue_all();
    expect_ttl("queue", 1000000);
    expect_ttl("waiters", 1000000);
    queue_release("other");
    expect_holder("before");
    enqueue_all();
    expect_ttl("queue", 1000000);
}

/* The command was held up on its way: since then two were asked again, and one of them has got the key. */
TEST(cases, who_has_a_place_since_keeps_it)
{
    queue_enqueue("b", 3, 50);
    queue_wait("between", 60);
    queue_enqueue("c", 3, 70);
    enqueue_all();
    expect_holder("b");
    expect_queue("between c a d");
    expect_answer(queue_release("b"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_answer(queue_release("between"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("c");
    queue_release("c");
    queue_release("a");
    queue_release("d");
    expect_nothing_left();
    queue_enqueue("a", 0, 0);
    queue_wait("b", 0);
    queue_wait("c", 0);
    queue_wait("d", 0);
    enqueue_all();
    expect_queue("b c d");
}

TEST(cases, each_has_its_turn_and_hears_of_it)
{
    subscriber_open();
    enqueue_all();
    for (size_t i = 1; i < N; i++) {
        queue_release(values[i - 1]);
        subscriber_expect(values[i], true, 0, "-");
        expect_holder(values[i]);
    }
    queue_release(values[N - 1]);
    expect_nothing_left();
}

TEST(cases, with_tokens_each_is_counted_when_it_gets_the_key)
{
    queue_proposal = BIG;
    subscriber_open();
    enqueue_all();
    ck_assert_uint_eq(said[0].answer.fence, BIG);
    expect_counter(BIG);
    for (size_t i = 1; i < N; i++) {
        ck_assert_uint_eq(said[i].answer.fence, 0);
        queue_release(values[i - 1]);
        ck_assert_uint_eq(subscriber_expect(values[i], true, 0, "-").fence, BIG + i);
    }
}

/* Two are due for each join, sixteen in one go. */
TEST(cases, the_dead_do_not_pile_up)
{
    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    queue_lease_ms = 500000;
    queue_wait("alive", 0);
    queue_lease_ms = 20000;
    for (char dead[] = "1"; dead[0] <= '7'; dead[0]++)
        queue_wait(dead, 0);
    clock_fault_step_ms(counter_clock, 25000);
    ask_integer(counter_master, 0, "HSET waiters @sweep 8");
    enqueue_all();
    expect_queue("alive a b c d");
    ck_assert_int_eq(ask_integer(counter_master, 0, "HLEN waiters"), 5 + 2); /* '@last', '@sweep' */
}

TEST(cases, in_another_memory_nobody_enters_the_queue)
{
    queue_incarnation = "expected";
    ask_integer(counter_master, 0, "HSET marker inc found");
    enqueue_all();
    expect_all(RL_FAILED, RL_DETAIL_MEMORY_LOST);
    expect_nothing_left();
}

TEST(cases, a_key_that_is_no_lock_is_foreign_to_all)
{
    ask_integer(counter_master, 0, "HSET lock a b");
    enqueue_all();
    expect_all(RL_REFUSED, RL_DETAIL_FOREIGN);
}

/* So many living waiters. */
static void fill(unsigned n)
{
    static const char script[] = "local now = redis.call('TIME')[1] * 1000 "
                                 "for i = 1, ARGV[1] do "
                                 "redis.call('ZADD', KEYS[1], i, 'w' .. i) "
                                 "redis.call('HSET', KEYS[2], 'w' .. i, now + 1000000 .. ' 0 1000000 - 0 0 none') "
                                 "end return 'filled'";
    char number[16];
    char *reply;

    snprintf(number, sizeof number, "%u", n);
    reply = masters_command(counter_master, 0,
                            (const char *const[]){"EVAL", script, "2", "queue", "waiters", number, NULL});
    ck_assert_msg(reply && strcmp(reply, "filled") == 0, "%s", masters_error());
    free(reply);
}

TEST(cases, a_queue_is_filled_to_its_last_place)
{
    static const char *const more[N] = {"e", "f", "g", "h"};

    ask_expect(counter_master, 0, "SET lock other PX 1000000", "OK");
    fill(100000 - N);
    enqueue_all();
    expect_all(RL_QUEUED, RL_DETAIL_NONE);
    ck_assert_uint_eq(said[N - 1].place.rank, 99999);
    queue_enqueue_many(N, more, said);
    expect_all(RL_FAILED, RL_DETAIL_QUEUE_FULL);
    queue_release("c");
    queue_release("d");
    queue_enqueue_many(N, more, said);
    for (size_t i = 0; i < N; i++)
        expect_said(said[i], i < 2 ? RL_QUEUED : RL_FAILED, i < 2 ? RL_DETAIL_NONE : RL_DETAIL_QUEUE_FULL);
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD queue"), 100000);
}

SUITE_WITH_SERVER("script_queue_many")
