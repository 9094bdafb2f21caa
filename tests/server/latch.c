/* Latches on real masters: when they open, and when not, and what of an arrival survives which loss. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/latch.h>

#include "child_rig.h"
#include "rig.h"
#include "suite.h"
#include "watch.h"

#define N 3
#define KEY "redlock:latch:job"

static struct rig rig;

/* A handle, and a copy of what its latest callbacks have said. */
struct party {
    struct redlock_latch *latch;
    struct redlock_latch_result arrival, wait;
    unsigned arrivals, waits;
    char names[200]; /* of the latest result, with spaces between them */
    char details[N][160];
    char why[400];
    bool destroy;    /* the latch, in the next callback */
};

static void copy(struct party *party, const struct redlock_latch_result *result)
{
    size_t length = 0;

    party->names[0] = '\0';
    for (size_t i = 0; i < result->n_arrived && i < 8; i++)
        length += (size_t)snprintf(party->names + length, sizeof party->names - length, "%s%s", i ? " " : "",
                                   result->arrived[i]);
    for (size_t i = 0; i < result->n_nodes; i++)
        snprintf(party->details[i], sizeof party->details[i], "%s", result->nodes[i].detail);
    snprintf(party->why, sizeof party->why, "%s", result->why);
    if (party->destroy)
        redlock_latch_destroy(party->latch);
}

static void on_arrival(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct party *party = user_data;

    ck_assert_ptr_eq(latch, party->latch);
    party->arrivals++;
    party->arrival = *result;
    copy(party, result);
}

static void on_wait(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    struct party *party = user_data;

    ck_assert_ptr_eq(latch, party->latch);
    party->waits++;
    party->wait = *result;
    copy(party, result);
}

static struct party join_as(struct redlock_client *client, uint32_t parties, uint64_t generation, const char *name)
{
    struct party party = {0};

    ck_assert_int_eq(redlock_latch_create(client, "job", 3, parties, generation, name, NULL, &party.latch), 0);
    return party;
}

static struct party join(uint32_t parties, const char *name)
{
    return join_as(rig.client, parties, 1, name);
}

static bool has_arrived(void *argument)
{
    return ((const struct party *)argument)->arrivals > 0;
}

static bool has_waited(void *argument)
{
    return ((const struct party *)argument)->waits > 0;
}

static void begin_arrival(struct party *party, int64_t timeout_ms)
{
    party->arrivals = 0;
    ck_assert_int_eq(redlock_latch_arrive(party->latch, timeout_ms, on_arrival, party), 0);
    ck_assert_uint_eq(party->arrivals, 0);
}

static void begin_wait(struct party *party, int64_t timeout_ms)
{
    party->waits = 0;
    ck_assert_int_eq(redlock_latch_await(party->latch, timeout_ms, on_wait, party), 0);
    ck_assert_uint_eq(party->waits, 0);
}

static void expect_status(int status, int expected, const struct party *party)
{
    ck_assert_msg(status == expected, "%s and not %s: %s", redlock_status_name(status), redlock_status_name(expected),
                  party->why);
}

static void expect_arrival(struct party *party, int status)
{
    rig_wait(&rig, has_arrived, party, "an arrival");
    ck_assert_uint_eq(party->arrivals, 1);
    expect_status(party->arrival.status, status, party);
}

static void expect_wait(struct party *party, int status)
{
    rig_wait(&rig, has_waited, party, "the end of a wait");
    ck_assert_uint_eq(party->waits, 1);
    expect_status(party->wait.status, status, party);
}

static void arrive(struct party *party, int64_t timeout_ms, int status)
{
    begin_arrival(party, timeout_ms);
    expect_arrival(party, status);
}

static void await(struct party *party, int64_t timeout_ms, int status)
{
    begin_wait(party, timeout_ms);
    expect_wait(party, status);
}

/* What one master has in a field of the latch; "" if nothing. */
static void field(size_t node, const char *name, char ret_text[64])
{
    char *text = masters_command(rig.masters, node, (const char *const[]){"HGET", KEY, name, NULL});

    snprintf(ret_text, 64, "%s", text && strcmp(text, "(nil)") != 0 ? text : "");
    free(text);
}

