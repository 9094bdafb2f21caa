#include "blocking/service.h"

#include <assert.h>
#include <stdlib.h>

#include <redlock/metrics.h>

#include "util/thread.h"

int rl_service_check(const struct redlock_service *service)
{
    if (!service)
        return REDLOCK_E_ARGUMENT;
    return service->fork_generation == rl_fork_generation() ? 0 : REDLOCK_E_FORKED;
}

void rl_service_ref(struct redlock_service *service)
{
    unsigned was = atomic_fetch_add_explicit(&service->references, 1, memory_order_relaxed);

    assert(was > 0);
    (void)was;
}

/* To close is a point of cancellation, and the service would never be freed. */
void rl_service_unref(struct redlock_service *service)
{
    unsigned was = atomic_fetch_sub_explicit(&service->references, 1, memory_order_acq_rel);
    int cancelable;

    assert(was > 0);
    if (was != 1)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_turn_fini(&service->loop.turn);
    pthread_setcancelstate(cancelable, NULL);
    free(service);
}

/* The loop has points of cancellation, and a thread that is canceled there would leave it without an owner. */
enum rl_asked rl_service_ask(struct redlock_service *service, struct rl_post *post, struct rl_waiter *waiter,
                             int64_t end_ns)
{
    enum rl_asked asked;
    int cancelable;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
    rl_service_ref(service);
    asked = rl_loop_ask(&service->loop, post, waiter, end_ns);
    rl_service_unref(service);
    pthread_setcancelstate(cancelable, NULL);
    return asked;
}

/* --- Calls ------------------------------------------------------------------------------------------------------ */

struct call {
    struct rl_post post;
    struct rl_loop *loop;
    int (*fn)(void *argument);
    void *argument;
    bool on_thread;
    int status;
    struct rl_waiter waiter;
};

static void run_call(struct rl_post *post)
{
    struct call *call = RL_CONTAINER_OF(post, struct call, post);

    if (call->on_thread && !rl_loop_move_to_thread(call->loop, post))
        return;
    call->status = call->fn(call->argument);
    rl_loop_tell(call->loop, &call->waiter);
}

/* There is no end to the wait, because the function writes to the caller's stack. */
static int wait_for_call(struct redlock_service *service, struct call call)
{
    if (rl_loop_is_own_thread(&service->loop))
        return call.fn(call.argument);
    call.post.run = run_call;
    call.loop = &service->loop;
    if (rl_service_ask(service, &call.post, &call.waiter, RL_WAIT_FOREVER) == RL_ASKED_CLOSED)
        return REDLOCK_E_CLOSING;
    return call.status;
}

int rl_service_call(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return wait_for_call(service, (struct call){.fn = fn, .argument = argument});
}

int rl_service_call_on_thread(struct redlock_service *service, int (*fn)(void *argument), void *argument)
{
    return wait_for_call(service, (struct call){.fn = fn, .argument = argument, .on_thread = true});
}

/* The metrics of a service's client, asked for from any thread. */

struct page {
    struct redlock_service *service;
    const struct redlock_metric_label *labels;
    size_t n_labels;
    char *text;
    size_t size;
};

static int do_metrics(void *argument)
{
    const struct page *page = argument;

    if (!page->service->client)
        return REDLOCK_E_CLOSING;
    return redlock_client_metrics(page->service->client, page->labels, page->n_labels, page->text, page->size);
}

int redlock_service_metrics(struct redlock_service *service, const struct redlock_metric_label *labels, size_t n_labels,
                            char *ret_text, size_t size)
{
    struct page page = {service, labels, n_labels, ret_text, size};
    int status = rl_service_check(service);

    return status < 0 ? status : rl_service_call(service, do_metrics, &page);
}
