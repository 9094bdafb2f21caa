/* Latches of a service, by threads that wait. */
#include <stdlib.h>
#include <string.h>

#include <redlock/latch.h>

#include "service_rig.h"

/* What a handle knows it repeats every half second. */
static void tune(struct redlock_options *options, void *data)
{
    options->max_ttl_ms = 1500;
}

static void open_world(void)
{
    world_open_with(3, tune, NULL);
}

static struct redlock_service_latch *join(uint32_t parties, const char *party)
{
    struct redlock_service_latch *latch;

    ck_assert_int_eq(redlock_service_latch_create(world.service, "job", 3, parties, 1, party, NULL, &latch), 0);
    return latch;
}

/* A thread in one of the calls that wait. */
struct thread {
    pthread_t id;
    struct redlock_service_latch *latch;
    bool arrives;
    int status;
};

static void *call(void *argument)
{
    struct thread *thread = argument;

    thread->status = thread->arrives ? redlock_service_latch_arrive(thread->latch, REDLOCK_FOREVER, NULL)
                                     : redlock_service_latch_await(thread->latch, REDLOCK_FOREVER, NULL);
    return NULL;
}

static void start(struct thread *thread, struct redlock_service_latch *latch, bool arrives)
{
    *thread = (struct thread){.latch = latch, .arrives = arrives};
    ck_assert_int_eq(pthread_create(&thread->id, NULL, call, thread), 0);
}

static int join_thread(struct thread *thread)
{
    ck_assert_int_eq(pthread_join(thread->id, NULL), 0);
    return thread->status;
}

/* What the first master has in a field of the latch. */
static bool has(const char *field)
{
    char *text = masters_command(world.rig.masters, 0, (const char *const[]){"HGET", "redlock:latch:job", field, NULL});
    bool there = text && strcmp(text, "(nil)") != 0;

    free(text);
    return there;
}

static bool is_awaited(void *argument)
{
    return has("waiting");
}

static void await_waiter(void)
{
    world_wait(is_awaited, NULL, "a thread that waits");
}

static bool is_back(void *argument)
{
    return has("a:a");
}

GROUP(three, "three", open_world, world_close)

TEST(three, threads_wait_for_each_other)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    struct redlock_service_latch *latches[4];
    struct redlock_latch_result *result;
    struct thread threads[4];

    for (size_t i = 0; i < 4; i++)
        latches[i] = join(4, names[i]);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_service_latch_arrive(latches[i], PATIENCE_MS, NULL), REDLOCK_OK);
    for (size_t i = 0; i < 4; i++)
        start(&threads[i], latches[i], false);
    await_waiter();
    ck_assert_int_eq(redlock_service_latch_arrive(latches[3], PATIENCE_MS, &result), REDLOCK_OK);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(join_thread(&threads[i]), REDLOCK_OK);
    for (size_t i = 0; i < 4; i++)
        redlock_service_latch_destroy(latches[i]);
    ck_assert_uint_ge(result->confirmed, 2); /* the copy lives on */
    ck_assert_str_eq(result->why, "");
    redlock_latch_result_free(result);
}

