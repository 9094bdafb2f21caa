/* Statistics in Prometheus's text format.
 *
 * A family of samples is a name, a kind and a sentence; its samples follow each other, as the format wants it. Numbers
 * are written by digits alone: a conversion by printf would use the decimal point of the program's locale. */
#include <inttypes.h>
#include <limits.h>
#include <redlock/metrics.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/redlock.h>

/* What has been written so far, and what would have been with more room. */
struct text {
    char *at;
    size_t size;
    size_t length;
    const struct redlock_metric_label *labels;
    size_t n_labels;
};

static void put(struct text *text, const char *bytes, size_t n)
{
    if (text->length < text->size) {
        size_t room = text->size - text->length;

        memcpy(text->at + text->length, bytes, n < room ? n : room);
    }
    text->length += n;
}

static void put_string(struct text *text, const char *string)
{
    put(text, string, strlen(string));
}

static void put_count(struct text *text, uint64_t number)
{
    char digits[24];

    put(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number));
}

static void put_seconds(struct text *text, int64_t us)
{
    uint64_t size = us < 0 ? -(uint64_t)us : (uint64_t)us;
    char digits[32];

    put(text, digits, (size_t)snprintf(digits, sizeof digits, "%s%" PRIu64 ".%06" PRIu64, us < 0 ? "-" : "",
                                       size / 1000000, size % 1000000));
}

/* --- Labels ------------------------------------------------------------------------------------------------------ */

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the character that begins here; 0: none does (RFC 3629: neither overlong forms nor surrogates). */
static size_t utf8_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    if (at[0] >= 0xc2 && at[0] <= 0xdf)
        return is_continuation(at[1]) ? 2 : 0;
    if (at[0] >= 0xe0 && at[0] <= 0xef) {
        if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
            return 0;
        return is_continuation(at[1]) && is_continuation(at[2]) ? 3 : 0;
    }
    if (at[0] >= 0xf0 && at[0] <= 0xf4) {
        if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
            return 0;
        return is_continuation(at[1]) && is_continuation(at[2]) && is_continuation(at[3]) ? 4 : 0;
    }
    return 0;
}

static void put_value(struct text *text, const char *value)
{
    while (*value != '\0') {
        size_t length = utf8_length((const unsigned char *)value);

        if (*value == '\n')
            put_string(text, "\\n");
        else if (*value == '"' || *value == '\\')
            put(text, (const char[]){'\\', *value}, 2);
        else if (length > 0)
            put(text, value, length);
        else
            put_string(text, "\xef\xbf\xbd");
        value += length > 0 ? length : 1;
    }
}

static void put_label(struct text *text, bool *first, const char *name, const char *value)
{
    put_string(text, *first ? "{" : ",");
    put_string(text, name);
    put_string(text, "=\"");
    put_value(text, value);
    put_string(text, "\"");
    *first = false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name)
{
    static const char *const own[] = {"node", "result", "vote", "version"};

    if (!is_letter(name[0]) || strncmp(name, "__", 2) == 0)
        return false;
    for (const char *at = name; *at != '\0'; at++)
        if (!is_letter(*at) && !(*at >= '0' && *at <= '9'))
            return false;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0)
            return false;
    return true;
}

static bool are_labels(const struct redlock_metric_label *labels, size_t n)
{
    if (n > 0 && !labels)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!labels[i].name || !labels[i].value || !is_name(labels[i].name))
            return false;
        for (size_t before = 0; before < i; before++)
            if (strcmp(labels[before].name, labels[i].name) == 0)
                return false;
    }
    return true;
}

/* --- Samples ----------------------------------------------------------------------------------------------------- */

struct family {
    const char *name; /* whole, with unit and _total */
    const char *help;
};

static bool is_counter(const struct family *family)
{
    size_t length = strlen(family->name);

    return length > 6 && strcmp(family->name + length - 6, "_total") == 0;
}

