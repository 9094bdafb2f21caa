/* The masters as two tables, what is wrong with them, and the verdict; or the same as JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/nodes/nodes.h"
#include "cli/votes.h"
#include "options/message.h"
#include "options/value.h"

enum { WORD_SIZE = 64, SENTENCE_SIZE = 2048 };
enum { SHORT_RUN_ID = 8, INDENT = 4, NAMES_SIZE = 1024, ITEMS = REDLOCK_MAX_MASTERS * ADVICE_MOST };
enum { STANDING_COLUMNS = 63, SERVER_COLUMNS = 62 };

/* --- Tables ------------------------------------------------------------------------------------------------------ */

const char *nodes_standing_word(const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];

    if (nodes_refuses(look, node))
        return "refuses";
    return !quorum_status_answers(info) && nodes_is_slow(look, node) ? "slow" : quorum_status_word(info);
}

static enum term_style style_of(const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];

    if (info->fault == REDLOCK_FAULT_NO_MEMBER)
        return TERM_DIM;
    if (!quorum_status_answers(info) || nodes_refuses(look, node))
        return TERM_RED;
    if (info->standing == REDLOCK_STANDING_VOTES)
        return TERM_GREEN;
    return info->standing == REDLOCK_STANDING_QUARANTINED || info->fault == REDLOCK_FAULT_NO_MARKER ? TERM_YELLOW
                                                                                                     : TERM_RED;
}

static const char *or_dash(const char *text)
{
    return *text != '\0' ? text : "-";
}

#define MINUTE_US 60000000

/* "+212 us". From a minute on to the nearest second: term_time() rounds up, as is right for what is waited for. */
static const char *signed_time(int64_t us, char *buffer, size_t size)
{
    int64_t length_us = us < 0 ? -us : us;
    char time[16];

    if (length_us >= MINUTE_US)
        length_us = (length_us + 500000) / 1000000 * 1000000;
    snprintf(buffer, size, "%c%s", us < 0 ? '-' : '+', term_time(length_us, time, sizeof time));
    return buffer;
}

static void print_name(const struct term *term, const struct redlock_node_info *info, int width)
{
    char name[32];

    fprintf(term->out, "  %-*s  ", width, term_fit(info->name, width, name, sizeof name));
}

static void print_standing(const struct term *term, const struct nodes_look *look, size_t node, int width)
{
    const struct redlock_node_info *info = &look->infos[node];
    int64_t latency_us = look->probes[node].latency_us;
    char left[24] = "-", latency[24] = "-", offset[24] = "-", step[24] = "-";

    if (info->quarantine_ms > 0)
        term_time(info->quarantine_ms * 1000, left, sizeof left);
    if (latency_us >= 0)
        term_time(latency_us, latency, sizeof latency);
    if (info->looked && info->fault != REDLOCK_FAULT_SAME_SERVER)
        signed_time(info->clock_offset_us, offset, sizeof offset);
    if (info->clock_step_us != 0)
        signed_time(info->clock_step_us, step, sizeof step);
    print_name(term, info, width);
    term_print(term, style_of(look, node), "%-11s", nodes_standing_word(look, node));
    fprintf(term->out, "  %12s  %9s  %9s  %8s\n", left, offset, step, latency);
}

static const char *role_word(const struct redlock_node_info *info)
{
    if (info->cluster)
        return "cluster";
    return strcmp(info->role, "slave") == 0 ? "replica" : or_dash(info->role);
}

/* "fsync" is what makes a log durable, so its setting stands for the whole. */
static const char *persistence_word(const struct redlock_node_info *info)
{
    if (!info->looked)
        return "-";
    if (strcmp(info->append_fsync, "off") == 0)
        return "none";
    return info->append_fsync[0] != '\0' ? info->append_fsync : "hidden";
}

