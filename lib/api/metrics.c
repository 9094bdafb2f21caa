/* Statistics in Prometheus's text format: the list of what there is. */
#include <limits.h>
#include <redlock/metrics.h>
#include <string.h>

#include <redlock/redlock.h>

#include "api/exposition.h"
#include "api/handle.h"
#include "codec/classify.h"

struct family {
    const char *name; /* whole, with unit and _total */
    const char *help;
};

static void put_head(struct rl_text *text, const struct family *family)
{
    size_t length = strlen(family->name);
    bool counts = length > 6 && strcmp(family->name + length - 6, "_total") == 0;

    rl_text_head(text, family->name, counts ? "counter" : "gauge", family->help);
}

static const struct rl_own_labels none = {0};

static void put_version(struct rl_text *text)
{
    static const struct family family = {"redlock_build_info", "The version of the library; always 1."};

    put_head(text, &family);
    rl_text_count(text, family.name, &(struct rl_own_labels){.name = "version", .value = redlock_version()}, 1);
}

/* --- The client -------------------------------------------------------------------------------------------------- */

#define NAMED(name, member, help) {{"redlock_" name, help}, NULL, offsetof(struct redlock_stats, member)}
#define TOTAL(member, help) NAMED(#member "_total", member, help)
#define RESULT(member, word) \
    {{"redlock_acquire_results_total", "How acquisitions have ended."}, word, offsetof(struct redlock_stats, member)}

/* Rows of one family follow each other. */
static const struct row {
    struct family family;
    const char *result;
    size_t offset;
} of_client[] = {
    TOTAL(acquires, "Acquisitions begun."),
    RESULT(acquired, "acquired"),
    RESULT(held, "held"),
    RESULT(no_quorum, "no_quorum"),
    RESULT(too_slow, "too_slow"),
    RESULT(deadline, "deadline"),
    RESULT(canceled, "canceled"),
    TOTAL(attempts, "Attempts that acquisitions have made."),
    TOTAL(extends, "Extensions begun by the program."),
    TOTAL(extended, "Extensions confirmed by a quorum."),
    TOTAL(releases, "Releases begun."),
    TOTAL(released, "Releases confirmed by a quorum, or handed off within this client."),
    TOTAL(converts, "Conversions to another mode that were begun."),
    TOTAL(converted, "Conversions that succeeded."),
    TOTAL(lost, "Locks whose validity ended while they were held."),
    TOTAL(at_risk, "Warnings that little validity was left."),
    TOTAL(renewals, "Extensions that the library has made by itself."),
    TOTAL(renewals_failed, "Renewals that found no quorum."),
    TOTAL(repairs, "Keys given back to masters that had lost them."),
    TOTAL(rollbacks, "Attempts that failed and were rolled back."),
    TOTAL(late_grants, "Grants that arrived after their attempt had been given up."),
    NAMED("releases_repeated_total", rollbacks_resent, "Releases written again after a reconnect or an error."),
    NAMED("releases_expired_total", rollbacks_expired, "Releases given up since the ttl of the key had passed."),
    NAMED("votes_disproved_total", disproved, "Answers that did not count, from a master that has lost its memory."),
    TOTAL(clock_steps, "Clocks of masters found to have moved forward against the client's."),
    TOTAL(raises, "Fenced acquisitions that needed a second round trip."),
    TOTAL(waits, "Acquisitions that joined the wait queue."),
    TOTAL(hand_offs, "Votes of masters that came by a notification."),
    TOTAL(yields, "Times that votes were given back since a lower ticket waits."),
    TOTAL(moves, "Times that a waiter for a permit moved to the queue of another slot."),
    TOTAL(cohort_hand_offs, "Locks handed off within this client, without a master."),
    TOTAL(reentries, "Entries of owners into locks that they held."),
    TOTAL(set_acquires, "Acquisitions of sets begun by the program."),
    TOTAL(set_acquired, "Acquisitions of sets that succeeded."),
    TOTAL(elected, "Elections won."),
    TOTAL(leaderships_lost, "Leaderships lost."),
    TOTAL(looks, "Looks at keys begun by the program."),
    TOTAL(members_changed, "Changes of the list of masters that the client has followed."),
    TOTAL(latch_arrivals, "Arrivals at latches begun."),
    TOTAL(latch_arrived, "Arrivals at latches recorded by a quorum."),
    TOTAL(latch_awaits, "Waits for latches begun."),
    TOTAL(latch_opened, "Waits for latches that ended since the latch was open."),
    TOTAL(latch_refused, "Arrivals and waits refused: other parties or another generation."),
    TOTAL(commands, "Commands queued for masters, handshakes excluded."),
    TOTAL(script_reloads, "Scripts sent again since a master did not know them."),
    NAMED("claims", claims, "Values that may be set on some master at present."),
    NAMED("releases_pending", pending_rollbacks, "Values whose release is not confirmed yet."),
};

