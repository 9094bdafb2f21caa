#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/json.h"
#include "cli/label.h"
#include "cli/ls/ls.h"
#include "cli/session.h"
#include "cli/status.h"
#include "cli/term.h"
#include "options/message.h"

/* --- Order -------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct ls_row *one = a, *other = b;
    int order = strcmp(one->key, other->key);

    return order != 0 ? order : (int)one->kind - (int)other->kind;
}

/* The smaller time is the longer one ago; who has none comes last. */
static int by_time(uint64_t one, uint64_t other)
{
    if (one == other)
        return 0;
    return other == 0 || (one != 0 && one < other) ? -1 : 1;
}

static int by_hold(const void *a, const void *b)
{
    const struct ls_row *one = a, *other = b;
    int order = by_time((uint64_t)one->asked_us, (uint64_t)other->asked_us);

    return order != 0 ? order : by_name(a, b);
}

static int by_wait(const void *a, const void *b)
{
    const struct ls_row *one = a, *other = b;
    int order = by_time(one->ticket, other->ticket);

    return order != 0 ? order : by_hold(a, b);
}

void ls_sort(struct ls *ls)
{
    static int (*const orders[])(const void *, const void *) = {
        [LS_BY_WAIT] = by_wait, [LS_BY_HOLD] = by_hold, [LS_BY_NAME] = by_name};

    if (ls->n_rows > 0)
        qsort(ls->rows, ls->n_rows, sizeof ls->rows[0], orders[ls->request->sort]);
}

