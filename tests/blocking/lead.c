/* Callers that turn the loop themselves: what they take over, and what stays the service's thread's. */
#include <check.h>
#include <stdio.h>

#include "lead_rig.h"

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
        lead_lock_and_unlock();
    return switches_of(thread) - before < 2 * PAIRS;
}

START_TEST(a_caller_on_its_own_does_without_the_services_thread)
{
    long thread = world_service_thread();

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
    atomic_store(&inside->thread, world_this_thread());
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

    lead_lock_and_unlock();
    return atomic_load(&inside->thread) != 0;
}

START_TEST(callbacks_that_the_program_gave_the_client_run_on_the_services_thread)
{
    struct inside inside = {.lock = NULL};
    long thread = world_service_thread();

    lead_lock_and_unlock();
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
    if (!atomic_compare_exchange_strong(&hook->thread, &none, world_this_thread()) && none != world_this_thread())
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
        lead_lock_and_unlock();
    ck_assert_int_eq(hook.thread, world_service_thread());
    ck_assert_int_eq(hook.elsewhere, 0);
    ck_assert_int_ge(hook.events, 100);
    lead_close();
}
END_TEST

/* --- While others lead ------------------------------------------------------------------------------------------ */

static void note_thread(struct redlock_client *client, void *user_data)
{
    *(long *)user_data = world_this_thread();
    (void)client;
}

START_TEST(a_function_is_called_on_the_services_thread_although_a_caller_leads)
{
    long thread = world_service_thread();
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

int main(void)
{
    Suite *suite = suite_create("lead");
    TCase *three = suite_add_case(suite, "lead", lead_open, lead_close);
    TCase *own = suite_add_case(suite, "hook", NULL, NULL);

    tcase_add_test(three, a_caller_on_its_own_does_without_the_services_thread);
    tcase_add_test(three, callbacks_that_the_program_gave_the_client_run_on_the_services_thread);
    tcase_add_test(own, the_event_hook_is_called_on_the_services_thread_alone);
    tcase_add_test(three, a_function_is_called_on_the_services_thread_although_a_caller_leads);
    return suite_run_with_server(suite);
}
