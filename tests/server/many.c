/* Extensions that one loop turn wants of several locks are one command for each master, and so are releases. Each lock
 * gets its own answer all the same, and what befalls one is no concern of the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/look.h>

#include "ask.h"
#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define N_LOCKS 8
#define MANY 150 /* more than fit into one command, and than into two */
#define TTL_MS 20000
#define LONGER_MS 50000

static struct redlock_lock *locks[MANY];
static struct outcome outcomes[MANY];
static char keys[MANY][16];

static bool cluster_is_up(void *argument)
{
    const size_t *master = argument;
    char *reply = masters_command(rig.masters, *master, (const char *const[]){"CLUSTER", "INFO", NULL});
    bool up = reply && strstr(reply, "cluster_state:ok");

    free(reply);
    return up;
}

/* Each is a cluster of its own: it refuses commands whose keys are not in one slot, as some proxies do. */
static void open_clusters(void)
{
    static const char *const arguments[] = {"--cluster-enabled", "yes", NULL};
    const struct masters_options options = {.count = 3, .tcp = true, .extra_args = arguments};

    rig_start(&rig, &options);
    for (size_t node = 0; node < 3; node++) {
        ask_serve_slots(rig.masters, node);
        rig_wait(&rig, cluster_is_up, &node, "the cluster");
    }
    rig_connect(&rig);
}

static bool is_classic(void)
{
    const char *profile = getenv("REDLOCK_TEST_PROFILE");

    return profile && strcmp(profile, "classic") == 0;
}

static void hold(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        snprintf(keys[i], sizeof keys[i], "many:%zu", i);
        locks[i] = rig_hold_lease(&rig, keys[i], TTL_MS);
    }
    rig_wait_quiet(&rig, rig.client);
}

static void start_extending(size_t n, uint32_t ttl_ms)
{
    for (size_t i = 0; i < n; i++) {
        outcomes[i] = (struct outcome){0};
        ck_assert_int_eq(redlock_extend(locks[i], ttl_ms, outcome_record, &outcomes[i]), 0);
    }
}

static void extend_all(size_t n, uint32_t ttl_ms)
{
    start_extending(n, ttl_ms);
    for (size_t i = 0; i < n; i++)
        rig_wait_outcome(&rig, &outcomes[i]);
}

static uint64_t commands(void)
{
    return watch_stats(rig.client).commands;
}

static void expect_extended(size_t from, size_t to)
{
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = from; i < to; i++) {
        outcome_expect(&outcomes[i], REDLOCK_OK);
        for (size_t node = 0; node < rig.n; node++)
            ck_assert_msg(rig_pttl(&rig, node, keys[i]) > TTL_MS, "%s on master %zu", keys[i], node);
    }
}

GROUP(three, "three masters", rig_three, rig_end)
GROUP(clusters, "clusters", open_clusters, rig_end)

TEST(three, many_extensions_are_few_commands)
{
    uint64_t before;

    hold(MANY);
    before = commands();
    extend_all(MANY, LONGER_MS);
    expect_extended(0, MANY);
    ck_assert_uint_le(commands() - before, MANY / 2); /* three for each master and some guards; 3 * MANY one by one */
}

/* Masters that had not answered when a quorum had refused stay pending. */
static void expect_refused(size_t i, const char *why)
{
    const struct outcome *outcome = &outcomes[i];

    outcome_expect(outcome, REDLOCK_LOST);
    ck_assert_uint_ge(outcome_count_votes(outcome, REDLOCK_VOTE_REFUSED), 2);
    for (size_t node = 0; node < rig.n; node++) {
        if (outcome->nodes[node].vote == REDLOCK_VOTE_REFUSED)
            outcome_expect_vote(outcome, node, REDLOCK_VOTE_REFUSED, why);
    }
}

/* One has lost its key on all masters, one has another's in its place, one something that is no value at all. */
TEST(three, each_lock_gets_its_own_answer)
{
    hold(N_LOCKS);
    for (size_t node = 0; node < rig.n; node++) {
        rig_do(&rig, node, "DEL", keys[1], NULL);
        rig_do(&rig, node, "SET", keys[3], "foreign", "PX", "60000", NULL);
        rig_do(&rig, node, "DEL", keys[5], NULL);
        rig_do(&rig, node, "HSET", keys[5], "a", "b", NULL);
    }
    extend_all(N_LOCKS, LONGER_MS);
    for (size_t i = 0; i < N_LOCKS; i++) {
        if (i != 1 && i != 3 && i != 5)
            expect_extended(i, i + 1);
    }
    expect_refused(1, "missing");
    expect_refused(3, "foreign");
    expect_refused(5, "foreign");
    ck_assert_uint_eq(rig_count_value(&rig, keys[3], "foreign"), 3);
}