static size_t count_field(const char *name)
{
    char text[64];
    size_t n = 0;

    for (size_t i = 0; i < rig.n; i++) {
        if (!masters_pid(rig.masters, i))
            continue;
        field(i, name, text);
        n += *text != '\0';
    }
    return n;
}

static const char *wanted;

static bool all_have(void *argument)
{
    (void)argument;
    return count_field(wanted) == rig.n;
}

static void wait_until_all_have(const char *name)
{
    wanted = name;
    rig_wait(&rig, all_have, NULL, name);
}

/* Gives one master a latch of two parties, with names as one of ours would have written them. */
static void give(size_t node, const char *a, const char *b, const char *more)
{
    bool two = strcmp(a, b) != 0;

    rig_do(&rig, node, "HSET", KEY, "n", "2", "gen", "1", a, "1", NULL);
    rig_do(&rig, node, "HSET", KEY, b, "1", "arrived", two ? "2" : "1", NULL);
    rig_do(&rig, node, "HSET", KEY, "rev", "1@1", more, "1", NULL);
}

static void kill_master(size_t node)
{
    ck_assert(masters_kill(rig.masters, node));
    rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_DOWN);
}

static void restart_master(size_t node)
{
    ck_assert(masters_restart(rig.masters, node));
    rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_READY);
}

/* Repetitions come every half second. */
static void tune(struct redlock_options *options)
{
    options->node_timeout_ms = 300;
    options->max_ttl_ms = 1500;
}

static void open_three(void)
{
    rig_open_with(&rig, N, 0, tune);
}

