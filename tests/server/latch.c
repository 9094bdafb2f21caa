/* Latches on real masters: when they open, who is told, and how their operations end. */
#include <stdlib.h>
#include <string.h>

#include "child_rig.h"
#include "latch_rig.h"
#include "suite.h"

/* --- Opening ------------------------------------------------------------------------------------------------------ */

GROUP(opening, "opening", latch_open, latch_close)

TEST(opening, a_latch_opens_when_the_last_party_arrives)
{
    struct party waiter = latch_join(3, NULL);
    struct party parties[] = {latch_join(3, "c"), latch_join(3, "a"), latch_join(3, "b")};

    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(waiter.wait.cause, 0);
    latch_begin_wait(&waiter, REDLOCK_FOREVER);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(waiter.waits, 0);
        latch_arrive(&parties[i], 10000, REDLOCK_OK);
        ck_assert_uint_ge(parties[i].arrival.confirmed, 2);
    }
    latch_expect_wait(&waiter, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b c");
    ck_assert_uint_ge(waiter.wait.confirmed, 2);
    ck_assert_str_eq(waiter.why, "");
    for (size_t i = 0; i < 3; i++)
        latch_await(&parties[i], 0, REDLOCK_OK);
}

TEST(opening, a_wait_that_ends_early_says_who_has_arrived)
{
    struct party waiter = latch_join(3, NULL);
    struct party a = latch_join(3, "a");
    struct party b = latch_join(3, "b");

    latch_arrive(&b, 10000, REDLOCK_OK);
    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_arrive(&a, 10000, REDLOCK_OK); /* once more: it is one party still */
    latch_await(&waiter, 50, REDLOCK_DEADLINE);
    ck_assert_int_ge(waiter.wait.elapsed_us, 49000);
    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_int_eq(waiter.wait.cause, 0);
    ck_assert_str_eq(waiter.names, "a b");
    ck_assert_str_eq(waiter.why, "2 of 3 parties are known to have arrived");
}

/* It has been told of no name while it did not wait. */
TEST(opening, whoever_has_arrived_before_it_waits_learns_who_was_there_earlier)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct party a = latch_join(3, "a");
    struct party b = latch_join_as(other, 3, 1, "b");

    latch_arrive(&a, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    latch_arrive(&b, 10000, REDLOCK_OK);
    ck_assert_str_eq(b.names, "b");
    rig_wait_quiet(&rig, other);
    latch_await(&b, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(b.names, "a b");
}

TEST(opening, a_party_may_arrive_and_wait_at_once)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    ck_assert_int_eq(redlock_latch_arrive(a.latch, REDLOCK_FOREVER, NULL, NULL), 0);
    latch_begin_wait(&a, REDLOCK_FOREVER);
    latch_begin_wait(&b, REDLOCK_FOREVER);
    latch_begin_arrival(&b, REDLOCK_FOREVER);
    latch_expect_arrival(&b, REDLOCK_OK);
    latch_expect_wait(&a, REDLOCK_OK);
    latch_expect_wait(&b, REDLOCK_OK);
}

/* Does every master know the client as one that waits, and as one that listens? */
static bool is_listed(void *argument)
{
    size_t listening = 0;

    for (size_t i = 0; i < LATCH_MASTERS; i++) {
        char *channels = masters_command(rig.masters, i, (const char *const[]){"PUBSUB", "CHANNELS", NULL});

        listening += channels && strstr(channels, "redlock:grant:");
        free(channels);
    }
    return listening == LATCH_MASTERS && latch_count_field("waiting") == LATCH_MASTERS;
}

static uint64_t messages(void)
{
    struct redlock_node_stats stats;
    uint64_t n = 0;

    for (size_t i = 0; i < LATCH_MASTERS; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        n += stats.messages;
    }
    return n;
}

/* And no more than once, however often the latch is found open. */
TEST(opening, masters_tell_those_who_wait_once)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct party waiter = latch_join(1, NULL);
    struct party party = latch_join_as(other, 1, 1, "a");

    latch_begin_wait(&waiter, REDLOCK_FOREVER);
    rig_wait(&rig, is_listed, NULL, "the waiter's channel");
    ck_assert_uint_eq(messages(), 0);
    latch_arrive(&party, 10000, REDLOCK_OK);
    latch_expect_wait(&waiter, REDLOCK_OK);
    latch_arrive(&party, 10000, REDLOCK_OK);
    latch_await(&party, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    ck_assert_uint_ge(messages(), 1);
    ck_assert_uint_le(messages(), LATCH_MASTERS);
    ck_assert_uint_eq(latch_count_field("waiting"), 0);
}

/* Without the message it would ask half a second after its first question. The first wait of a client is another case:
 * it asks again when it listens. */
