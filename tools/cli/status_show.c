#include "cli/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>

#include "cli/json.h"
#include "cli/label.h"
#include "cli/probe.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"
#include "options/exit.h"

const char *status_mode_name(char mode)
{
    return mode == 'r' ? "shared" : mode == 'u' ? "upgradeable" : "exclusive";
}

void status_json_token(struct cli_json *json, const char *token, bool whole)
{
    const struct label label = label_of(token);
    char part[PROBE_VALUE_SIZE];

    snprintf(part, sizeof part, "%.*s", whole ? PROBE_VALUE_SIZE - 1 : STATUS_SHORT_TOKEN, token);
    cli_json_string(json, whole ? "token" : "token_prefix", part);
    label_json(json, &label);
}

bool status_master_row(const struct term *term, const struct redlock_client *client, const struct probe *probe,
                       int name_width)
{
    char name[32];

    fprintf(term->out, "  %-*s  ", name_width,
            term_fit(session_node_name(client, probe->node), name_width, name, sizeof name));
    if (probe->answered)
        return true;
    term_print(term, TERM_RED, "%-*s", STATUS_COLUMN, "silent");
    fprintf(term->out, "%s\n", probe->why);
    return false;
}

void status_master_json(struct cli_json *json, const struct redlock_client *client, const struct probe *probe)
{
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", session_node_name(client, probe->node));
    cli_json_bool(json, "answered", probe->answered);
    if (probe->answered) {
        cli_json_bool(json, "present", probe->exists);
        cli_json_int(json, "latency_us", probe->latency_us);
    }
    if (probe->why[0] != '\0')
        cli_json_string(json, "error", probe->why);
}

void status_key_json(struct cli_json *json, const struct redlock_client *client, const struct probe *probe,
                     bool whole_token)
{
    status_master_json(json, client, probe);
    if (probe->exists && probe->is_text)
        status_json_token(json, probe->value, whole_token);
    if (probe->exists)
        cli_json_int(json, "pttl_ms", probe->pttl_ms);
}

/* --- Who waits in the queue for a key: for `redlock status` ------------------------------------------------------- */

enum { SHOWN = 10 };

/* One in the queue, as all masters see it. */
struct row {
    const struct probe_waiter *waiter;           /* on the first master that has it */
    size_t position[REDLOCK_MAX_MASTERS]; /* 0: not there */
    int64_t least_ms;
    int64_t most_ms;
};

struct rows {
    struct row *rows;
    size_t n;
};

static struct row *row_of(struct rows *rows, const struct probe_waiter *waiter)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (strcmp(rows->rows[i].waiter->value, waiter->value) == 0)
            return &rows->rows[i];
    }
    rows->rows[rows->n] = (struct row){.waiter = waiter, .least_ms = INT64_MAX};
    return &rows->rows[rows->n++];
}

static void add(struct rows *rows, const struct probe_queue *queue, size_t master)
{
    for (size_t i = 0; i < queue->n; i++) {
        const struct probe_waiter *waiter = &queue->waiters[i];
        struct row *row = row_of(rows, waiter);

        row->position[master] = i + 1;
        row->least_ms = waiter->lease_ms < row->least_ms ? waiter->lease_ms : row->least_ms;
        row->most_ms = waiter->lease_ms > row->most_ms ? waiter->lease_ms : row->most_ms;
    }
}

/* By ticket, equal ones by token: as the masters do. */
static int compare(const void *left, const void *right)
{
    const struct probe_waiter *a = ((const struct row *)left)->waiter;
    const struct probe_waiter *b = ((const struct row *)right)->waiter;

    if (a->ticket != b->ticket)
        return a->ticket < b->ticket ? -1 : 1;
    return strcmp(a->value, b->value);
}

/* "1 1 - 1 1", in the order of the masters above. */
static void print_positions(const struct term *term, const struct row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (row->position[i])
            fprintf(term->out, "%3zu", row->position[i]);
        else
            term_print(term, TERM_YELLOW, "%3s", "-");
    }
}

