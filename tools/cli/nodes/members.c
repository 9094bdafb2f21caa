/* redlock nodes --replace, --add, --remove, --set-quorum, --rename and --abort: another list of masters while locks are
 * held. The library goes the way (redlock/members.h); here are the list that it leads to, the plan, the question, and
 * the progress. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/nodes/nodes.h"
#include "cli/target.h"
#include "options/value.h"

enum { REDRAW_MS = 1000, TIME_COLUMNS = 16 };

/* --- The list to come --------------------------------------------------------------------------------------------- */

static bool has_target(const char *url, const char *name)
{
    struct target a, b;
    struct cli_masters one = {0};
    bool same = false;

    if (cli_add_master("nodes", &one, name)) {
        bool parsed = target_parse(url, &a);

        if (target_parse(one.urls[0], &b) && parsed)
            same = a.path ? b.path && strcmp(a.path, b.path) == 0
                          : a.host && b.host && a.port == b.port && strcasecmp(a.host, b.host) == 0;
        target_fini(&b);
        target_fini(&a);
    }
    cli_masters_fini(&one);
    return same;
}

static const char *const *find_master(const struct cli_masters *masters, const char *name)
{
    for (size_t i = 0; i < masters->count; i++)
        if (has_target(masters->urls[i], name))
            return &masters->urls[i];
    cli_error("nodes", "%s is none of the masters that --nodes or REDLOCK_NODES list", name);
    return NULL;
}

static bool add_like(struct cli_masters *goal, const char *like, const char *name)
{
    char *url = target_url_like(like, name);
    bool added = url && cli_add_master("nodes", goal, url);

    if (!url)
        cli_error("nodes", "out of memory");
    free(url);
    return added;
}

/* A replacement, or another name, stands where the master stood. */
static bool replace(const struct cli_masters *masters, const char *const *goes[], const struct nodes_request *request,
                    const struct cli_texts *pairs, struct cli_masters *goal)
{
    for (size_t i = 0; i < masters->count; i++) {
        const char *replacement = NULL;
        bool removed = false;

        for (size_t j = 0; j < pairs->n; j++)
            if (goes[j] == &masters->urls[i])
                replacement = strchr(pairs->items[j], '=') + 1;
        for (size_t j = 0; j < request->remove.n; j++)
            removed |= goes[pairs->n + j] == &masters->urls[i];
        if (removed && !replacement)
            continue;
        if (replacement ? !add_like(goal, masters->urls[i], replacement)
                        : !cli_add_master("nodes", goal, masters->urls[i]))
            return false;
    }
    return true;
}

static bool make_goal(const struct nodes_request *request, struct cli_masters *goal)
{
    const struct cli_masters *masters = &request->common.masters;
    const struct cli_texts *pairs = request->rename.n ? &request->rename : &request->replace;
    const char *const *goes[2 * CLI_MOST_TEXTS];

    for (size_t i = 0; i < pairs->n; i++) {
        const char *pair = pairs->items[i];
        const char *equals = strchr(pair, '=');
        char *old = equals && equals[1] ? strndup(pair, (size_t)(equals - pair)) : NULL;

        if (!old)
            cli_error("nodes", "--%s takes OLD=NEW, not '%s'", request->rename.n ? "rename" : "replace", pair);
        goes[i] = old ? find_master(masters, old) : NULL;
        free(old);
        if (!goes[i])
            return false;
    }
    for (size_t i = 0; i < request->remove.n; i++) {
        goes[pairs->n + i] = find_master(masters, request->remove.items[i]);
        if (!goes[pairs->n + i])
            return false;
    }
    if (!replace(masters, goes, request, pairs, goal))
        return false;
    for (size_t i = 0; i < request->add.n; i++)
        if (!add_like(goal, masters->urls[0], request->add.items[i]))
            return false;
    return true;
}

/* --- In words ----------------------------------------------------------------------------------------------------- */

static bool has_name(const struct redlock_member_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->names[i], name) == 0)
            return true;
    return false;
}

static const char *master_name(const char *name, char *buffer)
{
    const struct redlock_member_list one = {.n = 1, .names = {name}};

    return session_names(&one, buffer);
}

/* Masters of the list that do not answer now; a new one is expected to. */
static size_t count_silent(const struct redlock_change_report *report, const struct redlock_member_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < report->n_masters; i++)
        n += has_name(list, report->masters[i].name) && report->masters[i].member && *report->masters[i].why != '\0';
    return n;
}

