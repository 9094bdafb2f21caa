/* The creation and the end of a service: its client, its event loop, and the thread that runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocking/job.h"
#include "blocking/mutex.h"
#include "blocking/service.h"
#include "util/event_types.h"
#include "util/thread.h"

/* --- The thread ------------------------------------------------------------------------------------------------- */

/* The client's events: those of validity are for the service, and the program's hook sees what it has asked for. */
static void on_event(const struct redlock_event *event, void *user_data)
{
    struct redlock_service *service = user_data;

    if (event->type == REDLOCK_EVENT_VALIDITY && rl_holders_mark_lock_stale(&service->holders, event->lock))
        rl_turn_want_end(&service->loop.turn);
    if (service->event_types & REDLOCK_EVENT_BIT(event->type))
        service->on_event(event, service->event_data);
}

/* Nothing is held any more before the releases are written. Pending work is completed from inside
 * redlock_client_destroy(). */
static void end_client(struct redlock_service *service)
{
    for (struct rl_holder *holder = rl_holders_next(&service->holders, NULL), *next; holder; holder = next) {
        struct redlock_mutex *mutex = RL_CONTAINER_OF(holder, struct redlock_mutex, holder);

        next = rl_holders_next(&service->holders, holder);
        rl_holder_end(holder);
        rl_watch_drop(&mutex->watch);
        if (mutex->recursion)
            rl_recursion_close(mutex->recursion);
    }
    redlock_client_destroy(service->client);
    service->client = NULL;
    rl_job_tell_ended(service);
}

static void *run(void *arg)
{
    struct redlock_service *service = arg;

    pthread_setname_np(pthread_self(), "redlock");
    rl_loop_run(&service->loop);
    end_client(service);
    rl_inbox_close(&service->loop.turn.inbox);
    rl_job_tell_ended(service);
    return NULL;
}

/* --- Creation --------------------------------------------------------------------------------------------------- */

static int fail(struct redlock_error *ret_error, int status, const char *text)
{
    if (ret_error) {
        ret_error->status = status;
        snprintf(ret_error->text, sizeof ret_error->text, "%s", text);
    }
    return status;
}

static struct redlock_service *allocate(const struct redlock_options *options)
{
    struct redlock_service *service = calloc(1, sizeof *service);

    if (!service)
        return NULL;
    atomic_init(&service->references, 1);
    service->fork_generation = rl_fork_generation();
    service->on_event = options->on_event;
    service->event_data = options->event_data;
    service->event_types = rl_event_types(options);
    service->max_ttl_ms = options->max_ttl_ms;
    rl_list_init(&service->ended);
    rl_holders_init(&service->holders);
    return service;
}

static int start(struct redlock_service *service, const char *const *masters, size_t n,
                 const struct redlock_options *options, struct redlock_error *ret_error)
{
    int status;

    if (!rl_loop_init(&service->loop, &service->holders, rl_job_tell_ended, service))
        return fail(ret_error, REDLOCK_E_SYSTEM, "no descriptor or event loop for the service");
    service->loop.pinned = service->on_event || options->on_credentials;
    status = redlock_client_create(service->loop.turn.base, masters, n, options, &service->client, ret_error);
    if (status < 0)
        return status;
    service->n_nodes = redlock_client_node_count(service->client);
    if (!rl_thread_start(&service->thread, NULL, run, service))
        return fail(ret_error, REDLOCK_E_SYSTEM, "no thread for the service");
    return 0;
}

/* After the thread has ended; or if the service is half built. */
static void dispose(struct redlock_service *service)
{
    redlock_client_destroy(service->client);
    rl_turn_free_events(&service->loop.turn);
    rl_holders_fini(&service->holders);
    rl_service_unref(service);
}

/* The client says what is wrong with the options. */
static void copy_options(const struct redlock_options *given, struct redlock_options *ret_options)
{
    redlock_options_init(ret_options);
    if (!given)
        return;
    memcpy(ret_options, given, given->size < sizeof *ret_options ? given->size : sizeof *ret_options);
    ret_options->size = given->size < sizeof given->size ? given->size : sizeof *ret_options;
}

int redlock_service_create(const char *const *masters, size_t n_masters, const struct redlock_options *options,
                           struct redlock_service **ret_service, struct redlock_error *ret_error)
{
    struct redlock_options own;
    struct redlock_service *service;
    int cancelable;
    int status;

    if (!ret_service)
        return fail(ret_error, REDLOCK_E_ARGUMENT, "ret_service must not be NULL");
    copy_options(options, &own);
    service = allocate(&own);
    if (!service)
        return fail(ret_error, REDLOCK_E_NOMEM, redlock_strerror(REDLOCK_E_NOMEM));
    own.on_event = on_event;
    own.event_data = service;
    own.event_types = service->event_types | REDLOCK_EVENT_BIT(REDLOCK_EVENT_VALIDITY);
    /* To connect is a point of cancellation, and a service that is half built would be left. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    status = start(service, masters, n_masters, &own, ret_error);
    if (status == 0)
        *ret_service = service;
    else
        dispose(service);
    pthread_setcancelstate(cancelable, NULL);
    return status;
}

/* --- The end ---------------------------------------------------------------------------------------------------- */

/* fork() may have come while the thread was changing anything. So all that the thread owns is left as it is, and
 * reachable, so that no tool takes it for a leak. */
static void orphan_after_fork(struct redlock_service *service)
{
    static struct redlock_service *orphans;

    rl_turn_fini(&service->loop.turn);
    service->next_orphan = orphans;
    orphans = service;
}

void redlock_service_destroy(struct redlock_service *service)
{
    int cancelable;

    if (!service || rl_loop_is_own_thread(&service->loop))
        return;
    if (rl_service_check(service) < 0) {
        orphan_after_fork(service);
        return;
    }
    /* To join is a point of cancellation, and the service would never be freed. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_loop_stop(&service->loop);
    pthread_join(service->thread, NULL);
    dispose(service);
    pthread_setcancelstate(cancelable, NULL);
}