static void print_row(const struct term *term, const struct row *row, size_t n, int token_columns)
{
    const struct label label = label_of(row->waiter->value);
    char least[16];
    char most[16];
    char lease[40];
    bool differs;
    char ago[LABEL_AGO_SIZE];

    fprintf(term->out, "  %-*.*s  %20" PRIu64 "  ", token_columns, token_columns, row->waiter->value,
            row->waiter->ticket);
    print_positions(term, row, n);
    term_time(row->least_ms * 1000, least, sizeof least);
    term_time(row->most_ms * 1000, most, sizeof most);
    differs = strcmp(least, most) != 0;
    snprintf(lease, sizeof lease, "%s%s%s", least, differs ? " to " : "", differs ? most : "");
    fprintf(term->out, "  %-16s  %-16s  %-11s  %s\n", lease, label_ago((int64_t)row->waiter->ticket, ago),
            status_mode_name(row->waiter->mode), label.name[0] != '\0' ? label.name : "-");
}

static size_t longest(const struct probe_queue *queues, size_t n)
{
    size_t length = 0;

    for (size_t i = 0; i < n; i++)
        length = queues[i].answered && queues[i].length > length ? queues[i].length : length;
    return length;
}

static void print_rows(const struct term *term, const struct rows *rows, size_t n, size_t length, int token_columns)
{
    term_print(term, TERM_DIM, "  %-*s  %20s  %-*s  %-16s  %-16s  %-11s  %s", token_columns, "waiting", "ticket",
               (int)(3 * n), " place on each", "lease left", "asked for it", "mode", "label");
    putc('\n', term->out);
    for (size_t i = 0; i < rows->n && i < SHOWN; i++)
        print_row(term, &rows->rows[i], n, token_columns);
    if (length > SHOWN)
        fprintf(term->out, "  ... and %zu more\n", length - SHOWN);
}

void status_queue_print(const struct term *term, const struct probe_queue *queues, size_t n, int token_columns)
{
    struct rows rows = {calloc(n * PROBE_QUEUE_SHOWN, sizeof(struct row)), 0};
    size_t length = longest(queues, n);

    if (length == 0 || !rows.rows) {
        free(rows.rows);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (queues[i].answered)
            add(&rows, &queues[i], i);
    }
    qsort(rows.rows, rows.n, sizeof rows.rows[0], compare);
    fprintf(term->out, "wait queue: %zu\n", length);
    print_rows(term, &rows, n, length, token_columns);
    free(rows.rows);
}

static void json_waiter(struct cli_json *json, const struct probe_waiter *waiter, bool whole_tokens)
{
    cli_json_begin(json, NULL, '{');
    status_json_token(json, waiter->value, whole_tokens);
    cli_json_int(json, "ticket", (int64_t)waiter->ticket);
    cli_json_int(json, "lease_ms", waiter->lease_ms);
    cli_json_string(json, "mode", status_mode_name(waiter->mode));
    cli_json_end(json, '}');
}

void status_queue_json(struct cli_json *json, const struct probe_queue *queue, bool whole_tokens)
{
    if (!queue->answered) {
        if (queue->why[0] != '\0')
            cli_json_string(json, "queue_error", queue->why);
        return;
    }
    cli_json_int(json, "queue_length", (int64_t)queue->length);
    cli_json_begin(json, "queue", '[');
    for (size_t i = 0; i < queue->n; i++)
        json_waiter(json, &queue->waiters[i], whole_tokens);
    cli_json_end(json, ']');
}

/* --- redlock status --latch: who has arrived, master by master ---------------------------------------------------- */

enum { NAMES_SHOWN = 20 };

struct picture {
    const struct status_request *request;
    const struct redlock_client *client; /* for the names of the masters */
    struct status_latch latch;
};

static const char *const verdicts[] = {
    [STATUS_LATCH_SHUT] = "shut",       [STATUS_LATCH_OPEN] = "open",       [STATUS_LATCH_ABSENT] = "absent",
    [STATUS_LATCH_FOREIGN] = "foreign", [STATUS_LATCH_UNKNOWN] = "unknown",
};

/* --- What the masters' answers add up to -------------------------------------------------------------------------- */