static void close_rig(void)
{
    rig_close(&rig);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

START_TEST(a_latch_opens_when_the_last_party_arrives)
{
    struct party waiter = join(3, NULL);
    struct party parties[] = {join(3, "c"), join(3, "a"), join(3, "b")};

    await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(waiter.wait.cause, 0);
    begin_wait(&waiter, REDLOCK_FOREVER);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(waiter.waits, 0);
        arrive(&parties[i], 10000, REDLOCK_OK);
        ck_assert_uint_ge(parties[i].arrival.confirmed, 2);
    }
    expect_wait(&waiter, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b c");
    ck_assert_uint_ge(waiter.wait.confirmed, 2);
    ck_assert_str_eq(waiter.why, "");
    for (size_t i = 0; i < 3; i++)
        await(&parties[i], 0, REDLOCK_OK);
}
END_TEST

START_TEST(a_wait_that_ends_early_says_who_has_arrived)
{
    struct party waiter = join(3, NULL);
    struct party a = join(3, "a");
    struct party b = join(3, "b");

    arrive(&b, 10000, REDLOCK_OK);
    arrive(&a, 10000, REDLOCK_OK);
    arrive(&a, 10000, REDLOCK_OK); /* once more: it is one party still */
    await(&waiter, 1, REDLOCK_DEADLINE);
    await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(waiter.wait.cause, 0);
    ck_assert_str_eq(waiter.names, "a b");
    ck_assert_str_eq(waiter.why, "2 of 3 parties are known to have arrived");
}
END_TEST

START_TEST(a_party_may_arrive_and_wait_at_once)
{
    struct party a = join(2, "a");
    struct party b = join(2, "b");

    ck_assert_int_eq(redlock_latch_arrive(a.latch, REDLOCK_FOREVER, NULL, NULL), 0);
    begin_wait(&a, REDLOCK_FOREVER);
    begin_wait(&b, REDLOCK_FOREVER);
    begin_arrival(&b, REDLOCK_FOREVER);
    expect_arrival(&b, REDLOCK_OK);
    expect_wait(&a, REDLOCK_OK);
    expect_wait(&b, REDLOCK_OK);
}
END_TEST

/* Does every master know the client as one that waits, and as one that listens? */
static bool is_listed(void *argument)
{
    size_t listening = 0;

    for (size_t i = 0; i < N; i++) {
        char *channels = masters_command(rig.masters, i, (const char *const[]){"PUBSUB", "CHANNELS", NULL});

        listening += channels && strstr(channels, "redlock:grant:");
        free(channels);
    }
    (void)argument;
    return listening == N && count_field("waiting") == N;
}

static uint64_t messages(void)
{
    struct redlock_node_stats stats;
    uint64_t n = 0;

    for (size_t i = 0; i < N; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        n += stats.messages;
    }
    return n;
}

/* And no more than once, however often the latch is found open. */
START_TEST(masters_tell_those_who_wait_once)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct party waiter = join(1, NULL);
    struct party party = join_as(other, 1, 1, "a");

    begin_wait(&waiter, REDLOCK_FOREVER);
    rig_wait(&rig, is_listed, NULL, "the waiter's channel");
    ck_assert_uint_eq(messages(), 0);
    arrive(&party, 10000, REDLOCK_OK);
    expect_wait(&waiter, REDLOCK_OK);
    arrive(&party, 10000, REDLOCK_OK);
    await(&party, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_ge(messages(), 1);
    ck_assert_uint_le(messages(), N);
    ck_assert_uint_eq(count_field("waiting"), 0);
    redlock_client_destroy(other);
}
END_TEST

static int arrive_and_stay(struct rig *child, void *argument)
{
    struct party party = join(2, "a");

    arrive(&party, 10000, REDLOCK_OK);
    (void)argument;
    return child_stay(child);
}

START_TEST(an_arrival_stays_when_its_program_is_killed)
{
    struct party party = join(2, "b");

    child_kill(child_start_ready(&rig, arrive_and_stay, NULL));
    arrive(&party, 10000, REDLOCK_OK);
    await(&party, 10000, REDLOCK_OK);
}
END_TEST

/* Masters with one name each, or with one and both: counts (1, 2, 1). */
START_TEST(names_are_counted_over_all_masters)
{
    struct party waiter = join(2, NULL);
    static const char *const has[N][2] = {{"a:a", "a:a"}, {"a:a", "a:b"}, {"a:b", "a:b"}};

    for (size_t i = 0; i < N; i++)
        give(i, has[i][0], has[i][1], has[i][0]);
    kill_master(1);
    await(&waiter, 10000, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b");
    ck_assert_uint_eq(count_field("open"), 2);
}
END_TEST

START_TEST(one_name_on_all_masters_is_one_party)
{
    struct party waiter = join(2, NULL);
    struct party party = join(2, "a");

    for (int i = 0; i < 3; i++)
        arrive(&party, 10000, REDLOCK_OK);
    await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(waiter.names, "a");
}
END_TEST

/* The name that only one master has makes the latch open; whoever asks the others must find it open, too. */
START_TEST(what_is_reported_open_has_been_recorded)
{
    struct party waiter = join(2, NULL);
    struct party late = join(2, NULL);

    give(0, "a:a", "a:a", "a:a");
    give(1, "a:b", "a:b", "a:b");
    await(&waiter, 10000, REDLOCK_OK);
    ck_assert_uint_ge(count_field("open"), 2);
    rig_wait_quiet(&rig, rig.client);
    kill_master(0);
    await(&late, 10000, REDLOCK_OK);
}
END_TEST

START_TEST(a_thousand_parties)
{
    struct party waiter = join(1000, NULL);
    struct party last = join(1000, "last");

    rig_do_all(&rig, "EVAL", "for i = 1, 999 do redis.call('HSET', KEYS[1], "
        "'a:' .. ('x'):rep(60) .. string.format('%04d', i), '1') end "
        "redis.call('HSET', KEYS[1], 'n', '1000', 'gen', '1', 'arrived', '999', 'rev', '1@1') return 1", "1", KEY,
        NULL);
    await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_uint_eq(waiter.wait.n_arrived, 999);
    arrive(&last, 10000, REDLOCK_OK);
    await(&waiter, 10000, REDLOCK_OK);
    ck_assert_uint_eq(waiter.wait.n_arrived, 1000);
}
END_TEST

START_TEST(the_latch_is_kept_for_as_long_as_is_asked_for)
{
    struct redlock_latch_options options;
    struct party brief = {0};
    struct party party = join(2, "a");

    redlock_latch_options_init(&options);
    options.keep_ms = 100000;
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 2, 1, "b", &options, &brief.latch), 0);
    arrive(&brief, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < N; i++)
        ck_assert(rig_pttl(&rig, i, KEY) > 60000 && rig_pttl(&rig, i, KEY) <= 100000);
    arrive(&party, 10000, REDLOCK_OK);
    arrive(&brief, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < N; i++)
        ck_assert_int_gt(rig_pttl(&rig, i, KEY), 86000000);
}
END_TEST