static void put_client(struct rl_text *text, const struct redlock_stats *stats)
{
    const char *before = "";

    for (size_t i = 0; i < sizeof of_client / sizeof of_client[0]; i++) {
        const struct row *row = &of_client[i];
        const struct rl_own_labels own = {.name = row->result ? "result" : NULL, .value = row->result};
        uint64_t value;

        if (strcmp(before, row->family.name) != 0)
            put_head(text, &row->family);
        before = row->family.name;
        memcpy(&value, (const char *)stats + row->offset, sizeof value);
        rl_text_count(text, row->family.name, &own, (int64_t)value);
    }
}

/* --- Durations --------------------------------------------------------------------------------------------------- */

/* Histograms of one family follow each other; of outcomes those that there have been. */
static const struct {
    struct family family;
    enum redlock_histogram_kind kind;
    int which;
    const char *result;
} of_time[] = {
#define ACQUIRE(status, word) \
    {{"redlock_acquire_seconds", "How long acquisitions have taken."}, REDLOCK_HISTOGRAM_ACQUIRE, status, word}
    ACQUIRE(REDLOCK_OK, "acquired"),
    ACQUIRE(REDLOCK_HELD, "held"),
    ACQUIRE(REDLOCK_NO_QUORUM, "no_quorum"),
    ACQUIRE(REDLOCK_TOO_SLOW, "too_slow"),
    ACQUIRE(REDLOCK_DEADLINE, "deadline"),
    ACQUIRE(REDLOCK_CANCELED, "canceled"),
    {{"redlock_wait_seconds", "How long acquisitions have waited in the queue."}, REDLOCK_HISTOGRAM_WAIT, 0, NULL},
    {{"redlock_hold_seconds", "How long locks were held."}, REDLOCK_HISTOGRAM_HOLD, 0, NULL},
    {{"redlock_renewal_seconds", "How long renewals have taken to find their quorum."},
     REDLOCK_HISTOGRAM_RENEWAL, 0, NULL},
    {{"redlock_renewal_late_seconds", "How late renewals have begun, since the program or the machine was busy."},
     REDLOCK_HISTOGRAM_RENEWAL_LATE, 0, NULL},
};

static void put_times(struct rl_text *text, const struct redlock_client *client)
{
    struct redlock_histogram histogram;
    const char *before = "";

    for (size_t i = 0; i < sizeof of_time / sizeof of_time[0]; i++) {
        const struct family *family = &of_time[i].family;
        const struct rl_own_labels own = {.name = of_time[i].result ? "result" : NULL, .value = of_time[i].result};

        if (redlock_client_histogram(client, of_time[i].kind, of_time[i].which, &histogram, sizeof histogram) != 0)
            continue;
        if (strcmp(before, family->name) != 0)
            rl_text_head(text, family->name, "histogram", family->help);
        before = family->name;
        if (histogram.count > 0 || !of_time[i].result || of_time[i].which == REDLOCK_OK)
            rl_text_histogram(text, family->name, &own, &histogram);
    }
}

static void put_replies(struct rl_text *text, const struct redlock_client *client)
{
    static const char name[] = "redlock_node_reply_seconds";
    struct redlock_histogram histogram;
    struct redlock_node_stats stats;

    rl_text_head(text, name, "histogram", "How long replies of the master have taken.");
    for (size_t i = 0; i < redlock_client_node_count(client); i++) {
        redlock_client_node_stats(client, i, &stats, sizeof stats);
        if (redlock_client_histogram(client, REDLOCK_HISTOGRAM_REPLY, (int)i, &histogram, sizeof histogram) == 0)
            rl_text_histogram(text, name, &(struct rl_own_labels){.node = stats.name}, &histogram);
    }
}

/* --- Classes of keys --------------------------------------------------------------------------------------------- */