/* Of these a server may say anything. */
static void print_server(const struct term *term, const struct redlock_node_info *info, int width)
{
    char version[WORD_SIZE], role[WORD_SIZE], sync[WORD_SIZE], run_id[WORD_SIZE], eviction[WORD_SIZE];

    print_name(term, info, width);
    fprintf(term->out, "%-12.12s  %-7s  ", shown(or_dash(info->version), version, sizeof version),
            shown(role_word(info), role, sizeof role));
    term_print(term, info->durable ? TERM_GREEN : TERM_PLAIN, "%-8s",
               shown(persistence_word(info), sync, sizeof sync));
    fprintf(term->out, "  %-*.*s  %s\n", SHORT_RUN_ID, SHORT_RUN_ID,
            shown(or_dash(info->run_id), run_id, sizeof run_id),
            shown(or_dash(info->eviction_policy), eviction, sizeof eviction));
}

/* For names, what the other columns leave. */
static int name_width(const struct term *term, const struct nodes_look *look, int others)
{
    int widest = votes_name_width(look->client);

    return widest > term->width - others ? term->width - others : widest;
}

static void print_tables(const struct term *term, const struct nodes_look *look)
{
    int width = name_width(term, look, STANDING_COLUMNS);

    term_print(term, TERM_DIM, "  %-*s  %-11s  %12s  %9s  %9s  %8s\n", width, "master", "standing", "wait", "clock",
               "step", "answer");
    for (size_t i = 0; i < look->sum.n; i++)
        print_standing(term, look, i, width);
    putc('\n', term->out);
    width = name_width(term, look, SERVER_COLUMNS);
    term_print(term, TERM_DIM, "  %-*s  %-12s  %-7s  %-8s  %-*s  %s\n", width, "master", "server", "role",
               "aof sync", SHORT_RUN_ID, "run id", "eviction");
    for (size_t i = 0; i < look->sum.n; i++)
        print_server(term, &look->infos[i], width);
}

/* --- Advice ------------------------------------------------------------------------------------------------------ */

struct item {
    size_t node;
    bool told;
    struct advice advice;
};

char *nodes_command(const struct nodes_look *look, const struct advice *advice)
{
    bool ours = strncmp(advice->command, "redlock ", strlen("redlock ")) == 0;

    return ours ? cli_again(&look->request->common, advice->command) : strdup(advice->command);
}

static size_t collect(const struct nodes_look *look, struct item *items)
{
    struct advice advice[ADVICE_MOST];
    size_t n = 0;

    for (size_t i = 0; i < look->sum.n; i++) {
        size_t found = advice_on(look, i, advice);

        for (size_t j = 0; j < found; j++)
            items[n++] = (struct item){.node = i, .advice = advice[j]};
    }
    return n;
}

static bool same(const struct advice *a, const struct advice *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->mend, b->mend) == 0 && strcmp(a->command, b->command) == 0;
}

/* The names of all masters that the same is to be said of. */
static void join_names(const struct nodes_look *look, struct item *items, size_t n, size_t first, char *names)
{
    size_t length = 0;
    size_t count = 0;

    for (size_t i = first; i < n && length < NAMES_SIZE; i++) {
        if (items[i].told || !same(&items[i].advice, &items[first].advice))
            continue;
        items[i].told = true;
        count++;
        length += (size_t)snprintf(names + length, NAMES_SIZE - length, "%s%s", length > 0 ? ", " : "",
                                   look->infos[items[i].node].name);
    }
    if (count == look->sum.n && count > 1)
        snprintf(names, NAMES_SIZE, "All %zu masters", count);
}

/* Words up to the screen's edge, further lines indented. */
static void print_wrapped(const struct term *term, int column, const char *text)
{
    char safe[SENTENCE_SIZE * 4];

    text = shown(text, safe, sizeof safe);
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (column > INDENT && column + 1 + length > term->width) {
            putc('\n', term->out);
            column = 0;
        }
        for (; column < INDENT; column++)
            putc(' ', term->out);
        fprintf(term->out, "%s%.*s", column > INDENT ? " " : "", length, text);
        column += length + (column > INDENT);
        text += length + (text[length] == ' ');
    }
    putc('\n', term->out);
}

