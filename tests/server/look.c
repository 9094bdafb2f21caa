/* What a look at a key says: of holders, votes and waiters on real masters, and of masters that do not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/look.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define N_VALUES 8

/* A copy of what a look has said. */
struct sight {
    unsigned calls;
    struct redlock_look_result result;
    struct redlock_look_value values[N_VALUES]; /* the first ones, and waiters likewise */
    struct redlock_look_value waiters[N_VALUES];
    char texts[N_VALUES][140];
    char waiting[N_VALUES][140];
    char details[5][160];
    unsigned foreign;
    char why[400];
    bool destroy; /* the client, in the callback */
};

static void copy(struct redlock_look_value *to, char (*texts)[140], const struct redlock_look_value *from, size_t n)
{
    for (size_t i = 0; i < n && i < N_VALUES; i++) {
        to[i] = from[i];
        snprintf(texts[i], sizeof texts[i], "%.*s", (int)from[i].value_size, from[i].value);
    }
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct sight *sight = user_data;

    sight->calls++;
    sight->result = *result;
    copy(sight->values, sight->texts, result->values, result->n_values);
    copy(sight->waiters, sight->waiting, result->waiters, result->n_waiters);
    for (size_t i = 0; i < result->n_nodes && i < 5; i++) {
        snprintf(sight->details[i], sizeof sight->details[i], "%s", result->nodes[i].detail);
        sight->foreign += result->nodes[i].foreign;
        ck_assert_int_le(result->nodes[i].latency_us, result->elapsed_us + 1000);
    }
    snprintf(sight->why, sizeof sight->why, "%s", result->why);
    if (sight->destroy)
        redlock_client_destroy(client);
}

static bool has_come(void *argument)
{
    return ((const struct sight *)argument)->calls > 0;
}

static void look(struct sight *sight, const char *key)
{
    memset(sight, 0, sizeof *sight);
    ck_assert_int_eq(redlock_look(rig.client, key, strlen(key), on_look, sight), 0);
    ck_assert_uint_eq(sight->calls, 0);
    rig_wait(&rig, has_come, sight, "a look");
    ck_assert_uint_eq(sight->calls, 1);
}

static void expect(const struct sight *sight, int status, enum redlock_look_verdict verdict)
{
    ck_assert_int_eq(sight->result.status, status);
    ck_assert_str_eq(redlock_look_verdict_name(sight->result.verdict), redlock_look_verdict_name(verdict));
}

static void short_timeouts(struct redlock_options *options)
{
    options->node_timeout_ms = 2000;
}

static void open_five(void)
{
    rig_open_with(&rig, 5, 0, short_timeouts);
}

/* --- Holders ------------------------------------------------------------------------------------------------------ */

GROUP(five, "five", open_five, rig_end)

TEST(five, a_free_key_is_free)
{
    struct sight sight;

    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_FREE);
    ck_assert_uint_ge(sight.result.answered, 3);
    ck_assert_uint_eq(sight.result.n_values + sight.result.n_waiters, 0);
    ck_assert_uint_eq(watch_stats(rig.client).looks, 1);
    ck_assert_str_eq(sight.why, "");
}

TEST(five, the_holder_is_named_with_what_is_left_and_its_fencing_token)
{
    struct redlock_acquire_options request = rig_lease(20000, 0);
    struct redlock_lock *lock;
    struct sight sight;

    request.fenced = 1;
    lock = rig_hold_as(&rig, "key", &request);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_uint_eq(sight.result.n_holders, 1);
    ck_assert_str_eq(sight.texts[0], redlock_lock_token(lock));
    ck_assert_int_eq(sight.values[0].mode, REDLOCK_EXCLUSIVE);
    ck_assert_uint_ge(sight.values[0].masters, 3);
    ck_assert_int_gt(sight.values[0].left_ms, 0);
    ck_assert_int_le(sight.values[0].left_ms, 20000);
    ck_assert_uint_eq(sight.values[0].fence, redlock_lock_fence(lock));
}

/* Of the three masters that answer one has the vote for longer. */
TEST(five, what_is_left_is_the_most_that_any_master_has)
{
    struct sight sight;

    rig_hold_lease(&rig, "key", 60000);
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "PEXPIRE", "key", i % 2 ? "20000" : "10000", NULL);
    rig_kill_master(&rig, 4);
    rig_kill_master(&rig, 3);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_int_gt(sight.values[0].left_ms, 10000);
    ck_assert_int_le(sight.values[0].left_ms, 20000);
}