static const struct class_row {
    struct family family;
    const char *reason;
    size_t offset; /* of a uint64_t in struct redlock_class_stats */
} of_class[] = {
#define CLASS(name, help, reason, member) \
    {{"redlock_key_" name, help}, reason, offsetof(struct redlock_class_stats, member)}
#define FAILURE(member) \
    CLASS("failures_total", "Acquisitions that failed, by class of key and by what was in the way.", #member, member)
#define LOSS(member) CLASS("lost_total", "Locks that were lost, by class of key and by reason.", #member, lost_##member)
    CLASS("acquired_total", "Acquisitions that succeeded, by class of key.", NULL, acquired),
    FAILURE(held),
    FAILURE(no_quorum),
    FAILURE(too_slow),
    FAILURE(canceled),
    FAILURE(client),
    LOSS(expired),
    LOSS(unreachable),
    LOSS(refused),
    LOSS(clock_step),
    LOSS(hold_limit),
};

static void put_classes(struct rl_text *text, const struct redlock_client *client)
{
    const char *before = "";

    for (size_t row = 0; row < sizeof of_class / sizeof of_class[0]; row++) {
        const struct class_row *at = &of_class[row];

        if (strcmp(before, at->family.name) != 0)
            put_head(text, &at->family);
        before = at->family.name;
        for (size_t i = 0; i < redlock_client_class_count(client); i++) {
            struct redlock_class_stats stats;
            struct rl_own_labels own = {.name = at->reason ? "reason" : NULL, .value = at->reason};
            uint64_t value;

            redlock_client_class_stats(client, i, &stats, sizeof stats);
            own.key_class = stats.name;
            memcpy(&value, (const char *)&stats + at->offset, sizeof value);
            rl_text_count(text, at->family.name, &own, (int64_t)value);
        }
    }
}

/* --- The masters ------------------------------------------------------------------------------------------------- */

struct node {
    struct redlock_node_stats stats;
    struct redlock_node_info info;
};

/* A number of seconds, or a plain one; a master may have none yet. */
struct number {
    enum { ABSENT, PLAIN, MICROSECONDS } unit;
    int64_t value;
};

static struct number plain(uint64_t value)
{
    return (struct number){PLAIN, (int64_t)value};
}

static struct number is_up(const struct node *node)
{
    return plain(node->stats.link == REDLOCK_LINK_READY);
}

static struct number is_voting(const struct node *node)
{
    return plain(node->stats.link == REDLOCK_LINK_READY && node->info.standing == REDLOCK_STANDING_VOTES);
}

static struct number quarantine(const struct node *node)
{
    return (struct number){MICROSECONDS, node->info.quarantine_ms * 1000};
}

static struct number latency(const struct node *node)
{
    return (struct number){node->stats.last_latency_us < 0 ? ABSENT : MICROSECONDS, node->stats.last_latency_us};
}

static struct number clock_offset(const struct node *node)
{
    return (struct number){node->info.looked ? MICROSECONDS : ABSENT, node->info.clock_offset_us};
}

static struct number pending(const struct node *node)
{
    return plain(node->stats.pending);
}

static struct number unsent(const struct node *node)
{
    return plain(node->stats.unsent_bytes);
}

#define NODE_GAUGE(name, help, read) {{"redlock_node_" name, help}, NULL, 0, read}
#define NODE_TOTAL(name, member, help) \
    {{"redlock_node_" name "_total", help}, NULL, offsetof(struct redlock_node_stats, member), NULL}
#define VOTE(member)                                                                                                \
    {{"redlock_node_votes_total", "Answers to attempts to acquire."}, #member,                                      \
     offsetof(struct redlock_node_stats, member), NULL}

static const struct {
    struct family family;
    const char *vote;
    size_t offset; /* of a uint64_t in struct redlock_node_stats, unless there is a function */
    struct number (*read)(const struct node *node);
} of_node[] = {
    NODE_GAUGE("up", "1 if the master is connected and answers in time.", is_up),
    NODE_GAUGE("voting", "1 if the vote of the master counts at present.", is_voting),
    NODE_GAUGE("quarantine_seconds", "Time until the master votes again; 0: it is not in quarantine.", quarantine),
    NODE_GAUGE("latency_seconds", "Latency of the latest reply.", latency),
    NODE_GAUGE("clock_offset_seconds", "Wall clock of the master less the clock of this machine.", clock_offset),
    NODE_GAUGE("pending_commands", "Commands without a reply.", pending),
    NODE_GAUGE("unsent_bytes", "Bytes of commands that wait to be written.", unsent),
    VOTE(granted),
    VOTE(refused),
    VOTE(failed),
    VOTE(unknown),
    VOTE(queued),
    NODE_TOTAL("commands", commands, "Commands queued for the master, handshakes excluded."),
    NODE_TOTAL("replies", replies, "Replies of the master."),
    NODE_TOTAL("notifications", messages, "Notifications of the master."),
    NODE_TOTAL("connects", connects, "Handshakes completed."),
    NODE_TOTAL("disconnects", disconnects, "Connections that have ended, and attempts that failed."),
    NODE_TOTAL("sent_bytes", bytes_out, "Bytes written to the master."),
    NODE_TOTAL("received_bytes", bytes_in, "Bytes read from the master."),
};

static struct number number_of(const struct node *node, size_t row)
{
    uint64_t value;

    if (of_node[row].read)
        return of_node[row].read(node);
    memcpy(&value, (const char *)&node->stats + of_node[row].offset, sizeof value);
    return plain(value);
}

static void put_node(struct rl_text *text, const struct node *node, size_t row)
{
    const char *vote = of_node[row].vote;
    const struct rl_own_labels own = {.node = node->stats.name, .name = vote ? "vote" : NULL, .value = vote};
    struct number number = number_of(node, row);

    if (number.unit == MICROSECONDS)
        rl_text_seconds(text, of_node[row].family.name, &own, number.value);
    else if (number.unit == PLAIN)
        rl_text_count(text, of_node[row].family.name, &own, number.value);
}

static struct node node_of(const struct redlock_client *client, size_t i)
{
    struct node node = {.stats = {.name = ""}};

    redlock_client_node_stats(client, i, &node.stats, sizeof node.stats);
    redlock_client_node_info(client, i, &node.info, sizeof node.info);
    return node;
}

/* A master is asked again for each row: there is no room to keep what all of them say. */
static void put_nodes(struct rl_text *text, const struct redlock_client *client)
{
    const char *before = "";

    for (size_t row = 0; row < sizeof of_node / sizeof of_node[0]; row++) {
        if (strcmp(before, of_node[row].family.name) != 0)
            put_head(text, &of_node[row].family);
        before = of_node[row].family.name;
        for (size_t i = 0; i < redlock_client_node_count(client); i++) {
            struct node node = node_of(client, i);

            put_node(text, &node, row);
        }
    }
}

/* Masters that have left the list are none of these. */
static void put_quorum(struct rl_text *text, const struct redlock_client *client)
{
    static const struct family quorum = {"redlock_quorum", "Masters that must agree."};
    static const struct family margin = {"redlock_quorum_margin",
                                         "Masters that may still fail; below 0: no quorum votes."};
    int64_t needed = (int64_t)client->host.engine.votes.config.quorum;
    int64_t left = -needed;

    for (size_t i = 0; i < redlock_client_node_count(client); i++) {
        struct node node = node_of(client, i);

        left += node.info.member && is_voting(&node).value;
    }
    put_head(text, &quorum);
    rl_text_count(text, quorum.name, &none, needed);
    put_head(text, &margin);
    rl_text_count(text, margin.name, &none, left);
}

static const char *why_not(const struct node *node)
{
    if (node->stats.link != REDLOCK_LINK_READY)
        return redlock_link_name(node->stats.link);
    if (node->info.fault != REDLOCK_FAULT_NONE)
        return redlock_fault_name(node->info.fault);
    return redlock_standing_name(node->info.standing);
}

static void put_not_voting(struct rl_text *text, const struct redlock_client *client)
{
    static const struct family family = {"redlock_node_not_voting",
                                         "Why the vote of the master does not count at present; always 1."};

    put_head(text, &family);
    for (size_t i = 0; i < redlock_client_node_count(client); i++) {
        struct node node = node_of(client, i);
        const struct rl_own_labels own = {.node = node.stats.name, .name = "reason", .value = why_not(&node)};

        if (!is_voting(&node).value)
            rl_text_count(text, family.name, &own, 1);
    }
}

/* There are many reasons, and few that ever come. */
static void put_failures(struct rl_text *text, const struct redlock_client *client)
{
    static const struct family family = {
        "redlock_node_failures_total", "Attempts, renewals and extensions that failed, and what the master lacked."};

    put_head(text, &family);
    for (size_t i = 0; i < redlock_client_node_count(client); i++) {
        const uint64_t *failures = client->measures.failures[i];
        struct redlock_node_stats stats;

        redlock_client_node_stats(client, i, &stats, sizeof stats);
        for (enum rl_detail why = RL_DETAIL_NONE; why < RL_DETAIL_COUNT; why++) {
            const struct rl_own_labels own = {.node = stats.name, .name = "reason", .value = rl_detail_text(why)};

            if (failures[why] > 0)
                rl_text_count(text, family.name, &own, (int64_t)failures[why]);
        }
    }
}

int redlock_client_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels,
                           size_t n_labels, char *ret_text, size_t size)
{
    struct rl_text text = {ret_text, size > 0 ? size - 1 : 0, 0, labels, n_labels};
    struct redlock_stats stats;
    int status;

    if ((size > 0 && !ret_text) || !rl_labels_are_usable(labels, n_labels))
        return REDLOCK_E_ARGUMENT;
    status = redlock_client_stats(client, &stats, sizeof stats);
    if (status != 0)
        return status;
    put_version(&text);
    put_client(&text, &stats);
    put_quorum(&text, client);
    put_nodes(&text, client);
    put_not_voting(&text, client);
    put_failures(&text, client);
    put_classes(&text, client);
    put_times(&text, client);
    put_replies(&text, client);
    if (text.length > INT_MAX)
        return REDLOCK_E_ARGUMENT;
    if (size > 0)
        ret_text[text.length < text.size ? text.length : text.size] = '\0';
    return (int)text.length;
}
