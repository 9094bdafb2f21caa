/* Reasons. A master that could not be asked at all has its present state for a reason: the error of its connection, the
 * rest of its quarantine, the fault for which it is excluded. One that was asked has the detail of its answer. */
#include "api/reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "codec/classify.h"
#include "host/trust/admission.h"

/* --- Of one master ---------------------------------------------------------------------------------------------- */

/* "61 s", "5 min 3 s", "24 h 14 min": never less than it is. */
static void put_span(struct rl_span span, char *buffer, size_t size)
{
    int64_t s = (span.ns + 1000 * RL_NS_PER_MS - 1) / (1000 * RL_NS_PER_MS);

    if (s < 120)
        snprintf(buffer, size, "%lld s", (long long)s);
    else if (s < 7200)
        snprintf(buffer, size, "%lld min %lld s", (long long)(s / 60), (long long)(s % 60));
    else
        snprintf(buffer, size, "%lld h %lld min", (long long)((s + 59) / 3600),
                 (long long)((s + 59) % 3600 / 60));
}

static const char *quarantine(const struct redlock_client *client, const struct rl_admission_status *admission,
                              char buffer[RL_REASON_SIZE])
{
    char left[32];

    put_span(rl_until(client->host.now, admission->until), left, sizeof left);
    snprintf(buffer, RL_REASON_SIZE, "in quarantine%s, %s left",
             admission->fault == RL_FAULT_CLOCK_STEP ? " since its clock was set forward" : "", left);
    return buffer;
}

static const char *too_long(const struct redlock_client *client, unsigned node, char buffer[RL_REASON_SIZE])
{
    uint32_t there_ms = client->host.trust.nodes[node].report.max_ttl_ms;
    char there[32];
    char here[32];

    if (there_ms > client->host.trust.known.max_ttl_ms)
        there_ms = client->host.trust.known.max_ttl_ms;
    put_span(rl_ms(there_ms), there, sizeof there);
    put_span(rl_ms(client->options.max_ttl_ms), here, sizeof here);
    snprintf(buffer, RL_REASON_SIZE, "max_ttl is %s there, and %s here", there, here);
    return buffer;
}

static const char *unconnected(const struct redlock_client *client, unsigned node)
{
    struct rl_conn_stats stats;

    rl_driver_node_stats(client->driver, node, &stats);
    return *stats.last_error ? stats.last_error : "not connected yet";
}

/* Says why the master would not vote if it were asked now. */
static const char *present(struct rl_reasons *reasons, unsigned node)
{
    const struct redlock_client *client = reasons->client;
    const struct rl_admission_status *admission = &reasons->admissions[node];

    switch (client->host.engine.votes.links[node]) {
    case RL_LINK_JOINING:
    case RL_LINK_DOWN:
        return unconnected(client, node);
    case RL_LINK_LATE:
        return "its answers are overdue";
    case RL_LINK_READY:
        break;
    }
    if (admission->kind == RL_ADMISSION_QUARANTINED)
        return quarantine(client, admission, reasons->texts[node]);
    if (admission->fault == RL_FAULT_MAX_TTL)
        return too_long(client, node, reasons->texts[node]);
    return rl_trust_fault_text(&client->host, node, admission->fault);
}

static bool was_not_asked(const struct rl_vote *vote)
{
    return vote->detail == RL_DETAIL_DOWN || vote->detail == RL_DETAIL_LATE ||
           vote->detail == RL_DETAIL_QUARANTINED || vote->detail == RL_DETAIL_EXCLUDED ||
           (vote->answer == RL_NOT_ASKED && vote->detail == RL_DETAIL_NONE);
}

void rl_reasons_init(struct rl_reasons *reasons, const struct redlock_client *client)
{
    reasons->client = client;
    reasons->why[0] = '\0';
    for (unsigned i = 0; i < client->host.engine.votes.config.n_nodes; i++)
        reasons->admissions[i] = rl_trust_status(&client->host, i, client->host.now);
}

const char *rl_reason_of(struct rl_reasons *reasons, unsigned node, const struct rl_vote *vote)
{
    const char *now = !vote || was_not_asked(vote) ? present(reasons, node) : "";

    return *now || !vote ? now : rl_detail_text((enum rl_detail)vote->detail);
}

/* --- Of all ----------------------------------------------------------------------------------------------------- */

void rl_reason_count(const struct rl_reasons *reasons, struct redlock_result *result)
{
    for (unsigned i = 0; i < result->n_nodes; i++) {
        bool connected = rl_trust_is_up(&reasons->client->host, i);

        result->reachable += connected && reasons->admissions[i].fault != RL_FAULT_NO_MEMBER;
        result->voting += connected && reasons->admissions[i].kind == RL_ADMISSION_VOTES;
    }
}

/* An attempt that has not ended at the deadline waits for masters. */
bool rl_reason_is_masters(const struct redlock_result *result)
{
    int reason = result->status == REDLOCK_DEADLINE ? result->cause : result->status;

    if (result->status == REDLOCK_DEADLINE && reason == 0)
        return true;
    return reason == REDLOCK_NO_QUORUM || reason == REDLOCK_TOO_SLOW;
}

