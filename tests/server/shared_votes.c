/* Votes that several values share, by the core's own commands on a real server (kinds/scripts/votes.lua). The key is
 * "lock". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/mutex.h"
#include "kinds/shared.h"
#include "script_queue_rig.h"
#include "scripted.h"
#include "suite.h"
#include "kinds/command.h"

static struct rl_subject subject_of(const char *value, enum rl_mode mode, uint64_t number)
{
    struct rl_subject about = counter_subject(value, number);

    about.mode = mode;
    about.marker = (struct rl_slice){NULL, 0};
    about.channel = (struct rl_slice){queue_channel, strlen(queue_channel)};
    about.proposed_ticket = 1000;
    return about;
}

static struct rl_answer take(enum rl_step step, const char *value, uint32_t ttl_ms)
{
    struct rl_subject about = subject_of(value, RL_SHARED, 0);

    about.ttl_ms = ttl_ms;
    return counter_take(&rl_shared_kind, step, &about);
}

static struct rl_answer take_exclusively(enum rl_step step, const char *value, const char *replaced)
{
    struct rl_subject about = subject_of(value, RL_EXCLUSIVE, 0);

    about.replaces = (struct rl_slice){replaced, strlen(replaced)};
    return counter_take(&rl_shared_kind, step, &about);
}

static void share(const char *value, uint32_t ttl_ms)
{
    expect_granted(take(RL_STEP_CLAIM, value, ttl_ms), 0);
}

/* A reader enters the wait queue, or refreshes its entry. */
static struct rl_answer join(const char *value, uint64_t ticket)
{
    struct rl_subject about = subject_of(value, RL_SHARED, 0);

    about.ticket = ticket;
    return counter_take(&rl_shared_kind, RL_STEP_ENQUEUE, &about);
}

/* As a client that knows nothing of shared votes: "OK", or "(nil)" if somebody has the key. */
static void set_exclusively(const char *value, const char *answer)
{
    char line[64];

    snprintf(line, sizeof line, "SET lock %s NX PX 30000", value);
    ask_expect(counter_master, 0, line, answer);
}

static void expect_members(const char *members)
{
    char *reply = ask(counter_master, 0, "ZRANGE lock 0 -1");

    for (char *at = strchr(reply, '\n'); at; at = strchr(at, '\n'))
        *at = ',';
    ck_assert_str_eq(reply, members);
    free(reply);
}

/* --- Who is admitted --------------------------------------------------------------------------------------------- */

GROUP(cases, "votes", queue_start, subscriber_close)

TEST(cases, readers_share_the_key_and_keep_writers_out)
{
    share("one", 30000);
    share("two", 30000);
    expect_members("r one,r two");
    set_exclusively("writer", "(nil)");
    expect_granted(take(RL_STEP_RELEASE, "one", 30000), 0);
    set_exclusively("writer", "(nil)");
    expect_granted(take(RL_STEP_RELEASE, "two", 30000), 0);
    set_exclusively("writer", "OK");
    expect_answer(take(RL_STEP_CLAIM, "three", 30000), RL_REFUSED, RL_DETAIL_HELD, 0);
}

