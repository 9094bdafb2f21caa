/* Statistics, and what is known of each master. */
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "api/handle.h"
#include "api/public.h"
#include "host/trust/admission.h"
#include "host/trust/servers.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void add_counters(const struct rl_host *host, struct redlock_stats *stats)
{
    const struct rl_counters *counters = &host->engine.votes.counters;

    stats->commands = host->counters.commands;
    stats->script_reloads = host->counters.script_reloads;
    stats->clock_steps = host->counters.clock_steps;
    stats->claims = host->counters.claims;
    stats->pending_rollbacks = host->engine.votes.n_pending_rollbacks;
    stats->attempts = counters->attempts;
    stats->rollbacks = counters->rollbacks;
    stats->late_grants = counters->late_grants;
    stats->rollbacks_resent = counters->rollbacks_resent;
    stats->rollbacks_expired = counters->rollbacks_expired;
    stats->renewals = counters->renewals;
    stats->renewals_failed = counters->renewals_failed;
    stats->repairs = counters->repairs;
    stats->disproved = counters->epoch_mismatches;
    stats->raises = counters->raises;
    stats->waits = counters->waits;
    stats->hand_offs = counters->hand_offs;
    stats->yields = counters->yields;
    stats->cohort_hand_offs = counters->cohort_hand_offs;
    stats->moves = counters->moves;
}

int redlock_client_stats(const struct redlock_client *client, struct redlock_stats *ret_stats, size_t size)
{
    struct redlock_stats stats;

    if (!client || !ret_stats)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    stats = client->stats;
    add_counters(&client->host, &stats);
    memcpy(ret_stats, &stats, smaller(size, sizeof stats));
    return 0;
}

static void fill_from_driver(const struct redlock_client *client, unsigned node, struct redlock_node_stats *stats)
{
    struct rl_conn_stats conn;

    rl_driver_node_stats(client->driver, node, &conn);
    stats->name = rl_driver_node_name(client->driver, node);
    stats->link = rl_public_link(client->host.engine.votes.links[node]);
    stats->commands = conn.commands;
    stats->replies = conn.replies;
    stats->connects = conn.connects;
    stats->disconnects = conn.disconnects;
    stats->bytes_out = conn.bytes_out;
    stats->bytes_in = conn.bytes_in;
    stats->pending = conn.pending;
    stats->unsent_bytes = conn.unsent_bytes;
    stats->last_latency_us = conn.last_latency_ns < 0 ? -1 : conn.last_latency_ns / RL_NS_PER_US;
    stats->last_error = conn.last_error;
    stats->messages = conn.messages;
}

static void fill_votes(const struct rl_host_votes *votes, struct redlock_node_stats *stats)
{
    stats->granted = votes->granted;
    stats->refused = votes->refused;
    stats->failed = votes->failed;
    stats->unknown = votes->unknown;
    stats->queued = votes->queued;
}

int redlock_client_node_stats(const struct redlock_client *client, size_t node, struct redlock_node_stats *ret_stats,
                              size_t size)
{
    struct redlock_node_stats stats = {0};

    if (!client || !ret_stats || node >= client->host.engine.votes.config.n_nodes)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    fill_votes(&client->host.votes[node], &stats);
    fill_from_driver(client, (unsigned)node, &stats);
    memcpy(ret_stats, &stats, smaller(size, sizeof stats));
    return 0;
}

size_t redlock_client_class_count(const struct redlock_client *client)
{
    return client ? client->usage.n_classes : 0;
}

int redlock_client_class_stats(const struct redlock_client *client, size_t number,
                               struct redlock_class_stats *ret_stats, size_t size)
{
    if (!client || !ret_stats || number >= client->usage.n_classes)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    memcpy(ret_stats, &client->usage.classes[number], smaller(size, sizeof *ret_stats));
    return 0;
}

_Static_assert(RL_BUCKETS == REDLOCK_HISTOGRAM_BUCKETS, "what the header says");

int64_t redlock_histogram_bound_us(size_t bucket)
{
    int64_t ns = rl_bucket_bound_ns(bucket);

    return ns == INT64_MAX ? INT64_MAX : ns / RL_NS_PER_US;
}

/* False: there is no such outcome or master. */
static bool find_histogram(const struct redlock_client *client, enum redlock_histogram_kind kind, int which,
                           struct rl_histogram *ret)
{
    size_t n_masters = client->host.engine.votes.config.n_nodes;
    struct rl_conn_stats conn;
    bool exists = true;

    switch (kind) {
    case REDLOCK_HISTOGRAM_ACQUIRE:
        exists = which <= REDLOCK_OK && which >= REDLOCK_CANCELED;
        *ret = client->usage.acquisitions[exists ? -which : 0];
        break;
    case REDLOCK_HISTOGRAM_WAIT:
        *ret = client->usage.waits;
        break;
    case REDLOCK_HISTOGRAM_HOLD:
        *ret = client->usage.holds;
        break;
    case REDLOCK_HISTOGRAM_RENEWAL:
        *ret = client->measures.renewals;
        break;
    case REDLOCK_HISTOGRAM_RENEWAL_LATE:
        *ret = client->measures.renewals_late;
        break;
    case REDLOCK_HISTOGRAM_REPLY:
        exists = which >= 0 && (size_t)which < n_masters;
        rl_driver_node_stats(client->driver, exists ? (unsigned)which : 0, &conn);
        *ret = conn.latencies;
        break;
    default:
        exists = false;
    }
    return exists;
}

