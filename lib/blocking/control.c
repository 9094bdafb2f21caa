/* What is asked of a service as a whole: statistics, looks at keys, a function on its thread, shutdown. */
#include <string.h>

#include <redlock/look.h>
#include <redlock/metrics.h>

#include "blocking/job.h"
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

/* The function may have shut the client down. */
static int do_run(void *argument)
{
    const struct request *request = argument;
    struct redlock_service *service = request->service;

    if (!service->client)
        return REDLOCK_E_CLOSING;
    service->loop.pinned = true;
    request->fn(service->client, request->user_data);
    rl_holders_publish_all(&service->holders);
    return 0;
}

int redlock_service_run(struct redlock_service *service, redlock_service_fn fn, void *user_data)
{
    struct request request = {.service = service, .fn = fn, .user_data = user_data};
    int status = fn ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    return status < 0 ? status : rl_service_call_on_thread(service, do_run, &request);
}

/* --- Looks ------------------------------------------------------------------------------------------------------ */

struct look {
    struct rl_job job;
    const void *key;
    size_t key_size;
};

static void on_look(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    struct rl_job *job = user_data;

    rl_job_end(job, result->status, result);
    if (!job->result)
        job->status = REDLOCK_E_NOMEM;
}

static int begin_look(struct rl_job *job)
{
    const struct look *look = RL_CONTAINER_OF(job, struct look, job);
    struct redlock_client *client = job->service->client;
    int status = client ? redlock_look(client, look->key, look->key_size, on_look, job) : REDLOCK_E_CLOSING;

    return status < 0 ? status : RL_JOB_PENDING;
}

int redlock_service_look(struct redlock_service *service, const void *key, size_t key_size,
                         struct redlock_look_result **ret_result)
{
    struct look look = {{.service = service, .begin = begin_look, .form = &rl_look_result_form}, key, key_size};
    int status = ret_result ? rl_service_check(service) : REDLOCK_E_ARGUMENT;

    if (ret_result)
        *ret_result = NULL;
    if (status < 0)
        return status;
    status = rl_job_await(&look.job);
    *ret_result = look.job.result;
    return status;
}

/* --- Shutdown --------------------------------------------------------------------------------------------------- */

struct shutdown {
    struct rl_job job;
    int64_t timeout_ms;
};

static void on_shut_down(struct redlock_client *client, int status, void *user_data)
{
    rl_job_end(user_data, status, NULL);
}

/* Who waits for a recursive mutex asks nothing of the client yet. */
static void close_recursions(const struct rl_holders *holders)
{
    for (struct rl_holder *holder = rl_holders_next(holders, NULL); holder; holder = rl_holders_next(holders, holder)) {
        struct redlock_mutex *mutex = RL_CONTAINER_OF(holder, struct redlock_mutex, holder);

        if (mutex->recursion)
            rl_recursion_close(mutex->recursion);
    }
}

/* After the client has released the held locks, and before anything of that is written, their end is published. */
static int begin_shutdown(struct rl_job *job)
{
    const struct shutdown *shutdown = RL_CONTAINER_OF(job, struct shutdown, job);
    struct redlock_service *service = job->service;
    int status = REDLOCK_E_CLOSING;

    if (service->client)
        status = redlock_client_shutdown(service->client, shutdown->timeout_ms, on_shut_down, job);
    rl_holders_publish_all(&service->holders);
    if (status < 0)
        return status;
    close_recursions(&service->holders);
    return RL_JOB_PENDING;
}

int redlock_service_shutdown(struct redlock_service *service, int64_t timeout_ms)
{
    struct shutdown shutdown = {{.service = service, .begin = begin_shutdown}, timeout_ms};
    int status = rl_service_check(service);

    return status < 0 ? status : rl_job_await(&shutdown.job);
}