/* The first of a command is the one that fails: the script has not written yet, and goes on. */
TEST(three, the_first_of_them_may_fail_alone)
{
    hold(N_LOCKS);
    for (size_t node = 0; node < rig.n; node++) {
        rig_do(&rig, node, "DEL", keys[0], NULL);
        rig_do(&rig, node, "HSET", keys[0], "a", "b", NULL);
    }
    extend_all(N_LOCKS, LONGER_MS);
    outcome_expect(&outcomes[0], REDLOCK_LOST);
    expect_extended(1, N_LOCKS);
}

TEST(three, a_flush_of_the_scripts_fails_nothing_and_is_made_good)
{
    uint64_t before;

    hold(N_LOCKS);
    rig_do_all(&rig, "SCRIPT", "FLUSH", NULL);
    extend_all(N_LOCKS, LONGER_MS);
    expect_extended(0, N_LOCKS);
    extend_all(N_LOCKS, LONGER_MS); /* brings the text */
    expect_extended(0, N_LOCKS);
    before = watch_stats(rig.client).script_reloads;
    extend_all(N_LOCKS, LONGER_MS);
    expect_extended(0, N_LOCKS);
    ck_assert_uint_eq(watch_stats(rig.client).script_reloads, before);
}

/* On one master the user may not touch one of the keys any more. The others are extended there all the same. */
TEST(three, a_forbidden_key_does_not_keep_the_others_from_being_extended)
{
    hold(N_LOCKS);
    rig_do(&rig, 1, "ACL", "SETUSER", "default", "resetkeys", "~redlock:*", "~many:[1-7]", NULL);
    extend_all(N_LOCKS, LONGER_MS);
    for (size_t i = 0; i < N_LOCKS; i++)
        outcome_expect(&outcomes[i], REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 1; i < N_LOCKS; i++)
        ck_assert_int_gt(rig_pttl(&rig, 1, keys[i]), TTL_MS);
    rig_do(&rig, 1, "ACL", "SETUSER", "default", "allkeys", NULL);
    ck_assert_int_le(rig_pttl(&rig, 1, keys[0]), TTL_MS);
    ck_assert_int_gt(rig_pttl(&rig, 0, keys[0]), TTL_MS);
}

TEST(three, a_master_that_refuses_to_write_is_named_to_each)
{
    hold(N_LOCKS);
    rig_do(&rig, 2, "REPLICAOF", "127.0.0.1", "1", NULL);
    extend_all(N_LOCKS, LONGER_MS);
    for (size_t i = 0; i < N_LOCKS; i++) {
        outcome_expect(&outcomes[i], REDLOCK_OK);
        ck_assert_uint_ge(outcomes[i].granted, 2);
    }
}

/* What was on its way to masters that are gone ends for each lock, once, and none of them is lost by that. */
TEST(three, lost_connections_end_each_of_them)
{
    hold(N_LOCKS);
    rig_hang_masters(&rig, RIG_ALL);
    start_extending(N_LOCKS, LONGER_MS);
    rig_run_for(&rig, 50);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert(masters_kill(rig.masters, node));
    for (size_t i = 0; i < N_LOCKS; i++) {
        rig_wait_outcome(&rig, &outcomes[i]);
        outcome_expect(&outcomes[i], REDLOCK_NO_QUORUM);
        ck_assert_int_eq(redlock_state(locks[i]), REDLOCK_STATE_HELD);
    }
}

/* A release in the same turn comes behind the extension, which it cancels. */
TEST(three, a_release_overtakes_nothing)
{
    struct outcome released = {0};

    hold(N_LOCKS);
    start_extending(N_LOCKS, LONGER_MS);
    ck_assert_int_eq(redlock_release(locks[2], outcome_record, &released), 0);
    rig_wait_outcome(&rig, &released);
    outcome_expect(&released, REDLOCK_OK);
    ck_assert_uint_eq(released.granted, 3);
    rig_wait_outcome(&rig, &outcomes[2]);
    outcome_expect(&outcomes[2], REDLOCK_CANCELED);
    rig_wait_absent(&rig, keys[2]);
    for (size_t i = 0; i < N_LOCKS; i++)
        rig_wait_outcome(&rig, &outcomes[i]);
    expect_extended(0, 2);
    expect_extended(3, N_LOCKS);
}

static struct outcome second;

static void extend_shorter(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    ck_assert_int_eq(redlock_extend(lock, 5000, outcome_record, &second), 0);
}

/* What the servers were told, by their log of commands. */
static bool was_told(size_t node, const char *ttl)
{
    char *log = masters_command(rig.masters, node, (const char *const[]){"SLOWLOG", "GET", "100", NULL});
    bool told = log && strstr(log, ttl);

    free(log);
    return told;
}

