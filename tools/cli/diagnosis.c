#include "cli/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe.h"
#include "cli/quorum_status.h"
#include "cli/term.h"
#include "options/message.h"
#include "options/value.h"

/* A line ends with as many names as fit into a few lines of a terminal, and the number of the others. */
enum { NAMES_SIZE = 400 };

struct reasons {
    FILE *out;
    const char *names[REDLOCK_MAX_MASTERS];
    const char *texts[REDLOCK_MAX_MASTERS];
    size_t n;
};

/* --- What is short ----------------------------------------------------------------------------------------------- */

const char *diagnosis_headline(const struct outcome *outcome, char buffer[DIAGNOSIS_SIZE])
{
    int reason = outcome->status == REDLOCK_DEADLINE && outcome->cause != 0 ? outcome->cause : outcome->status;
    const char *what = "have agreed";
    unsigned count = outcome->granted;

    if (!outcome->short_of_masters)
        return reason <= REDLOCK_E_NOMEM && *outcome->why != '\0' ? outcome->why : redlock_strerror(reason);
    if (outcome->reachable < outcome->quorum) {
        what = "can be reached";
        count = outcome->reachable;
    } else if (outcome->op != REDLOCK_OP_RELEASE && outcome->voting < outcome->quorum) {
        what = "can vote";
        count = outcome->voting;
    }
    snprintf(buffer, DIAGNOSIS_SIZE, "%u of %zu masters %s (%u needed)", count, outcome->members, what,
             outcome->quorum);
    return buffer;
}

/* --- Reasons ----------------------------------------------------------------------------------------------------- */

static bool is_said(const struct reasons *reasons, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(reasons->texts[j], reasons->texts[i]) == 0)
            return true;
    return false;
}

static void print_names(const struct reasons *reasons, size_t first)
{
    const char *between = ": ";
    size_t size = 0;
    size_t left_out = 0;

    for (size_t i = first; i < reasons->n; i++) {
        const char *name = reasons->names[i];

        if (strcmp(reasons->texts[i], reasons->texts[first]) != 0)
            continue;
        size += strlen(between) + strlen(name);
        if (i > first && (left_out > 0 || size > NAMES_SIZE)) {
            left_out++;
            continue;
        }
        fputs(between, reasons->out);
        shown_put(reasons->out, name);
        between = ", ";
    }
    if (left_out > 0)
        fprintf(reasons->out, " and %zu more", left_out);
}

static void print_reasons(const struct reasons *reasons)
{
    for (size_t i = 0; i < reasons->n; i++) {
        if (reasons->texts[i][0] == '\0' || is_said(reasons, i))
            continue;
        fputs("redlock:   ", reasons->out);
        shown_put(reasons->out, reasons->texts[i]);
        print_names(reasons, i);
        putc('\n', reasons->out);
    }
}

/* --- What can be done -------------------------------------------------------------------------------------------- */

static bool has_new_memory(const struct redlock_node_info *info)
{
    return info->fault == REDLOCK_FAULT_NEW_MEMORY || info->fault == REDLOCK_FAULT_NO_MARKER;
}

/* Masters that no client has met before look like masters that have all lost their memory. */
static bool may_be_new(const struct redlock_node_info *infos, const struct quorum_status *sum)
{
    size_t n = 0;

    for (size_t i = 0; i < sum->n; i++)
        n += has_new_memory(&infos[i]);
    return sum->voting == 0 && n >= sum->quorum;
}

static void print_command(FILE *out, const struct cli_common *common, const char *before, const char *command,
                          const char *behind)
{
    char *whole = cli_again(common, command);

    fprintf(out, "redlock: %s'%s' %s\n", before, whole ? whole : command, behind);
    free(whole);
}

static void print_remedy(FILE *out, const struct redlock_client *client, const struct outcome *outcome,
                         const struct cli_common *common)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t quorum = outcome->quorum;
    size_t n = quorum_status_read(client, infos);
    struct quorum_status sum = quorum_status_of(infos, n, quorum);
    char wait[24], max_ttl[DURATION_TEXT_SIZE], command[64];

    if (sum.voting >= quorum || sum.voting == sum.answering)
        return;
    if (sum.quorum_in_ms > 0)
        fprintf(out, "redlock: enough of them vote in %s\n", term_time(sum.quorum_in_ms * 1000, wait, sizeof wait));
    snprintf(command, sizeof command, "redlock nodes --max-ttl %s",
             duration_text(common->max_ttl_ms * INT64_C(1000), max_ttl));
    if (may_be_new(infos, &sum))
        print_command(out, common, "if they are new, and have never had a lock, ", "redlock nodes --new-deployment",
                      "lets them vote at once");
    else if (diagnosis_is_max_ttl(client, outcome))
        print_command(out, common, "", command, "lets masters take such a max_ttl");
    else
        print_command(out, common, "", "redlock nodes", "tells more, and how to mend it");
}

/* A release has all that it wants from a master that does not have the key. */
static bool is_content(const struct outcome *outcome, size_t i)
{
    return outcome->votes[i].vote == REDLOCK_VOTE_GRANTED ||
           (outcome->op == REDLOCK_OP_RELEASE && outcome->votes[i].vote == REDLOCK_VOTE_REFUSED);
}

void diagnosis_explain(FILE *out, const struct redlock_client *client, const struct outcome *outcome,
                       const struct cli_common *common)
{
    struct reasons reasons = {.out = out, .n = outcome->n_nodes};

    if (!outcome->short_of_masters)
        return;
    for (size_t i = 0; i < reasons.n; i++) {
        reasons.names[i] = outcome->votes[i].name;
        reasons.texts[i] = is_content(outcome, i) ? "" : outcome->votes[i].detail;
    }
    print_reasons(&reasons);
    if (client && outcome->op != REDLOCK_OP_RELEASE)
        print_remedy(out, client, outcome, common);
}

void diagnosis_explain_texts(FILE *out, const char *const names[], const char *const texts[], size_t n)
{
    struct reasons reasons = {.out = out, .n = n};

    for (size_t i = 0; i < n; i++)
        reasons.names[i] = names[i];
    memcpy(reasons.texts, texts, n * sizeof texts[0]);
    print_reasons(&reasons);
}

void diagnosis_explain_probes(const struct redlock_client *client, const struct probe *probes, size_t n)
{
    struct reasons reasons = {.out = stderr, .n = redlock_client_node_count(client)};

    for (size_t i = 0; i < reasons.n; i++) {
        reasons.names[i] = session_node_name(client, i);
        reasons.texts[i] = "";
    }
    for (size_t i = 0; i < n; i++)
        reasons.texts[probes[i].node] = probes[i].answered ? "" : probes[i].why;
    print_reasons(&reasons);
}

bool diagnosis_is_max_ttl(const struct redlock_client *client, const struct outcome *outcome)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t n = quorum_status_read(client, infos);
    size_t refused = 0;

    if (n == 0)
        return false;
    for (size_t i = 0; i < n; i++)
        refused += infos[i].fault == REDLOCK_FAULT_MAX_TTL;
    return refused > n - outcome->quorum;
}

void diagnosis_json(struct cli_json *json, const struct redlock_client *client, const struct outcome *outcome)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t n = quorum_status_read(client, infos);
    struct quorum_status sum = quorum_status_of(infos, n, outcome->quorum);

    cli_json_int(json, "reachable", outcome->reachable);
    cli_json_int(json, "voting", n > 0 ? (int64_t)sum.voting : outcome->voting);
    if (n == 0)
        return;
    if (sum.quorum_in_ms != 0)
        cli_json_int_or_null(json, "quorum_in_ms", sum.quorum_in_ms);
}
