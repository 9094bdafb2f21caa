/* What is asked of a service as a whole: statistics, a function on its thread, shutdown. */
#include <string.h>

#include "blocking/mutex.h"
#include "blocking/service.h"

struct request {
    struct redlock_service *service;
    size_t node;
    void *ret_stats;
    size_t size;
    redlock_service_fn fn;
    void *user_data;
};

static int do_stats(void *argument)
{
    const struct request *request = argument;
    struct redlock_client *client = request->service->client;

    return client ? redlock_client_stats(client, request->ret_stats, request->size) : REDLOCK_E_CLOSING;
}

int redlock_service_stats(struct redlock_service *service, struct redlock_stats *ret_stats, size_t size)
{
    struct request request = {.service = service, .ret_stats = ret_stats, .size = size};
    int status = ret_stats ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_service_call(service, do_stats, &request);
}

/* The text of the last error may change as soon as the loop goes on. */
static int do_node_stats(void *argument)
{
    const struct request *request = argument;
    struct redlock_client *client = request->service->client;
    struct redlock_node_stats stats;
    int status = client ? redlock_client_node_stats(client, request->node, &stats, sizeof stats) : REDLOCK_E_CLOSING;

    if (status < 0)
        return status;
    stats.last_error = "";
    memcpy(request->ret_stats, &stats, request->size < sizeof stats ? request->size : sizeof stats);
    return 0;
}

int redlock_service_node_stats(struct redlock_service *service, size_t node, struct redlock_node_stats *ret_stats,
                               size_t size)
{
    struct request request = {.service = service, .node = node, .ret_stats = ret_stats, .size = size};
    int status = ret_stats ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_service_call(service, do_node_stats, &request);
}

size_t redlock_service_node_count(const struct redlock_service *service)
{
    return service ? service->n_nodes : 0;
}

/* The function may have shut the client down. */
static int do_run(void *argument)
{
    const struct request *request = argument;
    struct redlock_service *service = request->service;

    if (!service->client)
        return REDLOCK_E_CLOSING;
    service->loop.pinned = true;
    request->fn(service->client, request->user_data);
    rl_holds_publish_all(&service->holds);
    return 0;
}

int redlock_service_run(struct redlock_service *service, redlock_service_fn fn, void *user_data)
{
    struct request request = {.service = service, .fn = fn, .user_data = user_data};
    int status = fn ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_service_call_on_thread(service, do_run, &request);
}

/* --- Shutdown --------------------------------------------------------------------------------------------------- */

struct shutdown_request {
    struct rl_post post;
    struct redlock_service *service;
    int64_t timeout_ms;
    int status;
    struct rl_waiter waiter;
};

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    struct shutdown_request *request = user_data;

    request->status = status;
    rl_loop_tell(&request->service->loop, &request->waiter);
    (void)client;
}

/* Who waits for a recursive mutex asks nothing of the client yet. */
static void close_gates(const struct rl_holds *holds)
{
    for (struct rl_hold *hold = rl_holds_next(holds, NULL); hold; hold = rl_holds_next(holds, hold)) {
        struct redlock_mutex *mutex = RL_CONTAINER_OF(hold, struct redlock_mutex, hold);

        if (mutex->gate)
            rl_gate_close(mutex->gate);
    }
}

/* After the client has released the held locks, and before anything of that is written, their end is published. */
static void begin(struct rl_post *post)
{
    struct shutdown_request *request = RL_CONTAINER_OF(post, struct shutdown_request, post);
    struct redlock_service *service = request->service;
    int status = REDLOCK_E_CLOSING;

    if (service->client)
        status = redlock_client_shutdown(service->client, request->timeout_ms, on_shut_down, request);
    rl_holds_publish_all(&service->holds);
    if (status == 0)
        close_gates(&service->holds);
    if (status < 0)
        on_shut_down(service->client, status, request);
    else
        rl_loop_follow(&service->loop, &request->waiter);
}

int redlock_service_shutdown(struct redlock_service *service, int64_t timeout_ms)
{
    struct shutdown_request request = {.post = {.run = begin}, .service = service, .timeout_ms = timeout_ms,
                                       .status = REDLOCK_E_CLOSING};
    int status = rl_service_check(service);

    if (status < 0)
        return status;
    if (rl_loop_is_own_thread(&service->loop))
        return REDLOCK_E_OWN_THREAD;
    rl_service_ask(service, &request.post, &request.waiter, RL_WAIT_FOREVER);
    return request.status;
}
