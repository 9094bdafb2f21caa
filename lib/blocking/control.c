/* What is asked of a service as a whole: statistics, a function on its thread, the orderly end. */
#include <string.h>

#include "blocking/service.h"

struct question {
    struct redlock_service *service;
    size_t node;
    void *answer;
    size_t size;
    redlock_service_fn fn;
};

static int check(const struct redlock_service *service)
{
    if (!service)
        return REDLOCK_E_ARGUMENT;
    return rl_service_forked(service) ? REDLOCK_E_FORKED : 0;
}

static int do_stats(void *argument)
{
    const struct question *question = argument;

    if (!question->service->client)
        return REDLOCK_E_CLOSING;
    return redlock_client_stats(question->service->client, question->answer, question->size);
}

int redlock_service_stats(struct redlock_service *service, struct redlock_stats *ret_stats, size_t size)
{
    struct question question = {.service = service, .answer = ret_stats, .size = size};
    int status = ret_stats ? check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_notification(service, do_stats, &question);
}

/* The text of the last error may change as soon as the thread goes on. */
static int do_node_stats(void *argument)
{
    const struct question *question = argument;
    struct redlock_node_stats stats;
    int status;

    if (!question->service->client)
        return REDLOCK_E_CLOSING;
    status = redlock_client_node_stats(question->service->client, question->node, &stats, sizeof stats);
    if (status < 0)
        return status;
    stats.last_error = "";
    memcpy(question->answer, &stats, question->size < sizeof stats ? question->size : sizeof stats);
    return 0;
}

int redlock_service_node_stats(struct redlock_service *service, size_t node, struct redlock_node_stats *ret_stats,
                               size_t size)
{
    struct question question = {.service = service, .node = node, .answer = ret_stats, .size = size};
    int status = ret_stats ? check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_notification(service, do_node_stats, &question);
}

size_t redlock_service_node_count(const struct redlock_service *service)
{
    return service ? service->n_nodes : 0;
}

/* The function may have shut the client down. */
static int do_run(void *argument)
{
    const struct question *question = argument;

    if (!question->service->client)
        return REDLOCK_E_CLOSING;
    question->service->lead.bound = true;
    question->fn(question->service->client, question->answer);
    rl_service_publish_all(question->service);
    return 0;
}

int redlock_service_run(struct redlock_service *service, redlock_service_fn fn, void *user_data)
{
    struct question question = {.service = service, .fn = fn, .answer = user_data};
    int status = fn ? check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_call_on_thread(service, do_run, &question);
}

/* --- Shutdown --------------------------------------------------------------------------------------------------- */

struct goodbye {
    struct rl_post post;
    struct redlock_service *service;
    int64_t timeout_ms;
    int status;
    struct rl_waiter waiter;
};

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    struct goodbye *goodbye = user_data;

    goodbye->status = status;
    rl_lead_tell(goodbye->service, &goodbye->waiter);
    (void)client;
}

/* The held locks have been released, and nothing of it has been written yet. */
static void begin(struct rl_post *post)
{
    struct goodbye *goodbye = RL_CONTAINER_OF(post, struct goodbye, post);
    struct redlock_service *service = goodbye->service;
    int status = REDLOCK_E_CLOSING;

    if (service->client)
        status = redlock_client_shutdown(service->client, goodbye->timeout_ms, on_shut_down, goodbye);
    rl_service_publish_all(service);
    if (status == 0) {
        rl_lead_follow(service, &goodbye->waiter);
        return;
    }
    goodbye->status = status;
    rl_lead_tell(goodbye->service, &goodbye->waiter);
}

int redlock_service_shutdown(struct redlock_service *service, int64_t timeout_ms)
{
    struct goodbye goodbye = {.post = {.run = begin}, .service = service, .timeout_ms = timeout_ms,
                              .status = REDLOCK_E_CLOSING};
    int status = check(service);

    if (status < 0)
        return status;
    if (rl_service_is_own_thread(service))
        return REDLOCK_E_OWN_THREAD;
    rl_lead_ask(service, &goodbye.post, &goodbye.waiter, RL_WAIT_FOREVER);
    return goodbye.status;
}
