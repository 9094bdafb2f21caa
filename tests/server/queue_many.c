/* Those who want the same key in one loop turn join the queue by one command for each master. Each has its own answers
 * all the same, and its own turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define N_WAITERS 8
#define MANY 150 /* more than fit into one command, and than into two */

static struct waiter waiters[MANY];
static bool fenced;

static void open_five(void)
{
    fenced = false;
    memset(waiters, 0, sizeof waiters);
    queue_open();
    rig_open_with(&rig, 5, 0, rig_tune_for_counting);
}

/* In line with the first attempt. The lease of a waiter is twice its minimum validity: long enough for a machine that
 * stands still not to cost it its place. */
static struct redlock_acquire_options fifo_request(void)
{
    struct redlock_acquire_options request = queue_request();

    request.wait = REDLOCK_WAIT_FIFO;
    request.min_validity_ms = 2000;
    return request;
}

static uint64_t commands(void)
{
    return watch_stats(rig.client).commands;
}

static void start_all(size_t n, const char *key)
{
    struct redlock_acquire_options request = fifo_request();

    request.fenced = fenced;
    for (size_t i = 0; i < n; i++)
        waiter_start(&rig, &waiters[i], rig.client, key, &request);
}

struct length_request {
    const char *key;
    size_t n;
};

static bool is_of_length(void *argument)
{
    const struct length_request *request = argument;

    for (size_t node = 0; node < rig.n; node++) {
        if (queue_length(&rig, node, request->key) != request->n)
            return false;
    }
    return true;
}

static void wait_all_in_queue(size_t n, const char *key)
{
    struct length_request request = {key, n};

    rig_wait(&rig, is_of_length, &request, "all to be in the queue");
    rig_wait_quiet(&rig, rig.client);
}

static void serve(size_t i)
{
    waiter_wait_held(&waiters[i]);
    waiter_leave(&waiters[i]);
}

static void serve_in_order(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        serve(i);
        ck_assert_uint_eq(waiters[i].turn, i + 1);
    }
}

GROUP(cases, "queue_many", open_five, rig_end)

TEST(cases, many_enter_the_queue_by_few_commands_and_are_served_in_order)
{
    struct redlock_lock *holder = rig_hold(&rig, "many", 10000);
    uint64_t before;

    rig_wait_quiet(&rig, rig.client);
    before = commands();
    start_all(MANY, "many");
    wait_all_in_queue(MANY, "many");
    /* Three for each master, and as many with each refresh while this waits. By single ones: five for each waiter. */
    ck_assert_uint_lt(commands() - before, MANY * rig.n / 2);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert_uint_eq(queue_length(&rig, node, "many"), MANY);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    serve_in_order(MANY);
    queue_wait_gone(&rig, "many");
}

TEST(cases, the_first_of_them_gets_a_free_key)
{
    start_all(N_WAITERS, "free");
    serve_in_order(N_WAITERS);
    queue_wait_gone(&rig, "free");
}

TEST(cases, tokens_grow_from_each_to_the_next)
{
    struct redlock_acquire_options request = fifo_request();
    uint64_t last = 0;

    request.fenced = true;
    for (size_t i = 0; i < N_WAITERS; i++)
        waiter_start(&rig, &waiters[i], rig.client, "tokens", &request);
    for (size_t i = 0; i < N_WAITERS; i++) {
        uint64_t token;

        waiter_wait_held(&waiters[i]);
        ck_assert_uint_eq(waiters[i].turn, i + 1);
        token = redlock_lock_fence(waiters[i].lock);
        ck_assert_uint_gt(token, last);
        last = token;
        waiter_leave(&waiters[i]);
    }
    queue_wait_gone(&rig, "tokens");
}

