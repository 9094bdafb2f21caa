/* redlock status: who holds a lock, master by master. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/latch.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/json.h"
#include "cli/label.h"
#include "cli/probe.h"
#include "cli/session.h"
#include "cli/status.h"
#include "cli/term.h"
#include "cli/verdict.h"
#include "cli/votes.h"

static const char status_help[] =
    "Usage: redlock status KEY [OPTION...]\n"
    "\n"
    "Asks every master what it stores under KEY, and says what that adds up to. Of a\n"
    "list that an operator has changed, the present masters are asked.\n"
    "\n"
    "  held       a majority of the masters has the same token: that is the holder\n"
    "  shared     tokens with shared votes of a majority: those hold it together\n"
    "  upgrading  the same; the upgradeable one has some exclusive votes already\n"
    "  free       nobody has it\n"
    "  split      some masters have the key, but no token has a majority: nobody\n"
    "             holds the lock, attempts are under way, or leftovers wait for their\n"
    "             ttl\n"
    "  foreign    another program has the key on so many masters that nobody can\n"
    "             lock it: it has another type, never ends, or is no token\n"
    "  unknown    too few masters have answered\n"
    "\n"
    "Below that stand the holders with their labels, and the wait queue: the tickets\n"
    "in their order, the position of each on every master, in the order of the table,\n"
    "and for how long its entry is kept unless the waiter refreshes it. \"Asked for\n"
    "it\" is the time at which the command or the wait began, by the clock there.\n"
    "If there is no such key, but a semaphore or a latch of that name, that is shown.\n"
    "\n"
    "  --permits K          KEY is a semaphore with K permits: show the holder of\n"
    "                       each, how many are held, and who waits for any of them.\n"
    "                       Without it, those up to the largest of the first 1000\n"
    "                       that is held\n"
    "  --latch              KEY is the name of a latch: show which parties have\n"
    "                       arrived, and whether it is open, even if there is a lock\n"
    "                       of that name\n"
    "  --watch              go on, and print again when something but times has\n"
    "                       changed, at most once a second\n"
    "  -v, --verbose        show whole tokens instead of their first 8 characters;\n"
    "                       whoever has a token can unlock with it. Of a latch show\n"
    "                       all names instead of the first 20\n"
    "  --node-timeout DUR   how long to wait for a connection and for an answer\n"
    "                       (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    "  --profile NAME       classic: ask the masters that are given, even if the list\n"
    "                       of masters has been changed\n"
    CLI_AGENT_HELP
    "\n"
    CLI_COMMON_HELP
    "\n"
    "The command only reads, and shows this moment. The holder's own validity ends a\n"
    "little before the time shown here, since it leaves room for clock drift.\n"
    "\n"
    "Exit status: 0 held, shared or upgrading, or one of the permits is held, or the\n"
    "latch is open; 1 free or split, or the latch is not open; 2 wrong usage; 3\n"
    "unknown; 4 foreign.\n"
    "\n"
    "Example:\n"
    "  redlock status jobs:nightly --nodes 10.0.0.1,10.0.0.2,10.0.0.3\n";

enum { WATCH_MS = 1000 };

struct picture {
    const struct status_request *request;
    const struct redlock_client *client; /* for the names */
    struct probe_all all;
    size_t n;
    struct verdict verdict;
};

static size_t longer(size_t width, const char *token)
{
    return strlen(token) > width ? strlen(token) : width;
}

/* Whole tokens are as wide as the longest that is there. */
static int token_width(const struct picture *picture)
{
    size_t width = STATUS_SHORT_TOKEN;

    for (size_t i = 0; picture->request->verbose && i < picture->n; i++) {
        width = longer(width, picture->all.probes[i].value);
        for (size_t j = 0; j < picture->all.votes[i].n; j++)
            width = longer(width, picture->all.votes[i].votes[j].value);
        for (size_t j = 0; j < picture->all.queues[i].n; j++)
            width = longer(width, picture->all.queues[i].waiters[j].value);
    }
    return (int)width;
}

static const char *time_left(int64_t pttl_ms, char *buffer, size_t size)
{
    return pttl_ms == -1 ? "no end" : term_time(pttl_ms * 1000, buffer, size);
}