/* --- Masters that fail -------------------------------------------------------------------------------------------- */

static unsigned count_bits(int mask)
{
    return (unsigned)((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1));
}

START_TEST(a_quorum_is_needed_and_enough)
{
    bool enough = count_bits(_i) <= 1;
    struct party a = join(2, "a");
    struct party b = join(2, "b");

    for (size_t i = 0; i < N; i++) {
        if (_i >> i & 1)
            kill_master(i);
    }
    arrive(&a, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    arrive(&b, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    await(&a, 0, enough ? REDLOCK_OK : REDLOCK_DEADLINE);
    if (enough)
        return;
    ck_assert_int_eq(a.arrival.cause, REDLOCK_NO_QUORUM);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(a.why, "of 3 masters can be reached"));
    for (size_t i = 0; i < N; i++)
        ck_assert_int_eq(a.details[i][0] != '\0', _i >> i & 1);
}
END_TEST

START_TEST(what_could_not_be_recorded_is_recorded_when_masters_are_back)
{
    struct party a = join(2, "a");
    struct party b = join(2, "b");

    for (size_t i = 0; i < N; i++)
        kill_master(i);
    arrive(&a, 0, REDLOCK_DEADLINE);
    begin_arrival(&b, REDLOCK_FOREVER);
    begin_wait(&b, REDLOCK_FOREVER);
    for (size_t i = 0; i < N; i++)
        restart_master(i);
    expect_arrival(&b, REDLOCK_OK);
    expect_wait(&b, REDLOCK_OK); /* so the arrival that had failed was repeated */
}
END_TEST

START_TEST(silent_masters_are_awaited_for_node_timeout)
{
    struct party a = join(1, "a");

    ck_assert(masters_hang(rig.masters, 0));
    arrive(&a, 0, REDLOCK_OK);
    await(&a, 0, REDLOCK_OK);
    ck_assert(masters_hang(rig.masters, 1));
    await(&a, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(a.why, "1 of 3 masters have answered"));
    begin_wait(&a, REDLOCK_FOREVER);
    ck_assert(masters_resume(rig.masters, 0));
    ck_assert(masters_resume(rig.masters, 1));
    expect_wait(&a, REDLOCK_OK);
}
END_TEST

START_TEST(masters_in_quarantine_are_asked)
{
    struct party a = join(1, "a");

    for (size_t i = 0; i < 2; i++) {
        kill_master(i);
        restart_master(i);
    }
    ck_assert_int_ne(watch_info(rig.client, 0).standing, REDLOCK_STANDING_VOTES);
    kill_master(2);
    arrive(&a, 0, REDLOCK_OK);
    await(&a, 0, REDLOCK_OK);
    ck_assert_uint_eq(a.wait.confirmed, 2);
}
END_TEST

/* All masters in turn, and then all at once. */
START_TEST(handles_bring_arrivals_back_that_masters_have_lost)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct party waiter = join(3, NULL);
    struct party a = join(3, "a");
    struct party b = join_as(other, 3, 1, "b");
    struct party c = join(3, "c");

    arrive(&a, 10000, REDLOCK_OK);
    arrive(&b, 10000, REDLOCK_OK);
    for (size_t i = 0; i < N; i++) {
        kill_master(i);
        restart_master(i);
        wait_until_all_have("a:a");
        wait_until_all_have("a:b");
    }
    rig_do_all(&rig, "FLUSHALL", NULL);
    await(&waiter, 0, REDLOCK_DEADLINE);
    arrive(&c, 10000, REDLOCK_OK);
    await(&waiter, 20000, REDLOCK_OK);
    redlock_client_destroy(other);
}
END_TEST