TEST(five, a_look_changes_nothing)
{
    struct redlock_lock *lock = rig_hold_lease(&rig, "key", 60000);
    const char *const info[] = {"INFO", "persistence", NULL};
    struct sight sight;
    char *before[5];

    for (size_t i = 0; i < 5; i++) {
        before[i] = masters_command(rig.masters, i, info);
        *strstr(strstr(before[i], "rdb_changes_since_last_save:"), "\r") = '\0';
    }
    look(&sight, "key");
    look(&sight, "another key");
    for (size_t i = 0; i < 5; i++) {
        char *after = masters_command(rig.masters, i, info);

        ck_assert_ptr_nonnull(strstr(after, strstr(before[i], "rdb_changes_since_last_save:")));
        free(before[i]);
        free(after);
    }
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
}

TEST(five, votes_that_are_split_are_unsettled)
{
    struct sight sight;

    for (size_t i = 0; i < 4; i++)
        rig_do(&rig, i, "SET", "key", i < 2 ? "one" : "two", "PX", "60000", NULL);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_UNSETTLED);
    ck_assert_uint_eq(sight.result.answered, 5);
    ck_assert_uint_eq(sight.result.n_values, 2);
    ck_assert_uint_eq(sight.result.n_holders, 0);
    ck_assert_uint_eq(sight.values[0].masters, 2);
    ck_assert_uint_eq(sight.values[1].masters, 2);
}

TEST(five, a_quorum_counts_whatever_the_others_say)
{
    struct sight sight;

    rig_do_all(&rig, "SET", "key", "one", NULL);
    rig_do(&rig, 0, "SET", "key", "two", "PX", "60000", NULL);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_str_eq(sight.texts[0], "one");
    ck_assert_int_eq(sight.values[0].left_ms, -1);
}

/* The time of a master in ms, and so much more. */
static void node_time(size_t node, int64_t more, char ret_text[32])
{
    char *time = masters_command(rig.masters, node, (const char *const[]){"EVAL",
        "local t = redis.call('TIME') return string.format('%.0f', t[1] * 1000 + ARGV[1])", "0", "0", NULL});

    ck_assert_ptr_nonnull(time);
    snprintf(ret_text, 32, "%lld", strtoll(time, NULL, 10) + (long long)more);
    free(time);
}

static void add_vote(const char *member, int64_t left_ms)
{
    char ends[32];

    for (size_t i = 0; i < 5; i++) {
        node_time(i, left_ms, ends);
        rig_do(&rig, i, "ZADD", "key", ends, member, NULL);
    }
}

TEST(five, shared_votes_are_listed_and_dead_ones_are_not)
{
    struct sight sight;

    add_vote("r reader-1", 60000);
    add_vote("r reader-2", 50000);
    add_vote("r dead", -5000);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_SHARED);
    ck_assert_uint_eq(sight.result.n_holders, 2);
    ck_assert_uint_eq(sight.result.n_votes, 2);
    ck_assert_str_eq(sight.texts[0], "reader-1");
    ck_assert_str_eq(sight.texts[1], "reader-2");
    ck_assert_int_eq(sight.values[1].mode, REDLOCK_SHARED);
    ck_assert_int_le(sight.values[1].left_ms, 50000);
    ck_assert_int_gt(sight.values[1].left_ms, 0);
}

/* With three masters left every answer is needed. */
TEST(five, who_may_become_exclusive_is_told_and_so_is_the_upgrade)
{
    struct sight sight;
    char ends[32];

    add_vote("r reader", 60000);
    add_vote("u both", 60000);
    add_vote("@u", 60000);
    for (size_t i = 3; i < 5; i++)
        rig_kill_master(&rig, i);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_SHARED);
    ck_assert_str_eq(sight.texts[0], "both");
    ck_assert_int_eq(sight.values[0].mode, REDLOCK_UPGRADEABLE);
    ck_assert_uint_eq(sight.result.n_holders, 2);
    ck_assert_uint_eq(sight.result.n_votes, 2);
    for (size_t i = 0; i < 3; i++) {
        node_time(i, 60000, ends);
        rig_do(&rig, i, "ZADD", "key", ends, "x later", ends, "@x", NULL);
        look(&sight, "key");
        expect(&sight, REDLOCK_OK, i < 2 ? REDLOCK_LOOK_UPGRADING : REDLOCK_LOOK_EXCLUSIVE);
    }
}