struct sentence {
    char *text;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct sentence *sentence, const char *format, ...)
{
    size_t room = RL_WHY_SIZE - sentence->length;
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(sentence->text + sentence->length, room, format, args);
    va_end(args);
    if (size > 0)
        sentence->length += (size_t)size < room ? (size_t)size : room - 1;
}

/* The headline names the first thing that too few masters have: a connection, a vote, a grant. */
static void add_headline(struct sentence *sentence, const struct redlock_result *result)
{
    size_t members = 0;

    for (size_t i = 0; i < result->n_nodes; i++)
        members += result->nodes[i].fault != REDLOCK_FAULT_NO_MEMBER;
    if (result->reachable < result->quorum)
        add(sentence, "%u of %zu masters can be reached", result->reachable, members);
    else if (result->op != REDLOCK_OP_RELEASE && result->voting < result->quorum)
        add(sentence, "%u of %zu masters can vote", result->voting, members);
    else
        add(sentence, "%u of %zu masters have %s", result->granted, members,
            result->op ? "agreed" : "answered");
}

static bool same_reason(const struct redlock_node_result *a, const struct redlock_node_result *b)
{
    return strcmp(a->detail, b->detail) == 0;
}

static bool was_said(const struct redlock_result *result, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_reason(&result->nodes[j], &result->nodes[i]))
            return true;
    }
    return false;
}

static void add_reason(const struct rl_reasons *reasons, struct sentence *sentence, const struct redlock_result *result,
                       unsigned i)
{
    const struct redlock_node_result *node = &result->nodes[i];
    unsigned count = 0;

    for (size_t j = i; j < result->n_nodes; j++)
        count += same_reason(node, &result->nodes[j]);
    if (!rl_trust_is_up(&reasons->client->host, i))
        add(sentence, "%u not reached (%s)", count, node->detail);
    else if (reasons->admissions[i].kind == RL_ADMISSION_EXCLUDED)
        add(sentence, "%u excluded (%s)", count, node->detail);
    else
        add(sentence, "%u %s", count, node->detail);
}

enum { MOST_NAMES = 4 };

/* Names the masters that have the same reason: "a, b, c, d and 3 more". */
static void add_names(struct sentence *sentence, const struct redlock_result *result, size_t first)
{
    unsigned count = 0;

    for (size_t i = first; i < result->n_nodes; i++) {
        if (!same_reason(&result->nodes[first], &result->nodes[i]))
            continue;
        if (count++ < MOST_NAMES)
            add(sentence, "%s%s", count > 1 ? ", " : "", result->nodes[i].name);
    }
    if (count > MOST_NAMES)
        add(sentence, " and %u more", count - MOST_NAMES);
}

const char *rl_reason_by_master(struct rl_reasons *reasons, const struct redlock_result *result)
{
    struct sentence sentence = {reasons->why, 0};

    reasons->why[0] = '\0';
    for (unsigned i = 0; i < result->n_nodes; i++) {
        const char *detail = result->nodes[i].detail;

        if (!*detail || was_said(result, i))
            continue;
        add(&sentence, "%s", sentence.length ? "; " : "");
        add_names(&sentence, result, i);
        add(&sentence, rl_trust_is_up(&reasons->client->host, i) ? ": %s" : ": not reached (%s)", detail);
    }
    return reasons->why;
}

/* Masters that nobody has met before look like masters that have all lost their memory. */
static bool may_be_new(const struct redlock_result *result)
{
    unsigned fresh = 0;

    for (size_t i = 0; i < result->n_nodes; i++) {
        enum redlock_fault fault = result->nodes[i].fault;

        fresh += fault == REDLOCK_FAULT_NEW_MEMORY || fault == REDLOCK_FAULT_NO_MARKER;
    }
    return result->op == REDLOCK_OP_ACQUIRE && result->voting == 0 && fresh >= result->quorum;
}

/* Masters have a smaller max_ttl. */
static void add_max_ttl(const struct rl_reasons *reasons, struct sentence *sentence,
                        const struct redlock_result *result)
{
    uint32_t ms = reasons->client->options.max_ttl_ms;
    bool seconds = ms % 1000 == 0;
    bool any = false;

    for (size_t i = 0; i < result->n_nodes; i++)
        any |= result->nodes[i].fault == REDLOCK_FAULT_MAX_TTL;
    if (any)
        add(sentence, "; 'redlock nodes --max-ttl %u%s' raises it", seconds ? ms / 1000 : ms, seconds ? "s" : "ms");
}

const char *rl_reason_sum_up(struct rl_reasons *reasons, const struct redlock_result *result)
{
    struct sentence sentence = {reasons->why, 0};
    const char *between = ": ";

    add_headline(&sentence, result);
    for (unsigned i = 0; i < result->n_nodes; i++) {
        if (!*result->nodes[i].detail || was_said(result, i))
            continue;
        add(&sentence, "%s", between);
        add_reason(reasons, &sentence, result, i);
        between = "; ";
    }
    add_max_ttl(reasons, &sentence, result);
    if (may_be_new(result))
        add(&sentence, "; 'redlock nodes --new-deployment' lets masters vote at once that have never had a lock");
    return reasons->why;
}