int redlock_client_histogram(const struct redlock_client *client, enum redlock_histogram_kind kind, int which,
                             struct redlock_histogram *ret_histogram, size_t size)
{
    struct redlock_histogram copy;
    struct rl_histogram histogram;

    if (!client || !ret_histogram)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (!find_histogram(client, kind, which, &histogram))
        return REDLOCK_E_ARGUMENT;
    copy = (struct redlock_histogram){.count = histogram.count, .sum_us = histogram.sum_ns / RL_NS_PER_US};
    memcpy(copy.buckets, histogram.buckets, sizeof copy.buckets);
    memcpy(ret_histogram, &copy, smaller(size, sizeof copy));
    return 0;
}

/* The offset of the master's clock is known against the client's clock, which is no wall clock; so this machine's wall
 * clock is read for the comparison. */
static int64_t wall_clock_offset_us(const struct rl_node_clock *clock, struct rl_instant now)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    return (rl_node_clock_offset_ns(clock) + now.ns - atomic_load(&rl_clock_ahead_ns)) / RL_NS_PER_US -
           ((int64_t)wall.tv_sec * 1000000 + wall.tv_nsec / 1000);
}

static void fill_standing(const struct redlock_client *client, unsigned node, struct rl_instant now,
                          struct redlock_node_info *info)
{
    struct rl_admission_status standing = rl_trust_status(&client->host, node, now);

    info->member = (client->host.engine.votes.members & rl_bit(node)) != 0;
    info->standing = rl_public_standing(standing.kind);
    info->fault = rl_public_fault(standing.fault);
    info->fault_text = rl_trust_fault_text(&client->host, node, standing.fault);
    if (standing.kind == RL_ADMISSION_QUARANTINED)
        info->quarantine_ms = (rl_until(now, standing.until).ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS;
}

static const char *append_fsync(const struct rl_trust_node *known)
{
    return strcmp(known->settings[RL_TRUST_APPEND_ONLY], "no") == 0 ? "off" : known->settings[RL_TRUST_APPEND_FSYNC];
}

/* Of a master that could not be looked at there is no report: its texts are empty, its numbers 0. */
static void fill_from_report(const struct rl_trust_node *known, struct redlock_node_info *info)
{
    const struct rl_join_report *report = &known->report;

    info->version = report->version;
    info->role = report->role;
    info->run_id = report->run_id;
    info->eviction_policy = report->policy;
    info->append_fsync = append_fsync(known);
    info->looked = known->has_report;
    info->durable = known->has_report && rl_trust_durability(known) == RL_DURABILITY_ALWAYS;
    info->promoted = report->promoted;
    info->cluster = report->cluster;
    info->maxmemory = report->maxmemory;
    info->replicas = report->replicas;
    if (report->event != RL_JOIN_ABSENT) {
        info->marker_max_ttl_ms = report->max_ttl_ms;
        info->marker_longest_ms = report->longest_ms;
        info->marker_falls_ms = report->falls_ms;
        info->declaration = report->announced;
        info->declaration_confirmed = report->confirmed;
        info->list_ms = report->list_age_ms;
        info->stale_ms = report->stale_ms;
    }
}

static void fill_clock(const struct rl_trust_node *known, struct rl_instant now, struct redlock_node_info *info)
{
    if (known->clock.at.ns != RL_LONG_AGO.ns)
        info->clock_offset_us = wall_clock_offset_us(&known->clock, now);
    info->clock_step_us = known->clock.last_step.ns / RL_NS_PER_US;
    info->clock_forward_steps = known->clock.forward_steps;
    info->clock_backward_steps = known->clock.backward_steps;
}

int redlock_client_node_info(const struct redlock_client *client, size_t node, struct redlock_node_info *ret_info,
                             size_t size)
{
    struct redlock_node_stats stats = {0};
    struct redlock_node_info info = {0};
    const struct rl_trust_node *known;
    struct rl_clock clock;
    struct rl_instant now;

    if (!client || !ret_info || node >= client->host.engine.votes.config.n_nodes)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    known = &client->host.trust.nodes[node];
    clock = client->clock; /* a question changes nothing */
    now = rl_clock_now(&clock);
    fill_from_driver(client, (unsigned)node, &stats);
    info.name = stats.name;
    info.link = stats.link;
    info.latency_us = stats.last_latency_us;
    info.last_error = stats.last_error;
    fill_standing(client, (unsigned)node, now, &info);
    fill_from_report(known, &info);
    fill_clock(known, now, &info);
    memcpy(ret_info, &info, smaller(size, sizeof info));
    return 0;
}

size_t redlock_client_node_count(const struct redlock_client *client)
{
    return client ? client->host.engine.votes.config.n_nodes : 0;
}