START_TEST(a_handle_that_has_seen_it_open_brings_that_back)
{
    struct redlock_client *other = rig_new_client(&rig);
    struct party waiter = join(2, NULL);
    struct party late = join(2, NULL);
    struct party parties[] = {join_as(other, 2, 1, "a"), join_as(other, 2, 1, "b")};

    arrive(&parties[0], 10000, REDLOCK_OK);
    arrive(&parties[1], 10000, REDLOCK_OK);
    await(&waiter, 10000, REDLOCK_OK);
    redlock_client_destroy(other);
    rig_do_all(&rig, "FLUSHALL", NULL);
    wait_until_all_have("open");
    ck_assert_uint_eq(count_field("a:a"), 0);
    await(&late, 0, REDLOCK_OK);
}
END_TEST

START_TEST(what_nobody_brings_back_is_lost)
{
    struct party a = join(2, "a");
    struct party b = join(2, "b");

    arrive(&a, 10000, REDLOCK_OK);
    redlock_latch_destroy(a.latch);
    rig_wait_quiet(&rig, rig.client);
    rig_do_all(&rig, "FLUSHALL", NULL);
    arrive(&b, 10000, REDLOCK_OK);
    await(&b, 1500, REDLOCK_DEADLINE);
    ck_assert_str_eq(b.names, "b");
}
END_TEST

/* --- Others at the same key --------------------------------------------------------------------------------------- */

START_TEST(another_number_of_parties_is_refused)
{
    struct party a = join(2, "a");
    struct party b = join(2, "b");
    struct party wrong = join(3, "c");

    arrive(&a, 10000, REDLOCK_OK);
    arrive(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(wrong.details[0], "another number of parties");
    ck_assert_str_eq(wrong.names, "");
    await(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(wrong.names, "");
    arrive(&b, 10000, REDLOCK_OK);
    await(&a, 10000, REDLOCK_OK);
    ck_assert_uint_eq(count_field("a:c"), 0);
}
END_TEST

START_TEST(what_latches_do_is_counted)
{
    struct party a = join(1, "a");
    struct party wrong = join(2, "b");
    struct redlock_stats stats;

    await(&a, 0, REDLOCK_DEADLINE);
    arrive(&a, 10000, REDLOCK_OK);
    arrive(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 10000, NULL, NULL), 0); /* counts without a callback, too */
    await(&a, 10000, REDLOCK_OK);
    await(&wrong, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, REDLOCK_FOREVER - 1, NULL, NULL), REDLOCK_E_TIMEOUT);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.latch_arrivals, 3);
    ck_assert_uint_eq(stats.latch_arrived, 2);
    ck_assert_uint_eq(stats.latch_awaits, 3);
    ck_assert_uint_eq(stats.latch_opened, 1);
    ck_assert_uint_eq(stats.latch_refused, 2);
}
END_TEST

START_TEST(more_parties_than_there_are_is_refused)
{
    struct party a = join(1, "a");
    struct party b = join(1, "b");

    arrive(&a, 10000, REDLOCK_OK);
    arrive(&b, 10000, REDLOCK_OTHER_PARTIES);
    ck_assert_str_eq(b.details[0], "all parties have arrived");
    ck_assert_str_eq(b.names, "");
    ck_assert_uint_eq(count_field("a:b"), 0);
}
END_TEST