TEST(three, a_wait_that_ends_early_says_who_has_arrived)
{
    struct redlock_service_latch *a = join(3, "a");
    struct redlock_service_latch *b = join(3, "b");
    struct redlock_latch_result *result;

    ck_assert_int_eq(redlock_service_latch_arrive(b, PATIENCE_MS, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_service_latch_arrive(a, PATIENCE_MS, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_service_latch_await(a, 0, &result), REDLOCK_DEADLINE);
    redlock_service_latch_destroy(a);
    redlock_service_latch_destroy(b);
    ck_assert_int_eq(result->status, REDLOCK_DEADLINE);
    ck_assert_uint_eq(result->n_arrived, 2);
    ck_assert_str_eq(result->arrived[0], "a");
    ck_assert_str_eq(result->arrived[1], "b");
    ck_assert_uint_eq(result->n_nodes, 3);
    ck_assert_str_ne(result->nodes[2].name, "");
    ck_assert_str_eq(result->why, "2 of 3 parties are known to have arrived");
    redlock_latch_result_free(result);
    redlock_latch_result_free(NULL);
}

TEST(three, without_a_quorum_the_copy_says_why)
{
    struct redlock_service_latch *latch = join(1, "a");
    struct redlock_latch_result *result;

    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_hang(world.rig.masters, i));
    ck_assert_int_eq(redlock_service_latch_arrive(latch, 0, &result), REDLOCK_DEADLINE);
    ck_assert_int_eq(result->cause, REDLOCK_NO_QUORUM);
    ck_assert_ptr_nonnull(strstr(result->why, "1 of 3 masters have answered"));
    ck_assert_str_eq(result->nodes[0].detail, "timeout");
    redlock_latch_result_free(result);
    redlock_service_latch_destroy(latch);
}

static void cancel(struct redlock_service_latch *latch)
{
    ck_assert_int_eq(redlock_service_latch_cancel(latch), 0);
    ck_assert_int_eq(redlock_service_latch_cancel(latch), REDLOCK_E_NOTHING_TO_CANCEL);
}

static void shut_down(struct redlock_service_latch *latch)
{
    ck_assert_int_eq(redlock_service_shutdown(world.service, PATIENCE_MS), 0);
    ck_assert_int_eq(redlock_service_latch_await(latch, 0, NULL), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_service_latch_arrive(latch, 0, NULL), REDLOCK_E_CLOSING);
}

TESTS(three, what_ends_a_wait_from_another_thread, 0, 3)
{
    static void (*const ends[])(struct redlock_service_latch *latch) = {cancel, redlock_service_latch_destroy,
                                                                        shut_down};
    struct redlock_service_latch *latch = join(2, "a");
    struct thread waiter;

    start(&waiter, latch, false);
    await_waiter();
    ends[_i](latch);
    ck_assert_int_eq(join_thread(&waiter), REDLOCK_CANCELED);
    if (ends[_i] != redlock_service_latch_destroy)
        redlock_service_latch_destroy(latch);
}

TEST(three, the_end_of_the_service_ends_a_wait)
{
    struct redlock_service *other = world_new_service();
    struct redlock_service_latch *latch;
    struct thread waiter;

    ck_assert_int_eq(redlock_service_latch_create(other, "job", 3, 2, 1, "a", NULL, &latch), 0);
    start(&waiter, latch, false);
    await_waiter();
    redlock_service_destroy(other);
    ck_assert_int_eq(join_thread(&waiter), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_service_latch_await(latch, 0, NULL), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_service_latch_cancel(latch), REDLOCK_E_CLOSING);
    redlock_service_latch_destroy(latch);
}

/* Nobody calls anything meanwhile. */
TEST(three, the_service_brings_back_what_masters_lose)
{
    struct redlock_service_latch *latch = join(2, "a");

    ck_assert_int_eq(redlock_service_latch_arrive(latch, PATIENCE_MS, NULL), REDLOCK_OK);
    rig_do_all(&world.rig, "FLUSHALL", NULL);
    world_wait(is_back, NULL, "the arrival");
    redlock_service_latch_destroy(latch);
}

static void use_inside(struct redlock_client *client, void *user_data)
{
    struct redlock_service_latch *latch = user_data;
    struct redlock_latch_result *result;

    ck_assert_int_eq(redlock_service_latch_await(latch, 0, &result), REDLOCK_E_OWN_THREAD);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(redlock_service_latch_arrive(latch, 0, NULL), REDLOCK_E_OWN_THREAD);
    ck_assert_int_eq(redlock_service_latch_cancel(latch), REDLOCK_E_NOTHING_TO_CANCEL);
    redlock_service_latch_destroy(latch);
}

TEST(three, the_services_thread_cannot_wait_for_itself)
{
    ck_assert_int_eq(redlock_service_run(world.service, use_inside, join(1, "a")), 0);
}

TEST(three, bad_arguments_are_refused)
{
    struct redlock_service_latch *latch = NULL;
    struct redlock_service_latch *waiter = join(1, NULL);

    ck_assert_int_eq(redlock_service_latch_create(NULL, "l", 1, 1, 1, "a", NULL, &latch), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_latch_create(world.service, "l", 1, 1, 1, "a", NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_latch_create(world.service, "", 0, 1, 1, "a", NULL, &latch),
                     REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_service_latch_create(world.service, "l", 1, 0, 1, "a", NULL, &latch), REDLOCK_E_PARTIES);
    ck_assert_ptr_null(latch);
    ck_assert_int_eq(redlock_service_latch_arrive(NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_latch_await(NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_latch_cancel(NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_latch_arrive(waiter, 0, NULL), REDLOCK_E_PARTIES);
    ck_assert_int_eq(redlock_service_latch_await(waiter, -2, NULL), REDLOCK_E_TIMEOUT);
    redlock_service_latch_destroy(waiter);
    redlock_service_latch_destroy(NULL);
}

SUITE_WITH_SERVER("latches")