TEST(opening, whoever_is_told_asks_at_once)
{
    struct redlock_client *other = rig_further_client(&rig);
    uint64_t round = 0;
    struct party waiter;

    do {
        struct party party = latch_join_as(other, 1, ++round, "a");

        ck_assert_uint_le(round, RIG_LATE_ATTEMPTS);
        waiter = latch_join_as(rig.client, 1, round, NULL);
        latch_begin_wait(&waiter, REDLOCK_FOREVER);
        rig_wait(&rig, is_listed, NULL, "the waiter's channel");
        rig_wait_quiet(&rig, rig.client);
        latch_arrive(&party, 10000, REDLOCK_OK);
        latch_expect_wait(&waiter, REDLOCK_OK);
    } while (round == 1 || waiter.wait.elapsed_us >= 450000); /* a machine with much to do */
}

static int arrive_and_stay(struct rig *child, void *argument)
{
    struct party party = latch_join(2, "a");

    latch_arrive(&party, 10000, REDLOCK_OK);
    return child_stay(child);
}

TEST(opening, an_arrival_stays_when_its_program_is_killed)
{
    struct party party = latch_join(2, "b");

    child_kill(child_start_ready(&rig, arrive_and_stay, NULL));
    latch_arrive(&party, 10000, REDLOCK_OK);
    latch_await(&party, 10000, REDLOCK_OK);
}

/* Masters with one name each, or with one and both: counts (1, 2, 1). */
TEST(opening, names_are_counted_over_all_masters)
{
    struct party waiter = latch_join(2, NULL);
    static const char *const has[LATCH_MASTERS][2] = {{"a:a", "a:a"}, {"a:a", "a:b"}, {"a:b", "a:b"}};

    for (size_t i = 0; i < LATCH_MASTERS; i++)
        latch_give(i, has[i][0], has[i][1], has[i][0]);
    latch_kill_master(1);
    latch_await(&waiter, 10000, REDLOCK_OK);
    ck_assert_str_eq(waiter.names, "a b");
    ck_assert_uint_eq(latch_count_field("open"), 2);
}

TEST(opening, one_name_on_all_masters_is_one_party)
{
    struct party waiter = latch_join(2, NULL);
    struct party party = latch_join(2, "a");

    for (int i = 0; i < 3; i++)
        latch_arrive(&party, 10000, REDLOCK_OK);
    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(waiter.names, "a");
}

/* The name that only one master has makes the latch open; whoever asks the others must find it open, too. */
TEST(opening, what_is_reported_open_has_been_recorded)
{
    struct party waiter = latch_join(2, NULL);
    struct party late = latch_join(2, NULL);

    latch_give(0, "a:a", "a:a", "a:a");
    latch_give(1, "a:b", "a:b", "a:b");
    latch_await(&waiter, 0, REDLOCK_OK); /* at once: also one that asks once */
    ck_assert_uint_ge(latch_count_field("open"), 2);
    rig_wait_quiet(&rig, rig.client);
    latch_kill_master(0);
    latch_await(&late, 10000, REDLOCK_OK);
}

TEST(opening, a_thousand_parties)
{
    struct party waiter = latch_join(1000, NULL);
    struct party last = latch_join(1000, "last");

    rig_do_all(&rig, "EVAL", "for i = 1, 999 do redis.call('HSET', KEYS[1], "
        "'a:' .. ('x'):rep(60) .. string.format('%04d', i), '1') end "
        "redis.call('HSET', KEYS[1], 'n', '1000', 'gen', '1', 'arrived', '999', 'rev', '1@1') return 1", "1", LATCH_KEY,
        NULL);
    latch_await(&waiter, 0, REDLOCK_DEADLINE);
    ck_assert_uint_eq(waiter.wait.n_arrived, 999);
    latch_arrive(&last, 10000, REDLOCK_OK);
    latch_await(&waiter, 10000, REDLOCK_OK);
    ck_assert_uint_eq(waiter.wait.n_arrived, 1000);
}

TEST(opening, the_latch_is_kept_for_as_long_as_is_asked_for)
{
    struct redlock_latch_options options;
    struct party brief = {0};
    struct party party = latch_join(2, "a");

    redlock_latch_options_init(&options);
    options.keep_ms = 100000;
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 2, 1, "b", &options, &brief.latch), 0);
    latch_arrive(&brief, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < LATCH_MASTERS; i++)
        ck_assert(rig_pttl(&rig, i, LATCH_KEY) > 60000 && rig_pttl(&rig, i, LATCH_KEY) <= 100000);
    latch_arrive(&party, 10000, REDLOCK_OK);
    latch_arrive(&brief, 10000, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    for (size_t i = 0; i < LATCH_MASTERS; i++)
        ck_assert_int_gt(rig_pttl(&rig, i, LATCH_KEY), 86000000);
}