START_TEST(another_generation_is_refused_until_the_latch_has_opened)
{
    struct party a = join_as(rig.client, 2, 5, "a");
    struct party b = join_as(rig.client, 2, 5, "b");
    struct party later = join_as(rig.client, 2, 6, "a");
    struct party earlier = join_as(rig.client, 2, 4, "b");

    arrive(&a, 10000, REDLOCK_OK);
    arrive(&later, 10000, REDLOCK_OTHER_GENERATION);
    await(&later, 10000, REDLOCK_OTHER_GENERATION);
    arrive(&earlier, 10000, REDLOCK_OTHER_GENERATION);
    ck_assert_str_eq(earlier.details[0], "another generation");
    arrive(&b, 10000, REDLOCK_OK);
    await(&a, 10000, REDLOCK_OK);
    arrive(&earlier, 10000, REDLOCK_OTHER_GENERATION);
    arrive(&later, 10000, REDLOCK_OK);
    await(&b, 10000, REDLOCK_OK);
    await(&later, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(later.names, "a");
}
END_TEST

/* 18446744073709551615 is the largest. */
START_TEST(generations_are_compared_as_numbers)
{
    static const uint64_t generations[] = {9, 10, 99, 9007199254740992, 9007199254740993, UINT64_MAX};

    for (size_t i = 0; i < sizeof generations / sizeof generations[0]; i++) {
        struct party party = join_as(rig.client, 1, generations[i], "a");
        struct party earlier = join_as(rig.client, 1, generations[i] - 1, "a");

        arrive(&party, 10000, REDLOCK_OK);
        await(&party, 10000, REDLOCK_OK);
        arrive(&earlier, 10000, i && generations[i - 1] == generations[i] - 1 ? REDLOCK_OK : REDLOCK_OTHER_GENERATION);
        redlock_latch_destroy(party.latch);
        redlock_latch_destroy(earlier.latch);
    }
}
END_TEST

START_TEST(a_barrier_is_a_latch_of_many_generations)
{
    for (uint64_t round = 1; round <= 4; round++) {
        struct party a = join_as(rig.client, 2, round, "a");
        struct party b = join_as(rig.client, 2, round, "b");
        struct party late = join_as(rig.client, 2, round - 1, NULL);

        begin_arrival(&a, REDLOCK_FOREVER);
        begin_wait(&a, REDLOCK_FOREVER);
        expect_arrival(&a, REDLOCK_OK);
        ck_assert_uint_eq(a.waits, 0);
        if (round > 1)
            await(&late, 0, REDLOCK_OK); /* the round before */
        arrive(&b, REDLOCK_FOREVER, REDLOCK_OK);
        await(&b, REDLOCK_FOREVER, REDLOCK_OK);
        expect_wait(&a, REDLOCK_OK);
        redlock_latch_destroy(a.latch);
        redlock_latch_destroy(b.latch);
        redlock_latch_destroy(late.latch);
    }
}
END_TEST

/* It has missed that the first generation opened, and is needed for the second one. */
START_TEST(a_master_that_is_behind_is_told_what_has_opened)
{
    struct party waiter = join_as(rig.client, 1, 2, NULL);
    struct party a = join_as(rig.client, 1, 2, "a");
    struct party before = join_as(rig.client, 2, 1, NULL);
    char was[64];

    for (size_t i = 0; i < N; i++)
        give(i, "a:a", "a:a", i ? "open" : "a:a");
    kill_master(2);
    arrive(&a, 0, REDLOCK_OK);
    await(&waiter, 0, REDLOCK_OK);
    field(0, "was", was);
    ck_assert_str_eq(was, "1 2");
    await(&before, 0, REDLOCK_OK);
}
END_TEST

/* It has missed the second generation as well: nobody knows any more that the first one has opened. */
START_TEST(a_master_that_has_missed_a_generation_goes_on)
{
    struct party third = join_as(rig.client, 1, 3, "a");
    char text[64];

    for (size_t i = 0; i < N; i++)
        give(i, "a:a", "a:a", "a:a");
    for (size_t i = 1; i < N; i++)
        rig_do(&rig, i, "HSET", KEY, "gen", "2", "open", "1", NULL);
    kill_master(2);
    arrive(&third, 0, REDLOCK_OK);
    await(&third, 0, REDLOCK_OK);
    field(0, "gen", text);
    ck_assert_str_eq(text, "3");
    field(0, "was", text);
    ck_assert_str_eq(text, "2 2");
}
END_TEST

START_TEST(a_key_of_another_type_is_nobodys_latch)
{
    struct party a = join(1, "a");

    rig_do(&rig, 0, "SET", KEY, "somebody's", NULL);
    arrive(&a, 0, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    rig_do(&rig, 1, "DEL", KEY, NULL);
    rig_do(&rig, 1, "HSET", KEY, "somebody's", "own", NULL);
    await(&a, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(a.wait.cause, REDLOCK_NO_QUORUM);
    ck_assert_str_eq(a.details[0], "foreign");
    ck_assert_str_eq(a.details[1], "foreign");
    ck_assert_ptr_nonnull(strstr(a.why, "1 of 3 masters have answered: 2 foreign"));
    rig_do(&rig, 0, "DEL", KEY, NULL);
    await(&a, 0, REDLOCK_OK);
}
END_TEST

/* A master that lies makes nobody wrong but itself. */
START_TEST(a_master_with_more_names_than_parties_is_not_understood)
{
    struct party a = join(2, "a");

    give(0, "a:x", "a:y", "a:z");
    rig_do(&rig, 0, "HSET", KEY, "arrived", "1", NULL);
    give(1, "a:", "a:", "a:");
    begin_wait(&a, 0);
    expect_wait(&a, REDLOCK_DEADLINE);
    ck_assert_str_eq(a.details[0], "unexpected reply");
    ck_assert_str_eq(a.details[1], "unexpected reply");
    ck_assert_str_eq(a.details[2], "");
}
END_TEST

/* --- Callbacks ---------------------------------------------------------------------------------------------------- */

START_TEST(a_client_that_has_just_been_made_waits_for_its_connections)
{
    struct redlock_client *client;
    struct party a;

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &client, NULL), 0);
    a = join_as(client, 1, 1, "a");
    arrive(&a, 0, REDLOCK_OK);
    await(&a, 0, REDLOCK_OK);
    redlock_client_destroy(client);
}
END_TEST

START_TEST(cancel_ends_what_is_pending)
{
    struct party a = join(2, "a");
    struct party b = join(2, "b");

    for (size_t i = 0; i < N; i++)
        ck_assert(masters_hang(rig.masters, i));
    ck_assert_int_eq(redlock_latch_cancel(a.latch), REDLOCK_E_NOTHING_TO_CANCEL);
    begin_arrival(&a, REDLOCK_FOREVER);
    begin_wait(&a, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 0, on_arrival, &a), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_latch_await(a.latch, 0, on_wait, &a), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_latch_cancel(a.latch), 0);
    ck_assert_int_eq(redlock_latch_cancel(a.latch), REDLOCK_E_NOTHING_TO_CANCEL);
    expect_arrival(&a, REDLOCK_CANCELED);
    expect_wait(&a, REDLOCK_CANCELED);
    ck_assert_int_lt(a.wait.elapsed_us, 300000); /* no answer was awaited */
    for (size_t i = 0; i < N; i++)
        ck_assert(masters_resume(rig.masters, i));
    arrive(&b, REDLOCK_FOREVER, REDLOCK_OK);
    await(&b, REDLOCK_FOREVER, REDLOCK_OK); /* the other one has arrived all the same */
}
END_TEST

