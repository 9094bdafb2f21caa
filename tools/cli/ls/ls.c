/* redlock ls: which keys are held or awaited. */
#include "cli/ls/ls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/nodes/advice_list.h"
#include "cli/session.h"

static const char ls_help[] =
    "Usage: redlock ls [PATTERN] [OPTION...]\n"
    "\n"
    "Shows which keys are held or awaited: locks, semaphores, elections, latches.\n"
    "Walks over the masters step by step (SCAN), and looks at what it has found.\n"
    "PATTERN is for keys without their prefix, as Redis has it: * ? [abc] [^a-z] \\*\n"
    "\n"
    "  key      of a semaphore its name, once for all permits\n"
    "  kind     lock; shared N: by so many; upgrading; permits N/M+: so many of at\n"
    "           least M; election: somebody listens to its leaders; latch N/M: N of M\n"
    "           parties have arrived; foreign: it is no lock of this library\n"
    "  holder   by its label, or the beginning of its token; +N: and so many others;\n"
    "           in brackets: it has some masters, but no majority\n"
    "  since    how long ago the holder asked for it, as its label says\n"
    "  left     until it ends unless it is renewed\n"
    "  queue    how many wait, and the longest of them for how long\n"
    "  on       how many of the masters have the key; !: no majority agrees; ?: too few\n"
    "           have answered\n"
    "\n"
    "  --sort ORDER         wait: what is awaited longest first (default); hold: what\n"
    "                       is held longest first; name\n"
    "  --limit N            show the first N keys (all)\n"
    LS_HELP
    "  -v, --verbose        whole tokens in JSON; whoever has a token can unlock with\n"
    "                       it\n"
    "  --node-timeout DUR   how long to wait for a connection and for an answer\n"
    "                       (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    "  --profile NAME       classic: ask the masters that are given, even if the list\n"
    "                       of masters has been changed\n"
    "\n"
    CLI_COMMON_HELP
    "\n"
    "The command only reads. Its user needs the right to SCAN, which users of locks\n"
    "do not. A key that changes hands during the walk may be missing.\n"
    "\n"
    "Exit status: 0 there are such keys; 1 there are none; 2 wrong usage; 3 too few\n"
    "masters have answered to know.\n"
    "\n"
    "Example:\n"
    "  redlock ls 'jobs:*' --sort hold --nodes 10.0.0.1,10.0.0.2,10.0.0.3\n";

const char *const ls_sort_words[] = {"wait", "hold", "name", NULL};

/* --- What is missing ---------------------------------------------------------------------------------------------- */

static void tell_of_master(const struct ls *ls, size_t i)
{
    const char *name = session_node_name(ls->client, ls->probes[i].node);
    const struct cli_common *common = &ls->request->common;
    char command[ADVICE_COMMAND_SIZE];

    if (ls->masters[i].forbidden) {
        advice_grant_at(common, common->masters.urls[i], "+scan", command);
        cli_error("ls", "%s: its user has no right to SCAN, so keys that it alone has are missing; an administrator "
                        "grants it:", name);
        fprintf(stderr, "  %s\n", command);
    } else if (ls->probes[i].why[0] != '\0') {
        cli_error("ls", "%s: %s", name, ls->probes[i].why);
    }
}

static void tell(const struct ls *ls)
{
    for (size_t i = 0; i < ls->n; i++)
        tell_of_master(ls, i);
    if (ls->full)
        cli_error("ls", "there are more than %d names: give a PATTERN, or the --prefix of the locks", LS_MOST_SUBJECTS);
    if (ls->unusual > 0)
        cli_error("ls", "names with a byte 0 were left out: %zu", ls->unusual);
    if (ls->unreadable > 0)
        cli_error("ls", "keys that this user may not read: %zu", ls->unreadable);
    if (ls->no_memory)
        cli_error("ls", "out of memory");
}

/* --- The command -------------------------------------------------------------------------------------------------- */

void ls_free(struct ls *ls)
{
    for (size_t i = 0; i < ls->subjects.n; i++)
        free(ls->subjects.items[i].key);
    for (size_t i = 0; i < ls->n_rows; i++) {
        free(ls->rows[i].key);
        free(ls->rows[i].holders);
    }
    free(ls->subjects.items);
    free(ls->subjects.table);
    free(ls->rows);
}

static int list(const struct ls_request *request, const struct redlock_client *client)
{
    static struct ls ls; /* too large for a stack */
    int code;

    ls.request = request;
    ls.client = client;
    ls.n = request->common.masters.count;
    ls.quorum = cli_quorum(&request->common);
    ls.pace.rate = request->rate;
    ls_walk(&ls);
    ls_look(&ls);
    ls_sort(&ls);
    tell(&ls);
    if (request->common.json)
        ls_print_json(&ls);
    else
        ls_print(&ls);
    code = !ls_is_whole(&ls) ? CLI_INFRASTRUCTURE : ls.n_rows > 0 ? CLI_OK : CLI_NOT_HELD;
    ls_free(&ls);
    return code;
}

/* As of `redlock status`, the client judges URLs, and finds and names the masters. */
static int run(struct ls_request *request)
{
    struct session session = {.tells_members = true};
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;

    if (session_open(&session, "ls"))
        client = session_client(&session, "ls", &request->common, &code);
    if (client && session_follow(&session, client, &request->common, request->places))
        code = list(request, client);
    redlock_client_destroy(client);
    return finish(&session, NULL, 0, code);
}

bool ls_request_fits(const char *command, struct ls_request *request)
{
    if (request->pattern && *request->pattern == '\0') {
        cli_error(command, "PATTERN is empty: leave it out for all keys");
        return false;
    }
    return (!request->pattern || ls_pattern_fits(command, request->pattern)) &&
           cli_need_masters(command, &request->common.masters);
}

int ls_main(int argc, char **argv)
{
    struct ls_request request = {.rate = LS_RATE};
    const struct cli_option options[] = {
        LS_OPTIONS(&request),
        {.name = "verbose", .letter = 'v', .flag = &request.verbose},
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "ls", .help = ls_help, .options = options,
                                        .operands = (const char *const[]){"[PATTERN]", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK;
    code = cli_common_parse(&command, argc, argv, &request.pattern, &request.common);
    if (code < 0)
        code = ls_request_fits("ls", &request) ? run(&request) : cli_usage("ls");
    cli_common_fini(&request.common);
    return code;
}
