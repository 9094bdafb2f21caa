/* The service: a client, its event base and the thread that runs it. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocking/service.h"
#include "util/event_types.h"
#include "util/fork.h"

bool rl_service_forked(const struct redlock_service *service)
{
    return service->fork_generation != rl_fork_generation();
}

/* Of the service whose thread this is. */
static _Thread_local const struct redlock_service *own_service;

bool rl_service_is_own_thread(const struct redlock_service *service)
{
    return own_service == service;
}

void rl_service_ref(struct redlock_service *service)
{
    atomic_fetch_add_explicit(&service->references, 1, memory_order_relaxed);
}

void rl_service_unref(struct redlock_service *service)
{
    if (atomic_fetch_sub_explicit(&service->references, 1, memory_order_acq_rel) != 1)
        return;
    rl_inbox_fini(&service->inbox);
    free(service);
}

/* --- The thread ------------------------------------------------------------------------------------------------- */

static void publish_stale(struct redlock_service *service)
{
    while (!rl_list_empty(&service->stale))
        rl_mutex_publish(RL_CONTAINER_OF(service->stale.next, struct redlock_mutex, stale));
}

void rl_service_read_inbox(struct redlock_service *service)
{
    publish_stale(service);
    rl_inbox_run(&service->inbox);
}

/* Edge triggered, where that is to be had: then each write to the descriptor wakes the thread, read or not, and its
 * counter will not overflow. What this turn has brought so far is published before anything else is done. */
static void on_posted(evutil_socket_t fd, short what, void *arg)
{
    struct redlock_service *service = arg;

    if (!(what & EV_ET))
        rl_inbox_drain(&service->inbox);
    rl_service_read_inbox(service);
    (void)fd;
}

/* libevent puts an event that is activated by hand behind those that are already due: the client has had its turn,
 * and has written what it had to write, before the callers are woken. */
static void on_after(evutil_socket_t fd, short what, void *arg)
{
    struct redlock_service *service = arg;

    service->after_due = false;
    publish_stale(service);
    rl_operation_hand_over(service);
    (void)fd;
    (void)what;
}

void rl_service_wake_after(struct redlock_service *service)
{
    if (service->after_due || !service->after)
        return;
    service->after_due = true;
    event_active(service->after, EV_TIMEOUT, 0);
}

static struct redlock_mutex *mutex_of(struct rl_holder *holder)
{
    return RL_CONTAINER_OF(holder, struct redlock_mutex, holder);
}

static void publish(struct rl_holder *holder)
{
    rl_mutex_publish(mutex_of(holder));
}

void rl_service_publish_all(struct redlock_service *service)
{
    rl_holders_each(&service->holders, publish);
}

static void stale(struct rl_holder *holder)
{
    rl_mutex_stale(mutex_of(holder));
}

/* The program's hook sees what it has asked for. */
static void on_event(const struct redlock_event *event, void *user_data)
{
    struct redlock_service *service = user_data;
    struct rl_holder *holder;

    if (event->type == REDLOCK_EVENT_VALIDITY && event->lock) {
        holder = rl_holders_find(&service->holders, event->lock);
        if (holder)
            stale(holder);
    } else if (event->type == REDLOCK_EVENT_VALIDITY) {
        rl_holders_each(&service->holders, stale);
    }
    if (service->event_types & REDLOCK_EVENT_BIT(event->type))
        service->on_event(event, service->event_data);
}

static void orphan(struct rl_holder *holder)
{
    rl_mutex_orphan(mutex_of(holder));
}

/* Nothing is held any more before the releases are written. Pending work is completed from inside
 * redlock_client_destroy(). */
static void end_client(struct redlock_service *service)
{
    rl_holders_each(&service->holders, orphan);
    redlock_client_destroy(service->client);
    service->client = NULL;
    rl_operation_hand_over(service);
}

static void *run(void *arg)
{
    struct redlock_service *service = arg;

    own_service = service;
    pthread_setname_np(pthread_self(), "redlock");
    rl_lead_run(service);
    end_client(service);
    rl_inbox_close(&service->inbox);
    rl_operation_hand_over(service);
    return NULL;
}

static void stop(struct rl_post *post)
{
    struct redlock_service *service = RL_CONTAINER_OF(post, struct redlock_service, stop);

    service->lead.ending = service->lead.wanted = true;
}