static void on_converted(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    *(bool *)user_data = true;
}

/* Readers that another master has kept, so that the upgrade gets votes of two masters and waits for the others. One is
 * dead: three answers have one of these two among them. */
TEST(five, an_upgrade_that_has_some_votes_is_told)
{
    struct redlock_acquire_options request = rig_lease(20000, 0);
    struct redlock_lock *lock;
    bool converted = false;
    struct sight sight;
    char ends[32];

    request.mode = REDLOCK_UPGRADEABLE;
    lock = rig_hold_as(&rig, "key", &request);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < 3; i++) {
        node_time(i, 60000, ends);
        rig_do(&rig, i, "ZADD", "key", ends, "r reader", NULL);
    }
    rig_kill_master(&rig, 0);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_SHARED);
    ck_assert_int_eq(redlock_convert(lock, REDLOCK_EXCLUSIVE, 10000, on_converted, &converted), 0);
    while (!converted && sight.result.verdict != REDLOCK_LOOK_UPGRADING)
        look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_UPGRADING);
    ck_assert_uint_eq(sight.result.n_holders, 1);
    ck_assert_str_eq(sight.texts[0], redlock_lock_token(lock));
}

/* Replies of a master so far. */
static uint64_t replies(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof stats), 0);
    return stats.replies;
}

static bool first_and_last_have_answered(void *argument)
{
    const uint64_t *before = argument;

    return replies(0) > before[0] && replies(1) > before[1] && replies(4) > before[4];
}

/* A master without a vote of the upgradeable one has given one to a rival. Its answer comes before the one that settles
 * the verdict. */
TEST(five, a_rivals_vote_is_no_upgrade)
{
    struct sight sight = {0};
    uint64_t before[5];
    char ends[32];

    for (size_t i = 0; i < 3; i++) {
        node_time(i, 60000, ends);
        rig_do(&rig, i, "ZADD", "key", ends, "u both", ends, "@u", NULL);
    }
    rig_do(&rig, 4, "SET", "key", "rival", "PX", "60000", NULL);
    rig_kill_master(&rig, 3);
    ck_assert(masters_hang(rig.masters, 2));
    for (size_t i = 0; i < 5; i++)
        before[i] = replies(i);
    ck_assert_int_eq(redlock_look(rig.client, "key", strlen("key"), on_look, &sight), 0);
    rig_wait(&rig, first_and_last_have_answered, before, "three answers");
    ck_assert(masters_resume(rig.masters, 2));
    rig_wait(&rig, has_come, &sight, "a look");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_SHARED);
    ck_assert_uint_eq(sight.result.answered, 4);
    ck_assert_str_eq(sight.texts[0], "both");
    ck_assert_str_eq(sight.texts[1], "rival");
}

/* An upgradeable one is one vote, with two entries in the set. */
TEST(five, of_many_votes_a_hundred_are_listed)
{
    struct sight sight;

    rig_do_all(&rig, "EVAL", "local t = redis.call('TIME') for i = 1, 150 do "
        "redis.call('ZADD', KEYS[1], string.format('%.0f', t[1] * 1000 + 60000 + i), 'r reader-' .. i) end return 1",
        "1", "key", NULL);
    add_vote("u both", 90000);
    add_vote("@u", 90000);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_SHARED);
    ck_assert_uint_eq(sight.result.n_values, 100);
    ck_assert_uint_eq(sight.result.n_votes, 151);
}

/* Another program's: those of this library are shorter. */
TEST(five, of_a_long_value_the_beginning_is_shown)
{
    char value[REDLOCK_LOOK_MAX_VALUE_BYTES + 2];
    struct sight sight;

    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    rig_do_all(&rig, "SET", "key", value, "PX", "60000", NULL);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_uint_eq(sight.values[0].value_size, REDLOCK_LOOK_MAX_VALUE_BYTES);
    value[REDLOCK_LOOK_MAX_VALUE_BYTES] = '\0';
    ck_assert_str_eq(sight.texts[0], value);
}

TEST(five, a_key_of_another_type_is_nobodys_lock)
{
    struct sight sight;

    rig_do_all(&rig, "RPUSH", "key", "x", NULL);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_UNSETTLED);
    ck_assert_uint_eq(sight.foreign, 5);
    rig_do_all(&rig, "DEL", "key", NULL);
    rig_do_all(&rig, "ZADD", "key", "1", "somebody's own", NULL);
    look(&sight, "key");
    ck_assert_uint_eq(sight.foreign, 5);
}

