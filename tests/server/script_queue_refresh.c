/* Several who have a place and a ticket keep it by one command: what it leaves on a real server, and what each of them
 * is told, is what single commands in the same order would leave and tell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script_queue_rig.h"
#include "suite.h"

#define N 4

static struct refresh refreshes[N];

static void choose(const char *const values[N], uint32_t round, const uint64_t tickets[N])
{
    for (size_t i = 0; i < N; i++)
        refreshes[i] = (struct refresh){.value = values[i], .round = round, .ticket = tickets[i]};
}

static void refresh(void)
{
    queue_refresh_many(N, refreshes);
}

static void expect_queued(size_t i, uint32_t rank)
{
    ck_assert(!refreshes[i].alone);
    expect_said(refreshes[i].said, RL_QUEUED, RL_DETAIL_NONE);
    ck_assert_uint_eq(refreshes[i].said.place.rank, rank);
    ck_assert_uint_eq(refreshes[i].said.place.ticket, refreshes[i].ticket);
    ck_assert(!refreshes[i].said.place.lower);
}

static void expect_all(enum rl_outcome outcome, enum rl_detail detail)
{
    for (size_t i = 0; i < N; i++) {
        ck_assert(!refreshes[i].alone);
        expect_said(refreshes[i].said, outcome, detail);
    }
}

static void command(const char *const *words)
{
    char *reply = masters_command(counter_master, 0, words);

    ck_assert_msg(reply != NULL, "%s", masters_error());
    free(reply);
}

static void hold(const char *value)
{
    command((const char *const[]){"SET", "lock", value, "PX", "1000000", NULL});
}

static char *entry_of(const char *value)
{
    return masters_command(counter_master, 0, (const char *const[]){"HGET", "waiters", value, NULL});
}

/* --- Places ------------------------------------------------------------------------------------------------------- */

/* Somebody else has the key; a, b, c, d are in the queue behind one another. */
static void line_up(void)
{
    static const char *const values[N] = {"a", "b", "c", "d"};
    static const uint64_t tickets[N] = {10, 20, 30, 40};

    hold("other");
    for (size_t i = 0; i < N; i++)
        queue_wait(values[i], tickets[i]);
    choose(values, 1, tickets);
}

GROUP(cases, "script_queue_refresh", queue_start, subscriber_close)

TEST(cases, each_keeps_its_place_and_is_told_of_it)
{
    line_up();
    refresh();
    for (size_t i = 0; i < N; i++) {
        expect_queued(i, (uint32_t)i);
        ck_assert_int_gt(refreshes[i].said.place.held_ms, 900000);
        if (i == 0)
            ck_assert_int_gt(refreshes[i].said.place.look_ms, 900000);
        else
            ck_assert_int_eq(refreshes[i].said.place.look_ms, 20000);
    }
    expect_queue("a b c d");
}

TEST(cases, a_ticket_that_is_told_moves_it)
{
    line_up();
    queue_wait("between", 35);
    refreshes[0].ticket = 50;
    refreshes[3].ticket = 25;
    refresh();
    expect_queue("b d c between a");
    expect_queued(0, 4);
    expect_queued(1, 0);
    expect_queued(2, 2);
    expect_queued(3, 1);
    ck_assert_uint_eq(queue_enqueue("next", 0, 0).place.ticket, 1000);
    refreshes[1].ticket = 5000;
    refresh();
    ck_assert_uint_eq(queue_enqueue("last", 0, 0).place.ticket, 5001);
}

TEST(cases, the_lease_begins_anew)
{
    line_up();
    clock_fault_step_ms(counter_clock, 15000);
    refresh();
    clock_fault_step_ms(counter_clock, 15000);
    expect_queued(0, 0);
    queue_release("other");
    expect_holder("a");
    queue_lease_ms = 100;
    refresh();
    clock_fault_step_ms(counter_clock, 200);
    queue_release("a");
    expect_nothing_left();
}

TEST(cases, what_was_held_up_changes_nothing)
{
    char *before;
    char *after;

    line_up();
    ck_assert_uint_eq(queue_enqueue("b", 3, 5).place.rank, 0);
    before = entry_of("b");
    refresh();
    after = entry_of("b");
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    expect_queue("b a c d");
    expect_queued(1, 0);
    expect_queued(0, 1);
}

TEST(cases, the_dead_in_front_are_dropped)
{
    hold("other");
    queue_lease_ms = 5000;
    queue_wait("dead1", 1);
    queue_wait("dead2", 15);
    queue_wait("dead3", 25);
    queue_lease_ms = 20000;
    line_up();
    queue_wait("alive", 17);
    clock_fault_step_ms(counter_clock, 10000);
    refresh();
    expect_queued(0, 0);
    expect_queued(1, 3); /* also dead ones, but for the one right in front */
    expect_queued(2, 4);
    expect_queued(3, 5);
    ck_assert_int_le(refreshes[1].said.place.look_ms, 10000);
    expect_queue("a dead2 alive b c d");
    ck_assert_int_eq(ask_integer(counter_master, 0, "HLEN waiters"), 6 + 2); /* '@last', '@sweep' */
}

