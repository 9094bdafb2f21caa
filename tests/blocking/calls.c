/* Lock, extend, unlock and their like, one thread. */
#include <check.h>
#include <redlock/metrics.h>
#include <stdlib.h>
#include <string.h>

#include "service_rig.h"
#include "thread.h"

GROUP(three, "calls", world_three, world_close)

TEST(three, a_lock_is_on_all_masters_until_it_is_given_back)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 8000);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 20000, NULL), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 18000);
    ck_assert_int_eq(redlock_mutex_token(mutex, token, sizeof token), 0);
    ck_assert_uint_eq(rig_count_value(&world.rig, "key", token), 3);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_uint_eq(world_count("key"), 0);
}

TEST(three, a_key_may_be_any_bytes)
{
    static const char key[] = {'a', '\0', 'b', '\r', '\n'};
    struct redlock_mutex *mutex = NULL;
    size_t size = 0;

    ck_assert_int_eq(redlock_mutex_create(world.service, key, sizeof key, &mutex), 0);
    ck_assert_mem_eq(redlock_mutex_key(mutex, &size), key, sizeof key);
    ck_assert_uint_eq(size, sizeof key);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    redlock_mutex_destroy(mutex);
}

TEST(three, a_result_tells_each_masters_part_and_outlives_the_service)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(5000, PATIENCE_MS);
    struct redlock_result *result = NULL;

    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, &result), REDLOCK_OK);
    world_destroy(mutex);
    redlock_service_destroy(world.service);
    world.service = NULL;
    ck_assert_ptr_nonnull(result);
    ck_assert_int_eq(result->op, REDLOCK_OP_ACQUIRE);
    ck_assert_int_eq(result->status, REDLOCK_OK);
    ck_assert_uint_eq(result->n_nodes, 3);
    ck_assert_uint_ge(result->granted, 2);
    ck_assert_int_gt(result->remaining_ms, 4000);
    for (size_t i = 0; i < 3; i++)
        ck_assert_msg(strstr(world.rig.urls[i], result->nodes[i].name) != NULL, "%s", result->nodes[i].name);
    redlock_result_free(result);
}

TEST(three, what_another_holds_is_refused_at_once_or_after_the_timeout)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_result *result = NULL;
    struct redlock_acquire_options request = rig_request(10000, 150);
    int64_t began_ms = rig_now_ms();

    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_HELD);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, &result), REDLOCK_DEADLINE);
    ck_assert_int_ge(rig_now_ms() - began_ms, 149); /* the client's clock is the faster one of two */
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_ptr_nonnull(result);
    ck_assert_int_eq(result->status, REDLOCK_DEADLINE);
    if (result->n_nodes) /* none if the thread was so late that the caller gave up on it */
        ck_assert_int_eq(result->cause, REDLOCK_HELD);
    redlock_result_free(result);
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_lock(mutex, REDLOCK_FOREVER), REDLOCK_OK);
}

/* Nobody knows yet what the masters say. */
TEST(three, a_deadline_has_a_result_while_the_services_thread_is_busy)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, 30);
    struct redlock_result *result = NULL;
    struct plug plug;

    plug_in(&plug, world.service);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, &result), REDLOCK_DEADLINE);
    plug_out(&plug);
    ck_assert_ptr_nonnull(result);
    ck_assert_int_eq(result->op, REDLOCK_OP_ACQUIRE);
    ck_assert_int_eq(result->status, REDLOCK_DEADLINE);
    ck_assert_int_ge(result->elapsed_us, 30000);
    ck_assert_uint_eq(result->n_nodes, 0);
    ck_assert_str_eq(result->why, redlock_strerror(REDLOCK_DEADLINE));
    redlock_result_free(result);
}

static bool has_passed(void *end_ms)
{
    return rig_now_ms() > *(int64_t *)end_ms;
}

/* The time that it has waited for the service's thread does not make it shorter. */
TEST(three, a_timeout_that_is_too_long_is_refused_however_late)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(10000, REDLOCK_MAX_TIMEOUT_MS + 1);
    struct redlock_completion *completion;
    struct redlock_queue *queue;
    struct plug plug;
    int64_t end_ms;

    ck_assert_int_eq(redlock_queue_create(world.service, &queue), 0);
    plug_in(&plug, world.service);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, &request, queue, NULL), 0);
    end_ms = rig_now_ms() + 5;
    world_wait(has_passed, &end_ms, "5 ms");
    plug_out(&plug);
    ck_assert_int_eq(redlock_queue_next(queue, PATIENCE_MS, &completion), 0);
    ck_assert_int_eq(completion->status, REDLOCK_E_TIMEOUT);
    redlock_completion_free(completion);
    redlock_queue_destroy(queue);
}

static bool is_renewed(void *service)
{
    struct redlock_stats stats = world_stats(service);

    return stats.renewals - stats.renewals_failed > 3;
}

