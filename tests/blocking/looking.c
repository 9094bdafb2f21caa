/* Looks of a service, by threads that wait. */
#include <string.h>

#include <redlock/look.h>

#include "service_rig.h"

GROUP(three, "three", world_three, world_close)

TEST(three, a_look_gives_a_copy_that_lives_on)
{
    struct redlock_mutex *mutex = world_hold("key", 20000);
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_look_result *result;

    ck_assert_int_eq(redlock_mutex_token(mutex, token, sizeof token), 0);
    ck_assert_int_eq(redlock_service_look(world.service, "key", 3, &result), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), 0);
    ck_assert_int_eq(result->verdict, REDLOCK_LOOK_EXCLUSIVE);
    ck_assert_str_eq(result->values[0].value, token);
    ck_assert_uint_eq(result->n_nodes, 3);
    ck_assert_str_ne(result->nodes[0].name, "");
    ck_assert_str_eq(result->why, "");
    redlock_look_result_free(result);
}

TEST(three, without_a_quorum_the_copy_says_why)
{
    struct redlock_look_result *result;

    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_hang(world.rig.masters, i));
    ck_assert_int_eq(redlock_service_look(world.service, "key", 3, &result), REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(result->why, "1 of 3 masters have answered"));
    ck_assert_str_eq(result->nodes[0].detail, "timeout");
    redlock_look_result_free(result);
    ck_assert_int_eq(redlock_service_look(world.service, "", 0, &result), REDLOCK_E_KEY_EMPTY);
    ck_assert_ptr_null(result);
}

static void look_inside(struct redlock_client *client, void *user_data)
{
    struct redlock_look_result *result;

    *(int *)user_data = redlock_service_look(world.service, "key", 3, &result);
}

TEST(three, the_services_thread_cannot_wait_for_itself)
{
    struct redlock_look_result *result;
    int status = 0;

    ck_assert_int_eq(redlock_service_run(world.service, look_inside, &status), 0);
    ck_assert_int_eq(status, REDLOCK_E_OWN_THREAD);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 10000), 0);
    ck_assert_int_eq(redlock_service_look(world.service, "key", 3, &result), REDLOCK_E_CLOSING);
}

SUITE_WITH_SERVER("looking")