static void put_head(struct text *text, const struct family *family)
{
    const char *const words[] = {"# HELP ", family->name, " ",    family->help, "\n# TYPE ",
                                 family->name, is_counter(family) ? " counter\n" : " gauge\n"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        put_string(text, words[i]);
}

/* All of a sample but its number: the program's labels, the master, and one of the family's own; NULL: none. */
static void put_sample(struct text *text, const char *family, const char *node, const char *name, const char *value)
{
    bool first = true;

    put_string(text, family);
    for (size_t i = 0; i < text->n_labels; i++)
        put_label(text, &first, text->labels[i].name, text->labels[i].value);
    if (node)
        put_label(text, &first, "node", node);
    if (name)
        put_label(text, &first, name, value);
    put_string(text, first ? " " : "} ");
}

static void put_version(struct text *text)
{
    static const struct family family = {"redlock_build_info", "The version of the library; always 1."};

    put_head(text, &family);
    put_sample(text, family.name, NULL, "version", redlock_version());
    put_string(text, "1\n");
}

/* --- The client -------------------------------------------------------------------------------------------------- */

#define NAMED(name, member, help) {{"redlock_" name, help}, NULL, offsetof(struct redlock_stats, member)}
#define TOTAL(member, help) NAMED(#member "_total", member, help)
#define RESULT(member, word) \
    {{"redlock_acquire_results_total", "How acquisitions have ended."}, word, offsetof(struct redlock_stats, member)}

/* Rows of one family follow each other. */
static const struct {
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

static void put_client(struct text *text, const struct redlock_stats *stats)
{
    const char *before = "";

    for (size_t i = 0; i < sizeof of_client / sizeof of_client[0]; i++) {
        const struct family *family = &of_client[i].family;
        uint64_t value;

        if (strcmp(before, family->name) != 0)
            put_head(text, family);
        before = family->name;
        memcpy(&value, (const char *)stats + of_client[i].offset, sizeof value);
        put_sample(text, family->name, NULL, of_client[i].result ? "result" : NULL, of_client[i].result);
        put_count(text, value);
        put_string(text, "\n");
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

static void put_node(struct text *text, const struct node *node, size_t row)
{
    struct number number = number_of(node, row);

    if (number.unit == ABSENT)
        return;
    put_sample(text, of_node[row].family.name, node->stats.name, of_node[row].vote ? "vote" : NULL, of_node[row].vote);
    if (number.unit == MICROSECONDS)
        put_seconds(text, number.value);
    else
        put_count(text, (uint64_t)number.value);
    put_string(text, "\n");
}

/* A master is asked again for each row: there is no room to keep what all of them say. */
static void put_nodes(struct text *text, const struct redlock_client *client)
{
    const char *before = "";

    for (size_t row = 0; row < sizeof of_node / sizeof of_node[0]; row++) {
        if (strcmp(before, of_node[row].family.name) != 0)
            put_head(text, &of_node[row].family);
        before = of_node[row].family.name;
        for (size_t i = 0; i < redlock_client_node_count(client); i++) {
            struct node node = {.stats = {.name = ""}};

            redlock_client_node_stats(client, i, &node.stats, sizeof node.stats);
            redlock_client_node_info(client, i, &node.info, sizeof node.info);
            put_node(text, &node, row);
        }
    }
}

int redlock_client_metrics(const struct redlock_client *client, const struct redlock_metric_label *labels,
                           size_t n_labels, char *ret_text, size_t size)
{
    struct text text = {ret_text, size > 0 ? size - 1 : 0, 0, labels, n_labels};
    struct redlock_stats stats;
    int status;

    if ((size > 0 && !ret_text) || !are_labels(labels, n_labels))
        return REDLOCK_E_ARGUMENT;
    status = redlock_client_stats(client, &stats, sizeof stats);
    if (status != 0)
        return status;
    put_version(&text);
    put_client(&text, &stats);
    put_nodes(&text, client);
    if (text.length > INT_MAX)
        return REDLOCK_E_ARGUMENT;
    if (size > 0)
        ret_text[text.length < text.size ? text.length : text.size] = '\0';
    return (int)text.length;
}
