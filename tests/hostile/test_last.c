/* The last callbacks: clients and bases that end in them, and what a shutdown still has to do. */
#include <redlock/election.h>
#include <redlock/latch.h>
#include <redlock/look.h>
#include <redlock/set.h>
#include <string.h>

#include "world.h"

static unsigned shutdowns;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    shutdowns++;
}

static struct redlock_client *second;

static void destroy_client_and_base(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    redlock_client_destroy(world.client);
    world.client = NULL;
    event_base_free(world.base);
    world.base = NULL;
    ck_assert_uint_gt(strlen(result->nodes[0].name), 0);
}

GROUP(three, "three masters", world_three, world_close)

TEST(three, the_base_is_freed_in_the_last_callback)
{
    struct outcome outcome = {0};

    world_connect();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "b"), NULL, destroy_client_and_base, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "c"), NULL, outcome_record, &outcome), 0);
    redlock_client_destroy(world.client);
    ck_assert_uint_eq(outcome.calls, 3);
}

TEST(three, the_base_is_freed_while_a_lock_is_destroyed)
{
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world_connect();
    lock = world_lock(world.client, "a");
    ck_assert_int_eq(redlock_acquire(lock, NULL, destroy_client_and_base, &outcome), 0);
    redlock_lock_destroy(lock);
    ck_assert_uint_eq(outcome.calls, 1);
}

static void destroy_the_other(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_client *own = redlock_lock_client(lock);

    outcome_record(lock, result, user_data);
    redlock_client_destroy(own == world.client ? second : world.client);
    redlock_client_destroy(own);
}

TEST(three, two_clients_destroy_each_other)
{
    struct outcome outcome = {0};

    world_connect();
    second = world_client();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, destroy_the_other, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(second, "b"), NULL, destroy_the_other, &outcome), 0);
    world_wait_outcome(&outcome);
    world_steps(5);
    ck_assert_uint_eq(outcome.calls, 2);
    world.client = NULL;
}

/* --- Handles of every kind ----------------------------------------------------------------------------------- */

static struct {
    struct redlock_lock *lock;
    struct redlock_set *set;
    struct redlock_election *election;
    struct redlock_latch *latch;
} all;

/* A client ends what it has in the order in which it was created. */
enum kind { LOCK, SET, LATCH, LOOK };

static unsigned ended;
static int acting; /* the kind whose callback uses and destroys everything */

/* Whatever the client has ended before: its handle is still there, and refuses. */
static void end_of(enum kind kind)
{
    ended++;
    if ((int)kind != acting)
        return;
    ck_assert_int_eq(redlock_cancel(all.lock), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_remaining_ns(all.lock), 0);
    ck_assert(kind < SET || redlock_set_cancel(all.set) == REDLOCK_E_CLOSING);
    ck_assert(kind < SET || redlock_set_remaining_ns(all.set) == 0);
    ck_assert(kind < LATCH || redlock_election_resign(all.election) == REDLOCK_E_CLOSING);
    ck_assert(kind < LATCH || redlock_election_remaining_ns(all.election) == 0);
    ck_assert(kind < LATCH || redlock_latch_cancel(all.latch) == REDLOCK_E_CLOSING);
    ck_assert(kind < LOOK || !redlock_latch_name(all.latch, NULL));
    redlock_latch_destroy(all.latch);
    redlock_election_destroy(all.election);
    redlock_set_destroy(all.set);
    redlock_lock_destroy(all.lock);
    redlock_client_destroy(world.client);
}

static void on_lock(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    end_of(LOCK);
}

static void on_set(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    end_of(SET);
}

static void on_latch(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    end_of(LATCH);
}

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    end_of(LOOK);
}

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
}

static void start_all(void)
{
    all.lock = world_lock(world.client, "lock");
    ck_assert_int_eq(redlock_acquire(all.lock, NULL, on_lock, NULL), 0);
    ck_assert_int_eq(redlock_set_create(world.client, &all.set), 0);
    ck_assert_int_eq(redlock_set_add(all.set, "a", 1), 0);
    ck_assert_int_eq(redlock_set_add(all.set, "b", 1), 0);
    ck_assert_int_eq(redlock_set_acquire(all.set, NULL, on_set, NULL), 0);
    ck_assert_int_eq(redlock_election_create(world.client, "election", 8, &all.election), 0);
    ck_assert_int_eq(redlock_election_campaign(all.election, NULL, on_event, NULL), 0);
    ck_assert_int_eq(redlock_latch_create(world.client, "latch", 5, 2, 1, "me", NULL, &all.latch), 0);
    ck_assert_int_eq(redlock_latch_await(all.latch, REDLOCK_FOREVER, on_latch, NULL), 0);
    ck_assert_int_eq(redlock_look(world.client, "lock", 4, on_look, NULL), 0);
}

TESTS(three, handles_of_every_kind_last_until_their_client_is_destroyed, LOCK, LOOK + 1)
{
    acting = _i;
    world_connect();
    start_all();
    redlock_client_destroy(world.client);
    world.client = NULL;
    ck_assert_uint_eq(ended, 4);
}

static void cancel_again(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    ck_assert_int_eq(result->status, REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_latch_cancel(latch), REDLOCK_E_CLOSING);
    ended++;
}

TEST(three, a_latch_that_is_being_destroyed_cannot_be_canceled)
{
    struct redlock_latch *latch;

    world_connect();
    ck_assert_int_eq(redlock_latch_create(world.client, "latch", 5, 2, 1, "me", NULL, &latch), 0);
    ck_assert_int_eq(redlock_latch_arrive(latch, REDLOCK_FOREVER, cancel_again, NULL), 0);
    ck_assert_int_eq(redlock_latch_await(latch, REDLOCK_FOREVER, cancel_again, NULL), 0);
    redlock_latch_destroy(latch);
    ck_assert_uint_eq(ended, 2);
    world_steps(5);
}

/* --- Shutdown ------------------------------------------------------------------------------------------------ */

static void shut_down_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    ck_assert_int_eq(redlock_client_shutdown(redlock_lock_client(lock), 10000, on_shutdown, NULL), 0);
}

static bool has_shut_down(void *argument)
{
    return shutdowns > 0;
}

TEST(three, shutdown_releases_a_lock_whose_success_is_not_reported_yet)
{
    struct outcome first = {0}, later = {0};

    world_connect();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, shut_down_in_callback, &first), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "b"), NULL, outcome_record, &later), 0);
    world_wait(has_shut_down, NULL, "the end of the shutdown");
    ck_assert_uint_eq(later.calls, 1);
    ck_assert_uint_eq(world_count(), 0);
}

SUITE("last")