TEST(cases, a_reader_does_not_pass_a_writer_that_waits)
{
    share("one", 30000);
    queue_wait("writer", 10);
    expect_answer(take(RL_STEP_CLAIM, "two", 30000), RL_REFUSED, RL_DETAIL_OTHERS_WAIT, 0);
    expect_answer(join("two", 20), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(join("early", 5), RL_GRANTED, RL_DETAIL_NONE, 0);
    expect_members("r one,r early");
}

TEST(cases, each_vote_has_an_end_of_its_own)
{
    share("short", 5000);
    share("long", 60000);
    clock_fault_step_ms(counter_clock, 10000);
    expect_answer(take(RL_STEP_EXTEND, "short", 60000), RL_REFUSED, RL_DETAIL_MISSING, 0);
    expect_members("r long");
    expect_granted(take(RL_STEP_EXTEND, "long", 5000), 0);
    expect_ttl("lock", 5001);
    clock_fault_step_ms(counter_clock, 10000);
    set_exclusively("writer", "OK");
}

/* As one of the locks that are extended together. */
static void extend_with_others(const char *vote, const char *ttl_ms, const char *letter)
{
    struct rl_command command;
    struct scripted scripted;

    rl_command_init(&command, RL_SCRIPT_EXTEND_MANY, 1);
    rl_push_word(&command, "lock");
    rl_push_word(&command, ttl_ms);
    rl_push_word(&command, vote);
    scripted = scripted_run(counter_master, 0, &command);
    ck_assert_str_eq(scripted.text, letter);
    scripted_free(&scripted);
}

TEST(cases, a_short_extension_leaves_the_votes_of_others_their_time)
{
    share("short", 5000);
    share("long", 60000);
    extend_with_others("r short", "10000", "1");
    expect_ttl("lock", 60001);
    extend_with_others("r short", "90000", "1");
    expect_ttl("lock", 90001);
    extend_with_others("r nobody", "10000", "0");
    extend_with_others("writer", "10000", "-");
}

TEST(cases, a_repair_sets_the_end_of_a_vote_that_is_there)
{
    share("one", 5000);
    expect_granted(take(RL_STEP_REPAIR, "one", 60000), 0);
    expect_ttl("lock", 60001);
    expect_members("r one");
    expect_answer(take_exclusively(RL_STEP_REPAIR, "two", ""), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    take(RL_STEP_RELEASE, "one", 1);
    set_exclusively("two", "OK");
    ask_integer(counter_master, 0, "PEXPIRE lock 1000");
    expect_granted(take_exclusively(RL_STEP_REPAIR, "two", ""), 0);
    expect_ttl("lock", 30000);
}

/* "missing" would let it be set again. */
TEST(cases, where_readers_have_the_key_an_exclusive_vote_is_foreign_and_not_missing)
{
    share("one", 30000);
    expect_answer(take_exclusively(RL_STEP_EXTEND, "two", ""), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_answer(take(RL_STEP_EXTEND, "two", 30000), RL_REFUSED, RL_DETAIL_MISSING, 0);
    take(RL_STEP_RELEASE, "one", 1);
    set_exclusively("writer", "OK");
    expect_answer(take(RL_STEP_EXTEND, "two", 30000), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
}

/* This master has not been told yet that the first one is upgradeable. */
TEST(cases, an_upgrade_takes_the_place_of_a_vote_that_is_still_exclusive)
{
    expect_granted(take_exclusively(RL_STEP_CLAIM, "former", ""), 0);
    expect_answer(take_exclusively(RL_STEP_CLAIM, "rival", ""), RL_REFUSED, RL_DETAIL_HELD, 0);
    ask_integer(counter_master, 0, "PEXPIRE lock 20000");
    expect_granted(take_exclusively(RL_STEP_CLAIM, "later", "former"), 0);
    expect_members("@u,u former,@x,x later");
    expect_granted(take(RL_STEP_RELEASE, "former", 1), 0);
    expect_members("@x,x later");
}

TESTS(cases, keys_of_other_types_are_not_touched, 0, 4)
{
    static const char *const foreign[] = {"RPUSH lock a", "ZADD lock 5 user:1", "SADD lock a", "HSET lock r 1"};
    static const enum rl_step steps[] = {RL_STEP_EXTEND, RL_STEP_REPAIR, RL_STEP_RELEASE, RL_STEP_ENQUEUE};

    ask_integer(counter_master, 0, foreign[_i]);
    expect_answer(take(RL_STEP_CLAIM, "one", 30000), RL_REFUSED, RL_DETAIL_HELD, 0);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        expect_answer(take(steps[i], "one", 30000), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_answer(queue_release("one"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    expect_answer(queue_release_alone("one"), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "EXISTS lock"), 1);
    ck_assert_int_eq(ask_integer(counter_master, 0, "PTTL lock"), -1);
}

/* --- How many ----------------------------------------------------------------------------------------------------- */

/* Runs a script on the server, which takes words. */
static void run(const char *script, const char *word)
{
    const char *const argv[] = {"EVAL", script, "0", word, NULL};
    char *reply = masters_command(counter_master, 0, argv);

    ck_assert_msg(reply != NULL, "%s", masters_error());
    free(reply);
}

/* So many readers, whose votes last for a minute. */
static void fill(const char *n)
{
    run("local time = redis.call('TIME') "
        "for i = 1, ARGV[1] do redis.call('ZADD', 'lock', time[1] * 1000 + 60000, 'r v' .. i) end "
        "redis.call('PEXPIRE', 'lock', 60001)", n);
}

TEST(cases, a_key_takes_100000_votes_and_no_more)
{
    struct rl_subject upgradeable = subject_of("more", RL_UPGRADEABLE, 0);

    fill("99999");
    share("last", 30000);
    expect_answer(take(RL_STEP_CLAIM, "more", 30000), RL_REFUSED, RL_DETAIL_HELD, 0);
    expect_answer(counter_take(&rl_shared_kind, RL_STEP_CLAIM, &upgradeable), RL_REFUSED, RL_DETAIL_HELD, 0);
    expect_answer(join("more", 10), RL_QUEUED, RL_DETAIL_NONE, 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD lock"), 100000);
    expect_granted(take(RL_STEP_EXTEND, "last", 30000), 0);
    expect_answer(take(RL_STEP_RELEASE, "v1", 30000), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_queue("");
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD lock"), 100000);
}

/* --- Hand-off ---------------------------------------------------------------------------------------------------- */

TEST(cases, the_readers_in_front_of_the_next_writer_get_the_key_together)
{
    subscriber_open();
    queue_enqueue("holder", 0, 1);
    expect_answer(join("a", 10), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(join("b", 20), RL_QUEUED, RL_DETAIL_NONE, 0);
    queue_wait("writer", 30);
    expect_answer(join("late", 40), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(queue_release("holder"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_members("r a,r b");
    subscriber_expect("a", true, 0, "-");
    subscriber_expect("b", true, 0, "-");
    take(RL_STEP_RELEASE, "a", 30000);
    expect_queue("writer late");
    expect_answer(take(RL_STEP_RELEASE, "b", 30000), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_holder("writer");
    subscriber_expect("writer", true, 0, "-");
    expect_answer(queue_release("writer"), RL_GRANTED, RL_DETAIL_HANDED_OFF, 0);
    expect_members("r late");
    subscriber_expect("late", true, 0, "-");
    subscriber_expect_silence();
}

/* 64 in one script; the next one is told to ask. */
TEST(cases, more_readers_than_one_script_serves_are_told_to_look)
{
    char value[8];

    subscriber_open();
    queue_enqueue("holder", 0, 1);
    for (int i = 0; i < 65; i++) {
        snprintf(value, sizeof value, "r%02d", i);
        expect_answer(join(value, 10 + (uint64_t)i), RL_QUEUED, RL_DETAIL_NONE, 0);
    }
    queue_release("holder");
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD lock"), 64);
    ck_assert_int_eq(subscriber_expect("r64", false, 0, "-").kind, RL_TOLD_LOOK);
    expect_answer(join("r64", 74), RL_GRANTED, RL_DETAIL_NONE, 0);
}

/* A reader may pass those who wait to be upgradeable, but is not found behind 128 of them. */
TEST(cases, one_script_looks_at_128_entries)
{
    char value[8];

    subscriber_open();
    for (int i = 0; i <= 128; i++) {
        struct rl_subject about;

        snprintf(value, sizeof value, "u%03d", i);
        about = subject_of(value, RL_UPGRADEABLE, 0);
        about.ticket = 10 + (uint64_t)i;
        expect_answer(counter_take(&rl_shared_kind, RL_STEP_ENQUEUE, &about), i ? RL_QUEUED : RL_GRANTED,
                      RL_DETAIL_NONE, 0);
    }
    expect_answer(join("reader", 500), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_members("@u,u u000");
    take(RL_STEP_RELEASE, "u128", 1);
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD lock"), 3);
    subscriber_expect("reader", true, 0, "-");
    subscriber_expect_silence();
}

/* Leases of 20 s are refreshed after 5 s. */
TEST(cases, the_first_of_those_who_share_is_told_when_the_one_in_front_leaves)
{
    share("reader", 4000);
    queue_wait("one", 10);
    queue_wait("two", 20);
    expect_answer(join("last", 30), RL_QUEUED, RL_DETAIL_NONE, 0);
    subscriber_open();
    queue_release("one");
    ck_assert_int_eq(subscriber_expect("two", false, 0, "-").kind, RL_TOLD_FIRST);
    set_exclusively("writer", "(nil)");
    queue_release("two");
    subscriber_expect("last", true, 0, "-");
    subscriber_expect_silence();
}

TEST(cases, a_reader_that_becomes_the_first_behind_a_writer_is_told)
{
    set_exclusively("holder", "OK");
    ask_integer(counter_master, 0, "PEXPIRE lock 4000");
    queue_wait("writer", 10);
    expect_answer(join("reader", 20), RL_QUEUED, RL_DETAIL_NONE, 0);
    subscriber_open();
    queue_release("writer");
    ck_assert_int_eq(subscriber_expect("reader", false, 0, "-").kind, RL_TOLD_FIRST);
    subscriber_expect_silence();
}

TEST(cases, a_vote_that_a_repair_has_made_is_not_replaced_by_the_entry)
{
    queue_enqueue("holder", 0, 1);
    expect_answer(join("mine", 10), RL_QUEUED, RL_DETAIL_NONE, 0);
    ask_integer(counter_master, 0, "DEL lock");
    queue_lease_ms = 2000;
    expect_granted(take(RL_STEP_REPAIR, "mine", 60000), 0);
    expect_answer(join("other", 20), RL_GRANTED, RL_DETAIL_NONE, 0);
    take(RL_STEP_RELEASE, "other", 1);
    expect_ttl("lock", 60001);
    expect_queue("");
}

/* The answer that told the ticket was lost. */
TEST(cases, a_waiter_that_knows_no_ticket_keeps_that_of_its_entry)
{
    set_exclusively("writer", "OK");
    expect_answer(join("reader", 0), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(join("late", 0), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_answer(join("reader", 0), RL_QUEUED, RL_DETAIL_NONE, 0);
    expect_queue("reader late");
    ask_expect(counter_master, 0, "ZSCORE queue reader", "1000");
}

/* "alone" would come first among equal tickets. */
TEST(cases, a_writer_is_told_of_readers_with_lower_tickets_alone)
{
    struct said said = queue_enqueue("writer", 0, 10);

    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    expect_answer(join("alone", 20), RL_QUEUED, RL_DETAIL_NONE, 0);
    said = queue_enqueue("writer", 1, 10);
    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    ck_assert(!said.place.lower);
    expect_answer(join("early", 5), RL_QUEUED, RL_DETAIL_NONE, 0);
    said = queue_enqueue("writer", 2, 10);
    expect_said(said, RL_GRANTED, RL_DETAIL_NONE);
    ck_assert(said.place.lower);
}

/* It got the key before the lower ticket was here, and may have no quorum. */
TEST(cases, the_writer_that_has_the_key_is_told_of_a_reader_with_a_lower_ticket)
{
    subscriber_open();
    expect_said(queue_enqueue("writer", 0, 10), RL_GRANTED, RL_DETAIL_NONE);
    expect_answer(join("late", 20), RL_QUEUED, RL_DETAIL_NONE, 0);
    subscriber_expect_silence();
    expect_answer(join("early", 5), RL_QUEUED, RL_DETAIL_NONE, 0);
    ck_assert_int_eq(subscriber_expect("writer", false, 0, "-").kind, RL_TOLD_LOWER);
    subscriber_expect_silence();
}

/* --- From exclusive to shared ------------------------------------------------------------------------------------- */

TEST(cases, who_lowers_its_mode_lets_the_readers_in_that_wait)
{
    subscriber_open();
    set_exclusively("mine", "OK");
    expect_answer(join("reader", 10), RL_QUEUED, RL_DETAIL_NONE, 0);
    queue_wait("writer", 20);
    expect_granted(take(RL_STEP_EXTEND, "mine", 30000), 0);
    ck_assert_int_eq(ask_integer(counter_master, 0, "ZCARD lock"), 2);
    subscriber_expect("reader", true, 0, "-");
    subscriber_expect_silence();
    expect_granted(take(RL_STEP_EXTEND, "mine", 30000), 0);
    expect_answer(take(RL_STEP_EXTEND, "another", 30000), RL_REFUSED, RL_DETAIL_MISSING, 0);
}

/* This master has not been told that the first vote is only an upgradeable one. */
TEST(cases, an_upgrade_that_finds_the_queue_full_leaves_the_first_vote_its_end)
{
    struct rl_subject upgrade = subject_of("second", RL_EXCLUSIVE, 0);

    upgrade.replaces = rl_slice_of("first");
    set_exclusively("first", "OK");
    run("for i = 1, 100000 do redis.call('ZADD', 'queue', i, 'w' .. i) end", "");
    expect_answer(counter_take(&rl_shared_kind, RL_STEP_ENQUEUE, &upgrade), RL_FAILED, RL_DETAIL_QUEUE_FULL, 0);
    expect_members("@u,u first");
    ck_assert_int_ge(ask_integer(counter_master, 0, "PTTL lock"), 0);
}

TEST(cases, a_full_master_still_extends_and_lowers)
{
    set_exclusively("mine", "OK");
    ask_expect(counter_master, 0, "CONFIG SET maxmemory 1", "OK");
    expect_granted(take(RL_STEP_EXTEND, "mine", 30000), 0);
    expect_members("r mine");
    expect_granted(take(RL_STEP_EXTEND, "mine", 60000), 0);
    expect_ttl("lock", 60001);
    expect_answer(take(RL_STEP_CLAIM, "other", 30000), RL_UNKNOWN, RL_DETAIL_OOM, 0);
    expect_granted(take(RL_STEP_RELEASE, "mine", 30000), 0);
}

/* --- Fencing ------------------------------------------------------------------------------------------------------ */

static struct rl_answer claim_fenced(const char *value, enum rl_mode mode, uint64_t proposal)
{
    struct rl_subject about = subject_of(value, mode, proposal);

    return counter_take(mode == RL_SHARED ? &rl_fenced_shared_kind : &rl_fenced_kind, RL_STEP_CLAIM, &about);
}

TEST(cases, a_counter_that_is_none_stops_those_that_want_its_numbers)
{
    ask_expect(counter_master, 0, "SET count text", "OK");
    expect_answer(claim_fenced("one", RL_SHARED, BIG), RL_UNKNOWN, RL_DETAIL_FOREIGN_COUNTER, 0);
    expect_members("");
    share("two", 30000);
    expect_granted(take_exclusively(RL_STEP_RELEASE, "two", ""), 0);
    expect_granted(take_exclusively(RL_STEP_CLAIM, "three", ""), 0);
}

TEST(cases, readers_do_not_count_and_the_next_writer_is_above_them)
{
    struct rl_subject about = subject_of("one", RL_SHARED, BIG + 7);

    expect_granted(claim_fenced("one", RL_SHARED, BIG), BIG);
    expect_granted(claim_fenced("two", RL_SHARED, BIG), BIG);
    expect_granted(claim_fenced("old", RL_SHARED, BIG - 5), BIG);
    expect_granted(counter_take(&rl_fenced_shared_kind, RL_STEP_RAISE, &about), 0);
    expect_counter(BIG + 7);
    about = subject_of("nobody", RL_SHARED, BIG + 9);
    expect_answer(counter_take(&rl_fenced_shared_kind, RL_STEP_RAISE, &about), RL_REFUSED, RL_DETAIL_FOREIGN, 0);
    take(RL_STEP_RELEASE, "one", 1);
    take(RL_STEP_RELEASE, "two", 1);
    take(RL_STEP_RELEASE, "old", 1);
    expect_granted(claim_fenced("writer", RL_EXCLUSIVE, BIG), BIG + 8);
}

SUITE("shared_votes")