START_TEST(destroying_a_latch_or_its_client_cancels)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct party a = join(2, "a");
    struct party b = join_as(client, 2, 1, "b");

    begin_arrival(&a, 10000);
    begin_wait(&a, 10000);
    begin_wait(&b, 10000);
    redlock_latch_destroy(a.latch);
    expect_arrival(&a, REDLOCK_CANCELED);
    expect_wait(&a, REDLOCK_CANCELED);
    redlock_client_destroy(client);
    expect_wait(&b, REDLOCK_CANCELED);
    redlock_latch_destroy(NULL);
}
END_TEST

START_TEST(a_callback_may_destroy_the_latch)
{
    struct party a = join(1, "a");

    a.destroy = true;
    begin_arrival(&a, 10000);
    begin_wait(&a, 10000);
    rig_wait(&rig, has_waited, &a, "the end of a wait");
    ck_assert_uint_eq(a.arrivals, 1);
    ck_assert_uint_eq(a.waits, 1);
}
END_TEST

static void on_end(struct redlock_client *client, int status, void *user_data)
{
    (void)client;
    *(int *)user_data = status;
}

static bool is_over(void *argument)
{
    return *(const int *)argument <= 0;
}

START_TEST(a_client_that_ends_in_order_cancels_first)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct party a = join_as(client, 2, 1, "a");
    int status = 1;

    arrive(&a, 10000, REDLOCK_OK);
    begin_wait(&a, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_client_shutdown(client, 10000, on_end, &status), 0);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 0, on_arrival, &a), REDLOCK_E_CLOSING);
    rig_wait(&rig, is_over, &status, "the shutdown");
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(a.waits, 1);
    expect_status(a.wait.status, REDLOCK_CANCELED, &a);
    redlock_client_destroy(client);
}
END_TEST