TEST(cases, those_behind_a_dead_one_move_up)
{
    hold("other");
    queue_lease_ms = 5000;
    queue_wait("dead", 15);
    queue_lease_ms = 20000;
    line_up();
    clock_fault_step_ms(counter_clock, 10000);
    refresh();
    for (size_t i = 0; i < N; i++)
        expect_queued(i, (uint32_t)i);
    expect_queue("a b c d");
}

TEST(cases, the_line_lives_as_long_as_the_longest_lease)
{
    line_up();
    queue_lease_ms = 100;
    refresh();
    expect_ttl("queue", 40000);
    expect_ttl("waiters", 40000);
    queue_lease_ms = 500000;
    refresh();
    expect_ttl("queue", 1000000);
    expect_ttl("waiters", 1000000);
}

/* Somebody's key that is to stay for ever, almost. */
TEST(cases, a_key_of_the_year_9999_is_waited_for)
{
    line_up();
    command((const char *const[]){"SET", "lock", "closed", NULL});
    command((const char *const[]){"PEXPIREAT", "lock", "253402300799999", NULL});
    refresh();
    for (size_t i = 0; i < N; i++)
        expect_queued(i, (uint32_t)i);
    ck_assert_int_gt(refreshes[0].said.place.held_ms, INT64_C(1) << 39);
    ck_assert_int_gt(refreshes[0].said.place.look_ms, INT64_C(1) << 39);
    command((const char *const[]){"PEXPIREAT", "lock", "9223372036854775807", NULL});
    refresh();
    expect_queued(0, 0);
    command((const char *const[]){"SET", "lock", "closed", NULL});
    refresh();
    expect_queued(0, 0);
    ck_assert_int_eq(refreshes[0].said.place.held_ms, -1);
    ck_assert_int_eq(refreshes[0].said.place.look_ms, -1);
}

/* --- Who must ask alone ------------------------------------------------------------------------------------------- */

/* What is missing in the queue alone is put back, as ENQUEUE does. */
TEST(cases, the_holder_and_who_has_no_entry_must_ask_alone)
{
    line_up();
    queue_release("c");
    hold("a");
    refresh();
    ck_assert(refreshes[0].alone && !refreshes[1].alone && refreshes[2].alone && !refreshes[3].alone);
    expect_queue("a b d");
    command((const char *const[]){"ZREM", "queue", "b", NULL});
    refresh();
    ck_assert(!refreshes[1].alone && !refreshes[3].alone);
    expect_queue("a b d");
}

TEST(cases, where_the_key_is_free_all_must_and_nothing_is_done)
{
    char *before;
    char *after;

    line_up();
    command((const char *const[]){"DEL", "lock", NULL});
    before = entry_of("b");
    refreshes[1].ticket = 1;
    refresh();
    after = entry_of("b");
    for (size_t i = 0; i < N; i++)
        ck_assert(refreshes[i].alone);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
    expect_queue("a b c d");
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 0);
}

/* --- All alike ---------------------------------------------------------------------------------------------------- */

TEST(cases, in_another_memory_nothing_is_done)
{
    line_up();
    queue_incarnation = "expected";
    ask_integer(counter_master, 0, "HSET marker inc found");
    refreshes[3].ticket = 1;
    refresh();
    expect_all(RL_FAILED, RL_DETAIL_MEMORY_LOST);
    expect_queue("a b c d");
}

TEST(cases, a_key_that_is_no_lock_is_foreign_to_all)
{
    line_up();
    command((const char *const[]){"DEL", "lock", NULL});
    ask_integer(counter_master, 0, "HSET lock a b");
    refresh();
    expect_all(RL_REFUSED, RL_DETAIL_FOREIGN);
}

TEST(cases, a_counter_that_cannot_be_counted_on_is_an_error_for_all)
{
    line_up();
    queue_proposal = BIG;
    ask_expect(counter_master, 0, "SET count text", "OK");
    refresh();
    expect_all(RL_UNKNOWN, RL_DETAIL_FOREIGN_COUNTER);
    ask_expect(counter_master, 0, "SET count 1", "OK");
    refresh();
    queue_release("other");
    expect_all(RL_QUEUED, RL_DETAIL_NONE);
}

TEST(cases, whose_turn_comes_next_is_called_by_its_latest_refresh)
{
    line_up();
    queue_proposal = BIG;
    subscriber_open();
    refreshes[0].round = 7;
    hold("other");
    refresh();
    ask_integer(counter_master, 0, "HSET waiters @holder other");
    queue_release("other");
    ck_assert_uint_eq(subscriber_expect("a", true, 7, "-").fence, BIG);
    subscriber_expect_silence();
}