/* --- Waiters ------------------------------------------------------------------------------------------------------ */

TEST(five, waiters_stand_in_the_order_of_their_tickets)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *clients[3];
    struct waiter waiters[3];
    struct sight sight;

    rig_occupy(&rig, 0, "key");
    rig_do_all(&rig, "SET", "key", "somebody", "PX", "60000", NULL);
    queue_open();
    for (size_t i = 0; i < 3; i++) {
        clients[i] = rig_new_client(&rig);
        waiter_take(&rig, &waiters[i], clients[i], "key", &request);
    }
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_uint_eq(sight.result.n_waiting, 3);
    ck_assert_uint_eq(sight.result.n_waiters, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(sight.waiting[i], redlock_lock_token(waiters[i].lock));
        ck_assert_int_eq(sight.waiters[i].mode, REDLOCK_EXCLUSIVE);
        ck_assert_uint_ge(sight.waiters[i].masters, 3);
        ck_assert_int_gt(sight.waiters[i].left_ms, 0);
        ck_assert_uint_gt(sight.waiters[i].ticket, i ? sight.waiters[i - 1].ticket : 0);
    }
    for (size_t i = 0; i < 3; i++)
        redlock_client_destroy(clients[i]);
}

/* It has died in the queue, and nobody has looked after it since. */
TEST(five, waiters_whose_leases_have_ended_are_not_counted)
{
    char entry[96];
    char ends[32];
    struct sight sight;

    for (size_t i = 0; i < 5; i++) {
        rig_do(&rig, i, "ZADD", "redlock:queue:key", "10", "dead", "20", "alive", NULL);
        node_time(i, -5000, ends);
        snprintf(entry, sizeof entry, "%s 0 20000 - 0 60000 channel", ends);
        rig_do(&rig, i, "HSET", "redlock:waiters:key", "dead", entry, NULL);
        node_time(i, 15000, ends);
        snprintf(entry, sizeof entry, "%s 0 20000 - 0 60000 channel", ends);
        rig_do(&rig, i, "HSET", "redlock:waiters:key", "alive", entry, NULL);
    }
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_FREE);
    ck_assert_uint_eq(sight.result.n_waiting, 1);
    ck_assert_uint_eq(sight.result.n_waiters, 1);
    ck_assert_str_eq(sight.waiting[0], "alive");
    ck_assert_uint_eq(sight.waiters[0].ticket, 20);
}

/* --- Masters that do not answer ----------------------------------------------------------------------------------- */

TEST(five, with_a_quorum_a_look_succeeds_and_without_it_says_why)
{
    struct sight sight;

    rig_hold_lease(&rig, "key", 60000);
    for (size_t i = 0; i < 2; i++)
        rig_kill_master(&rig, i);
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_uint_eq(sight.result.answered, 3);
    ck_assert_str_ne(sight.details[0], "");
    ck_assert_str_eq(sight.details[4], "");
    rig_kill_master(&rig, 2);
    look(&sight, "key");
    expect(&sight, REDLOCK_NO_QUORUM, REDLOCK_LOOK_UNKNOWN);
    ck_assert_ptr_nonnull(strstr(sight.why, "2 of 5 masters can be reached"));
    for (size_t i = 3; i < 5; i++)
        rig_kill_master(&rig, i);
    look(&sight, "key");
    expect(&sight, REDLOCK_NO_QUORUM, REDLOCK_LOOK_UNKNOWN);
}

/* A quorum that agrees is enough. */
TEST(five, a_silent_minority_is_not_awaited)
{
    struct sight sight;

    for (int i = 0; i == 0 || sight.result.elapsed_us >= 2000000; i++) { /* a busy machine may delay a look */
        ck_assert_int_lt(i, 3);
        rig_hang_masters(&rig, 3);
        look(&sight, "key");
        expect(&sight, REDLOCK_OK, REDLOCK_LOOK_FREE);
        rig_resume_masters(&rig, 3);
        for (size_t node = 0; node < 2; node++)
            rig_wait_link(&rig, rig.client, node, REDLOCK_LINK_READY);
    }
}

