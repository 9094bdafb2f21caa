/* Callers that turn the loop themselves: what they take over, and what stays the service's thread's. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "service_rig.h"

#define US_PER_S INT64_C(1000000)

static struct world world;
static struct redlock_mutex *mutex;

static void open_three(void)
{
    world_open(&world, 3);
    mutex = world_new_mutex(&world, "key");
}

static void close_world(void)
{
    redlock_mutex_destroy(mutex);
    world_close(&world);
}

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static long this_thread(void)
{
    return syscall(SYS_gettid);
}

/* While there is no other one but the test's. Asking the service for it would bind it to that thread. */
static long service_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    long thread = 0;

    ck_assert_ptr_nonnull(tasks);
    while ((task = readdir(tasks))) {
        long id = strtol(task->d_name, NULL, 10);

        if (id <= 0 || id == this_thread())
            continue;
        ck_assert_int_eq(thread, 0);
        thread = id;
    }
    closedir(tasks);
    ck_assert_int_ne(thread, 0);
    return thread;
}

/* Ends with the lead free, as soon as nobody else is in a call. */
static void lock_and_unlock(void)
{
    ck_assert_int_eq(redlock_mutex_lock(mutex, PATIENCE_MS), REDLOCK_OK);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
}

/* --- Who does the work ------------------------------------------------------------------------------------------ */

/* How often the thread has left the processor. */
static long switches_of(long thread)
{
    char path[64];
    char line[128];
    long switches = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        long some = 0;

        if (sscanf(line, "voluntary_ctxt_switches: %ld", &some) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %ld", &some) == 1)
            switches += some;
    }
    fclose(file);
    return switches;
}

#define PAIRS 20

/* If it did the work it would leave the processor in each of the calls. Now it looks around, once in a millisecond. */
static bool the_thread_sleeps_through(void *argument)
{
    long thread = *(long *)argument;
    long before = switches_of(thread);

    for (int i = 0; i < PAIRS; i++)
        lock_and_unlock();
    return switches_of(thread) - before < 2 * PAIRS;
}

START_TEST(a_caller_on_its_own_does_without_the_services_thread)
{
    long thread = service_thread();

    world_wait(the_thread_sleeps_through, &thread, "calls that the service's thread takes no part in");
}
END_TEST

/* --- Code of the program ------------------------------------------------------------------------------------------ */

struct inside {
    struct redlock_lock *lock;
    atomic_long thread; /* of the callback */
    atomic_int status;  /* of a call there that would wait */
};

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct inside *inside = user_data;

    ck_assert_int_eq(result->status, REDLOCK_OK);
    atomic_store(&inside->status, redlock_mutex_trylock(mutex));
    atomic_store(&inside->thread, this_thread());
    redlock_lock_destroy(lock);
}

static void begin_something(struct redlock_client *client, void *user_data)
{
    struct inside *inside = user_data;

    ck_assert_int_eq(redlock_lock_create(client, "other", 5, &inside->lock), 0);
    ck_assert_int_eq(redlock_acquire(inside->lock, NULL, on_acquired, inside), 0);
}

static bool it_has_ended(void *argument)
{
    struct inside *inside = argument;

    lock_and_unlock();
    return atomic_load(&inside->thread) != 0;
}

START_TEST(callbacks_that_the_program_gave_the_client_run_on_the_services_thread)
{
    struct inside inside = {.lock = NULL};
    long thread = service_thread();

    lock_and_unlock();
    ck_assert_int_eq(redlock_service_run(world.service, begin_something, &inside), 0);
    world_wait(it_has_ended, &inside, "the callback");
    ck_assert_int_eq(atomic_load(&inside.thread), thread);
    ck_assert_int_eq(atomic_load(&inside.status), REDLOCK_E_OWN_THREAD);
}
END_TEST

struct hook {
    atomic_long thread; /* of the first event */
    atomic_int elsewhere;
    atomic_int events;
};

