#include "cli/status_queue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>

#include "cli/label.h"
#include "cli/status_master.h"

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
    term_time(row->least_ms * 1000, least, sizeof(least));
    term_time(row->most_ms * 1000, most, sizeof(most));
    differs = strcmp(least, most) != 0;
    snprintf(lease, sizeof(lease), "%s%s%s", least, differs ? " to " : "", differs ? most : "");
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

    if (length == 0 || rows.rows == NULL) {
        free(rows.rows);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (queues[i].answered)
            add(&rows, &queues[i], i);
    }
    qsort(rows.rows, rows.n, sizeof(rows.rows[0]), compare);
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