static void print_spare(FILE *out, const struct redlock_change_report *report, const struct redlock_member_list *list)
{
    size_t silent = count_silent(report, list);
    size_t voting = list->n - silent;

    if (voting < list->quorum)
        fprintf(out, "%zu of them must vote, and %zu do", (size_t)list->quorum, voting);
    else if (voting == list->quorum)
        fputs(silent ? "all others are needed" : "all of them are needed", out);
    else if (voting - list->quorum == 1)
        fputs("one more may fail", out);
    else
        fprintf(out, "%zu more may fail", voting - list->quorum);
}

/* Whoever may write to the masters could send clients elsewhere, and their passwords. */
static void print_followers(FILE *out, const struct nodes_request *request, const struct redlock_change_report *report)
{
    const struct redlock_member_list *goal = &report->lists[report->n_lists - 1];
    struct redlock_member_list coming = {0};
    const struct cli_masters *masters = &request->common.masters;
    char names[SESSION_NAMES_SIZE];
    bool secret = false;

    for (size_t i = 0; i < masters->count; i++)
        secret |= (strchr(masters->urls[i], '@') || cli_password_changes(&masters->password)) &&
                  !cli_url_has_tls(masters->urls[i]);
    for (size_t i = 0; i < goal->n; i++)
        if (!has_name(&report->lists[0], goal->names[i]))
            coming.names[coming.n++] = goal->names[i];
    if (secret && coming.n)
        fprintf(out, "The masters have passwords and no TLS: a client follows to %s only if its may_follow\n"
                     "(--may-follow, REDLOCK_MAY_FOLLOW) names it. See to that first: others lose their locks.\n",
                session_names(&coming, names));
}

static void print_plan(FILE *out, const struct nodes_request *request, const struct redlock_change_report *report)
{
    char names[SESSION_NAMES_SIZE], time[16];

    fprintf(out, "now: %s (quorum %u)\n", session_names(&report->lists[0], names), (unsigned)report->lists[0].quorum);
    for (size_t i = 0; i < report->n_masters; i++)
        if (*report->masters[i].why != '\0')
            fprintf(out, "     %s: %s\n", master_name(report->masters[i].name, names), report->masters[i].why);
    for (size_t i = 1; i < report->n_lists; i++) {
        const struct redlock_member_list *list = &report->lists[i];

        fprintf(out, "%zu.   %s (quorum %u): ", i, session_names(list, names), (unsigned)list->quorum);
        print_spare(out, report, list);
        fputs(".\n", out);
    }
    if (report->n_lists == 1)
        fputs("     The masters go by this list already. It is told to them once more.\n", out);
    else if (request->rename.n)
        fputs("These are the same masters under other names: nothing has to be waited for, and locks stay held.\n"
              "The configuration of the clients is changed afterwards, not before.\n", out);
    else
        fprintf(out,
                "Each list stands for %s, until no lock by the list before is alive. Locks stay held and\n"
                "are taken meanwhile. The configuration of the clients is changed afterwards, not before.\n",
                term_time(report->standing_ms * 1000, time, sizeof time));
}

/* What holds it up: those of the present list that have not stored it. */
static void put_missing(FILE *out, const struct redlock_change_report *report)
{
    char name[SESSION_NAMES_SIZE];
    bool first = true;

    for (size_t i = 0; i < report->n_masters; i++) {
        const struct redlock_change_master *master = &report->masters[i];

        if (master->told || !master->member || (report->stage == REDLOCK_CHANGE_ASKING && *master->why == '\0'))
            continue;
        fprintf(out, "%s%s", first ? "; missing: " : ", ", master_name(master->name, name));
        if (*master->why != '\0')
            fprintf(out, " (%s)", master->why);
        first = false;
    }
}

static void put_newcomers(FILE *out, const struct redlock_change_report *report)
{
    char name[SESSION_NAMES_SIZE];
    const char *between = " ";

    for (size_t i = 0; i < report->n_masters; i++) {
        const struct redlock_change_master *master = &report->masters[i];

        if (master->member || *master->why == '\0' || !has_name(&report->lists[report->n_lists - 1], master->name))
            continue;
        fprintf(out, "%s%s (%s)", between, master_name(master->name, name), master->why);
        between = ", ";
    }
    if (*between == ' ')
        fputs(" they answer, and are about to store the list", out);
}

/* A former master that remembers leads clients on to the list; one that has forgotten would take a client with the list
 * before for the first one of a deployment. */
