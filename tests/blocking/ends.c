/* The ends of mutexes and services, with threads waiting in their calls. */
#include <check.h>
#include <redlock/metrics.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service_rig.h"

#define CALLERS 4

GROUP(three, "ends", world_three, world_close)

TEST(three, destroying_a_mutex_cancels_the_thread_that_waits_in_it)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;

    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 2);
    world_destroy(mutex);
    ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
    world_destroy(holder);
    world_wait_absent("key");
}

TEST(three, destroying_the_service_cancels_all_who_wait_and_releases_what_is_held)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutexes[CALLERS];
    struct caller callers[CALLERS];

    for (int i = 0; i < CALLERS; i++) {
        mutexes[i] = world_new_mutex("key");
        caller_start(&callers[i], mutexes[i], REDLOCK_FOREVER);
    }
    world_wait_acquires(world.service, 1 + CALLERS);
    redlock_service_destroy(world.service);
    world.service = NULL;
    for (int i = 0; i < CALLERS; i++) {
        ck_assert_int_eq(caller_join(&callers[i]), REDLOCK_CANCELED);
        ck_assert_int_eq(redlock_mutex_trylock(mutexes[i]), REDLOCK_E_CLOSING);
        world_destroy(mutexes[i]);
    }
    ck_assert_int_eq(redlock_mutex_remaining_ns(holder), 0);
    ck_assert_int_eq(redlock_mutex_unlock(holder), REDLOCK_E_CLOSING);
    world_destroy(holder);
    world_wait_absent("key");
}

TEST(three, destroying_a_mutex_releases_its_lock)
{
    world_destroy(world_hold("key", 10000));
    world_wait_absent("key");
}

TEST(three, shutdown_waits_for_the_release_of_what_is_held)
{
    struct redlock_mutex *holder = world_hold("key", 10000);
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_mutex *another = NULL;
    struct caller caller;

    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 2);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 10000), 0);
    ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
    ck_assert_int_eq(redlock_mutex_remaining_ns(holder), 0);
    ck_assert_uint_eq(world_count("key"), 0);
    ck_assert_int_eq(redlock_mutex_trylock(mutex), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_mutex_create(world.service, "x", 1, &another), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 10000), REDLOCK_E_CLOSING);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 0), REDLOCK_E_CLOSING);
}

TEST(three, shutdown_says_when_the_masters_do_not_confirm)
{
    struct redlock_mutex *holder = world_hold("key", 10000);

    rig_hang_masters(&world.rig, 3);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 100), REDLOCK_DEADLINE);
    ck_assert_int_eq(redlock_mutex_remaining_ns(holder), 0);
    rig_resume_masters(&world.rig, 3);
}

static void *shut_down(void *service)
{
    return (void *)(intptr_t)redlock_service_shutdown(service, 20000);
}

static bool is_closing(void *service)
{
    struct redlock_mutex *mutex = NULL;

    if (redlock_mutex_create(service, "probe", 5, &mutex) == REDLOCK_E_CLOSING)
        return true;
    redlock_mutex_destroy(mutex);
    return false;
}

TEST(three, destroying_the_service_cancels_a_shutdown)
{
    pthread_t thread;
    void *status = NULL;

    world_hold("key", 10000);
    rig_hang_masters(&world.rig, 7);
    ck_assert_int_eq(pthread_create(&thread, NULL, shut_down, world.service), 0);
    world_wait(is_closing, world.service, "the shutdown to begin");
    redlock_service_destroy(world.service);
    world.service = NULL;
    pthread_join(thread, &status);
    ck_assert_int_eq((intptr_t)status, REDLOCK_CANCELED);
}

TEST(three, a_service_without_masters_that_answer_ends_at_once)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct caller caller;

    for (size_t i = 0; i < 3; i++)
        ck_assert_msg(masters_kill(world.rig.masters, i), "%s", masters_error());
    caller_start(&caller, mutex, REDLOCK_FOREVER);
    world_wait_acquires(world.service, 1);
    redlock_service_destroy(world.service);
    world.service = NULL;
    ck_assert_int_eq(caller_join(&caller), REDLOCK_CANCELED);
}

/* --- Errors ----------------------------------------------------------------------------------------------------- */