/* Decimal numbers that may be larger than any type holds. */
static int compare_numbers(const char *a, const char *b)
{
    size_t a_size = strlen(a);
    size_t b_size = strlen(b);

    return a_size != b_size ? (a_size > b_size) - (a_size < b_size) : strcmp(a, b);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_latest(struct status_latch *seen)
{
    seen->latest = NULL;
    for (size_t i = 0; i < seen->n; i++) {
        const struct probe_latch *latch = &seen->latches[i];

        if (latch->is_latch &&
            (!seen->latest || compare_numbers(latch->generation, seen->latest->generation) > 0))
            seen->latest = latch;
    }
}

/* The names of all masters that have this generation with this number of parties. */
static void put_together(struct status_latch *seen)
{
    size_t n = 0;

    for (size_t i = 0; i < seen->n; i++) {
        const struct probe_latch *latch = &seen->latches[i];

        if (!latch->is_latch || latch->parties != seen->latest->parties ||
            strcmp(latch->generation, seen->latest->generation) != 0)
            continue;
        seen->open = seen->open || latch->open;
        for (size_t j = 0; j < latch->n; j++)
            seen->arrived[n++] = latch->arrived[j];
    }
    qsort(seen->arrived, n, sizeof seen->arrived[0], by_name);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(seen->arrived[i], seen->arrived[seen->n_arrived - 1]) != 0)
            seen->arrived[seen->n_arrived++] = seen->arrived[i];
    seen->open = seen->open || seen->n_arrived >= seen->latest->parties;
}

void status_latch_judge(struct status_latch *seen, size_t quorum)
{
    for (size_t i = 0; i < seen->n; i++) {
        seen->answered += seen->probes[i].answered;
        seen->foreign += seen->probes[i].exists && !seen->latches[i].is_latch;
    }
    find_latest(seen);
    if (seen->latest)
        put_together(seen);
    if (seen->open)
        seen->verdict = STATUS_LATCH_OPEN; /* whatever the silent masters have: it does not shut again */
    else if (seen->answered < quorum)
        seen->verdict = STATUS_LATCH_UNKNOWN;
    else if (seen->n - seen->foreign < quorum)
        seen->verdict = STATUS_LATCH_FOREIGN; /* no quorum can record anything */
    else
        seen->verdict = seen->latest ? STATUS_LATCH_SHUT : STATUS_LATCH_ABSENT;
}

/* --- Output ------------------------------------------------------------------------------------------------------- */

static void print_latch_row(const struct term *term, const struct picture *picture, size_t i, int name_width)
{
    const struct probe *probe = &picture->latch.probes[i];
    const struct probe_latch *latch = &picture->latch.latches[i];
    char kept[16];
    char latency[16];

    if (!status_master_row(term, picture->client, probe, name_width))
        return;
    term_time(probe->latency_us, latency, sizeof latency);
    if (!latch->is_latch) {
        term_print(term, probe->exists ? TERM_YELLOW : TERM_DIM, "%-*s", STATUS_COLUMN,
                   probe->exists ? "foreign" : "absent");
        fprintf(term->out, "%66s%s%s\n", latency, probe->why[0] != '\0' ? "  " : "", probe->why);
        return;
    }
    term_print(term, latch->open ? TERM_GREEN : TERM_BOLD, "%-*s", STATUS_COLUMN, latch->open ? "open" : "shut");
    fprintf(term->out, "%20s  %8u  %8zu  %12s  %10s\n", latch->generation, (unsigned)latch->parties, latch->n,
            probe->pttl_ms < 0 ? "no end" : term_time(probe->pttl_ms * 1000, kept, sizeof kept), latency);
}

static void print_names(const struct picture *picture)
{
    size_t n = picture->latch.n_arrived;
    size_t shown = picture->request->verbose || n < NAMES_SHOWN ? n : NAMES_SHOWN;

    if (picture->latch.n_arrived == 0)
        return;
    printf("arrived:");
    for (size_t i = 0; i < shown; i++)
        printf(" %s", picture->latch.arrived[i]);
    if (shown < picture->latch.n_arrived)
        printf(" and %zu more", picture->latch.n_arrived - shown);
    putchar('\n');
}

