/* Masters that lie, babble, are slow, or go away: no vote may come of it that was not cast. */
#include <string.h>
#include <unistd.h>

#include "world.h"

static void open_one(void)
{
    world_open(1);
}

static struct outcome acquire(const char *key, const struct redlock_acquire_options *request)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_acquire(world_lock(world.client, key), request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    return outcome;
}

static void all_say(const char *reply)
{
    for (size_t i = 0; i < world.n; i++)
        world.toys[i]->says = reply;
}

/* --- Replies that are no vote -------------------------------------------------------------------------------- */

static const char *const no_votes[] = {
    "+ok\r\n",    "+OK \r\n",  "+\r\n",           "+QUEUED\r\n",    "$2\r\nOK\r\n",   ":1\r\n", ":0\r\n",
    "*0\r\n",     "*-1\r\n",   "*1\r\n+OK\r\n",   "-OK\r\n",        "-ERR what\r\n", "$0\r\n\r\n",
    "+OKOK\r\n", "-OOM no\r\n", "+O\r\n",        "*1\r\n*1\r\n+OK\r\n", "$-2\r\n",   "OK\r\n",
    "%1\r\n+a\r\n+OK\r\n", "#t\r\n", "_\r\n", "(3492890328409238509324850943850943825024385\r\n",
};

GROUP(three, "three masters", world_three, world_close)

TESTS(three, only_ok_is_a_vote, 0, (int)(sizeof no_votes / sizeof no_votes[0]))
{
    struct outcome outcome;

    world_connect();
    all_say(no_votes[_i]);
    outcome = acquire("key", NULL);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 0);
}

TEST(three, a_master_that_says_ok_to_everything_does_not_confirm_a_release)
{
    struct redlock_acquire_options request;
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world_connect();
    all_say("+OK\r\n");
    redlock_acquire_options_init(&request);
    request.ttl_ms = 4000;
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    memset(&outcome, 0, sizeof outcome);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    world_wait_clean(world.client); /* the ttl ends it */
}

GROUP(one, "one master", open_one, world_close)

/* Between the PONG and the reply behind it in the same packet, the client has made a command. */
TEST(one, a_reply_before_the_command_is_no_vote)
{
    struct outcome outcome = {0};

    world.toys[0]->pong = "+PONG\r\n+OK\r\n";
    world.toys[0]->mute = false;
    world.client = world_client();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "key"), NULL, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 0);
    ck_assert_uint_eq(world.toys[0]->sets, 0);
}

/* A stream with one reply too many gives every command its neighbour's answer. */
TEST(one, a_shifted_stream_is_given_up)
{
    struct redlock_node_stats stats;
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    lock = world_hold(world.client, "mine");
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    toy_say(world.toys[0], "+OK\r\n", 5);
    world_wait_outcome(&outcome);
    toy_set(world.toys[0], "taken", "somebody else");
    outcome = acquire("taken", NULL);
    ck_assert_int_ne(outcome.status, REDLOCK_OK);
    ck_assert_int_eq(redlock_client_node_stats(world.client, 0, &stats, sizeof stats), 0);
    ck_assert_uint_ge(stats.disconnects, 1);
}

TEST(three, babble_without_a_question_ends_the_connection)
{
    struct redlock_node_stats stats;

    world_connect();
    toy_say(world.toys[0], "+OK\r\n", 5);
    world_wait_link(world.client, 0, REDLOCK_LINK_DOWN);
    ck_assert_int_eq(redlock_client_node_stats(world.client, 0, &stats, sizeof stats), 0);
    ck_assert_str_ne(stats.last_error, "");
    world_wait_link(world.client, 0, REDLOCK_LINK_READY);
}

/* --- Time ---------------------------------------------------------------------------------------------------- */

TEST(three, a_grant_that_comes_after_its_ttl_is_too_slow)
{
    struct redlock_acquire_options request;
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    redlock_acquire_options_init(&request);
    request.ttl_ms = 50;
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    event_base_loop(world.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < world.n; i++)
        toy_step(world.toys[i]);
    usleep(60 * 1000); /* the program is busy elsewhere, the replies are in the sockets */
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_TOO_SLOW);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), 0);
}

TEST(three, an_extension_whose_replies_come_after_the_deadline_is_lost)
{
    struct redlock_acquire_options request;
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    redlock_acquire_options_init(&request);
    request.ttl_ms = 4000;
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    memset(&outcome, 0, sizeof outcome);
    ck_assert_int_eq(redlock_extend(lock, 10000, outcome_record, &outcome), 0);
    event_base_loop(world.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < world.n; i++)
        toy_step(world.toys[i]);
    while (redlock_remaining_ns(lock) > 0)
        usleep(10 * 1000);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_LOST);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), 0);
}

TEST(three, replies_for_a_destroyed_lock_are_taken_in)
{
    struct outcome outcome = {0};
    struct redlock_lock *lock;

    world_connect();
    lock = world_lock(world.client, "key");
    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    event_base_loop(world.base, EVLOOP_NONBLOCK);
    for (size_t i = 0; i < world.n; i++)
        toy_step(world.toys[i]);
    redlock_lock_destroy(lock);
    ck_assert_int_eq(outcome.status, REDLOCK_CANCELED);
    world_wait_clean(world.client);
    ck_assert_uint_eq(world_count(), 0);
    ck_assert_uint_eq(outcome.calls, 1);
}

TEST(three, masters_are_waited_for_from_the_first_turn_of_the_loop)
{
    struct outcome outcome = {0};

    world.options.node_timeout_ms = 2000;
    world.client = world_client();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "key"), NULL, outcome_record, &outcome), 0);
    usleep(2200 * 1000); /* the program has more to set up before it runs its loop */
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(three, an_extension_that_a_release_overtakes_shows_no_votes_of_the_release)
{
    struct outcome extended = {0}, released = {0};
    struct redlock_lock *lock;

    world_connect();
    lock = world_hold(world.client, "key");
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &extended), 0);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    world_wait_outcome(&released);
    outcome_expect(&extended, REDLOCK_CANCELED);
    outcome_expect(&released, REDLOCK_OK);
    ck_assert_uint_eq(extended.granted, 0);
    ck_assert_uint_eq(outcome_count_votes(&extended, REDLOCK_VOTE_NONE), 3);
    ck_assert_uint_eq(released.granted, 3);
}

SUITE("masters")