static void print_item(const struct term *term, const struct nodes_look *look, const struct advice *advice,
                       const char *names)
{
    char *command = nodes_command(look, advice);
    char sentence[NAMES_SIZE + sizeof advice->what];
    const char *label = advice->serious ? "!" : "note:";

    snprintf(sentence, sizeof sentence, "%s: %s.", names, advice->what);
    term_print(term, advice->serious ? TERM_RED : TERM_DIM, "%s", label);
    fputs(advice->serious ? "   " : "", term->out);
    print_wrapped(term, advice->serious ? INDENT : (int)strlen(label), sentence);
    print_wrapped(term, 0, advice->mend);
    if (command && command[0] != '\0') {
        fprintf(term->out, "%*s", 2 * INDENT, "");
        term_print(term, TERM_BOLD, "%s\n", command);
    }
    free(command);
}

static void print_advice(const struct term *term, const struct nodes_look *look)
{
    struct item *items = calloc(ITEMS, sizeof *items);
    size_t n = items ? collect(look, items) : 0;
    char names[NAMES_SIZE];

    for (int serious = 1; serious >= 0; serious--)
        for (size_t i = 0; i < n; i++) {
            if (items[i].told || items[i].advice.serious != (serious == 1))
                continue;
            join_names(look, items, n, i, names);
            print_item(term, look, &items[i].advice, names);
        }
    if (n > 0)
        putc('\n', term->out);
    free(items);
}

/* --- Verdict ----------------------------------------------------------------------------------------------------- */

int nodes_exit_code(const struct nodes_look *look)
{
    if (look->able.voting >= look->able.quorum)
        return !nodes_by_turns(look) ? CLI_OK : CLI_NOT_HELD;
    return look->able.answering < look->able.quorum ? CLI_INFRASTRUCTURE : CLI_NOT_HELD;
}

static void print_hope(const struct term *term, const struct quorum_status *sum)
{
    char wait[24];

    if (sum->quorum_in_ms > 0)
        fprintf(term->out, "    Enough of them will in %s.\n", term_time(sum->quorum_in_ms * 1000, wait, sizeof wait));
    else if (sum->voting + sum->waiting + sum->unmarked >= sum->quorum)
        fputs("    Enough of them will max_ttl + 1 s after a client has met them.\n", term->out);
    else
        fputs("    That will not change until what is marked with ! above is mended.\n", term->out);
}

static void print_verdict(const struct term *term, const struct nodes_look *look)
{
    const struct quorum_status *sum = &look->able;

    if (sum->voting >= sum->quorum && nodes_by_turns(look)) {
        term_print(term, TERM_RED, "no safe quorum");
        fprintf(term->out, ": %zu of %zu masters vote (%zu needed), but clients may count both servers of\n    %s\n",
                sum->voting, look->members, sum->quorum, nodes_by_turns(look));
    } else if (sum->voting >= sum->quorum) {
        term_print(term, TERM_GREEN, "safe quorum");
        fprintf(term->out, ": %zu of %zu masters vote (%zu needed); %zu more may fail\n", sum->voting, look->members,
                sum->quorum, sum->voting - sum->quorum);
    } else if (sum->answering < sum->quorum) {
        term_print(term, TERM_RED, "unknown");
        fprintf(term->out, ": only %zu of %zu masters answered (%zu needed)\n", sum->answering, look->members,
                sum->quorum);
    } else {
        term_print(term, TERM_RED, "no safe quorum");
        fprintf(term->out, ": %zu of %zu masters vote (%zu needed)\n", sum->voting, look->members, sum->quorum);
        print_hope(term, sum);
    }
}

/* What the clients must have in common with this command, or they are another deployment. */
static void print_deployment(const struct term *term, const struct nodes_look *look)
{
    const char *prefix = look->request->common.prefix;
    int64_t max_ttl_ms = nodes_max_ttl_ms(look);
    char max_ttl[DURATION_TEXT_SIZE];

    fputs("deployment: prefix", term->out);
    if (*prefix != '\0')
        term_key(term, prefix);
    else
        fputs(" none", term->out);
    if (max_ttl_ms > 0)
        fprintf(term->out, ", max_ttl %s\n", duration_text(max_ttl_ms * INT64_C(1000), max_ttl));
    else
        fputs(", max_ttl not declared\n", term->out);
}