static void print_verdict(const struct term *term, const struct picture *picture)
{
    static const enum term_style styles[] = {TERM_BOLD, TERM_GREEN, TERM_BOLD, TERM_YELLOW, TERM_RED};

    term_print(term, styles[picture->latch.verdict], "%s", verdicts[picture->latch.verdict]);
    if (picture->latch.verdict == STATUS_LATCH_UNKNOWN)
        printf(": only %zu of %zu masters answered\n", picture->latch.answered, picture->latch.n);
    else if (picture->latch.verdict == STATUS_LATCH_FOREIGN)
        printf(": on %zu of %zu masters the key of the latch is not a latch\n", picture->latch.foreign,
               picture->latch.n);
    else if (!picture->latch.latest)
        printf(": no latch on the %zu of %zu masters that answered\n", picture->latch.answered, picture->latch.n);
    else
        printf(": %zu of the %u parties of generation %s are known to have arrived\n", picture->latch.n_arrived,
               (unsigned)picture->latch.latest->parties, picture->latch.latest->generation);
    print_names(picture);
    if (picture->latch.latest && picture->latch.latest->before[0] != '\0')
        printf("generation %s, the one before, has opened\n", picture->latch.latest->before);
}

static void print_table(FILE *out, const void *data)
{
    const struct picture *picture = data;
    struct term term;
    int name_width = votes_name_width(picture->client);

    term_init(&term, out);
    term_print(&term, TERM_DIM, "  %-*s  %-*s%20s  %8s  %8s  %12s  %10s", name_width, "master", STATUS_COLUMN, "latch",
               "generation", "parties", "arrived", "kept for", "answer");
    putchar('\n');
    for (size_t i = 0; i < picture->latch.n; i++)
        print_latch_row(&term, picture, i, name_width);
    print_verdict(&term, picture);
}

static void json_latch(struct cli_json *json, const struct probe_latch *latch)
{
    cli_json_string(json, "generation", latch->generation);
    cli_json_int(json, "parties", latch->parties);
    cli_json_int(json, "arrived", (int64_t)latch->n);
    cli_json_bool(json, "open", latch->open);
    if (latch->before[0] != '\0')
        cli_json_string(json, "generation_before", latch->before);
}

static void json_master(struct cli_json *json, const struct picture *picture, size_t i)
{
    status_master_json(json, picture->client, &picture->latch.probes[i]);
    if (picture->latch.latches[i].is_latch) {
        json_latch(json, &picture->latch.latches[i]);
        cli_json_int(json, "pttl_ms", picture->latch.probes[i].pttl_ms);
    }
    cli_json_end(json, '}');
}

/* A generation may be larger than what JSON's readers count with, so it is a string. */
static void print_json(FILE *out, const void *data)
{
    const struct picture *picture = data;
    struct cli_json json = cli_json_open(out);

    cli_json_key(&json, picture->request->key);
    cli_json_string(&json, "kind", "latch");
    cli_json_string(&json, "verdict", verdicts[picture->latch.verdict]);
    cli_json_int(&json, "answered", (int64_t)picture->latch.answered);
    if (picture->latch.latest) {
        cli_json_string(&json, "generation", picture->latch.latest->generation);
        cli_json_int(&json, "parties", picture->latch.latest->parties);
    }
    cli_json_begin(&json, "arrived", '[');
    for (size_t i = 0; i < picture->latch.n_arrived; i++)
        cli_json_string(&json, NULL, picture->latch.arrived[i]);
    cli_json_end(&json, ']');
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < picture->latch.n; i++)
        json_master(&json, picture, i);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

int status_show_latch(const struct redlock_client *client, const struct status_request *request)
{
    static const int codes[] = {
        [STATUS_LATCH_SHUT] = CLI_NOT_HELD,
        [STATUS_LATCH_OPEN] = CLI_OK,
        [STATUS_LATCH_ABSENT] = CLI_NOT_HELD,
        [STATUS_LATCH_FOREIGN] = CLI_FOREIGN,
        [STATUS_LATCH_UNKNOWN] = CLI_INFRASTRUCTURE,
    };
    static struct picture picture; /* too large for a stack */
    const struct cli_common *common = &request->common;
    struct probe_masters masters = probe_masters_of(common);
    char key[REDLOCK_MAX_KEY_BYTES + 1];

    memset(&picture, 0, sizeof picture);
    masters.places = request->places;
    picture.request = request;
    picture.client = client;
    picture.latch.n = common->masters.count;
    if ((size_t)snprintf(key, sizeof key, "%sredlock:latch:%s", common->prefix, request->key) >= sizeof key)
        return refused_call("status", REDLOCK_E_KEY_TOO_LONG);
    probe_latches(&masters, key, picture.latch.probes, picture.latch.latches);
    status_latch_judge(&picture.latch, cli_quorum(common));
    status_print(request, print_json, print_table, &picture);
    return codes[picture.latch.verdict];
}