static void put_end(FILE *out, const struct nodes_request *request, const struct redlock_change_report *report)
{
    char names[SESSION_NAMES_SIZE];
    struct redlock_member_list left = {0};

    for (size_t i = 0; i < report->n_masters; i++)
        if (!report->masters[i].member && left.n < REDLOCK_MAX_MASTERS)
            left.names[left.n++] = report->masters[i].name;
    fprintf(out, "done: the masters are %s (quorum %u)", session_names(&report->lists[0], names),
            (unsigned)report->lists[0].quorum);
    if (request->abort)
        return;
    fputs(". Now give all clients this list.", out);
    if (left.n > 0)
        fprintf(out, "\nWhen they have it, stop for good: %s. Not before, and never empty a former master\n"
                     "or start it empty while a client may have the list before: it could lock there what is\n"
                     "locked here. A machine that has died must not start one by itself when it comes back.",
                session_names(&left, names));
}

/* Is the word the name of this master? That has the number of the database behind it. */
static bool is_named(const char *word, const char *name)
{
    char url[SESSION_NAMES_SIZE];

    snprintf(url, sizeof url, "%.*s", (int)(strrchr(name, '/') - name), name);
    return has_target(url, word);
}

/* The present name of the master that the new name was given to, as the command's own words have it; NULL: none. */
static char *old_name(const struct nodes_request *request, const char *name)
{
    const struct cli_texts *pairs = request->rename.n ? &request->rename : &request->replace;

    for (size_t i = 0; i < pairs->n; i++) {
        const char *equals = strchr(pairs->items[i], '=');

        if (is_named(equals + 1, name))
            return strndup(pairs->items[i], (size_t)(equals - pairs->items[i]));
    }
    return NULL;
}

static bool is_silent(const struct redlock_change_report *report, const char *old)
{
    for (size_t i = 0; i < report->n_masters; i++)
        if (*report->masters[i].why != '\0' && is_named(old, report->masters[i].name))
            return true;
    return false;
}

/* The command for the masters as the present list names them. */
static char *again(const struct nodes_request *request, const struct redlock_change_report *report, const char *command)
{
    struct cli_common common = request->common;
    struct cli_masters present = {.password = common.masters.password, .tls = common.masters.tls};
    char name[SESSION_NAMES_SIZE], *whole;
    size_t same = 0;

    for (size_t i = 0; i < report->lists[0].n; i++) {
        const char *named = master_name(report->lists[0].names[i], name);

        add_like(&present, common.masters.urls[0], named);
        for (size_t j = 0; j < common.masters.count; j++)
            same += has_target(common.masters.urls[j], named);
    }
    if (same < report->lists[0].n)
        common.masters = present;
    whole = cli_again(&common, command);
    present.password = (struct cli_password){0}; /* it is the request's */
    cli_masters_fini(&present);
    return whole;
}

/* A name leads to a master that has it not yet, or does not lead to the one that it is to be another name of. */
static void put_cure(FILE *out, const struct nodes_request *request, const struct redlock_change_report *report)
{
    char text[SESSION_NAMES_SIZE], names[2][SESSION_NAMES_SIZE], *command;
    char *old = report->name ? old_name(request, report->name) : NULL;
    bool rename = report->name && report->name_of;

    if (!rename && !old)
        return;
    snprintf(text, sizeof text, "redlock nodes --%s %s=%s", rename ? "rename" : "replace",
             rename ? master_name(report->name_of, names[0]) : old, master_name(report->name, names[1]));
    command = again(request, report, text);
    if (rename)
        fprintf(out, "To call %s so, for all clients:\n", names[0]);
    else if (is_silent(report, old))
        fprintf(out, "If %s is gone for good, restart the server of %s, whose memory may be too old, and then:\n", old,
                names[1]);
    else
        fprintf(out, "If that server is to take the place of %s:\n", old);
    fprintf(out, "    %s", command ? command : text);
    free(command);
    free(old);
}