static void print_row(const struct term *term, const struct picture *picture, size_t i, int name_width)
{
    const struct probe *probe = &picture->all.probes[i];
    const struct probe_votes *votes = &picture->all.votes[i];
    char left[16] = "-";
    char latency[16] = "-";
    int token_columns = token_width(picture);
    bool foreign = verdict_is_foreign(probe, votes);
    bool mine = probe->exists && probe->is_token && picture->verdict.kind == VERDICT_HELD &&
                strcmp(probe->value, picture->verdict.value) == 0;

    if (!status_master_row(term, picture->client, probe, name_width))
        return;
    term_time(probe->latency_us, latency, sizeof latency);
    term_print(term, mine ? TERM_GREEN : probe->exists ? TERM_YELLOW : TERM_DIM, "%-*s", STATUS_COLUMN,
               foreign ? "foreign" : probe->exists ? "set" : "absent");
    fprintf(term->out, "%-*.*s  %8s  %8s%s%s", token_columns, token_columns, probe->is_text ? probe->value : "-",
            probe->exists ? time_left(probe->pttl_ms, left, sizeof left) : "-", latency,
            probe->why[0] != '\0' ? "  " : "", probe->why);
    if (votes->n > 0)
        fprintf(term->out, "  %zu vote%s%s", votes->n, votes->n == 1 ? "" : "s", votes->more ? " and more" : "");
    putc('\n', term->out);
}

static void print_shared(const struct term *term, const struct picture *picture)
{
    const struct verdict *verdict = &picture->verdict;
    char left[16];

    term_print(term, TERM_GREEN, "%s", verdict_name(verdict->kind));
    fprintf(term->out, " by %zu, for at most %s", verdict->sharers,
            time_left(verdict->pttl_ms, left, sizeof left));
    if (verdict->value)
        fprintf(term->out, "; %.*s is upgradeable%s", token_width(picture), verdict->value,
                verdict->upgrading ? ", and has exclusive votes already" : "");
    putc('\n', term->out);
}

static void print_verdict(const struct term *term, const struct picture *picture)
{
    const struct verdict *verdict = &picture->verdict;
    char left[16];

    switch (verdict->kind) {
    case VERDICT_HELD:
        term_print(term, TERM_GREEN, "held");
        fprintf(term->out, " by %.*s on %zu of %zu masters, for at most %s unless it is renewed\n",
                token_width(picture), verdict->value, verdict->most, picture->n,
                time_left(verdict->pttl_ms, left, sizeof left));
        if (label_of(verdict->value).strange)
            fputs("  that is no token of this library: another library's client has the key, or another program\n",
                  term->out);
        break;
    case VERDICT_SHARED:
    case VERDICT_UPGRADING:
        print_shared(term, picture);
        break;
    case VERDICT_FOREIGN:
        term_print(term, TERM_RED, "foreign");
        fprintf(term->out, ": " VERDICT_FOREIGN_TEXT "\n", verdict->foreign, picture->n);
        break;
    case VERDICT_FREE:
        term_print(term, TERM_BOLD, "free");
        fprintf(term->out, ": no key on the %zu of %zu masters that answered\n", verdict->answered, picture->n);
        break;
    case VERDICT_SPLIT:
        term_print(term, TERM_YELLOW, "split");
        fprintf(term->out, ": %zu of %zu masters have the key, but no token is on %zu: nobody holds the lock\n",
                verdict->present, picture->n, verdict->quorum);
        break;
    case VERDICT_UNKNOWN:
    default:
        term_print(term, TERM_RED, "unknown");
        fprintf(term->out, ": only %zu of %zu masters answered\n", verdict->answered, picture->n);
        break;
    }
}

/* Who they are, and since when they want it. */
static void print_holders(const struct term *term, const struct picture *picture)
{
    const struct verdict *verdict = &picture->verdict;
    int width = token_width(picture);

    if (verdict->n_holders == 0)
        return;
    term_print(term, TERM_DIM, "  %-*s  %-11s  %9s  %-16s  %s\n", width, "holder", "mode", "ttl left", "asked for it",
               "label");
    for (size_t i = 0; i < verdict->n_holders; i++) {
        const struct verdict_holder *holder = &verdict->holders[i];
        const struct label label = label_of(holder->value);
        char left[16];
        char ago[LABEL_AGO_SIZE];

        fprintf(term->out, "  %-*.*s  %-11s  %9s  %-16s  %s\n", width, width, holder->value,
                status_mode_name(holder->mode), time_left(holder->left_ms, left, sizeof left),
                label_ago(label.asked_us, ago), label.name[0] != '\0' ? label.name : "-");
    }
}