/* Before anything of it is written; the others do not notice. */
TEST(cases, who_gives_up_at_once_is_not_in_the_queue)
{
    struct redlock_lock *holder = rig_hold(&rig, "leave", 10000);

    start_all(N_WAITERS, "leave");
    for (size_t i = 0; i < N_WAITERS; i += 3)
        ck_assert_int_eq(redlock_cancel(waiters[i].lock), 0);
    for (size_t i = 0; i < N_WAITERS; i++) {
        if (i % 3 == 0) {
            rig_wait_outcome(&rig, &waiters[i].outcome);
            outcome_expect(&waiters[i].outcome, REDLOCK_CANCELED);
        } else {
            waiter_wait_in_queue(&waiters[i], rig.n);
        }
    }
    rig_wait_quiet(&rig, rig.client);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert_uint_eq(queue_length(&rig, node, "leave"), N_WAITERS - 3);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    for (size_t i = 0; i < N_WAITERS; i++) {
        if (i % 3)
            serve(i);
    }
    queue_wait_gone(&rig, "leave");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(cases, all_of_them_may_give_up_at_once)
{
    start_all(N_WAITERS, "none");
    for (size_t i = 0; i < N_WAITERS; i++)
        redlock_lock_destroy(waiters[i].lock);
    rig_wait_no_claims(&rig, rig.client);
    queue_wait_gone(&rig, "none");
}

TEST(cases, a_key_is_no_concern_of_another)
{
    static const char *const keys[] = {"one", "two"};
    struct redlock_acquire_options request = fifo_request();
    struct redlock_lock *holders[2];

    for (size_t i = 0; i < 2; i++)
        holders[i] = rig_hold(&rig, keys[i], 10000);
    for (size_t i = 0; i < N_WAITERS; i++)
        waiter_start(&rig, &waiters[i], rig.client, keys[i % 2], &request);
    for (size_t i = 0; i < 2; i++)
        wait_all_in_queue(N_WAITERS / 2, keys[i]);
    for (size_t i = 0; i < 2; i++) {
        for (size_t node = 0; node < rig.n; node++)
            ck_assert_uint_eq(queue_length(&rig, node, keys[i]), N_WAITERS / 2);
        ck_assert_int_eq(redlock_release(holders[i], NULL, NULL), 0);
    }
    for (size_t i = 0; i < N_WAITERS; i++)
        serve(i);
    for (size_t i = 0; i < 2; i++)
        queue_wait_gone(&rig, keys[i]);
}

/* Each is repeated alone, with the script's text. */
TEST(cases, masters_that_have_forgotten_the_script_are_asked_again)
{
    struct redlock_lock *holder = rig_hold(&rig, "forgotten", 10000);

    for (size_t node = 0; node < 3; node++)
        rig_do(&rig, node, "SCRIPT", "FLUSH", NULL);
    start_all(N_WAITERS, "forgotten");
    wait_all_in_queue(N_WAITERS, "forgotten");
    for (size_t node = 0; node < rig.n; node++)
        ck_assert_uint_eq(queue_length(&rig, node, "forgotten"), N_WAITERS);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    for (size_t i = 0; i < N_WAITERS; i++)
        serve(i);
    queue_wait_gone(&rig, "forgotten");
}

static bool others_have_been_asked(void *key)
{
    for (size_t node = 2; node < rig.n; node++) {
        if (queue_length(&rig, node, key) != N_WAITERS)
            return false;
    }
    return true;
}

/* Two of five die with the command unanswered. */
TEST(cases, masters_that_die_meanwhile_are_done_without)
{
    struct redlock_lock *holder = rig_hold(&rig, "dying", 10000);
    char key[] = "dying";

    for (size_t node = 0; node < 2; node++)
        ck_assert_msg(masters_hang(rig.masters, node), "%s", masters_error());
    start_all(N_WAITERS, key);
    rig_wait(&rig, others_have_been_asked, key, "the masters that run to be asked");
    for (size_t node = 0; node < 2; node++)
        ck_assert_msg(masters_kill(rig.masters, node), "%s", masters_error());
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    serve_in_order(N_WAITERS);
    queue_wait_gone(&rig, "dying");
}

/* --- Keeping the places ------------------------------------------------------------------------------------------- */

/* The rounds of the waiters of this key on one master, added up: each refresh adds to it. */
static long long count_rounds(const char *key)
{
    static const char script[] = "local sum = 0 local all = redis.call('HGETALL', KEYS[1]) "
                                 "for i = 1, #all, 2 do "
                                 "sum = sum + (tonumber(all[i + 1]:match('^%d+ (%d+) %d+ ')) or 0) end return sum";
    char name[64];
    char *reply;
    long long sum;

    snprintf(name, sizeof name, "redlock:waiters:%s", key);
    reply = masters_command(rig.masters, 0, (const char *const[]){"EVAL", script, "1", name, NULL});
    ck_assert_msg(reply != NULL, "%s", masters_error());
    sum = strtoll(reply + strlen("(integer) "), NULL, 10);
    free(reply);
    return sum;
}

static long long rounds_wanted;

static bool has_refreshed(void *key)
{
    return count_rounds(key) >= rounds_wanted;
}

/* Until the places of all have been kept up so many times more. */
static void wait_refreshed(char *key, int times)
{
    rounds_wanted = count_rounds(key) + times * MANY;
    rig_wait(&rig, has_refreshed, key, "all to have refreshed their places");
}

/* For so many refreshes of single waiters. One by one they would be a command for each master. */
static void expect_few(uint64_t n_commands, long long refreshes)
{
    ck_assert_uint_lt(n_commands, (uint64_t)refreshes);
}

TESTS(cases, many_keep_their_places_by_few_commands, 0, 2)
{
    struct redlock_lock *holder = rig_hold(&rig, "many", 10000);
    char key[] = "many";
    uint64_t before;
    long long rounds;

    fenced = _i;
    start_all(MANY, key);
    wait_all_in_queue(MANY, key);
    before = commands();
    rounds = count_rounds(key);
    wait_refreshed(key, 2);
    expect_few(commands() - before, count_rounds(key) - rounds);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert_uint_eq(queue_length(&rig, node, key), MANY);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    serve_in_order(MANY);
    queue_wait_gone(&rig, key);
}

/* By the command, each alone, with the text, and by the command with its text. */
TEST(cases, masters_that_forget_the_script_keep_the_places)
{
    struct redlock_lock *holder = rig_hold(&rig, "kept", 10000);
    char key[] = "kept";
    uint64_t before;
    long long rounds;

    start_all(MANY, key);
    wait_all_in_queue(MANY, key);
    for (size_t node = 0; node < rig.n; node++)
        rig_do(&rig, node, "SCRIPT", "FLUSH", NULL);
    wait_refreshed(key, 2);
    before = commands();
    rounds = count_rounds(key);
    wait_refreshed(key, 2);
    expect_few(commands() - before, count_rounds(key) - rounds);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    serve_in_order(MANY);
    queue_wait_gone(&rig, key);
}

/* Another program deletes the queues: they are not where they think they are any more. */
TEST(cases, who_has_lost_its_place_asks_alone_and_gets_another)
{
    struct redlock_lock *holder = rig_hold(&rig, "lost", 10000);
    char key[] = "lost";

    start_all(N_WAITERS, key);
    wait_all_in_queue(N_WAITERS, key);
    for (size_t node = 0; node < rig.n; node++)
        rig_do(&rig, node, "DEL", "redlock:queue:lost", "redlock:waiters:lost", NULL);
    for (size_t node = 0; node < rig.n; node++)
        ck_assert_uint_eq(queue_length(&rig, node, key), 0);
    for (size_t i = 0; i < N_WAITERS; i++)
        waiter_wait_in_queue(&waiters[i], rig.n);
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    serve_in_order(N_WAITERS);
    queue_wait_gone(&rig, key);
}

/* Nobody tells them that the key is free: the next look at it does. */
TEST(cases, who_finds_the_key_free_asks_alone_and_gets_it)
{
    struct redlock_lock *holder = rig_hold(&rig, "free again", 10000);

    start_all(N_WAITERS, "free again");
    wait_all_in_queue(N_WAITERS, "free again");
    rig_do_all(&rig, "DEL", "free again", NULL);
    serve_in_order(N_WAITERS);
    queue_wait_gone(&rig, "free again");
    redlock_lock_destroy(holder);
}

SUITE_WITH_SERVER("queue_many")