TEST(three, creation_says_what_is_wrong)
{
    const char *twice[] = {world.rig.urls[0], world.rig.urls[0]};
    struct redlock_service *service = NULL;
    struct redlock_options options;
    struct redlock_error error = {0};

    ck_assert_int_eq(redlock_service_create(twice, 2, NULL, &service, &error), REDLOCK_E_DUPLICATE_MASTER);
    ck_assert_int_eq(error.status, REDLOCK_E_DUPLICATE_MASTER);
    ck_assert_ptr_nonnull(strstr(error.text, "same"));
    ck_assert_int_eq(redlock_service_create(twice, 0, NULL, &service, NULL), REDLOCK_E_NO_MASTERS);
    ck_assert_int_eq(redlock_service_create(twice, 1, NULL, NULL, &error), REDLOCK_E_ARGUMENT);
    redlock_options_init(&options);
    options.quorum = 3;
    ck_assert_int_eq(redlock_service_create(twice, 1, &options, &service, &error), REDLOCK_E_QUORUM);
    memset(&options, 0, sizeof options);
    ck_assert_int_eq(redlock_service_create(twice, 1, &options, &service, &error), REDLOCK_E_OPTIONS_SIZE);
    ck_assert_ptr_null(service);
}

/* The other descriptors are taken, and the process has to live. */
TEST(three, creation_with_few_descriptors_is_refused_or_succeeds)
{
    int status = REDLOCK_E_SYSTEM;
    struct rlimit limit;
    int next = dup(STDERR_FILENO);

    ck_assert_int_ge(next, 0);
    close(next);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (rlim_t left = 0; status == REDLOCK_E_SYSTEM && left < 16; left++) {
        const struct rlimit few = {(rlim_t)next + left, limit.rlim_max};
        struct redlock_service *service = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        status = redlock_service_create(world.rig.urls, 3, NULL, &service, NULL);
        redlock_service_destroy(service);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        ck_assert(left > 0 || status == REDLOCK_E_SYSTEM);
    }
    ck_assert_int_eq(status, 0);
}