TEST(five, a_silent_master_is_awaited_for_node_timeout_at_most)
{
    struct sight sight;

    rig_hang_masters(&rig, 0x7);
    look(&sight, "key");
    expect(&sight, REDLOCK_NO_QUORUM, REDLOCK_LOOK_UNKNOWN);
    ck_assert_int_ge(sight.result.elapsed_us, 2000000);
    ck_assert_ptr_nonnull(strstr(sight.why, "2 of 5 masters have answered"));
    /* Their answers are overdue, so they are not asked again. A busy machine may delay a look for as long. */
    for (int i = 0; sight.result.elapsed_us >= 2000000; i++) {
        ck_assert_int_lt(i, RIG_LATE_ATTEMPTS);
        look(&sight, "key");
    }
    for (size_t i = 0; i < 3; i++) {
        ck_assert(masters_resume(rig.masters, i));
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
    }
    look(&sight, "key");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_FREE);
}

/* The holder's vote is there no more, and that master cannot know it: it must not help to call the key free. */
TEST(five, a_memory_that_was_lost_meanwhile_does_not_count)
{
    struct sight sight;

    if (!rig.guarded)
        return;
    for (size_t i = 0; i < 3; i++)
        rig_do(&rig, i, "FLUSHALL", NULL);
    look(&sight, "key");
    expect(&sight, REDLOCK_NO_QUORUM, REDLOCK_LOOK_UNKNOWN);
}

/* --- Callbacks ---------------------------------------------------------------------------------------------------- */

TEST(five, a_client_that_has_just_been_made_waits_for_its_connections)
{
    struct redlock_client *client;
    struct sight sight = {0};

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &client, NULL), 0);
    ck_assert_int_eq(redlock_look(client, "key", 3, on_look, &sight), 0);
    rig_wait(&rig, has_come, &sight, "a look");
    expect(&sight, REDLOCK_OK, REDLOCK_LOOK_FREE);
    redlock_client_destroy(client);
}

TEST(five, destroying_the_client_cancels_looks)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct sight sights[2] = {0};

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_look(client, "key", 3, on_look, &sights[i]), 0);
    redlock_client_destroy(client);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(sights[i].calls, 1);
        expect(&sights[i], REDLOCK_CANCELED, REDLOCK_LOOK_UNKNOWN);
        ck_assert_uint_eq(sights[i].result.n_nodes, 5);
    }
}

TEST(five, a_callback_may_destroy_the_client)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct sight sights[2] = {{.destroy = true}, {0}};

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_look(client, "key", 3, on_look, &sights[i]), 0);
    rig_wait(&rig, has_come, &sights[1], "a look");
    ck_assert_uint_eq(sights[0].calls, 1);
    ck_assert_uint_eq(sights[1].calls, 1);
}

TEST(five, so_many_looks_and_no_more)
{
    static struct sight sights[REDLOCK_MAX_LOOKS + 1];

    memset(sights, 0, sizeof sights);
    for (size_t i = 0; i < REDLOCK_MAX_LOOKS; i++)
        ck_assert_int_eq(redlock_look(rig.client, "key", 3, on_look, &sights[i]), 0);
    ck_assert_int_eq(redlock_look(rig.client, "key", 3, on_look, &sights[REDLOCK_MAX_LOOKS]), REDLOCK_E_LIMIT);
    rig_wait(&rig, has_come, &sights[REDLOCK_MAX_LOOKS - 1], "the last look");
    for (size_t i = 0; i < REDLOCK_MAX_LOOKS; i++)
        rig_wait(&rig, has_come, &sights[i], "a look");
    ck_assert_uint_eq(sights[REDLOCK_MAX_LOOKS].calls, 0);
    look(&sights[0], "key");
}

static unsigned begun_inside;

static void look_again(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    on_look(client, result, user_data);
    begun_inside += redlock_look(client, "key", 3, on_look, user_data) == 0;
}

TEST(five, a_look_that_calls_back_makes_room_for_the_next_one)
{
    static struct sight sights[REDLOCK_MAX_LOOKS];

    memset(sights, 0, sizeof sights);
    begun_inside = 0;
    for (size_t i = 0; i < REDLOCK_MAX_LOOKS; i++)
        ck_assert_int_eq(redlock_look(rig.client, "key", 3, look_again, &sights[i]), 0);
    for (size_t i = 0; i < REDLOCK_MAX_LOOKS; i++)
        rig_wait(&rig, has_come, &sights[i], "a look");
    ck_assert_uint_eq(begun_inside, REDLOCK_MAX_LOOKS);
}

SUITE_WITH_SERVER("look")