/* --- Callbacks ---------------------------------------------------------------------------------------------------- */

GROUP(callbacks, "callbacks", latch_open, latch_close)

TEST(callbacks, a_client_that_has_just_been_made_waits_for_its_connections)
{
    struct redlock_client *client;
    struct party a;

    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &client, NULL), 0);
    a = latch_join_as(client, 1, 1, "a");
    latch_arrive(&a, 0, REDLOCK_OK);
    latch_await(&a, 0, REDLOCK_OK);
    redlock_client_destroy(client);
}

TEST(callbacks, cancel_ends_what_is_pending)
{
    struct party a = latch_join(2, "a");
    struct party b = latch_join(2, "b");

    rig_hang_masters(&rig, RIG_ALL);
    ck_assert_int_eq(redlock_latch_cancel(a.latch), REDLOCK_E_NOTHING_TO_CANCEL);
    latch_begin_arrival(&a, REDLOCK_FOREVER);
    latch_begin_wait(&a, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 0, latch_on_arrival, &a), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_latch_await(a.latch, 0, latch_on_wait, &a), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_latch_cancel(a.latch), 0);
    ck_assert_int_eq(redlock_latch_cancel(a.latch), REDLOCK_E_NOTHING_TO_CANCEL);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    ck_assert_uint_eq(a.arrivals + a.waits, 2); /* no answer was awaited */
    latch_expect_arrival(&a, REDLOCK_CANCELED);
    latch_expect_wait(&a, REDLOCK_CANCELED);
    rig_resume_masters(&rig, RIG_ALL);
    latch_arrive(&b, REDLOCK_FOREVER, REDLOCK_OK);
    latch_await(&b, REDLOCK_FOREVER, REDLOCK_OK); /* the other one has arrived all the same */
}

TEST(callbacks, destroying_a_latch_or_its_client_cancels)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct party a = latch_join(2, "a");
    struct party b = latch_join_as(client, 2, 1, "b");

    latch_begin_arrival(&a, 10000);
    latch_begin_wait(&a, 10000);
    latch_begin_wait(&b, 10000);
    redlock_latch_destroy(a.latch);
    latch_expect_arrival(&a, REDLOCK_CANCELED);
    latch_expect_wait(&a, REDLOCK_CANCELED);
    redlock_client_destroy(client);
    latch_expect_wait(&b, REDLOCK_CANCELED);
    redlock_latch_destroy(NULL);
}

TEST(callbacks, a_callback_may_destroy_the_latch)
{
    struct party a = latch_join(1, "a");

    a.destroy = true;
    latch_begin_arrival(&a, 10000);
    latch_begin_wait(&a, 10000);
    rig_wait(&rig, latch_has_waited, &a, "the end of a wait");
    ck_assert_uint_eq(a.arrivals, 1);
    ck_assert_uint_eq(a.waits, 1);
    ck_assert_str_eq(a.names, "a");
}

TEST(callbacks, a_result_stays_as_it_is_while_its_callback_arrives)
{
    struct party a = latch_join(3, "a");
    struct party b = latch_join(3, "b");

    latch_arrive(&b, 10000, REDLOCK_OK);
    a.arrive = true;
    latch_await(&a, 0, REDLOCK_DEADLINE);
    ck_assert_str_eq(a.names, "b");
    latch_expect_arrival(&a, REDLOCK_OK);
}

static void on_end(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool is_over(void *argument)
{
    return *(const int *)argument <= 0;
}

TEST(callbacks, a_client_that_ends_in_order_cancels_first)
{
    struct redlock_client *client = rig_further_client(&rig);
    struct party a = latch_join_as(client, 2, 1, "a");
    int status = 1;

    latch_arrive(&a, 10000, REDLOCK_OK);
    latch_begin_wait(&a, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_client_shutdown(client, 10000, on_end, &status), 0);
    ck_assert_int_eq(redlock_latch_arrive(a.latch, 0, latch_on_arrival, &a), REDLOCK_E_CLOSING);
    rig_wait(&rig, is_over, &status, "the shutdown");
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(a.waits, 1);
    latch_expect_status(a.wait.status, REDLOCK_CANCELED, &a);
}

TEST(callbacks, so_many_latches_and_no_more)
{
    struct redlock_latch *latch;

    for (size_t i = 0; i < REDLOCK_MAX_LATCHES; i++)
        ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), 0);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), REDLOCK_E_LIMIT);
    redlock_latch_destroy(latch);
    ck_assert_int_eq(redlock_latch_create(rig.client, "job", 3, 1, 1, NULL, NULL, &latch), 0);
}

SUITE_WITH_SERVER("latch")
