/* The library's clients as the benchmark makes them: all processes of a run must use the same options. */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <redlock/redlock.h>

#include "run.h"

struct event_base;

/* NULL if there is no memory. */
struct event_base *bench_client_base(const struct bench_options *options);

void bench_client_options(const struct bench_options *wanted, struct redlock_options *options);

/* False: the worker has the reason. */
bool bench_client_create(struct bench_worker *worker, struct event_base *base, struct redlock_client **ret_client);

/* Adds what the client has counted so far. */
void bench_stats_count(const struct redlock_stats *stats, struct bench_totals *into);
void bench_client_count(const struct redlock_client *client, struct bench_totals *into);

/* Masters of our own are new, and so are those that have been restarted once nobody holds a lock any more: says so to
 * each of them, in place of the operator, so that a run need not wait until they may vote. */
bool bench_declare_new(const struct bench_options *options, const struct bench_servers *servers,
                       char ret_reason[LOAD_REASON_SIZE]);

#endif