/* An extension that is not written yet, and another one in the same turn, with another ttl and perhaps for other
 * masters: each goes out with its own, or a master would know of a ttl that its bound does not know of. */
TEST(three, an_extension_that_is_overtaken_in_its_turn_keeps_its_own_ttl)
{
    second = (struct outcome){0};
    hold(1);
    rig_do_all(&rig, "CONFIG", "SET", "slowlog-log-slower-than", "0", NULL);
    outcomes[0] = (struct outcome){0};
    ck_assert_int_eq(redlock_extend(locks[0], 33333, extend_shorter, &outcomes[0]), 0);
    redlock_cancel(locks[0]);
    rig_wait_outcome(&rig, &second);
    outcome_expect(&outcomes[0], REDLOCK_CANCELED);
    outcome_expect(&second, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t node = 0; node < rig.n; node++) {
        ck_assert(was_told(node, "33333"));
        ck_assert(was_told(node, "5000"));
        ck_assert_int_le(rig_pttl(&rig, node, keys[0]), 5000);
    }
}

/* Two ttls are two commands. */
TEST(three, locks_with_other_ttls_keep_theirs)
{
    hold(N_LOCKS);
    for (size_t i = 0; i < N_LOCKS; i++) {
        outcomes[i] = (struct outcome){0};
        ck_assert_int_eq(redlock_extend(locks[i], i % 4 < 2 ? LONGER_MS : 9000, outcome_record, &outcomes[i]), 0);
    }
    for (size_t i = 0; i < N_LOCKS; i++)
        rig_wait_outcome(&rig, &outcomes[i]);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < N_LOCKS; i++) {
        outcome_expect(&outcomes[i], REDLOCK_OK);
        for (size_t node = 0; node < rig.n; node++)
            ck_assert_int_eq(rig_pttl(&rig, node, keys[i]) > 9000, i % 4 < 2);
    }
}

/* With the sanitizers: nothing leaks, and nothing is touched after its end. */
TESTS(three, the_client_may_end_with_some_on_their_way, 0, 2)
{
    hold(N_LOCKS);
    start_extending(N_LOCKS, LONGER_MS);
    if (_i == 1)
        rig_run_for(&rig, 1);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    for (size_t i = 0; i < N_LOCKS; i++)
        ck_assert_uint_eq(outcomes[i].calls, 1);
}

static bool all_are_renewed_twice(void *argument)
{
    return watch_stats(rig.client).renewals >= *(const uint64_t *)argument;
}

/* Acquired in one turn of the loop, so that they are due together, or nearly so on a busy machine. */
static void hold_renewed(void)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 0);

    request.renew_ms = 2000;
    for (size_t i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "many:%zu", i);
        locks[i] = rig_new_lock(rig.client, keys[i]);
        outcomes[i] = (struct outcome){0};
        ck_assert_int_eq(redlock_acquire(locks[i], &request, outcome_record, &outcomes[i]), 0);
    }
    for (size_t i = 0; i < MANY; i++) {
        rig_wait_outcome(&rig, &outcomes[i]);
        outcome_expect(&outcomes[i], REDLOCK_OK);
    }
    rig_wait_quiet(&rig, rig.client);
}

/* Renewals: all that is said above, without a call of the holder. */
TEST(three, renewals_of_many_locks_are_few_commands)
{
    struct redlock_stats before;
    struct redlock_stats after;
    uint64_t enough;

    hold_renewed();
    before = watch_stats(rig.client);
    enough = before.renewals + 2 * MANY;
    rig_wait(&rig, all_are_renewed_twice, &enough, "two renewals of each");
    after = watch_stats(rig.client);
    ck_assert_uint_eq(after.lost, 0);
    ck_assert_uint_lt(after.commands - before.commands, after.renewals - before.renewals); /* to three masters */
    for (size_t i = 0; i < MANY; i++)
        ck_assert_int_eq(redlock_state(locks[i]), REDLOCK_STATE_HELD);
}

/* The guarded profile does not let such masters vote. */
TEST_IF(is_classic(), clusters, keys_that_may_not_be_named_together_are_extended_one_by_one)
{
    hold(N_LOCKS);
    extend_all(N_LOCKS, LONGER_MS);
    expect_extended(0, N_LOCKS);
}

/* --- Releases ----------------------------------------------------------------------------------------------------- */

static void start_releasing(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        outcomes[i] = (struct outcome){0};
        ck_assert_int_eq(redlock_release(locks[i], outcome_record, &outcomes[i]), 0);
    }
}

static void release_all(size_t n)
{
    start_releasing(n);
    for (size_t i = 0; i < n; i++)
        rig_wait_outcome(&rig, &outcomes[i]);
    rig_wait_quiet(&rig, rig.client);
}