/* The holder that got the key from the line hears of lower tickets: once. */
TEST(cases, a_holder_hears_of_lower_tickets)
{
    static const char *const values[N] = {"a", "b", "c", "d"};
    static const uint64_t above[N] = {60, 70, 80, 90};
    static const uint64_t below[N] = {60, 45, 46, 90};

    subscriber_open();
    expect_said(queue_enqueue("holder", 0, 50), RL_GRANTED, RL_DETAIL_NONE);
    for (size_t i = 0; i < N; i++)
        queue_wait(values[i], above[i]);
    choose(values, 1, above);
    refresh();
    subscriber_expect_silence();
    choose(values, 2, below);
    refresh();
    subscriber_expect("holder", false, 0, "-");
    subscriber_expect_silence();
}

/* --- One command, or one after the other -------------------------------------------------------------------------- */

#define SOME 8    /* those who are asked for */
#define OTHERS 4  /* those who are not */
#define TRIALS 400

static const char *const names[SOME + OTHERS] = {"a", "b", "c", "d", "e", "f", "g", "h", "w", "x", "y", "z"};
static uint64_t seed;

static uint64_t any(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

static long long now_ms(void)
{
    char *time = ask(counter_master, 0, "TIME");
    long long ms = strtoll(time, NULL, 10) * 1000;

    free(time);
    return ms;
}

/* Two in three are there as they should be. The dead are not asked for by commands that are older than they: whether
 * such a command finds them, or somebody has dropped them before, makes no difference to anybody. */
static void place(const char *name, long long now)
{
    char ticket[24];
    char entry[80];
    bool dead = any(5) == 0;

    snprintf(ticket, sizeof ticket, "%llu", (unsigned long long)any(30) + 1);
    snprintf(entry, sizeof entry, "%lld %llu 20000 - 0 0 none", dead ? now - 5000 : now + 15000,
             dead ? 0 : (unsigned long long)any(4));
    if (any(6))
        command((const char *const[]){"ZADD", "queue", ticket, name, NULL});
    if (any(6))
        command((const char *const[]){"HSET", "waiters", name, entry, NULL});
}

static void build(uint64_t trial)
{
    char holder[40];
    long long now = now_ms();

    seed = trial * 7919 + 1;
    ask_expect(counter_master, 0, "FLUSHALL", "OK");
    for (size_t i = 0; i < SOME + OTHERS; i++)
        place(names[i], now);
    snprintf(holder, sizeof holder, "%s %llu none", names[any(SOME + OTHERS)], (unsigned long long)any(30) + 1);
    command((const char *const[]){"HSET", "waiters", "@last", "31", "@sweep", "1", NULL});
    if (any(3))
        command((const char *const[]){"HSET", "waiters", "@holder", holder, NULL});
    if (any(8))
        hold(any(3) ? "foreign" : names[any(SOME + OTHERS)]);
}

/* The same for one command and for single ones. */
static void choose_some(struct refresh chosen[SOME])
{
    for (size_t i = 0; i < SOME; i++)
        chosen[i] = (struct refresh){.value = names[i], .round = (uint32_t)any(4), .ticket = any(40) + 1};
}

/* Everybody who lives: ticket and entry without the end of its lease. The dead are dropped as they are met. */
static char *picture(void)
{
    static const char script[] =
        "local now = redis.call('TIME')[1] * 1000 local all = {} "
        "for _, value in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do "
        "local entry = redis.call('HGET', KEYS[2], value) or '0 missing' "
        "if tonumber(entry:match('^%d+')) > now then "
        "all[#all + 1] = value .. ' ' .. redis.call('ZSCORE', KEYS[1], value) .. ' ' .. entry:match('^%d+ (.*)$') "
        "end end "
        "local notes = redis.call('HMGET', KEYS[2], '@last', '@holder') "
        "return table.concat(all, '; ') .. ' | ' .. tostring(notes[1]) .. ' | ' .. tostring(notes[2]) .. ' | ' .. "
        "tostring(redis.call('GET', KEYS[3]))";
    char *text = masters_command(counter_master, 0,
                                 (const char *const[]){"EVAL", script, "3", "queue", "waiters", "lock", NULL});

    ck_assert_msg(text != NULL, "%s", masters_error());
    return text;
}

TEST(cases, one_command_does_what_single_ones_do)
{
    struct refresh chosen[SOME];
    size_t alone = 0;

    for (uint64_t trial = 1; trial <= TRIALS; trial++) {
        char *single;
        char *many;

        build(trial);
        choose_some(chosen);
        for (size_t i = 0; i < SOME; i++)
            queue_enqueue(chosen[i].value, chosen[i].round, chosen[i].ticket);
        single = picture();
        build(trial);
        choose_some(chosen);
        queue_refresh_many(SOME, chosen);
        for (size_t i = 0; i < SOME; i++) {
            if (chosen[i].alone)
                queue_enqueue(chosen[i].value, chosen[i].round, chosen[i].ticket);
            alone += chosen[i].alone;
        }
        many = picture();
        ck_assert_msg(strcmp(single, many) == 0, "trial %llu:\n%s\n%s", (unsigned long long)trial, single, many);
        free(single);
        free(many);
    }
    ck_assert_uint_gt(alone, TRIALS);
    ck_assert_uint_lt(alone, TRIALS * SOME / 2);
}

SUITE_WITH_SERVER("script_queue_refresh")