/* How long a quorum has had the list; 0: nobody knows. */
static int64_t list_ms(const struct nodes_look *look, uint32_t quorum)
{
    int64_t best = 0;

    for (size_t i = 0; i < look->sum.n; i++) {
        int64_t ms = look->infos[i].list_ms;
        size_t as_long = 0;

        for (size_t j = 0; j < look->sum.n; j++)
            as_long += look->infos[j].member && look->infos[j].fault != REDLOCK_FAULT_OVERRULED &&
                       look->infos[j].list_ms >= ms;
        if (as_long >= quorum && ms > best)
            best = ms;
    }
    return best;
}

/* Since a program greeted last whose configuration names another list than this one; 0: none has. */
static int64_t stale_ms(const struct nodes_look *look)
{
    int64_t latest = 0;

    for (size_t i = 0; i < look->sum.n; i++) {
        const struct redlock_node_info *info = &look->infos[i];

        if (info->member && info->stale_ms > 0 && (info->list_ms == 0 || info->stale_ms < info->list_ms) &&
            (latest == 0 || info->stale_ms < latest))
            latest = info->stale_ms;
    }
    return latest;
}

/* The list, if it is not the one that --nodes says. */
static void print_view(const struct term *term, const struct nodes_look *look)
{
    struct redlock_view view;
    char names[SESSION_NAMES_SIZE], time[24];

    if (redlock_client_view(look->client, &view, sizeof view) != 0 || view.turn == 0)
        return;
    fprintf(term->out, "list of masters, changed by an operator (%llu.%u): %s, quorum %u\n",
            (unsigned long long)view.turn, (unsigned)view.step, session_names(&view.list, names),
            (unsigned)view.list.quorum);
    if (view.before.n)
        fprintf(term->out, "    locks may be alive by the list before: %s, quorum %u\n",
                session_names(&view.before, names), (unsigned)view.before.quorum);
    if (list_ms(look, view.list.quorum) > 0)
        fprintf(term->out, "    a quorum has had it for %s\n",
                term_time(list_ms(look, view.list.quorum) * 1000, time, sizeof time));
    if (stale_ms(look) > 0)
        fprintf(term->out, "    a program whose configuration names another list greeted them %s ago\n",
                term_time(stale_ms(look) * 1000, time, sizeof time));
}

void nodes_show(const struct nodes_look *look, FILE *out)
{
    struct term term;

    term_init(&term, out);
    print_tables(&term, look);
    putc('\n', out);
    print_advice(&term, look);
    print_deployment(&term, look);
    print_view(&term, look);
    print_verdict(&term, look);
}

/* --- The same as one line of JSON --------------------------------------------------------------------------------- */

static void server(struct cli_json *json, const struct redlock_node_info *info)
{
    cli_json_string(json, "version", info->version);
    cli_json_string(json, "role", info->role);
    cli_json_bool(json, "cluster", info->cluster);
    cli_json_string(json, "append_fsync", info->append_fsync);
    cli_json_bool(json, "durable", info->durable);
    cli_json_string(json, "eviction_policy", info->eviction_policy);
    cli_json_int(json, "maxmemory", info->maxmemory);
    cli_json_int(json, "replicas", info->replicas);
    cli_json_bool(json, "promoted", info->promoted);
    cli_json_string(json, "run_id", info->run_id);
    cli_json_int(json, "marker_max_ttl_ms", info->marker_max_ttl_ms);
    cli_json_int(json, "marker_longest_ms", info->marker_longest_ms);
    cli_json_int(json, "marker_falls_ms", info->marker_falls_ms);
    cli_json_int(json, "declaration", info->declaration);
    cli_json_int(json, "declaration_confirmed", info->declaration_confirmed);
    cli_json_int(json, "list_ms", info->list_ms);
    cli_json_int(json, "stale_ms", info->stale_ms);
    cli_json_int(json, "clock_offset_us", info->clock_offset_us);
    cli_json_int(json, "clock_step_us", info->clock_step_us);
}