static void expect_released(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        outcome_expect(&outcomes[i], REDLOCK_OK);
        rig_wait_absent(&rig, keys[i]);
    }
}

TEST(three, many_releases_are_few_commands)
{
    uint64_t before;

    hold(MANY);
    before = commands();
    release_all(MANY);
    expect_released(0, MANY);
    ck_assert_uint_le(commands() - before, MANY / 2);
}

/* One has lost its key on all masters, one has another's in its place, and for one somebody waits, of whom its client
 * does not know. */
TEST(three, each_release_gets_its_own_answer)
{
    struct redlock_acquire_options request = queue_request();
    struct waiter waiter = {0};

    hold(N_LOCKS);
    for (size_t node = 0; node < rig.n; node++) {
        rig_do(&rig, node, "DEL", keys[1], NULL);
        rig_do(&rig, node, "SET", keys[3], "foreign", "PX", "60000", NULL);
    }
    waiter_take(&rig, &waiter, rig_further_client(&rig), keys[5], &request);
    release_all(N_LOCKS);
    expect_released(0, 1);
    expect_released(2, 3);
    expect_released(6, N_LOCKS);
    ck_assert_uint_ge(outcome_count_votes(&outcomes[1], REDLOCK_VOTE_REFUSED), 2);
    ck_assert_uint_ge(outcome_count_votes(&outcomes[3], REDLOCK_VOTE_REFUSED), 2);
    ck_assert_uint_eq(rig_count_value(&rig, keys[3], "foreign"), 3);
    waiter_wait_held(&waiter);
    waiter_leave(&waiter);
}

TEST(three, a_key_that_is_wanted_again_in_the_turn_of_its_release_is_free)
{
    struct redlock_acquire_options once = rig_lease(TTL_MS, 0);
    struct outcome acquired = {0};
    struct redlock_lock *next;

    hold(N_LOCKS);
    ck_assert_int_eq(redlock_lock_create(rig.client, keys[2], strlen(keys[2]), &next), 0);
    start_releasing(N_LOCKS);
    ck_assert_int_eq(redlock_acquire(next, &once, outcome_record, &acquired), 0);
    rig_wait_outcome(&rig, &acquired);
    outcome_expect(&acquired, REDLOCK_OK);
    ck_assert_uint_eq(acquired.attempts, 1);
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    *(int *)user_data = (int)result->verdict;
}

static bool has_looked(void *argument)
{
    return *(const int *)argument >= 0;
}

TEST(three, a_look_in_the_turn_of_a_release_sees_the_key_free)
{
    int verdict = -1;

    hold(N_LOCKS);
    start_releasing(N_LOCKS);
    ck_assert_int_eq(redlock_look(rig.client, keys[7], strlen(keys[7]), on_look, &verdict), 0);
    rig_wait(&rig, has_looked, &verdict, "a look");
    ck_assert_int_eq(verdict, REDLOCK_LOOK_FREE);
}

/* On one master the user may not touch one of the keys any more. The others are released there all the same. */
TEST(three, a_forbidden_key_does_not_keep_the_others_from_being_released)
{
    hold(N_LOCKS);
    rig_do(&rig, 1, "ACL", "SETUSER", "default", "resetkeys", "~redlock:*", "~many:[1-7]", NULL);
    start_releasing(N_LOCKS);
    for (size_t i = 1; i < N_LOCKS; i++)
        rig_wait_absent(&rig, keys[i]);
    rig_do(&rig, 1, "ACL", "SETUSER", "default", "allkeys", NULL);
    rig_wait_absent(&rig, keys[0]);
}

/* A client that ends hears of no waiter: each lock goes to the one that waits for it. */
TEST(three, a_client_that_ends_hands_on_all_that_it_has_released)
{
    struct redlock_acquire_options lease = rig_lease(60000, 0);
    struct redlock_acquire_options request = queue_request();
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_lock *held[2];
    struct waiter waiters[2] = {{0}, {0}};

    for (size_t i = 0; i < 2; i++) {
        snprintf(keys[i], sizeof keys[i], "many:%zu", i);
        ck_assert_int_eq(redlock_lock_create(client, keys[i], strlen(keys[i]), &held[i]), 0);
        ck_assert_int_eq(rig_acquire(&rig, held[i], &lease).status, REDLOCK_OK);
        waiter_take(&rig, &waiters[i], rig.client, keys[i], &request);
    }
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(redlock_release(held[i], NULL, NULL), 0);
    redlock_client_destroy(client);
    for (size_t i = 0; i < 2; i++)
        waiter_wait_held(&waiters[i]);
}

SUITE_WITH_SERVER("many")
