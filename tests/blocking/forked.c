/* fork(): in the child every call fails, and what it frees reaches neither the masters nor the parent. */
#include <check.h>
#include <redlock/latch.h>
#include <redlock/metrics.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service_rig.h"

struct inherited {
    struct redlock_service *service;
    struct redlock_mutex *mutex;
    struct redlock_queue *queue;
    struct redlock_service_latch *latch;
};

static struct redlock_service_latch *new_latch(void)
{
    struct redlock_service_latch *latch;

    ck_assert_int_eq(redlock_service_latch_create(world.service, "l", 1, 1, 1, "a", NULL, &latch), 0);
    return latch;
}

static struct inherited inherit(void)
{
    struct inherited inherited = {.service = world.service, .mutex = world_hold("key", 30000)};

    ck_assert_int_eq(redlock_queue_create(world.service, &inherited.queue), 0);
    inherited.latch = new_latch();
    return inherited;
}

static void destroy_parts(const struct inherited *inherited)
{
    redlock_service_latch_destroy(inherited->latch);
    redlock_queue_destroy(inherited->queue);
    world_destroy(inherited->mutex);
}

/* The child's exit status tells whether `check` was satisfied. One that is stuck is ended by its alarm. */
static void in_child(bool (*check)(struct inherited *), struct inherited *inherited)
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(SUITE_PATIENCE_S);
        _exit(check(inherited) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was not satisfied: status %x", status);
}

static void must_not_run(struct redlock_client *client, void *user_data)
{
    _exit(3);
}

