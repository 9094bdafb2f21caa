/* The last callbacks: clients and bases that end in them, and what a shutdown still has to do. */
#include <string.h>

#include "world.h"

static void open_three(void)
{
    world_open(3);
}

static void close_world(void)
{
    world_close();
}

static unsigned shutdowns;

static void on_shutdown(struct redlock_client *client, int status, void *user_data)
{
    (void)client;
    (void)status;
    (void)user_data;
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

START_TEST(the_base_is_freed_in_the_last_callback)
{
    struct outcome outcome = {0};

    world_connect();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "b"), NULL, destroy_client_and_base, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "c"), NULL, outcome_record, &outcome), 0);
    redlock_client_destroy(world.client);
    ck_assert_uint_eq(outcome.calls, 3);
}
END_TEST

START_TEST(the_base_is_freed_while_a_lock_is_destroyed)
{
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world_connect();
    lock = world_lock(world.client, "a");
    ck_assert_int_eq(redlock_acquire(lock, NULL, destroy_client_and_base, &outcome), 0);
    redlock_lock_destroy(lock);
    ck_assert_uint_eq(outcome.calls, 1);
}
END_TEST

static void destroy_the_other(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct redlock_client *own = redlock_lock_client(lock);

    outcome_record(lock, result, user_data);
    redlock_client_destroy(own == world.client ? second : world.client);
    redlock_client_destroy(own);
}

START_TEST(two_clients_destroy_each_other)
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
END_TEST

/* --- Shutdown ------------------------------------------------------------------------------------------------ */

static void shut_down_in_callback(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    ck_assert_int_eq(redlock_client_shutdown(redlock_lock_client(lock), 10000, on_shutdown, NULL), 0);
}

static bool has_shut_down(void *argument)
{
    (void)argument;
    return shutdowns > 0;
}

START_TEST(shutdown_releases_a_lock_whose_success_is_not_reported_yet)
{
    struct outcome first = {0}, later = {0};

    world_connect();
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, shut_down_in_callback, &first), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "b"), NULL, outcome_record, &later), 0);
    world_wait(has_shut_down, NULL, "the end of the shutdown");
    ck_assert_uint_eq(later.calls, 1);
    ck_assert_uint_eq(world_count(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("last");
    TCase *three = suite_add_case(suite, "three masters", open_three, close_world);

    tcase_add_test(three, the_base_is_freed_in_the_last_callback);
    tcase_add_test(three, the_base_is_freed_while_a_lock_is_destroyed);
    tcase_add_test(three, two_clients_destroy_each_other);
    tcase_add_test(three, shutdown_releases_a_lock_whose_success_is_not_reported_yet);
    return suite_run(suite);
}
