/* Callers that turn the loop themselves: what they take over, and what stays the service's thread's. */
#include <check.h>

#include "loop_rig.h"
#include "thread.h"

/* --- Who does the work ------------------------------------------------------------------------------------------ */

#define PAIRS 20

/* If it did the work it would leave the processor in each of the calls. Now it looks around, once in a millisecond. */
static bool the_thread_sleeps_through(void *argument)
{
    long thread = *(long *)argument;
    unsigned long before = thread_switches(thread).all;

    for (int i = 0; i < PAIRS; i++)
        loop_lock_and_unlock();
    return thread_switches(thread).all - before < 2 * PAIRS;
}

GROUP(three, "loop", loop_open, world_close)

TEST(three, a_caller_on_its_own_does_without_the_services_thread)
{
    long thread = world_service_thread();

    world_wait(the_thread_sleeps_through, &thread, "calls that the service's thread takes no part in");
}

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
    atomic_store(&inside->thread, thread_self());
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

    loop_lock_and_unlock();
    return atomic_load(&inside->thread) != 0;
}

TEST(three, callbacks_that_the_program_gave_the_client_run_on_the_services_thread)
{
    struct inside inside = {.lock = NULL};
    long thread = world_service_thread();

    loop_lock_and_unlock();
    ck_assert_int_eq(redlock_service_run(world.service, begin_something, &inside), 0);
    world_wait(it_has_ended, &inside, "the callback");
    ck_assert_int_eq(atomic_load(&inside.thread), thread);
    ck_assert_int_eq(atomic_load(&inside.status), REDLOCK_E_OWN_THREAD);
}

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
    if (!atomic_compare_exchange_strong(&hook->thread, &none, thread_self()) && none != thread_self())
        atomic_fetch_add(&hook->elsewhere, 1);
}

static void set_hook(struct redlock_options *options, void *hook)
{
    options->on_event = note_event;
    options->event_data = hook;
}

GROUP(own, "hook", NULL, NULL)

TEST(own, the_event_hook_is_called_on_the_services_thread_alone)
{
    struct hook hook = {0};

    world_open_with(3, set_hook, &hook);
    mutex = world_new_mutex("key");
    for (int i = 0; i < 100; i++)
        loop_lock_and_unlock();
    ck_assert_int_eq(hook.thread, world_service_thread());
    ck_assert_int_eq(hook.elsewhere, 0);
    ck_assert_int_ge(hook.events, 100);
    world_close();
}

/* --- While a caller owns the loop ------------------------------------------------------------------------------- */

static void note_thread(struct redlock_client *client, void *user_data)
{
    *(long *)user_data = thread_self();
}

TEST(three, a_function_is_called_on_the_services_thread_although_a_caller_owns_the_loop)
{
    long thread = world_service_thread();
    struct busy busy[2];

    busy_start(&busy[0], "one");
    busy_start(&busy[1], "two");
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

static void do_nothing(struct redlock_client *client, void *user_data)
{
}

TEST(three, a_shutdown_ends_where_the_thread_keeps_the_loop)
{
    world_hold("held", 10000);
    ck_assert_int_eq(redlock_service_run(world.service, do_nothing, NULL), 0);
    ck_assert_int_eq(redlock_service_shutdown(world.service, PATIENCE_MS), 0);
}

TEST(own, a_shutdown_ends_with_an_event_hook)
{
    struct hook hook = {0};

    world_open_with(3, set_hook, &hook);
    mutex = world_hold("held", 10000);
    ck_assert_int_eq(redlock_service_shutdown(world.service, PATIENCE_MS), 0);
    world_close();
}

/* A thread that asks for its mutex's token, and one that has a function run which waits until it has been answered. */
struct asker {
    pthread_t threads[2];
    atomic_long ids[2];
    sem_t answered;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    atomic_store(&asker->ids[0], thread_self());
    redlock_mutex_token(mutex, token, sizeof token);
    sem_post(&asker->answered);
    return NULL;
}

static bool has_begun(void *id)
{
    return atomic_load((atomic_long *)id) != 0;
}

static void await_answer(struct redlock_client *client, void *user_data)
{
    sem_wait(&((struct asker *)user_data)->answered);
}

static void *run_behind(void *argument)
{
    struct asker *asker = argument;

    atomic_store(&asker->ids[1], thread_self());
    redlock_service_run(world.service, await_answer, asker);
    return NULL;
}

static void start(struct asker *asker, int i, void *(*run)(void *argument))
{
    ck_assert_int_eq(pthread_create(&asker->threads[i], NULL, run, asker), 0);
    world_wait(has_begun, &asker->ids[i], "a thread");
    thread_await_sleep(atomic_load(&asker->ids[i]));
}

/* Both are asked for in one batch. */
TEST(three, who_has_been_told_goes_on_while_a_function_runs_that_waits_for_him)
{
    struct asker asker = {.ids = {0}};
    struct plug plug;

    sem_init(&asker.answered, 0, 0);
    plug_in(&plug, world.service);
    start(&asker, 0, ask);
    start(&asker, 1, run_behind);
    plug_out(&plug);
    pthread_join(asker.threads[0], NULL);
    pthread_join(asker.threads[1], NULL);
    sem_destroy(&asker.answered);
}

SUITE_WITH_SERVER("loop")