static bool mutex_calls_fail(struct redlock_mutex *mutex, struct redlock_queue *queue)
{
    char text[REDLOCK_MAX_EXPORT_BYTES];

    return redlock_mutex_lock(mutex, 10) == REDLOCK_E_FORKED && redlock_mutex_trylock(mutex) == REDLOCK_E_FORKED &&
           redlock_mutex_extend(mutex, 0, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_convert(mutex, REDLOCK_SHARED, 0, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_unlock(mutex) == REDLOCK_E_FORKED && redlock_mutex_cancel(mutex) == REDLOCK_E_FORKED &&
           redlock_mutex_token(mutex, text, sizeof text) == REDLOCK_E_FORKED &&
           redlock_mutex_detach(mutex) == REDLOCK_E_FORKED &&
           redlock_mutex_export(mutex, text, sizeof text) == REDLOCK_E_FORKED &&
           redlock_mutex_adopt(mutex, NULL, "text") == REDLOCK_E_FORKED &&
           redlock_mutex_release_token(mutex, "token", NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_watch(mutex, NULL, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_watch_queue(mutex, queue, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_acquire_async(mutex, NULL, queue, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_extend_async(mutex, 0, queue, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_release_async(mutex, queue, NULL) == REDLOCK_E_FORKED &&
           redlock_mutex_remaining_ns(mutex) == 0 && redlock_mutex_fence(mutex) == 0;
}

static bool latch_calls_fail(struct redlock_service *service, struct redlock_service_latch *latch)
{
    struct redlock_service_latch *another;

    return redlock_service_latch_create(service, "l", 1, 1, 1, "a", NULL, &another) == REDLOCK_E_FORKED &&
           redlock_service_latch_arrive(latch, 0, NULL) == REDLOCK_E_FORKED &&
           redlock_service_latch_await(latch, 0, NULL) == REDLOCK_E_FORKED &&
           redlock_service_latch_cancel(latch) == REDLOCK_E_FORKED;
}

static bool every_call_fails(struct inherited *inherited)
{
    struct redlock_mutex *mutex = NULL;
    struct redlock_queue *queue = NULL;
    struct redlock_completion *completion = NULL;
    struct redlock_stats stats;
    struct redlock_node_stats node;

    return mutex_calls_fail(inherited->mutex, inherited->queue) &&
           latch_calls_fail(inherited->service, inherited->latch) &&
           redlock_mutex_create(inherited->service, "x", 1, &mutex) == REDLOCK_E_FORKED &&
           redlock_queue_create(inherited->service, &queue) == REDLOCK_E_FORKED &&
           redlock_queue_next(inherited->queue, 0, &completion) == REDLOCK_E_FORKED &&
           redlock_queue_fd(inherited->queue) == -1 &&
           redlock_service_stats(inherited->service, &stats, sizeof stats) == REDLOCK_E_FORKED &&
           redlock_service_node_stats(inherited->service, 0, &node, sizeof node) == REDLOCK_E_FORKED &&
           redlock_service_metrics(inherited->service, NULL, 0, NULL, 0) == REDLOCK_E_FORKED &&
           redlock_service_run(inherited->service, must_not_run, NULL) == REDLOCK_E_FORKED &&
           redlock_service_shutdown(inherited->service, 10) == REDLOCK_E_FORKED;
}

GROUP(three, "forked", world_three, world_close)

TEST(three, every_call_in_the_child_fails)
{
    struct inherited inherited = inherit();

    in_child(every_call_fails, &inherited);
    ck_assert_int_gt(redlock_mutex_remaining_ns(inherited.mutex), 0);
    destroy_parts(&inherited);
}

static bool destroy_all(struct inherited *inherited)
{
    redlock_service_destroy(inherited->service);
    destroy_parts(inherited);
    return true;
}

static bool destroy_in_order(struct inherited *inherited)
{
    destroy_parts(inherited);
    redlock_service_destroy(inherited->service);
    return true;
}

static void expect_unharmed_connections(void)
{
    for (size_t i = 0; i < 3; i++) {
        struct redlock_node_stats stats;

        ck_assert_int_eq(redlock_service_node_stats(world.service, i, &stats, sizeof stats), 0);
        ck_assert_uint_eq(stats.connects, 1);
        ck_assert_uint_eq(stats.disconnects, 0);
    }
}

static void expect_unharmed(struct redlock_mutex *mutex)
{
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    ck_assert_int_eq(redlock_mutex_token(mutex, token, sizeof token), 0);
    ck_assert_uint_eq(rig_count_value(&world.rig, "key", token), 3);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 0, NULL), REDLOCK_OK);
    expect_unharmed_connections();
}

TEST(three, destroying_in_the_child_leaves_the_parents_lock_alone)
{
    struct inherited inherited = inherit();

    in_child(destroy_all, &inherited);
    expect_unharmed(inherited.mutex);
    in_child(destroy_in_order, &inherited);
    expect_unharmed(inherited.mutex);
    destroy_parts(&inherited);
}

static bool a_service_of_its_own_works(struct inherited *inherited)
{
    struct redlock_service *theirs = world.service;
    struct redlock_mutex *mutex;
    bool held;

    world.service = world_new_service();
    mutex = world_new_mutex("child");
    held = redlock_mutex_lock(mutex, 10000) == REDLOCK_OK && redlock_mutex_unlock(mutex) == REDLOCK_OK;
    redlock_mutex_destroy(mutex);
    redlock_service_destroy(world.service);
    world.service = theirs;
    return held;
}

TEST_IF(CHILDREN_MAY_HAVE_THREADS, three, a_service_created_in_the_child_works)
{
    struct inherited inherited = {.service = world.service, .mutex = world_hold("key", 30000)};

    in_child(a_service_of_its_own_works, &inherited);
    expect_unharmed(inherited.mutex);
}

/* --- fork() at any moment --------------------------------------------------------------------------------------- */

#define WORKERS 3
#define FORKS 25

struct work {
    struct redlock_mutex *mutexes[WORKERS];
    struct redlock_queue *queue;
    atomic_bool stop;
    atomic_uint cycles;
    atomic_uint next;
};

static void *work_on(void *argument)
{
    struct work *work = argument;
    struct redlock_mutex *mutex = work->mutexes[atomic_fetch_add(&work->next, 1)];

    while (!atomic_load(&work->stop)) {
        struct redlock_completion *completion = NULL;

        suite_any(redlock_mutex_lock(mutex, 1000));
        redlock_mutex_unlock(mutex);
        suite_any(redlock_mutex_acquire_async(mutex, NULL, work->queue, NULL));
        redlock_queue_next(work->queue, 100, &completion);
        redlock_completion_free(completion);
        redlock_mutex_unlock(mutex);
        atomic_fetch_add(&work->cycles, 1);
    }
    return NULL;
}

/* Whatever the other threads had locked in the parent stays locked here. */
static bool leaves_it_all(struct inherited *inherited)
{
    return every_call_fails(inherited) && destroy_all(inherited);
}

TEST(three, a_fork_at_any_moment_does_not_block_the_child)
{
    struct work work = {.next = 0};
    struct redlock_service_latch *latch = new_latch();
    pthread_t threads[WORKERS];

    ck_assert_int_eq(redlock_queue_create(world.service, &work.queue), 0);
    for (int i = 0; i < WORKERS; i++) {
        char key[] = {'k', (char)('0' + i), '\0'};

        work.mutexes[i] = world_new_mutex(key);
    }
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_on, &work), 0);
    for (int i = 0; i < FORKS; i++)
        in_child(leaves_it_all, &(struct inherited){.service = world.service, .mutex = work.mutexes[i % WORKERS],
                                                    .queue = work.queue, .latch = latch});
    atomic_store(&work.stop, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    redlock_queue_destroy(work.queue);
    redlock_service_latch_destroy(latch);
    ck_assert_uint_gt(work.cycles, 0);
    expect_unharmed_connections();
}

SUITE_WITH_SERVER("forked")