START_TEST(so_many_latches_and_no_more)
{
    struct redlock_latch *latch;

    for (size_t i = 0; i < REDLOCK_MAX_LATCHES; i++)
        ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), 0);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), REDLOCK_E_LIMIT);
    redlock_latch_destroy(latch);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("latch");
    TCase *opening = suite_add_case(suite, "opening", open_three, close_rig);
    TCase *failures = suite_add_case(suite, "failures", open_three, close_rig);
    TCase *others = suite_add_case(suite, "others", open_three, close_rig);
    TCase *callbacks = suite_add_case(suite, "callbacks", open_three, close_rig);

    tcase_add_test(opening, a_latch_opens_when_the_last_party_arrives);
    tcase_add_test(opening, a_wait_that_ends_early_says_who_has_arrived);
    tcase_add_test(opening, a_party_may_arrive_and_wait_at_once);
    tcase_add_test(opening, masters_tell_those_who_wait_once);
    tcase_add_test(opening, an_arrival_stays_when_its_program_is_killed);
    tcase_add_test(opening, names_are_counted_over_all_masters);
    tcase_add_test(opening, one_name_on_all_masters_is_one_party);
    tcase_add_test(opening, what_is_reported_open_has_been_recorded);
    tcase_add_test(opening, a_thousand_parties);
    tcase_add_test(opening, the_latch_is_kept_for_as_long_as_is_asked_for);
    tcase_add_loop_test(failures, a_quorum_is_needed_and_enough, 0, 1 << N);
    tcase_add_test(failures, what_could_not_be_recorded_is_recorded_when_masters_are_back);
    tcase_add_test(failures, silent_masters_are_awaited_for_node_timeout);
    tcase_add_test(failures, masters_in_quarantine_are_asked);
    tcase_add_test(failures, handles_bring_arrivals_back_that_masters_have_lost);
    tcase_add_test(failures, a_handle_that_has_seen_it_open_brings_that_back);
    tcase_add_test(failures, what_nobody_brings_back_is_lost);
    tcase_add_test(others, another_number_of_parties_is_refused);
    tcase_add_test(others, what_latches_do_is_counted);
    tcase_add_test(others, more_parties_than_there_are_is_refused);
    tcase_add_test(others, another_generation_is_refused_until_the_latch_has_opened);
    tcase_add_test(others, generations_are_compared_as_numbers);
    tcase_add_test(others, a_barrier_is_a_latch_of_many_generations);
    tcase_add_test(others, a_master_that_is_behind_is_told_what_has_opened);
    tcase_add_test(others, a_master_that_has_missed_a_generation_goes_on);
    tcase_add_test(others, a_key_of_another_type_is_nobodys_latch);
    tcase_add_test(others, a_master_with_more_names_than_parties_is_not_understood);
    tcase_add_test(callbacks, a_client_that_has_just_been_made_waits_for_its_connections);
    tcase_add_test(callbacks, cancel_ends_what_is_pending);
    tcase_add_test(callbacks, destroying_a_latch_or_its_client_cancels);
    tcase_add_test(callbacks, a_callback_may_destroy_the_latch);
    tcase_add_test(callbacks, a_client_that_ends_in_order_cancels_first);
    tcase_add_test(callbacks, so_many_latches_and_no_more);
    return suite_run_with_server(suite);
}