static size_t rows_shown(const struct ls *ls)
{
    return ls->request->limit > 0 && ls->request->limit < ls->n_rows ? ls->request->limit : ls->n_rows;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

enum { CELL = 24, HOLDER_CELL = REDLOCK_MAX_LABEL_BYTES + 24, NAME_CELL = 4 * REDLOCK_MAX_KEY_BYTES + 1, GAPS = 14 };
enum { LEAST_NAME = 8, MOST_PADDED = 40 };

/* The columns behind key and holder. */
enum { KIND, SINCE, LEFT, QUEUE, LONGEST, ON, COLUMNS };

struct line {
    char holder[HOLDER_CELL];
    char cells[COLUMNS][CELL];
};

static const char *const headings[] = {"kind", "since", "left", "queue", "longest", "on"};

/* "9.5s", "2m05s", "3h20m", "12d": six columns at most. */
static void put_time(int64_t us, char cell[CELL])
{
    int64_t s = us / 1000000;

    if (us < 0)
        snprintf(cell, CELL, "-");
    else if (s < 100)
        snprintf(cell, CELL, "%.1fs", (double)us / 1000000);
    else if (s < 6000)
        snprintf(cell, CELL, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else if (s < 360000)
        snprintf(cell, CELL, "%dh%02dm", (int)(s / 3600), (int)(s % 3600 / 60));
    else
        snprintf(cell, CELL, "%" PRId64 "d", s / 86400);
}

static int64_t ago_us(uint64_t then_us)
{
    struct timespec now;
    int64_t ago;

    clock_gettime(CLOCK_REALTIME, &now);
    ago = now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000 - (int64_t)then_us;
    return then_us == 0 || then_us > INT64_MAX || ago < 0 ? -1 : ago;
}

static void put_kind(const struct ls_row *row, char cell[CELL])
{
    switch (row->kind) {
    case LS_SEMAPHORE:
        snprintf(cell, CELL, "permits %zu/%u+", row->n_holders, (unsigned)row->slots);
        break;
    case LS_LATCH:
        snprintf(cell, CELL, "latch %u/%u", (unsigned)row->arrived, (unsigned)row->parties);
        break;
    case LS_ELECTION:
    case LS_FOREIGN:
        snprintf(cell, CELL, "%s", row->kind == LS_ELECTION ? "election" : "foreign");
        break;
    case LS_LOCK:
    default:
        if (row->verdict == VERDICT_SHARED)
            snprintf(cell, CELL, "shared %zu", row->n_sharers);
        else
            snprintf(cell, CELL, "%s", row->verdict == VERDICT_UPGRADING ? "upgrading" : "lock");
        break;
    }
}

/* In brackets who has only some masters. */
static void put_holder(const struct ls_row *row, char holder[HOLDER_CELL])
{
    bool holds = row->verdict != VERDICT_SPLIT && row->verdict != VERDICT_UNKNOWN && row->verdict != VERDICT_FREE;
    struct label label;
    char name[REDLOCK_MAX_LABEL_BYTES + 1];

    if (row->n_holders == 0) {
        strcpy(holder, "-");
        return;
    }
    label = label_of(row->holders[0].value);
    snprintf(name, sizeof name, "%s", label.name);
    if (*name == '\0')
        snprintf(name, sizeof name, "%.*s..", STATUS_SHORT_TOKEN, row->holders[0].value);
    if (row->n_holders > 1)
        snprintf(holder, HOLDER_CELL, "%s +%zu", name, row->n_holders - 1);
    else
        snprintf(holder, HOLDER_CELL, holds ? "%s" : "(%s)", name);
}

/* Nobody can have it; or too few masters tell. */
static bool is_minority(const struct ls *ls, const struct ls_row *row)
{
    return row->kind != LS_FOREIGN && row->verdict != VERDICT_UNKNOWN &&
           (row->unsettled > 0 || row->verdict == VERDICT_SPLIT || (row->present > 0 && row->present < ls->quorum));
}

static bool is_unknown(const struct ls_row *row)
{
    return row->kind != LS_FOREIGN && row->verdict == VERDICT_UNKNOWN;
}

static struct line line_of(const struct ls *ls, const struct ls_row *row)
{
    struct line line;

    put_kind(row, line.cells[KIND]);
    put_holder(row, line.holder);
    put_time(ago_us((uint64_t)row->asked_us), line.cells[SINCE]);
    if (row->left_ms < 0)
        snprintf(line.cells[LEFT], CELL, "no end");
    else
        put_time(row->present > 0 ? row->left_ms * 1000 : -1, line.cells[LEFT]);
    snprintf(line.cells[QUEUE], CELL, "%zu", row->waiting);
    put_time(row->waiting > 0 ? ago_us(row->ticket) : -1, line.cells[LONGEST]);
    snprintf(line.cells[ON], CELL, "%zu/%zu%s", row->present, ls->n,
             is_minority(ls, row) ? "!" : is_unknown(row) ? "?" : "");
    return line;
}

struct widths {
    int key, holder;
    int cells[COLUMNS];
};

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

/* On a terminal key and holder share what the others leave. */
static struct widths widths_of(const struct ls *ls, const struct term *term)
{
    struct widths widths = {.key = 3, .holder = 6};
    int rest = term->width - GAPS;
    char name[NAME_CELL];

    for (int column = 0; column < COLUMNS; column++)
        widths.cells[column] = wider(0, headings[column]);
    for (size_t i = 0; i < rows_shown(ls); i++) {
        const struct line line = line_of(ls, &ls->rows[i]);

        widths.key = wider(widths.key, shown(ls->rows[i].key, name, sizeof name));
        widths.holder = wider(widths.holder, line.holder);
        for (int column = 0; column < COLUMNS; column++)
            widths.cells[column] = wider(widths.cells[column], line.cells[column]);
    }
    for (int column = 0; column < COLUMNS; column++)
        rest -= widths.cells[column];
    if (!term->tty) {
        widths.key = widths.key > MOST_PADDED ? MOST_PADDED : widths.key;
        widths.holder = widths.holder > MOST_PADDED ? MOST_PADDED : widths.holder;
    }
    if (!term->tty || widths.key + widths.holder <= rest)
        return widths;
    if (widths.holder > rest / 2)
        widths.holder = rest - widths.key > rest / 2 ? rest - widths.key : rest / 2;
    widths.holder = widths.holder < LEAST_NAME ? LEAST_NAME : widths.holder;
    widths.key = rest - widths.holder < LEAST_NAME ? LEAST_NAME : rest - widths.holder;
    return widths;
}

static void print_cells(const struct term *term, const struct widths *widths, enum term_style style, const char *key,
                        const char *holder, const char *const *cells)
{
    term_print(term, style, "%-*s", widths->key, key);
    fprintf(term->out, "  %-*s  %-*s", widths->cells[KIND], cells[KIND], widths->holder, holder);
    for (int column = SINCE; column < ON; column++)
        fprintf(term->out, "  %*s", widths->cells[column], cells[column]);
    fprintf(term->out, "  %s\n", cells[ON]);
}

static enum term_style style_of(const struct ls *ls, const struct ls_row *row)
{
    if (row->kind == LS_FOREIGN)
        return TERM_RED;
    return is_minority(ls, row) || is_unknown(row) || row->waiting > 0 ? TERM_YELLOW : TERM_PLAIN;
}

static void print_row(const struct ls *ls, const struct term *term, const struct widths *widths,
                      const struct ls_row *row)
{
    const struct line line = line_of(ls, row);
    const char *cells[COLUMNS];
    char name[NAME_CELL], holder[HOLDER_CELL];

    for (int column = 0; column < COLUMNS; column++)
        cells[column] = line.cells[column];
    term_fit(row->key, term->tty ? widths->key : NAME_CELL, name, sizeof name);
    term_fit(line.holder, term->tty ? widths->holder : HOLDER_CELL, holder, sizeof holder);
    print_cells(term, widths, style_of(ls, row), name, holder, cells);
}

void ls_print_sum(const struct ls *ls, const struct term *term)
{
    size_t waited = 0, minority = 0, unknown = 0;

    for (size_t i = 0; i < ls->n_rows; i++) {
        waited += ls->rows[i].waiting > 0;
        minority += is_minority(ls, &ls->rows[i]);
        unknown += is_unknown(&ls->rows[i]);
    }
    fprintf(term->out, "%zu key%s%s", ls->n_rows, ls->n_rows == 1 ? "" : "s",
            ls->n_rows == 0 ? " held or awaited" : "");
    if (rows_shown(ls) < ls->n_rows)
        fprintf(term->out, ", %zu shown", rows_shown(ls));
    fprintf(term->out, "%s\n", ls_is_whole(ls) ? "" : ", as far as is known");
    if (waited > 0)
        fprintf(term->out, "awaited: %zu\n", waited);
    if (minority > 0)
        fprintf(term->out, "! %zu without a majority: attempts, or leftovers that end by themselves\n", minority);
    if (unknown > 0)
        fprintf(term->out, "? %zu of which too few masters have told\n", unknown);
}

void ls_print_rows(const struct ls *ls, const struct term *term, size_t from, size_t n, size_t chosen)
{
    struct widths widths = widths_of(ls, term);
    bool marks = chosen != SIZE_MAX;

    if (ls->n_rows > 0) {
        fputs(marks ? "  " : "", term->out);
        print_cells(term, &widths, TERM_DIM, "key", "holder", headings);
    }
    for (size_t i = from; i < rows_shown(ls) && i < from + n; i++) {
        fputs(!marks ? "" : i == chosen ? "> " : "  ", term->out);
        print_row(ls, term, &widths, &ls->rows[i]);
    }
}

void ls_print(const struct ls *ls)
{
    struct term term;

    term_init(&term, stdout);
    ls_print_rows(ls, &term, 0, ls->n_rows, SIZE_MAX);
    ls_print_sum(ls, &term);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static const char *verdict_word(const struct ls_row *row)
{
    if (row->kind == LS_FOREIGN)
        return verdict_name(VERDICT_FOREIGN);
    if (row->kind == LS_LATCH && row->verdict != VERDICT_UNKNOWN)
        return row->is_open ? "open" : "shut";
    return verdict_name(row->verdict);
}

static void json_holders(struct cli_json *json, const struct ls *ls, const struct ls_row *row)
{
    cli_json_begin(json, row->verdict == VERDICT_SPLIT || row->verdict == VERDICT_UNKNOWN ? "seen" : "held_by", '[');
    for (size_t i = 0; i < row->n_holders; i++) {
        const struct ls_holder *holder = &row->holders[i];

        cli_json_begin(json, NULL, '{');
        if (holder->slot >= 0)
            cli_json_int(json, "slot", holder->slot);
        status_json_token(json, holder->value, ls->request->verbose);
        cli_json_string(json, "mode", status_mode_name(holder->mode));
        cli_json_int(json, "pttl_ms", holder->left_ms);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void json_row(struct cli_json *json, const struct ls *ls, const struct ls_row *row)
{
    static const char *const kinds[] = {"lock", "semaphore", "election", "latch", "foreign"};

    cli_json_begin(json, NULL, '{');
    cli_json_key(json, row->key);
    cli_json_string(json, "kind", kinds[row->kind]);
    cli_json_string(json, "verdict", verdict_word(row));
    cli_json_int(json, "answered", (int64_t)row->answered);
    cli_json_int(json, "present", (int64_t)row->present);
    cli_json_bool(json, "minority", is_minority(ls, row));
    if (row->kind == LS_LATCH) {
        cli_json_int(json, "parties", row->parties);
        cli_json_int(json, "arrived", row->arrived);
    } else if (row->kind == LS_SEMAPHORE) {
        cli_json_int(json, "held", (int64_t)row->n_holders);
        cli_json_int(json, "permits_at_least", row->slots);
        cli_json_int(json, "unsettled", (int64_t)row->unsettled);
    } else if (row->n_sharers > 0) {
        cli_json_int(json, "shared_by", (int64_t)row->n_sharers);
    }
    if (row->present > 0)
        cli_json_int(json, "pttl_ms", row->left_ms);
    if (row->asked_us != 0)
        cli_json_int(json, "asked_us", row->asked_us);
    json_holders(json, ls, row);
    cli_json_int(json, "queue_length", (int64_t)row->waiting);
    if (row->waiting > 0) {
        cli_json_int(json, "ticket", (int64_t)row->ticket);
        cli_json_int_or_null(json, "longest_wait_ms", ago_us(row->ticket) < 0 ? -1 : ago_us(row->ticket) / 1000);
    }
    cli_json_end(json, '}');
}

static void json_master(struct cli_json *json, const struct ls *ls, size_t i)
{
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", session_node_name(ls->client, ls->probes[i].node));
    cli_json_bool(json, "answered", ls->probes[i].answered);
    cli_json_bool(json, "walked", ls->masters[i].walked);
    if (ls->probes[i].why[0] != '\0')
        cli_json_string(json, "error", ls->probes[i].why);
    cli_json_end(json, '}');
}

void ls_print_json(const struct ls *ls)
{
    struct cli_json json = cli_json_open(stdout);

    cli_json_bool(&json, "whole", ls_is_whole(ls));
    cli_json_int(&json, "quorum", (int64_t)ls->quorum);
    cli_json_int(&json, "found", (int64_t)ls->n_rows);
    cli_json_begin(&json, "keys", '[');
    for (size_t i = 0; i < rows_shown(ls); i++)
        json_row(&json, ls, &ls->rows[i]);
    cli_json_end(&json, ']');
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < ls->n; i++)
        json_master(&json, ls, i);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}