TEST(three, missing_arguments_are_refused)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_stats stats;
    struct redlock_result *result = (void *)&stats;
    char text[8];

    ck_assert_int_eq(redlock_mutex_create(NULL, "x", 1, &mutex), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create(world.service, NULL, 1, &mutex), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_create(world.service, "x", 1, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_acquire(NULL, NULL, &result), REDLOCK_E_ARGUMENT);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(redlock_mutex_lock(NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_extend(NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_unlock(NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_cancel(NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_token(mutex, NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_token(NULL, text, sizeof text), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_release_token(mutex, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_adopt(mutex, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_export(mutex, NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_acquire_async(mutex, NULL, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_stats(NULL, &stats, sizeof stats), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_stats(world.service, NULL, 0), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_metrics(NULL, NULL, 0, text, sizeof text), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_metrics(world.service, NULL, 1, text, sizeof text), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_run(world.service, NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_service_shutdown(NULL, 1), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_queue_create(NULL, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_queue_next(NULL, 0, NULL), REDLOCK_E_ARGUMENT);
    ck_assert_int_eq(redlock_mutex_remaining_ns(NULL), 0);
    ck_assert_uint_eq(redlock_mutex_fence(NULL), 0);
    redlock_mutex_destroy(NULL);
    redlock_service_destroy(NULL);
    redlock_queue_destroy(NULL);
    redlock_completion_free(NULL);
    redlock_result_free(NULL);
}

TEST(three, what_the_client_refuses_is_refused_here)
{
    struct redlock_mutex *mutex = NULL;
    struct redlock_acquire_options request = rig_request(0, 0);
    char long_key[REDLOCK_MAX_KEY_BYTES + 1];

    memset(long_key, 'k', sizeof long_key);
    ck_assert_int_eq(redlock_mutex_create(world.service, "", 0, &mutex), REDLOCK_E_KEY_EMPTY);
    ck_assert_int_eq(redlock_mutex_create(world.service, long_key, sizeof long_key, &mutex), REDLOCK_E_KEY_TOO_LONG);
    ck_assert_int_eq(redlock_mutex_create(world.service, "redlock:marker", 14, &mutex), REDLOCK_E_KEY_RESERVED);
    mutex = world_new_mutex("key");
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_E_TTL);
    memset(&request, 0, sizeof request);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_E_OPTIONS_SIZE);
    ck_assert_int_eq(redlock_mutex_lock(mutex, -7), REDLOCK_E_TIMEOUT);
    ck_assert_int_eq(redlock_mutex_extend(mutex, 0, NULL), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_mutex_detach(mutex), REDLOCK_E_NOT_HELD);
    ck_assert_int_eq(redlock_service_shutdown(world.service, 0), REDLOCK_E_TIMEOUT);
}

TEST(three, options_of_every_size_that_init_accepts_are_accepted)
{
    for (size_t size = sizeof(size_t); size <= sizeof(struct redlock_acquire_options); size += 4) {
        struct redlock_mutex *mutex = world_new_mutex("key");
        struct redlock_acquire_options request;
        char text[REDLOCK_MAX_EXPORT_BYTES];

        redlock_acquire_options_init_size(&request, size);
        ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
        ck_assert_int_eq(redlock_mutex_export(mutex, text, sizeof text), 0);
        ck_assert_int_eq(redlock_mutex_adopt(mutex, &request, text), 0);
        redlock_mutex_unlock(mutex);
    }
}

TEST(three, a_service_is_created_with_options_of_every_size)
{
    for (size_t size = sizeof(size_t); size <= sizeof(struct redlock_options); size += 4) {
        struct redlock_service *service = NULL;
        struct redlock_options options;
        struct redlock_error error;

        redlock_options_init_size(&options, size);
        ck_assert_msg(redlock_service_create(world.rig.urls, 3, &options, &service, &error) == 0, "%s", error.text);
        redlock_service_destroy(service);
    }
}

TEST(three, a_lock_call_can_say_why_not)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    char why[REDLOCK_MAX_WHY_BYTES] = "";

    world_hold("key", 10000);
    ck_assert_int_eq(redlock_mutex_lock_why(mutex, 0, why, sizeof why), REDLOCK_HELD);
    ck_assert_str_eq(why, redlock_strerror(REDLOCK_HELD));
    rig_hang_masters(&world.rig, 7);
    ck_assert_int_lt(redlock_mutex_lock_why(mutex, 0, why, sizeof why), 0);
    ck_assert_msg(strstr(why, "of 3 masters") != NULL, "%s", why);
    ck_assert_int_eq(redlock_mutex_lock_why(mutex, -7, why, sizeof why), REDLOCK_E_TIMEOUT);
    ck_assert_str_eq(why, redlock_strerror(REDLOCK_E_TIMEOUT));
    ck_assert_int_eq(redlock_mutex_lock_why(mutex, 0, NULL, 0), REDLOCK_E_ARGUMENT);
}

/* --- The end of the process ------------------------------------------------------------------------------------- */

static void start_masters(void)
{
    memset(&world, 0, sizeof world);
    rig_start_masters(&world.rig, 3, NULL);
}

static void destroy_service(void)
{
    redlock_service_destroy(world.service);
}

/* LeakSanitizer asks for it at the end of a process. The service's thread may end after OpenSSL's own clean-up, which
 * leaves what OpenSSL keeps for each thread to nobody. */
static bool leaves_threads_of_openssl;

int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
    return leaves_threads_of_openssl;
}

/* A process that has a service, and ends after so many microseconds with its threads connecting, waiting, at work. */
static void end_amid(unsigned us, void (*at_exit)(void))
{
    static struct caller callers[2];
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        leaves_threads_of_openssl = at_exit != NULL;
        if (at_exit)
            atexit(at_exit);
        world.service = world_new_service();
        for (int i = 0; i < 2; i++)
            caller_start(&callers[i], world_new_mutex("key"), REDLOCK_FOREVER);
        usleep(us);
        exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "after %u us: signal %d", us, WTERMSIG(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

GROUP(process, "end of the process", start_masters, world_close)

TEST_IF(CHILDREN_MAY_HAVE_THREADS, process, a_process_may_end_whatever_its_service_is_doing)
{
    for (unsigned us = 0; us < 8000; us += 50)
        end_amid(us, NULL);
}

TEST_IF(CHILDREN_MAY_HAVE_THREADS, process, an_exit_handler_may_destroy_the_service)
{
    for (unsigned us = 0; us < 8000; us += 100)
        end_amid(us, destroy_service);
}

SUITE_WITH_SERVER("ends")