static void put_progress(FILE *out, const struct nodes_request *request, const struct redlock_change_report *report)
{
    const struct redlock_member_list *list = &report->lists[0];
    char names[SESSION_NAMES_SIZE];

    switch (report->stage) {
    case REDLOCK_CHANGE_ASKING:
        fputs("asking the masters for their list", out);
        put_missing(out, report);
        break;
    case REDLOCK_CHANGE_TELLING:
        fprintf(out, "telling %s (quorum %u)", session_names(list, names), (unsigned)list->quorum);
        break;
    case REDLOCK_CHANGE_STANDING:
        fprintf(out, "%s (quorum %u): told %u of %zu", session_names(list, names), (unsigned)list->quorum,
                (unsigned)report->told, list->n);
        put_missing(out, report);
        break;
    case REDLOCK_CHANGE_PREPARING:
        fputs("waiting for new masters:", out);
        put_newcomers(out, report);
        break;
    case REDLOCK_CHANGE_DONE:
        put_end(out, request, report);
        break;
    case REDLOCK_CHANGE_STOPPED:
        fprintf(out, "stopped: %s (this command has come to %s, quorum %u)", report->why,
                session_names(list, names), (unsigned)list->quorum);
        if (report->name)
            putc('\n', out);
        put_cure(out, request, report);
        break;
    }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void report_json(const struct redlock_change_report *report, FILE *out)
{
    struct cli_json json = cli_json_open(out);

    cli_json_string(&json, "stage", redlock_change_stage_name(report->stage));
    cli_json_string(&json, "why", report->why);
    cli_json_int(&json, "standing_ms", report->standing_ms);
    cli_json_int(&json, "wait_ms", report->wait_ms);
    cli_json_int(&json, "told", report->told);
    cli_json_begin(&json, "lists", '[');
    for (size_t i = 0; i < report->n_lists; i++)
        nodes_list_json(&json, NULL, &report->lists[i]);
    cli_json_end(&json, ']');
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < report->n_masters; i++) {
        cli_json_begin(&json, NULL, '{');
        cli_json_string(&json, "name", report->masters[i].name);
        cli_json_bool(&json, "member", report->masters[i].member);
        cli_json_bool(&json, "told", report->masters[i].told);
        cli_json_int(&json, "quarantine_ms", report->masters[i].quarantine_ms);
        cli_json_string(&json, "why", report->masters[i].why);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

/* --- The run ------------------------------------------------------------------------------------------------------ */

struct progress {
    const struct nodes_request *request;
    bool plans;
    bool over;
    int code;
    char *line;         /* the latest one ... */
    int64_t until_us;   /* ... which is true until then; 0: nobody knows */
    int width;          /* of the terminal, where the time that is left is written anew; 0: it is none */
    bool leads;         /* a list has been told that leads to another one */
    bool open;          /* the line has not ended yet */
};

/* What the run waits for by the clock: the end of a list's standing, or of a quarantine. */
static int64_t wait_of(const struct redlock_change_report *report)
{
    int64_t longest_ms = report->wait_ms;

    for (size_t i = 0; i < report->n_masters && report->stage == REDLOCK_CHANGE_PREPARING; i++)
        if (!report->masters[i].member && report->masters[i].quarantine_ms > longest_ms)
            longest_ms = report->masters[i].quarantine_ms;
    return longest_ms;
}

static void draw(struct progress *progress)
{
    int64_t left_us = progress->until_us - clock_now_us();
    char time[DURATION_TEXT_SIZE];

    fputs(progress->line, stderr);
    if (left_us > 0)
        fprintf(stderr, "; %s left", duration_text((left_us + 999999) / 1000000 * 1000000, time));
    progress->open = left_us > 0 && strlen(progress->line) + TIME_COLUMNS < (size_t)progress->width;
    fputs(progress->open ? "\033[K\r" : progress->width > 0 ? "\033[K\n" : "\n", stderr);
}

/* The list has stood, and is looked at once more: that is over in a moment. */
static bool is_looking_again(const struct redlock_change_report *report)
{
    return report->stage == REDLOCK_CHANGE_STANDING && report->wait_ms == 0;
}

static void show_line(struct progress *progress, const struct redlock_change_report *report)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);

    if (!out)
        return;
    put_progress(out, progress->request, report);
    fclose(out);
    progress->until_us = wait_of(report) > 0 ? clock_now_us() + wait_of(report) * 1000 : 0;
    if (progress->line && strcmp(progress->line, line) == 0) {
        free(line);
        return;
    }
    if (progress->open)
        fputs("\n", stderr);
    free(progress->line);
    progress->line = line;
    draw(progress);
}

static void show_plan(const struct progress *progress, const struct redlock_change_report *report)
{
    FILE *out = progress->request->dry_run ? stdout : stderr;

    if (progress->request->dry_run && progress->request->common.json) {
        report_json(report, stdout);
        return;
    }
    print_plan(out, progress->request, report);
    print_followers(out, progress->request, report);
}

static void show_objection(const struct progress *progress, const struct redlock_change_report *report)
{
    char names[SESSION_NAMES_SIZE];

    cli_error("nodes", "%s (%s, quorum %u)", report->why, session_names(&report->lists[0], names),
              (unsigned)report->lists[0].quorum);
    put_cure(stderr, progress->request, report);
    if (report->name)
        fputs("\n", stderr);
}

