/* Callbacks on the service's thread: the event hook, watches, functions. */
#include <check.h>
#include <errno.h>
#include <signal.h>

#include "service_rig.h"

struct seen {
    struct redlock_mutex *mutex;
    struct redlock_queue *queue;
    int statuses[6];
    int async;
};

static void call_everything(struct redlock_client *client, void *user_data)
{
    struct seen *seen = user_data;
    struct redlock_completion *completion = NULL;

    seen->statuses[0] = redlock_mutex_lock(seen->mutex, 10);
    seen->statuses[1] = redlock_mutex_extend(seen->mutex, 0, NULL);
    seen->statuses[2] = redlock_mutex_unlock(seen->mutex);
    seen->statuses[3] = redlock_service_shutdown(world.service, 10);
    seen->statuses[4] = redlock_queue_next(seen->queue, 10, &completion);
    seen->statuses[5] = redlock_mutex_release_token(seen->mutex, "token", NULL);
    redlock_service_destroy(world.service);
    seen->async = redlock_mutex_acquire_async(seen->mutex, NULL, seen->queue, NULL);
    ck_assert_int_eq(redlock_mutex_cancel(seen->mutex), REDLOCK_E_NOTHING_TO_CANCEL);
}

GROUP(three, "inside", world_three, world_close)

TEST(three, calls_that_wait_are_refused_on_the_services_thread)
{
    struct seen seen = {.mutex = world_new_mutex("key")};
    struct redlock_completion *completion = NULL;

    ck_assert_int_eq(redlock_queue_create(world.service, &seen.queue), 0);
    ck_assert_int_eq(redlock_service_run(world.service, call_everything, &seen), 0);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(seen.statuses[i], REDLOCK_E_OWN_THREAD);
    ck_assert_int_eq(seen.async, 0);
    ck_assert_int_eq(redlock_queue_next(seen.queue, 10000, &completion), 0);
    ck_assert_int_eq(completion->status, REDLOCK_OK);
    redlock_completion_free(completion);
    redlock_queue_destroy(seen.queue);
}

/* --- Watches ---------------------------------------------------------------------------------------------------- */

static void lose(struct watcher *watcher)
{
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options lease = rig_lease(900, PATIENCE_MS);

    ck_assert_int_eq(redlock_mutex_watch(mutex, watcher_on_alarm, watcher), 0);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &lease, NULL), REDLOCK_OK);
    watcher_wait_lost(watcher);
}

/* A process that is stopped from before the warning to the loss is told of the loss alone. */
TEST(three, a_watch_is_told_once_of_risk_and_loss)
{
    struct watcher watcher;
    int again = RIG_LATE_ATTEMPTS;

    do {
        watcher = (struct watcher){.remaining_ns = -1};
        lose(&watcher);
        ck_assert_int_eq(watcher.lost, 1);
        ck_assert_int_eq(watcher.loss, REDLOCK_LOSS_EXPIRED);
        ck_assert_int_eq(watcher.remaining_ns, 0);
    } while (watcher.at_risk == 0 && again-- > 0);
    ck_assert_int_eq(watcher.at_risk, 1);
}

TEST(three, a_watch_may_destroy_its_mutex)
{
    struct watcher watcher = {.destroys = true};

    lose(&watcher);
    ck_assert_int_eq(watcher.lost, 1);
}

static bool is_over(void *argument)
{
    return redlock_mutex_remaining_ns(argument) == 0;
}

/* Its keys are gone from all masters: the renewal finds out, well before the deadline. The keys are set by another. */
TEST(three, a_lock_that_the_masters_have_given_to_another_ends_at_once)
{
    struct watcher watcher = {.remaining_ns = -1};
    struct redlock_mutex *mutex = world_new_mutex("key");
    struct redlock_acquire_options request = rig_request(30000, PATIENCE_MS);

    request.renew_ms = 100;
    ck_assert_int_eq(redlock_mutex_watch(mutex, watcher_on_alarm, &watcher), 0);
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&world.rig, i, "key");
    watcher_wait_lost(&watcher);
    ck_assert(is_over(mutex));
    ck_assert_int_eq(watcher.loss, REDLOCK_LOSS_REFUSED);
}

/* --- Events and signals ----------------------------------------------------------------------------------------- */

#define EVENTS (REDLOCK_EVENT_VALIDITY + 1)

struct tally {
    atomic_int n[EVENTS];
};

static void count_event(const struct redlock_event *event, void *user_data)
{
    struct tally *tally = user_data;

    if (event->type < EVENTS)
        atomic_fetch_add(&tally->n[event->type], 1);
}

static void hook(struct redlock_options *options, void *tally)
{
    options->on_event = count_event;
    options->event_data = tally;
}

GROUP(own, "hook", NULL, NULL)

TEST(own, the_event_hook_sees_everything)
{
    struct tally tally = {0};
    struct redlock_mutex *mutex;

    world_open_with(3, hook, &tally);
    mutex = world_hold("key", 10000);
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    ck_assert_int_eq(tally.n[REDLOCK_EVENT_ATTEMPT], 1);
    ck_assert_int_eq(tally.n[REDLOCK_EVENT_ACQUIRED], 1);
    ck_assert_int_eq(tally.n[REDLOCK_EVENT_RELEASED], 1);
    ck_assert_int_ge(tally.n[REDLOCK_EVENT_NODE], 3);
    ck_assert_int_ge(tally.n[REDLOCK_EVENT_VOTE], 4);
    ck_assert_int_eq(tally.n[REDLOCK_EVENT_VALIDITY], 0);
    world_close();
}

static void hook_some(struct redlock_options *options, void *tally)
{
    hook(options, tally);
    options->event_types = REDLOCK_EVENT_BIT(REDLOCK_EVENT_RENEWED) | REDLOCK_EVENT_BIT(REDLOCK_EVENT_RELEASED);
}

static bool has_renewed(void *tally)
{
    return atomic_load(&((struct tally *)tally)->n[REDLOCK_EVENT_RENEWED]) > 0;
}

TEST(own, the_event_hook_sees_what_it_has_asked_for)
{
    struct tally tally = {0};
    struct redlock_acquire_options request = rig_request(10000, PATIENCE_MS);
    struct redlock_mutex *mutex;
    int seen = 0;

    world_open_with(3, hook_some, &tally);
    mutex = world_new_mutex("key");
    request.renew_ms = 50;
    ck_assert_int_eq(redlock_mutex_acquire(mutex, &request, NULL), REDLOCK_OK);
    world_wait(has_renewed, &tally, "a renewal");
    ck_assert_int_eq(redlock_mutex_unlock(mutex), REDLOCK_OK);
    for (size_t i = 0; i < EVENTS; i++)
        seen += tally.n[i];
    ck_assert_int_eq(tally.n[REDLOCK_EVENT_RELEASED], 1);
    ck_assert_int_eq(seen, 1 + tally.n[REDLOCK_EVENT_RENEWED]);
    world_close();
}

static void look_at_mask(struct redlock_client *client, void *user_data)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    *(bool *)user_data = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1 &&
                         sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGCHLD) == 1;
}

TEST(three, the_services_thread_takes_no_signals_and_the_callers_mask_is_as_before)
{
    sigset_t mask;
    bool blocked = false;

    ck_assert_int_eq(redlock_service_run(world.service, look_at_mask, &blocked), 0);
    ck_assert(blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert_int_eq(sigismember(&mask, SIGUSR1), 0);
}

SUITE_WITH_SERVER("inside")