static void note_event(const struct redlock_event *event, void *user_data)
{
    struct hook *hook = user_data;
    long none = 0;

    atomic_fetch_add(&hook->events, 1);
    if (!atomic_compare_exchange_strong(&hook->thread, &none, this_thread()) && none != this_thread())
        atomic_fetch_add(&hook->elsewhere, 1);
    (void)event;
}

static void set_hook(struct redlock_options *options, void *hook)
{
    options->on_event = note_event;
    options->event_data = hook;
}

START_TEST(the_event_hook_is_called_on_the_services_thread_alone)
{
    struct hook hook = {0};

    world_open_with(&world, 3, set_hook, &hook);
    mutex = world_new_mutex(&world, "key");
    for (int i = 0; i < 100; i++)
        lock_and_unlock();
    ck_assert_int_eq(hook.thread, service_thread());
    ck_assert_int_eq(hook.elsewhere, 0);
    ck_assert_int_ge(hook.events, 100);
    close_world();
}
END_TEST

/* --- While others lead ------------------------------------------------------------------------------------------ */

struct watched {
    atomic_long thread;
    atomic_llong at_us;
    int inner;
    size_t n_nodes;
};

static void watch(struct redlock_mutex *watched_mutex, const struct redlock_alarm *alarm, void *user_data)
{
    struct watched *watched = user_data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    watched->inner = redlock_mutex_trylock(watched_mutex);
    watched->n_nodes = alarm->nodes ? alarm->n_nodes : 0;
    atomic_store(&watched->at_us, now_us());
    atomic_store(&watched->thread, this_thread());
}

static bool has_alarmed(void *argument)
{
    struct watched *watched = argument;

    return atomic_load(&watched->thread) != 0;
}

START_TEST(a_watch_is_called_on_the_services_thread_although_a_caller_leads)
{
    struct redlock_acquire_options lease = rig_lease(500, PATIENCE_MS);
    struct redlock_mutex *leased = world_new_mutex(&world, "leased");
    struct watched watched = {0};
    struct busy busy;

    ck_assert_int_eq(redlock_mutex_watch(leased, watch, &watched), 0);
    ck_assert_int_eq(redlock_mutex_acquire(leased, &lease, NULL), REDLOCK_OK);
    busy_start(&busy, &world, "busy");
    world_wait(has_alarmed, &watched, "the alarm");
    busy_stop(&busy);
    ck_assert_int_eq(watched.thread, service_thread());
    ck_assert_int_eq(watched.inner, REDLOCK_E_OWN_THREAD);
    ck_assert_uint_eq(watched.n_nodes, 3);
    redlock_mutex_destroy(leased);
}
END_TEST

static void note_thread(struct redlock_client *client, void *user_data)
{
    *(long *)user_data = this_thread();
    (void)client;
}

START_TEST(a_function_is_called_on_the_services_thread_although_a_caller_leads)
{
    long thread = service_thread();
    struct busy busy[2];

    busy_start(&busy[0], &world, "one");
    busy_start(&busy[1], &world, "two");
    for (int i = 0; i < 200; i++) {
        long its_thread = 0;

        ck_assert_int_eq(redlock_service_run(world.service, note_thread, &its_thread), 0);
        ck_assert_int_eq(its_thread, thread);
    }
    busy_wait(&busy[0]);
    busy_wait(&busy[1]);
    busy_stop(&busy[0]);
    busy_stop(&busy[1]);
}
END_TEST

/* --- While nobody leads ----------------------------------------------------------------------------------------- */

/* Late alarms are the thread's, which finds out by itself that nobody leads. */
static int64_t lateness_of_alarm(struct watched *watched, void (*before)(void))
{
    struct redlock_acquire_options lease = rig_lease(40, PATIENCE_MS);
    int64_t end_us;

    atomic_store(&watched->thread, 0);
    lock_and_unlock();
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &lease, NULL), REDLOCK_OK);
    end_us = now_us() + redlock_mutex_remaining_ns(mutex) / 1000;
    before();
    world_wait(has_alarmed, watched, "the alarm");
    return atomic_load(&watched->at_us) - end_us;
}