static bool has_end(const struct redlock_change_report *report)
{
    return report->status != REDLOCK_OK || report->stage == REDLOCK_CHANGE_DONE ||
           report->stage == REDLOCK_CHANGE_STOPPED;
}

static void on_report(struct redlock_client *client, const struct redlock_change_report *report, void *user_data)
{
    struct progress *progress = user_data;

    if (progress->plans && report->status == REDLOCK_OK) {
        progress->over = true;
        progress->code = report->stage == REDLOCK_CHANGE_STOPPED ? CLI_NOT_HELD : CLI_OK;
        if (progress->code == CLI_OK)
            show_plan(progress, report);
        else
            show_objection(progress, report);
        return;
    }
    progress->leads = report->stage == REDLOCK_CHANGE_STANDING && report->n_lists > 1;
    if (report->status == REDLOCK_OK && !is_looking_again(report))
        show_line(progress, report);
    if (!has_end(report))
        return;
    progress->over = true;
    progress->code = report->stage == REDLOCK_CHANGE_DONE ? CLI_OK : CLI_NOT_HELD;
    if (progress->request->common.json && report->status == REDLOCK_OK)
        report_json(report, stdout);
}

static bool is_over(const struct session *session, void *data)
{
    return ((const struct progress *)data)->over;
}

static int carry_out(struct session *session, struct redlock_client *client, struct progress *progress,
                     const struct redlock_change_options *options)
{
    struct redlock_error error;
    int status = redlock_change_members(client, options, on_report, progress, &error);

    if (status < 0) {
        cli_error("nodes", "%s", error.text);
        return redlock_status_retryable(status) ? CLI_INFRASTRUCTURE : CLI_USAGE;
    }
    while (!progress->over && session->caught == 0) {
        session_run_until(session, is_over, progress, REDRAW_MS);
        if (progress->open && !progress->over)
            draw(progress);
    }
    if (progress->open)
        fputs("\n", stderr);
    return CLI_OK;
}

static int confirmed(const struct nodes_request *request)
{
    if (request->yes)
        return CLI_OK;
    if (isatty(STDIN_FILENO) != 1) {
        cli_error("nodes", "a change of the masters asks on a terminal, and standard input is none: add --yes if you "
                           "are sure, or --dry-run for the plan alone");
        return CLI_USAGE;
    }
    if (term_types("change"))
        return CLI_OK;
    fputs("Nothing is changed.\n", stderr);
    return CLI_NOT_HELD;
}

/* One run, or the plan of one: that writes nothing to any master. */
static int go(struct session *session, struct progress *progress, struct redlock_change_options *options)
{
    struct cli_common common = progress->request->common;
    struct redlock_client *client;
    int code;

    common.join = progress->plans ? REDLOCK_JOIN_LOOK : REDLOCK_JOIN_VOTE;
    options->plan_only = progress->plans;
    client = session_client(session, "nodes", &common, &code);
    if (!client)
        return code;
    session_join(session, client);
    code = carry_out(session, client, progress, options);
    redlock_client_destroy(client);
    free(progress->line);
    return code == CLI_OK ? progress->code : code;
}

static int change(struct session *session, const struct nodes_request *request, struct redlock_change_options *options)
{
    struct progress plan = {.request = request, .plans = true, .code = CLI_NOT_HELD};
    struct progress run = {.request = request, .code = CLI_NOT_HELD};
    int code = go(session, &plan, options);
    struct term term;

    if (code != CLI_OK || request->dry_run || session->caught != 0)
        return code;
    code = confirmed(request);
    if (code != CLI_OK)
        return code;
    term_init(&term, stderr);
    run.width = term.tty ? term.width : 0;
    code = go(session, &run, options);
    if (session->caught != 0)
        cli_error("nodes", "the change stays where it is: the same command goes on with it%s",
                  run.leads ? ", and waits for this list anew; --abort goes back" : "");
    return code;
}

int nodes_change_members(struct session *session, const struct nodes_request *request)
{
    struct redlock_change_options options;
    struct cli_masters goal = {0};
    int code = CLI_USAGE;

    redlock_change_options_init(&options);
    options.back = request->abort;
    options.quorum = request->set_quorum;
    options.rename = request->rename.n > 0;
    if (request->abort || make_goal(request, &goal)) {
        options.masters = goal.urls;
        options.n_masters = goal.count;
        code = change(session, request, &options);
    }
    cli_masters_fini(&goal);
    return code;
}