TEST(three, a_held_lock_is_renewed_until_it_is_unlocked)
{
    struct redlock_acquire_options request = rig_request(20000, PATIENCE_MS);
    struct redlock_mutex *mutex = world_new_mutex("key");

    request.renew_ms = 100;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    world_wait(is_renewed, world.service, "renewals");
    ck_assert_int_gt(redlock_mutex_remaining_ns(mutex), 0);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

static bool is_over(void *argument)
{
    return redlock_mutex_remaining_ns(argument) == 0;
}

TEST(three, remaining_ends_in_time_while_the_services_thread_is_busy)
{
    struct redlock_mutex *mutex = world_hold("key", 400);
    int64_t end_ms = rig_now_ms() + redlock_mutex_remaining_ms(mutex) + 1;
    struct plug plug;

    plug_in(&plug, world.service);
    world_wait(is_over, mutex, "the validity to end");
    ck_assert_uint_eq(redlock_mutex_fence(mutex), 0);
    plug_out(&plug);
    ck_assert_int_ge(rig_now_ms(), end_ms - 2);
    world_wait_lost(world.service, 1);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
}

static void ask_client(struct redlock_client *client, void *user_data)
{
    struct redlock_stats *stats = user_data;

    ck_assert_int_eq(redlock_client_stats(client, stats, sizeof *stats), 0);
}

TEST(three, a_shorter_ttl_is_published_before_the_call_returns)
{
    struct redlock_mutex *mutex = world_hold_lease("key", 30000);

    ck_assert_int_gt(redlock_mutex_remaining_ms(mutex), 20000);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 1000, NULL), REDLOCK_OK);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_le(redlock_mutex_remaining_ms(mutex), 1000);
}

TEST(three, fencing_tokens_grow)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(5000, PATIENCE_MS);
    uint64_t before = 0;

    request.fenced = 1;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
        ck_assert_uint_gt(redlock_mutex_fence(mutex), before);
        before = redlock_mutex_fence(mutex);
        ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
        ck_assert_uint_eq(redlock_mutex_fence(mutex), 0);
    }
}

TEST(three, a_detached_lock_is_released_by_its_token)
{
    struct redlock_mutex *mutex = world_hold("key", 20000);
    struct redlock_mutex *other = world_new_mutex("key");
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    ck_assert_int_eq(redlock_mutex_token(mutex, token, 4), REDLOCK_E_LIMIT);
    ck_assert_int_eq(redlock_mutex_token(mutex, token, sizeof token), 0);
    ck_assert_int_eq(redlock_mutex_detach(mutex), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ns(mutex), 0);
    world_destroy(mutex);
    ck_assert_uint_eq(rig_count_value(&world.rig, "key", token), 3);
    ck_assert_int_eq(redlock_mutex_release_token(other, token, NULL), REDLOCK_OK);
    ck_assert_uint_eq(world_count("key"), 0);
    ck_assert_int_eq(redlock_mutex_lock(other, 0), REDLOCK_OK);
    ck_assert_int_gt(redlock_mutex_remaining_ns(other), 0);
}

struct foreign_release {
    struct redlock_mutex *mutex;
    atomic_long id;
};

static void *release_foreign(void *argument)
{
    struct foreign_release *release = argument;

    atomic_store(&release->id, thread_self());
    return (void *)(intptr_t)redlock_mutex_release_token(release->mutex, "another", NULL);
}

static bool has_begun(void *argument)
{
    return atomic_load(&((struct foreign_release *)argument)->id) != 0;
}

/* Before the service's thread refuses it, too. */
TEST(three, a_release_by_a_foreign_token_leaves_a_held_lock_as_it_is)
{
    struct foreign_release release = {.mutex = world_hold("key", 30000)};
    pthread_t thread;
    struct plug plug;
    void *status;

    plug_in(&plug, world.service);
    ck_assert_int_eq(pthread_create(&thread, NULL, release_foreign, &release), 0);
    world_wait(has_begun, &release, "a thread");
    thread_await_sleep(atomic_load(&release.id));
    ck_assert_int_gt(redlock_mutex_remaining_ns(release.mutex), 0);
    plug_out(&plug);
    pthread_join(thread, &status);
    ck_assert_int_eq((intptr_t)status, REDLOCK_E_ALREADY_HELD);
    ck_assert_int_gt(redlock_mutex_remaining_ns(release.mutex), 0);
}

TEST(three, an_exported_lock_lives_on_in_who_adopts_it)
{
    struct redlock_mutex *giver = world_hold("key", 20000);
    struct redlock_mutex *taker = world_new_mutex("key");
    char text[REDLOCK_MAX_EXPORT_BYTES];

    ck_assert_int_eq(redlock_mutex_export(giver, text, sizeof text), 0);
    ck_assert_int_eq(redlock_mutex_remaining_ns(giver), 0);
    ck_assert_int_eq(redlock_mutex_adopt(taker, NULL, text), 0);
    ck_assert_int_gt(redlock_mutex_remaining_ms(taker), 10000);
    ck_assert_int_eq(redlock_mutex_unlock(taker), REDLOCK_OK);
    ck_assert_uint_eq(world_count("key"), 0);
}

TEST(three, statistics_and_the_client_are_within_reach)
{
    struct redlock_stats stats;
    struct redlock_stats seen_inside = {0};
    char page[16384];
    struct redlock_node_stats node;

    world_hold("key", 20000);
    stats = world_stats(world.service);
    ck_assert_uint_eq(stats.acquires, 1);
    ck_assert_uint_eq(stats.acquired, 1);
    ck_assert_int_eq(redlock_service_run(world.service, ask_client, &seen_inside), 0);
    ck_assert_uint_eq(seen_inside.acquired, 1);
    ck_assert_uint_eq(redlock_service_node_count(world.service), 3);
    ck_assert_int_eq(redlock_service_node_stats(world.service, 2, &node, sizeof node), 0);
    ck_assert_int_eq(node.link, REDLOCK_LINK_READY);
    ck_assert_int_eq(redlock_service_node_stats(world.service, 3, &node, sizeof node), REDLOCK_E_ARGUMENT);
    ck_assert_int_gt(redlock_service_metrics(world.service, NULL, 0, page, sizeof page), 0);
    ck_assert_ptr_nonnull(strstr(page, "\nredlock_acquires_total 1\n"));
}

SUITE_WITH_SERVER("calls")