static void advices(struct cli_json *json, const struct nodes_look *look, size_t node)
{
    struct advice found[ADVICE_MOST];
    size_t n = advice_on(look, node, found);

    cli_json_begin(json, "advice", '[');
    for (size_t i = 0; i < n; i++) {
        char *command = nodes_command(look, &found[i]);

        cli_json_begin(json, NULL, '{');
        cli_json_bool(json, "serious", found[i].serious);
        cli_json_string(json, "what", found[i].what);
        cli_json_string(json, "mend", found[i].mend);
        cli_json_string(json, "command", command ? command : "");
        cli_json_end(json, '}');
        free(command);
    }
    cli_json_end(json, ']');
}

static void master(struct cli_json *json, const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];
    bool up = nodes_answers(look, node);

    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", info->name);
    cli_json_bool(json, "reachable", up);
    cli_json_string(json, "standing", nodes_refuses(look, node)   ? "refuses"
                                      : quorum_status_answers(info) ? redlock_standing_name(info->standing)
                                      : nodes_is_slow(look, node) ? "slow"
                                                                  : "down");
    cli_json_string(json, "fault", redlock_fault_name(info->fault));
    cli_json_int(json, "quarantine_ms", info->quarantine_ms);
    cli_json_int_or_null(json, "latency_us", look->probes[node].latency_us);
    if (info->looked)
        server(json, info);
    if (look->probes[node].refused)
        cli_json_string(json, "error", look->probes[node].why);
    else if (!up)
        cli_json_string(json, "error", info->last_error);
    advices(json, look, node);
    cli_json_end(json, '}');
}

void nodes_list_json(struct cli_json *json, const char *name, const struct redlock_member_list *list)
{
    cli_json_begin(json, name, '{');
    cli_json_int(json, "quorum", list->quorum);
    cli_json_begin(json, "masters", '[');
    for (size_t i = 0; i < list->n; i++)
        cli_json_string(json, NULL, list->names[i]);
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

static void view_json(struct cli_json *json, const struct nodes_look *look)
{
    struct redlock_view view;

    if (redlock_client_view(look->client, &view, sizeof view) != 0)
        return;
    cli_json_begin(json, "view", '{');
    cli_json_int(json, "turn", (int64_t)view.turn);
    cli_json_int(json, "step", view.step);
    cli_json_int_or_null(json, "list_ms", view.turn && list_ms(look, view.list.quorum) ?
                                              list_ms(look, view.list.quorum) : -1);
    cli_json_int_or_null(json, "stale_ms", view.turn && stale_ms(look) ? stale_ms(look) : -1);
    nodes_list_json(json, "list", &view.list);
    if (view.before.n)
        nodes_list_json(json, "before", &view.before);
    cli_json_end(json, '}');
}

void nodes_json(const struct nodes_look *look, FILE *out)
{
    static const char *const verdicts[] = {
        [CLI_OK] = "safe", [CLI_NOT_HELD] = "unsafe", [CLI_INFRASTRUCTURE] = "unknown"};
    struct cli_json json = cli_json_open(out);

    cli_json_string(&json, "verdict", verdicts[nodes_exit_code(look)]);
    cli_json_int(&json, "quorum", (int64_t)look->able.quorum);
    cli_json_int(&json, "answering", (int64_t)look->able.answering);
    cli_json_int(&json, "voting", (int64_t)look->able.voting);
    cli_json_int_or_null(&json, "quorum_in_ms", look->able.quorum_in_ms);
    cli_json_string(&json, "prefix", look->request->common.prefix);
    if (nodes_max_ttl_ms(look) > 0)
        cli_json_int(&json, "max_ttl_ms", nodes_max_ttl_ms(look));
    view_json(&json, look);
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < look->sum.n; i++)
        master(&json, look, i);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}