static void do_nothing(void)
{
}

static bool alarm_is_in_time(void *argument)
{
    return lateness_of_alarm(argument, do_nothing) <= 5000;
}

/* The machine may be busy at the end of one lease, but not of all. */
START_TEST(an_alarm_comes_in_time_although_the_last_call_has_left_the_lead_free)
{
    struct watched watched = {0};

    ck_assert_int_eq(redlock_mutex_watch(mutex, watch, &watched), 0);
    world_wait(alarm_is_in_time, &watched, "an alarm within 5 ms");
    ck_assert_int_eq(redlock_mutex_watch(mutex, NULL, NULL), 0);
}
END_TEST

static void wait_in_vain(void)
{
    struct redlock_mutex *other = world_new_mutex(&world, "key");

    redlock_mutex_lock(other, 10);
    redlock_mutex_destroy(other);
}

static bool alarm_is_in_time_afterwards(void *argument)
{
    return lateness_of_alarm(argument, wait_in_vain) <= 5000;
}

START_TEST(an_alarm_comes_in_time_although_a_caller_has_led_for_long)
{
    struct watched watched = {0};

    ck_assert_int_eq(redlock_mutex_watch(mutex, watch, &watched), 0);
    world_wait(alarm_is_in_time_afterwards, &watched, "an alarm within 5 ms");
    ck_assert_int_eq(redlock_mutex_watch(mutex, NULL, NULL), 0);
}
END_TEST

struct queued {
    struct redlock_queue *queue;
    struct redlock_mutex *mutex;
};

static int64_t time_of_queued(struct queued *queued)
{
    struct redlock_completion *completion = NULL;
    int64_t began_us;

    lock_and_unlock();
    began_us = now_us();
    ck_assert_int_eq(redlock_mutex_extend_async(queued->mutex, 0, queued->queue, NULL), 0);
    ck_assert_int_eq(redlock_queue_next(queued->queue, PATIENCE_MS, &completion), 0);
    ck_assert_int_eq(completion->status, REDLOCK_E_NOT_HELD);
    redlock_completion_free(completion);
    return now_us() - began_us;
}

/* Nobody asks the masters in these. Waiting for the thread to look around would take a millisecond or two. */
static bool all_are_quick(void *argument)
{
    for (int i = 0; i < 16; i++) {
        if (time_of_queued(argument) > 900)
            return false;
    }
    return true;
}

START_TEST(what_goes_to_a_queue_is_begun_at_once_although_the_lead_is_free)
{
    struct queued queued = {.mutex = world_new_mutex(&world, "other")};

    ck_assert_int_eq(redlock_queue_create(world.service, &queued.queue), 0);
    world_wait(all_are_quick, &queued, "a row of operations that are all quick");
    redlock_queue_destroy(queued.queue);
    redlock_mutex_destroy(queued.mutex);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lead");
    TCase *three = suite_add_case(suite, "lead", open_three, close_world);
    TCase *own = suite_add_case(suite, "hook", NULL, NULL);

    tcase_add_test(three, a_caller_on_its_own_does_without_the_services_thread);
    tcase_add_test(three, callbacks_that_the_program_gave_the_client_run_on_the_services_thread);
    tcase_add_test(own, the_event_hook_is_called_on_the_services_thread_alone);
    tcase_add_test(three, a_watch_is_called_on_the_services_thread_although_a_caller_leads);
    tcase_add_test(three, a_function_is_called_on_the_services_thread_although_a_caller_leads);
    tcase_add_test(three, an_alarm_comes_in_time_although_the_last_call_has_left_the_lead_free);
    tcase_add_test(three, an_alarm_comes_in_time_although_a_caller_has_led_for_long);
    tcase_add_test(three, what_goes_to_a_queue_is_begun_at_once_although_the_lead_is_free);
    return suite_run_with_server(suite);
}
