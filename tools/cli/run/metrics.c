#include "cli/run/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

#include "cli/file_out.h"

#define NAMED(name, member, kind, text) {name, kind, text, offsetof(struct redlock_stats, member)}
#define ENTRY(member, kind, text) NAMED(#member, member, kind, text)

static const struct {
    const char *name;
    const char *kind;
    const char *text;
    size_t offset;
} totals[] = {
    ENTRY(acquires, "counter", "Acquisitions begun"),
    ENTRY(attempts, "counter", "Rounds of requests sent for acquisitions"),
    ENTRY(acquired, "counter", "Acquisitions that took the lock"),
    NAMED("busy", held, "counter", "Acquisitions that found another holder"),
    ENTRY(no_quorum, "counter", "Acquisitions that found too few masters"),
    ENTRY(too_slow, "counter", "Acquisitions granted with too little time left"),
    ENTRY(deadline, "counter", "Acquisitions whose time to wait was over"),
    ENTRY(canceled, "counter", "Acquisitions canceled"),
    ENTRY(releases, "counter", "Releases begun"),
    ENTRY(released, "counter", "Releases confirmed by a quorum"),
    ENTRY(lost, "counter", "Locks whose validity ended while they were held"),
    ENTRY(rollbacks, "counter", "Attempts undone"),
    ENTRY(late_grants, "counter", "Grants that arrived after their attempt had been given up"),
    ENTRY(renewals, "counter", "Renewals begun"),
    ENTRY(renewals_failed, "counter", "Renewals without a quorum"),
    ENTRY(repairs, "counter", "Keys given back to masters that had lost them"),
    ENTRY(at_risk, "counter", "Warnings that little validity was left"),
    ENTRY(disproved, "counter", "Votes that did not count since the memory had changed"),
    ENTRY(clock_steps, "counter", "Clocks of masters found set forward"),
    ENTRY(debts, "gauge", "Values whose release is not confirmed yet"),
};

static const char *suffix(const char *kind)
{
    return strcmp(kind, "counter") == 0 ? "_total" : "";
}

/* A label's value: these three are special. */
static void print_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            putc('\\', out);
        if (*value == '\n')
            fputs("\\n", out);
        else
            putc(*value, out);
    }
    putc('"', out);
}

static void print_head(FILE *out, const char *name, const char *kind, const char *text)
{
    fprintf(out, "# HELP redlock_%s%s %s.\n# TYPE redlock_%s%s %s\n", name, suffix(kind), text, name, suffix(kind),
            kind);
}

static void print_totals(FILE *out, const struct redlock_client *client)
{
    struct redlock_stats stats;

    if (redlock_client_stats(client, &stats, sizeof(stats)) != 0)
        return;
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        uint64_t value;

        memcpy(&value, (const char *)&stats + totals[i].offset, sizeof(value));
        print_head(out, totals[i].name, totals[i].kind, totals[i].text);
        fprintf(out, "redlock_%s%s %" PRIu64 "\n", totals[i].name, suffix(totals[i].kind), value);
    }
}

/* --- Masters ----------------------------------------------------------------------------------------------------- */

static double is_up(const struct redlock_node_stats *stats)
{
    return stats->link == REDLOCK_LINK_READY;
}

static double latency(const struct redlock_node_stats *stats)
{
    return stats->last_latency_us >= 0 ? (double)stats->last_latency_us / 1e6 : -1;
}

static double commands(const struct redlock_node_stats *stats)
{
    return (double)stats->commands;
}

static double replies(const struct redlock_node_stats *stats)
{
    return (double)stats->replies;
}

static double disconnects(const struct redlock_node_stats *stats)
{
    return (double)stats->disconnects;
}

static const struct {
    const char *name;
    const char *kind;
    const char *text;
    double (*value)(const struct redlock_node_stats *stats);
} per_node[] = {
    {"node_up", "gauge", "1 if the master is connected and answers in time", is_up},
    {"node_latency_seconds", "gauge", "Latency of the latest reply, -1 before the first", latency},
    {"node_commands", "counter", "Commands queued for the master", commands},
    {"node_replies", "counter", "Replies of the master", replies},
    {"node_disconnects", "counter", "Connections that have ended or failed", disconnects},
};

static void print_nodes(FILE *out, const struct redlock_client *client)
{
    for (size_t i = 0; i < sizeof(per_node) / sizeof(per_node[0]); i++) {
        print_head(out, per_node[i].name, per_node[i].kind, per_node[i].text);
        for (size_t node = 0; node < redlock_client_node_count(client); node++) {
            struct redlock_node_stats stats;

            if (redlock_client_node_stats(client, node, &stats, sizeof(stats)) != 0)
                continue;
            fprintf(out, "redlock_%s%s{", per_node[i].name, suffix(per_node[i].kind));
            print_label(out, "node", stats.name);
            fprintf(out, "} %.9g\n", per_node[i].value(&stats));
        }
    }
}

/* --- One lock ---------------------------------------------------------------------------------------------------- */

static void print_of_key(FILE *out, const struct metrics *metrics, const char *name, double value)
{
    fprintf(out, "redlock_%s{", name);
    print_label(out, "key", metrics->key);
    fprintf(out, "} %.9g\n", value);
}

static void print_lock(FILE *out, const struct metrics *metrics)
{
    print_head(out, "held", "gauge", "1 while the lock is held");
    print_of_key(out, metrics, "held", metrics->held);
    print_head(out, "remaining_seconds", "gauge", "Proven validity left when this was written");
    print_of_key(out, metrics, "remaining_seconds", (double)metrics->remaining_ms / 1e3);
}

static void print_histogram(FILE *out, const struct metrics *metrics)
{
    static const double bounds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300};
    double sum = 0;

    print_head(out, "acquire_seconds", "histogram", "How long acquisitions that took a lock have taken");
    for (size_t b = 0; b < sizeof(bounds) / sizeof(bounds[0]); b++) {
        size_t within = 0;

        for (size_t i = 0; i < metrics->acquires; i++)
            within += (double)metrics->acquire_us[i] / 1e6 <= bounds[b];
        fprintf(out, "redlock_acquire_seconds_bucket{le=\"%g\"} %zu\n", bounds[b], within);
    }
    for (size_t i = 0; i < metrics->acquires; i++)
        sum += (double)metrics->acquire_us[i] / 1e6;
    fprintf(out, "redlock_acquire_seconds_bucket{le=\"+Inf\"} %zu\nredlock_acquire_seconds_sum %.9g\n"
                 "redlock_acquire_seconds_count %zu\n", metrics->acquires, sum, metrics->acquires);
}

bool metrics_write(const struct metrics *metrics, const struct redlock_client *client, struct file_out *file)
{
    FILE *out = file_out_begin(file);

    if (out == NULL)
        return false;
    if (metrics->key != NULL)
        print_lock(out, metrics);
    print_histogram(out, metrics);
    print_totals(out, client);
    print_nodes(out, client);
    return file_out_end(file, 0);
}
