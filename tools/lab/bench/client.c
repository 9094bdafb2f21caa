#include "client.h"

#include <event2/event.h>

#include "lab/load/declare.h"
#include "relay/relays.h"

/* epoll's own timeouts are whole milliseconds, too coarse to hold a lock for one. */
struct event_base *bench_client_base(const struct bench_options *options)
{
    return options->hold_ms == 0 ? event_base_new() : relay_precise_base();
}

/* A restarted master stays out for max_ttl_ms: scenarios that restart some have no use for locks longer than theirs. */
void bench_client_options(const struct bench_options *wanted, struct redlock_options *options)
{
    redlock_options_init(options);
    options->client_name = "redlock-lab-bench";
    options->profile = wanted->profile;
    cli_tls_apply(&wanted->masters.tls, options);
    options->node_timeout_ms = wanted->node_timeout_ms;
    if (options->stall_timeout_ms < options->node_timeout_ms)
        options->stall_timeout_ms = options->node_timeout_ms;
    if (options->max_ttl_ms < wanted->ttl_ms || wanted->scenario->work == BENCH_FENCE)
        options->max_ttl_ms = wanted->ttl_ms;
}

bool bench_client_create(struct bench_worker *worker, struct event_base *base, struct redlock_client **ret_client)
{
    struct redlock_options options;
    struct redlock_error error;

    bench_client_options(worker->options, &options);
    if (redlock_client_create(base, worker->urls, worker->n_urls, &options, ret_client, &error) != REDLOCK_OK)
        return bench_worker_fail(worker, "%s", error.text);
    return true;
}

void bench_stats_count(const struct redlock_stats *stats, struct bench_totals *into)
{
    bench_totals_add(into, &(struct bench_totals){
                               .commands = stats->commands,
                               .attempts = stats->attempts,
                               .raises = stats->raises,
                               .renewals = stats->renewals,
                               .renewals_failed = stats->renewals_failed,
                               .lost = stats->lost,
                           });
}

void bench_client_count(const struct redlock_client *client, struct bench_totals *into)
{
    struct redlock_stats stats;

    if (redlock_client_stats(client, &stats, sizeof stats) == REDLOCK_OK)
        bench_stats_count(&stats, into);
}

bool bench_declare_new(const struct bench_options *options, const struct bench_servers *servers,
                       char ret_reason[LOAD_REASON_SIZE])
{
    struct redlock_options own;

    bench_client_options(options, &own);
    return load_declare(&own, servers->urls, servers->n, ret_reason);
}