/* --- Creation and destruction ----------------------------------------------------------------------------------- */

static int fail(struct redlock_error *ret_error, int status, const char *text)
{
    if (ret_error) {
        ret_error->status = status;
        snprintf(ret_error->text, sizeof ret_error->text, "%s", text);
    }
    return status;
}

/* A base that only one thread will ever use: it needs no locks, whatever the program has told libevent. */
static struct event_base *create_base(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base = NULL;

    if (!config)
        return NULL;
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static bool start_events(struct redlock_service *service)
{
    short what = EV_READ | EV_PERSIST;

    service->base = create_base();
    if (!service->base)
        return false;
    service->after = event_new(service->base, -1, 0, on_after, service);
    if (event_base_get_features(service->base) & EV_FEATURE_ET)
        what |= EV_ET;
    service->posted = event_new(service->base, service->inbox.fd, what, on_posted, service);
    return service->after && service->posted && event_add(service->posted, NULL) == 0;
}

static bool start_thread(struct redlock_service *service)
{
    sigset_t all;
    sigset_t before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&service->thread, NULL, run, service);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

/* Also of a service that is half built. */
static void end_events(struct redlock_service *service)
{
    redlock_client_destroy(service->client);
    if (service->posted)
        event_free(service->posted);
    if (service->after)
        event_free(service->after);
    if (service->base)
        event_base_free(service->base);
    rl_holders_fini(&service->holders);
}

static struct redlock_service *allocate(const struct redlock_options *options)
{
    struct redlock_service *service = calloc(1, sizeof *service);

    if (!service)
        return NULL;
    atomic_init(&service->references, 1);
    service->fork_generation = rl_fork_generation();
    service->stop.run = stop;
    service->on_event = options->on_event;
    service->event_data = options->event_data;
    service->event_types = rl_event_types(options);
    service->max_ttl_ms = options->max_ttl_ms;
    rl_lead_init(&service->lead);
    rl_list_init(&service->finished);
    rl_list_init(&service->stale);
    rl_holders_init(&service->holders);
    return service;
}

static int start(struct redlock_service *service, const char *const *masters, size_t n,
                 const struct redlock_options *options, struct redlock_error *ret_error)
{
    int status;

    if (!rl_inbox_init(&service->inbox) || !start_events(service))
        return fail(ret_error, REDLOCK_E_SYSTEM, "no descriptor or event loop for the service");
    status = redlock_client_create(service->base, masters, n, options, &service->client, ret_error);
    if (status < 0)
        return status;
    service->n_nodes = redlock_client_node_count(service->client);
    if (!start_thread(service))
        return fail(ret_error, REDLOCK_E_SYSTEM, "no thread for the service");
    return 0;
}

/* What is wrong with them is the client's to say. */
static void copy_options(const struct redlock_options *given, struct redlock_options *ret_options)
{
    redlock_options_init(ret_options);
    if (!given)
        return;
    memcpy(ret_options, given, given->size < sizeof *ret_options ? given->size : sizeof *ret_options);
    ret_options->size = given->size < offsetof(struct redlock_options, event_data) ? given->size : sizeof *ret_options;
}

int redlock_service_create(const char *const *masters, size_t n_masters, const struct redlock_options *options,
                           struct redlock_service **ret_service, struct redlock_error *ret_error)
{
    struct redlock_options own;
    struct redlock_service *service;
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
    status = start(service, masters, n_masters, &own, ret_error);
    if (status < 0) {
        end_events(service);
        rl_service_unref(service);
        return status;
    }
    *ret_service = service;
    return 0;
}

/* fork() may have come while the thread was changing anything: what it owns is left as it is, and reachable, so that
 * nobody takes it for a leak. */
static void leave_behind(struct redlock_service *service)
{
    static struct redlock_service *left_behind;

    rl_inbox_fini(&service->inbox);
    service->next_left_behind = left_behind;
    left_behind = service;
}

void redlock_service_destroy(struct redlock_service *service)
{
    if (!service || rl_service_is_own_thread(service))
        return;
    if (rl_service_forked(service)) {
        leave_behind(service);
        return;
    }
    rl_lead_post(service, &service->stop);
    pthread_join(service->thread, NULL);
    end_events(service);
    rl_service_unref(service);
}