static void print_table(FILE *out, const void *data)
{
    const struct picture *picture = data;
    struct term term;
    int name_width = votes_name_width(picture->client);

    term_init(&term, out);
    term_print(&term, TERM_DIM, "  %-*s  %-*s%-*s  %8s  %8s", name_width, "master", STATUS_COLUMN, "key",
               token_width(picture), "token", "ttl left", "answer");
    putchar('\n');
    for (size_t i = 0; i < picture->n; i++)
        print_row(&term, picture, i, name_width);
    print_verdict(&term, picture);
    print_holders(&term, picture);
    status_queue_print(&term, picture->all.queues, picture->n, token_width(picture));
}

static void json_master(struct cli_json *json, const struct picture *picture, size_t i)
{
    status_key_json(json, picture->client, &picture->all.probes[i], picture->request->verbose);
    status_queue_json(json, &picture->all.queues[i], picture->request->verbose);
    cli_json_end(json, '}');
}

static void json_holders(struct cli_json *json, const struct picture *picture)
{
    const struct verdict *verdict = &picture->verdict;

    cli_json_begin(json, "held_by", '[');
    for (size_t i = 0; i < verdict->n_holders; i++) {
        cli_json_begin(json, NULL, '{');
        status_json_token(json, verdict->holders[i].value, picture->request->verbose);
        cli_json_string(json, "mode", status_mode_name(verdict->holders[i].mode));
        cli_json_int(json, "pttl_ms", verdict->holders[i].left_ms);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void print_json(FILE *out, const void *data)
{
    const struct picture *picture = data;
    const struct verdict *verdict = &picture->verdict;
    struct cli_json json = cli_json_open(out);

    cli_json_key(&json, picture->request->key);
    cli_json_string(&json, "kind", "lock");
    cli_json_string(&json, "verdict", verdict_name(verdict->kind));
    cli_json_int(&json, "quorum", (int64_t)verdict->quorum);
    cli_json_int(&json, "answered", (int64_t)verdict->answered);
    cli_json_int(&json, "present", (int64_t)verdict->present);
    cli_json_int(&json, "agreeing", (int64_t)verdict->most);
    if (verdict->kind == VERDICT_SHARED || verdict->kind == VERDICT_UPGRADING) {
        cli_json_int(&json, "shared_by", (int64_t)verdict->sharers);
        cli_json_int(&json, "pttl_ms", verdict->pttl_ms);
    } else if (verdict->kind == VERDICT_HELD) {
        status_json_token(&json, verdict->value, picture->request->verbose);
        cli_json_int(&json, "pttl_ms", verdict->pttl_ms);
    }
    json_holders(&json, picture);
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < picture->n; i++)
        json_master(&json, picture, i);
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

/* The names on the masters, as the clients write them: redlock(7). */
struct names {
    char key[REDLOCK_MAX_KEY_BYTES + 1];
    char queue[REDLOCK_MAX_KEY_BYTES + 32];
    char waiters[REDLOCK_MAX_KEY_BYTES + 32];
    char latch[REDLOCK_MAX_KEY_BYTES + 32];
};

static bool make_names(const struct status_request *request, struct names *names)
{
    const char *prefix = request->common.prefix;

    snprintf(names->queue, sizeof names->queue, "%sredlock:queue:%s", prefix, request->key);
    snprintf(names->waiters, sizeof names->waiters, "%sredlock:waiters:%s", prefix, request->key);
    snprintf(names->latch, sizeof names->latch, "%sredlock:latch:%s", prefix, request->key);
    return (size_t)snprintf(names->key, sizeof names->key, "%s%s", prefix, request->key) < sizeof names->key;
}

static void take_picture(const struct status_request *request, const struct names *names, struct picture *picture)
{
    struct probe_masters masters = probe_masters_of(&request->common);
    const struct probe_names others = {names->queue, names->waiters, names->latch};

    masters.places = request->places;
    probe_all(&masters, names->key, &others, &picture->all);
    picture->verdict = verdict_of(picture->all.probes, picture->n, cli_quorum(&request->common));
    shares_judge(&picture->verdict, picture->all.probes, picture->all.votes, picture->n);
}

static int look_at_lock(struct session *session, struct redlock_client *client, struct status_request *request)
{
    static const int codes[] = {
        [VERDICT_HELD] = CLI_OK,
        [VERDICT_SHARED] = CLI_OK,
        [VERDICT_UPGRADING] = CLI_OK,
        [VERDICT_FREE] = CLI_NOT_HELD,
        [VERDICT_SPLIT] = CLI_NOT_HELD,
        [VERDICT_UNKNOWN] = CLI_INFRASTRUCTURE,
        [VERDICT_FOREIGN] = CLI_FOREIGN,
    };
    static struct picture picture; /* too large for a stack */
    struct names names;
    struct probe_others others = {0};

    picture.request = request;
    picture.client = client;
    picture.n = request->common.masters.count;
    if (!make_names(request, &names))
        return refused_call("status", REDLOCK_E_KEY_TOO_LONG);
    take_picture(request, &names, &picture);
    for (size_t i = 0; i < picture.n && picture.verdict.kind == VERDICT_FREE; i++) {
        others.latch |= picture.all.others[i].latch;
        if (picture.all.others[i].slots > others.slots)
            others.slots = picture.all.others[i].slots;
    }
    if (others.slots > 0) {
        request->permits = others.slots;
        request->guessed = true;
        return status_permits(session, client, request);
    }
    if (others.latch)
        return status_show_latch(client, request);
    status_print(request, print_json, print_table, &picture);
    return codes[picture.verdict.kind];
}

/* Is it a name that such a lock, semaphore or latch can have? */
static int check_key(struct redlock_client *client, const struct status_request *request)
{
    struct redlock_latch *latch;
    struct redlock_lock *lock;

    if (!request->latch)
        return cli_lock_create(client, request->key, request->permits, &lock);
    return redlock_latch_create(client, request->key, strlen(request->key), 1, 0, NULL, NULL, &latch);
}

int status_look(struct session *session, struct redlock_client *client, struct status_request *request)
{
    if (session->agent)
        return status_by_agent(session, request);
    if (request->latch)
        return status_show_latch(client, request);
    return request->permits ? status_permits(session, client, request) : look_at_lock(session, client, request);
}

/* Until nobody reads it any more, or a signal ends the process. */
static int look_again_and_again(struct session *session, struct redlock_client *client,
                                const struct status_request *request)
{
    struct status_request once;
    int code;

    do {
        once = *request; /* a look may find out what the key is */
        code = status_look(session, client, &once);
    } while (request->watch && !ferror(stdout) && !session_run_until(session, NULL, NULL, WATCH_MS));
    return request->watch ? CLI_OK : code; /* that the output has failed is told where that is so for any command */
}

/* The client is there to judge the URLs and the key, to find the list of masters, and to name these as everywhere
 * else; the look itself goes past it. */
static int run(struct status_request *request)
{
    struct session session = {.tells_members = true};
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;
    int status = 0;

    if (!session_open(&session, "status"))
        return finish(&session, NULL, 0, code);
    if (!request->common.agent)
        client = session_client(&session, "status", &request->common, &code);
    if (client) {
        status = check_key(client, request);
        if (status != 0)
            code = refused_call("status", status);
        else if (session_follow(&session, client, &request->common, request->places))
            code = look_again_and_again(&session, client, request);
    }
    if (request->common.agent && session_agent(&session, "status", &request->common))
        code = look_again_and_again(&session, NULL, request);
    redlock_client_destroy(client);
    return finish(&session, NULL, 0, code);
}

/* False after a message. */
static bool fits(struct status_request *request)
{
    const char *word = request->latch ? "latch" : request->permits != 0 ? "permits" : "verbose";
    bool asks_masters = request->latch || request->permits != 0 || request->verbose;

    if (request->latch && request->permits != 0)
        cli_error("status", "--latch and --permits exclude each other");
    else if (request->common.agent && asks_masters)
        cli_error("status", "--%s is not for the agent, which tells neither tokens nor what each master has: name the "
                  "masters (--nodes) instead", word);
    else
        return cli_need_masters_or_agent("status", &request->common, (const char *const[]){request->key, NULL});
    return false;
}

int status_main(int argc, char **argv)
{
    struct status_request request = {0};
    struct status_watch watch = {0};
    bool watches = false;
    const struct cli_option options[] = {
        {.name = "permits", .number = &request.permits, .least = 1, .most = STATUS_MAX_PERMITS},
        {.name = "latch", .flag = &request.latch},
        {.name = "watch", .flag = &watches},
        {.name = "verbose", .letter = 'v', .flag = &request.verbose},
        CLI_AGENT_OPTION(&request.common),
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "status", .help = status_help, .options = options,
                                        .operands = (const char *const[]){"KEY", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK;
    code = cli_common_parse(&command, argc, argv, &request.key, &request.common);
    request.watch = watches ? &watch : NULL;
    if (code < 0)
        code = fits(&request) ? run(&request) : cli_usage("status");
    free(watch.shown);
    cli_common_fini(&request.common);
    return code;
}
