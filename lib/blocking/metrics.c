/* The metrics of a service's client, asked for from any thread. */
#include <redlock/metrics.h>

#include "blocking/service.h"

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
