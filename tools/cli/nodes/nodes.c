/* redlock nodes: which masters may vote, why others may not, and how to mend it. */
#include "cli/nodes/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "options/value.h"

static const char nodes_help[] =
    "Usage: redlock nodes [--new-deployment [--force]] [--max-ttl DUR] [--yes]\n"
    "                     [OPTION...]\n"
    "       redlock nodes [--replace OLD=NEW] [--add NODE] [--remove NODE]\n"
    "                     [--set-quorum N] [--dry-run] [--yes] [OPTION...]\n"
    "       redlock nodes --rename OLD=NEW|--abort [--dry-run] [--yes] [OPTION...]\n"
    "\n"
    "Examines every master as a client of the guarded profile does, but writes\n"
    "nothing: a write is tried in a form that changes nothing. It shows which masters\n"
    "vote, which must wait and which are excluded, what is wrong, and how to mend it.\n"
    "\n"
    "  votes        its votes count\n"
    "  no marker    no guarded client has met it, or it has lost its keys; the next\n"
    "               guarded client begins its quarantine\n"
    "  quarantined  its memory is new or its clock was set forward; it does not vote\n"
    "               until every lock that this may concern has ended\n"
    "  excluded     it does not vote until it is mended\n"
    "  left         the list has been changed: it is no master any more\n"
    "  refuses      it answers with an error to a client, or to a write or a command\n"
    "               that every lock needs: no lock can be taken there\n"
    "  slow         its handshake takes longer than clients wait\n"
    "  down         it does not answer\n"
    "\n"
    "  --new-deployment     declare the masters new: you promise that no client holds\n"
    "                       a lock that they may have forgotten. They vote at once.\n"
    "                       The command asks before it declares\n"
    "  --max-ttl DUR        declare the longest ttl of the deployment: clients with a\n"
    "                       larger --max-ttl get no votes. Without --new-deployment,\n"
    "                       change it while the deployment is in use; every master\n"
    "                       must answer. For a smaller value the clients come first,\n"
    "                       for a larger one the masters\n"
    "  --replace OLD=NEW    another list of masters, while locks are held and taken;\n"
    "  --add NODE           each may be given several times. OLD and NODE are named\n"
    "  --remove NODE        as in --nodes; a NEW that is a name alone is reached as\n"
    "                       OLD is. The plan comes first. The same command goes on\n"
    "                       with a change that was cut off, from any machine\n"
    "  --set-quorum N       masters that must agree from then on; without it as many\n"
    "                       as now, or a majority if their number changes\n"
    "  --rename OLD=NEW     another name of the same master: both names must show the\n"
    "                       same memory. It may be given several times\n"
    "  --abort              go back to the list before the change under way\n"
    "  --dry-run            the plan alone\n"
    "  -y, --yes            do not ask\n"
    "  --force              also where masters are in use by this or another\n"
    "                       deployment\n"
    "  --node-timeout DUR   how long a master may take (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    "\n"
    CLI_COMMON_HELP
    "\n"
    "Name the masters as the clients do: a deployment is identified by these names,\n"
    "--quorum and --prefix. A quarantine lasts max_ttl + 1 s by the master's clock,\n"
    "and clients add the drift allowance: about 62 s by default. redlock(7),\n"
    "OPERATING, says what to do when a master has died, and how to replace one while\n"
    "locks are held.\n"
    "\n"
    "Exit status: 0 a safe quorum votes now, or the masters are changed; 1 they are\n"
    "not, or nothing was declared; 2 wrong usage; 3 no quorum of masters answered.\n"
    "\n"
    "Examples:\n"
    "  redlock nodes --nodes 10.0.0.1,10.0.0.2,10.0.0.3\n"
    "  redlock nodes --new-deployment    # once, before the first lock\n"
    "  redlock nodes --replace 10.0.0.3=10.0.0.4\n";

static int show(const struct nodes_look *look)
{
    if (look->request->common.json)
        nodes_json(look, stdout);
    else
        nodes_show(look, stdout);
    return nodes_exit_code(look);
}

static int look_and_show(struct session *session, const struct nodes_request *request)
{
    struct nodes_look look;
    int code;

    if (nodes_look(session, request, REDLOCK_JOIN_LOOK, &look, &code))
        code = show(&look);
    nodes_look_end(&look);
    return code;
}

static int declare(struct session *session, const struct nodes_request *request)
{
    struct nodes_look look;
    int code;

    if (nodes_look(session, request, REDLOCK_JOIN_LOOK, &look, &code)) {
        if (!request->yes)
            nodes_show(&look, stderr);
        code = nodes_declare(session, request, &look);
        if (code == CLI_OK)
            code = show(&look);
    }
    nodes_look_end(&look);
    return code;
}

static int change_max_ttl(struct session *session, const struct nodes_request *request)
{
    struct nodes_look look;
    int code;

    if (nodes_look(session, request, REDLOCK_JOIN_LOOK, &look, &code))
        code = nodes_change_max_ttl(session, request, &look);
    nodes_look_end(&look);
    return code == CLI_OK && session->caught == 0 ? look_and_show(session, request) : code;
}

static bool changes_members(const struct nodes_request *request)
{
    return request->replace.n || request->add.n || request->remove.n || request->set_quorum || request->rename.n ||
           request->abort;
}

static int run(const struct nodes_request *request)
{
    struct session session = {.tells_members = true};
    int code = CLI_INFRASTRUCTURE;

    if (session_open(&session, "nodes") && session_catch_signals(&session, "nodes")) {
        if (changes_members(request))
            code = nodes_change_members(&session, request);
        else if (request->declare)
            code = declare(&session, request);
        else
            code = request->change_max_ttl ? change_max_ttl(&session, request) : look_and_show(&session, request);
    }
    return finish(&session, NULL, 0, code);
}

/* A script must not hang at a question, nor answer it by accident. */
static bool usable(struct nodes_request *request)
{
    if (request->force && !request->declare) {
        cli_error("nodes", "--force goes with --new-deployment only");
        return false;
    }
    if (request->yes && !request->declare && !request->change_max_ttl && !changes_members(request)) {
        cli_error("nodes", "--yes goes with --new-deployment, --max-ttl and a change of the masters only");
        return false;
    }
    if (changes_members(request) && (request->declare || request->change_max_ttl)) {
        cli_error("nodes", "a change of the masters goes without --new-deployment and --max-ttl: one after the other");
        return false;
    }
    if (request->abort &&
        (request->replace.n || request->add.n || request->remove.n || request->set_quorum || request->rename.n)) {
        cli_error("nodes", "--abort goes back to the list before: it takes no --replace, --add, --remove, "
                           "--set-quorum or --rename");
        return false;
    }
    if (request->rename.n && (request->replace.n || request->add.n || request->remove.n || request->set_quorum)) {
        cli_error("nodes", "--rename goes without --replace, --add, --remove and --set-quorum: one after the other");
        return false;
    }
    if (request->dry_run && !changes_members(request)) {
        cli_error("nodes", "--dry-run goes with --replace, --add, --remove, --set-quorum, --rename and --abort only");
        return false;
    }
    if (request->declare && !request->yes && isatty(STDIN_FILENO) != 1) {
        cli_error("nodes", "--new-deployment asks on a terminal, and standard input is none: add --yes if you "
                           "are sure");
        return false;
    }
    return cli_need_masters("nodes", &request->common.masters);
}

int nodes_main(int argc, char **argv)
{
    struct nodes_request request = {0};
    const struct cli_option options[] = {
        {.name = "new-deployment", .flag = &request.declare},
        {.name = "replace", .texts = &request.replace},
        {.name = "add", .texts = &request.add},
        {.name = "remove", .texts = &request.remove},
        {.name = "set-quorum", .number = &request.set_quorum, .least = 1},
        {.name = "rename", .texts = &request.rename},
        {.name = "abort", .flag = &request.abort},
        {.name = "dry-run", .flag = &request.dry_run},
        {.name = "yes", .letter = 'y', .flag = &request.yes},
        {.name = "force", .flag = &request.force},
        CLI_MASTER_OPTIONS(&request.common),
        CLI_JSON_OPTION(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "nodes", .help = nodes_help, .options = options,
                                        .operands = (const char *const[]){NULL}};
    int code;

    cli_common_init(&request.common);
    code = cli_common_parse(&command, argc, argv, NULL, &request.common);
    request.change_max_ttl = request.common.given.max_ttl_ms > 0 && !request.declare;
    if (code < 0)
        code = usable(&request) ? run(&request) : cli_usage("nodes");
    cli_common_fini(&request.common);
    return code;
}

/* --- redlock nodes --max-ttl -------------------------------------------------------------------------------------- */

/* redlock nodes --max-ttl: the deployment's max_ttl. It is declared in three steps, each at every master before the
 * next begins: the library's votes/max_ttl.h says why. What is cut off in between leaves the longer of both values
 * in the masters' memory, and can be repeated. */

uint32_t nodes_next_declaration(const struct nodes_look *look)
{
    int64_t latest = 0;

    for (size_t i = 0; i < look->sum.n; i++)
        if (look->infos[i].declaration > latest)
            latest = look->infos[i].declaration;
    return latest < UINT32_MAX ? (uint32_t)latest + 1 : UINT32_MAX;
}

static bool answers(const struct redlock_node_info *info)
{
    return info->link == REDLOCK_LINK_READY || info->link == REDLOCK_LINK_LATE;
}

/* What is wrong with it is mended first: it might come back with its memory, and know nothing. */
static const char *obstacle(const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];

    if (!answers(info))
        return info->last_error[0] != '\0' ? info->last_error : "no answer";
    if (nodes_refuses(look, node))
        return look->probes[node].refused ? look->probes[node].why : "it refuses what a lock needs";
    if (info->standing == REDLOCK_STANDING_EXCLUDED && info->fault != REDLOCK_FAULT_NO_MARKER &&
        info->fault != REDLOCK_FAULT_EVICTS)
        return info->fault_text;
    return NULL;
}

static int objection(const struct nodes_look *look)
{
    struct redlock_view view = {0};
    size_t marked = 0;
    char *command;

    redlock_client_view(look->client, &view, sizeof view);
    if (view.before.n) {
        cli_error("nodes", "max_ttl is not changed while the list of masters changes: end that first, by the same "
                           "command or by --abort");
        return CLI_NOT_HELD;
    }
    for (size_t i = 0; i < look->sum.n; i++) {
        const char *why = look->infos[i].member ? obstacle(look, i) : NULL;

        if (why) {
            cli_error("nodes", "max_ttl is not changed, since every master must learn of it: %s: %s",
                      look->infos[i].name, why);
            return CLI_INFRASTRUCTURE;
        }
        marked += look->infos[i].marker_max_ttl_ms > 0;
    }
    if (marked > 0)
        return CLI_OK;
    command = cli_again(&look->request->common, "redlock nodes --new-deployment");
    cli_error("nodes", "max_ttl is not changed: no client has met these masters yet. Declare them by: %s",
              command ? command : "redlock nodes --new-deployment");
    free(command);
    return CLI_NOT_HELD;
}

/* A master whose memory is new learns of the declaration when it is joined, or later from any client that knows. */
static bool has_forgotten(const struct redlock_node_info *info, uint32_t number)
{
    return info->fault == REDLOCK_FAULT_NO_MARKER ||
           (info->fault == REDLOCK_FAULT_NEW_MEMORY && info->declaration < number);
}

static bool has_taken(const struct redlock_node_info *info, enum redlock_join step, const struct cli_common *declared)
{
    if (!answers(info))
        return false;
    if (has_forgotten(info, declared->declaration))
        return true;
    if (info->declaration != declared->declaration)
        return false;
    if (step == REDLOCK_JOIN_ANNOUNCE)
        return true;
    if (step == REDLOCK_JOIN_CONFIRM)
        return info->declaration_confirmed == declared->declaration;
    return info->marker_max_ttl_ms == (int64_t)declared->max_ttl_ms;
}

static int step(struct session *session, const struct nodes_request *request, enum redlock_join join)
{
    struct nodes_look look;
    size_t intact = 0;
    int code;

    if (nodes_look(session, request, join, &look, &code))
        code = CLI_OK;
    for (size_t i = 0; code == CLI_OK && i < look.sum.n; i++) {
        if (!look.infos[i].member)
            continue;
        if (has_taken(&look.infos[i], join, &request->common)) {
            intact += !has_forgotten(&look.infos[i], request->common.declaration);
            continue;
        }
        cli_error("nodes", "the change of max_ttl was cut off at %s: %s. The larger value counts until the command is "
                           "repeated", look.infos[i].name,
                  answers(&look.infos[i]) ? "another declaration has come between, or its memory was lost"
                                          : "no answer");
        code = CLI_INFRASTRUCTURE;
    }
    if (code == CLI_OK && intact < look.sum.quorum) {
        cli_error("nodes", "max_ttl is not changed: the memory of %zu of %zu masters is new. Repeat the command when "
                           "clients have met them", look.members - intact, look.members);
        code = CLI_INFRASTRUCTURE;
    }
    nodes_look_end(&look);
    return code;
}

/* Nothing is left to do: every marker says so, and what is longer ends by itself. */
static bool is_declared(const struct nodes_look *look)
{
    int64_t latest = (int64_t)nodes_next_declaration(look) - 1;

    for (size_t i = 0; i < look->sum.n; i++) {
        const struct redlock_node_info *info = &look->infos[i];

        if (!info->member)
            continue;
        if (info->marker_max_ttl_ms != (int64_t)look->request->common.max_ttl_ms || info->declaration == 0 ||
            info->declaration != latest || info->declaration_confirmed != info->declaration ||
            (info->marker_longest_ms > info->marker_max_ttl_ms && info->marker_falls_ms == 0))
            return false;
    }
    return true;
}

/* Clients and masters cannot change at once: whoever is to have the smaller value comes first. */
static void explain_change(const struct nodes_look *look)
{
    char before[DURATION_TEXT_SIZE], after[DURATION_TEXT_SIZE];
    int64_t before_ms = nodes_max_ttl_ms(look);
    int64_t after_ms = look->request->common.max_ttl_ms;

    duration_text(before_ms * INT64_C(1000), before);
    duration_text(after_ms * INT64_C(1000), after);
    if (before_ms == after_ms)
        fprintf(stderr, "\nYou are about to declare anew that max_ttl is %s, on all %zu masters.\n", after,
                look->members);
    else
        fprintf(stderr, "\nYou are about to change max_ttl from %s to %s, on all %zu masters.\n", before, after,
                look->members);
    if (after_ms < before_ms)
        fprintf(stderr,
                "Clients with a larger --max-ttl get no votes from then on (theirs is 1m by\n"
                "default): they take no lock, and lose those that they hold with a ttl above %s.\n"
                "So the clients come first: has each of them been started anew with\n"
                "--max-ttl %s?\n", after, after);
    else
        fputs("The masters come first, and the clients with the larger value after them.\n", stderr);
}

static int confirmed(const struct nodes_look *look)
{
    if (look->request->yes)
        return CLI_OK;
    if (isatty(STDIN_FILENO) != 1) {
        cli_error("nodes", "--max-ttl asks on a terminal, and standard input is none: add --yes if you are sure");
        return CLI_USAGE;
    }
    explain_change(look);
    if (term_types("change"))
        return CLI_OK;
    fputs("Nothing is changed.\n", stderr);
    return CLI_NOT_HELD;
}

int nodes_change_max_ttl(struct session *session, const struct nodes_request *request, const struct nodes_look *look)
{
    static const enum redlock_join steps[] = {REDLOCK_JOIN_ANNOUNCE, REDLOCK_JOIN_CONFIRM, REDLOCK_JOIN_ALLOW};
    struct nodes_request numbered = *request;
    int code = objection(look);

    if (code != CLI_OK || is_declared(look))
        return code;
    code = confirmed(look);
    numbered.common.declaration = nodes_next_declaration(look);
    for (size_t i = 0; code == CLI_OK && i < sizeof steps / sizeof *steps; i++)
        code = step(session, &numbered, steps[i]);
    return code;
}

/* --- redlock nodes --new-deployment ------------------------------------------------------------------------------- */

/* redlock nodes --new-deployment: the operator's word that no lock can have been forgotten, so that masters need not
 * wait for the end of locks that never were. A wrong word gives two clients one lock: it is taken only where nothing
 * that can be seen speaks against it, and after a question. */

static size_t names_of(const struct nodes_look *look, enum redlock_fault fault, char *ret_names, size_t size)
{
    size_t count = 0;
    size_t length = 0;

    ret_names[0] = '\0';
    for (size_t i = 0; i < look->sum.n; i++) {
        if (look->infos[i].fault != fault)
            continue;
        if (length < size)
            length += (size_t)snprintf(ret_names + length, size - length, "%s%s", count > 0 ? ", " : "",
                                       look->infos[i].name);
        count++;
    }
    return count;
}

/* What speaks against it: an exit code after a message, or CLI_OK. */
static int objection_to_new(const struct nodes_look *look)
{
    const struct quorum_status *sum = &look->sum;
    char names[1024];

    if (sum->answering == 0) {
        cli_error("nodes", "no master answers: nothing is declared");
        return CLI_INFRASTRUCTURE;
    }
    if (nodes_by_turns(look)) {
        cli_error("nodes", "not declared: the name %s leads to two servers by turns, and clients may count both. Let "
                           "it lead to one of them", nodes_by_turns(look));
        return CLI_NOT_HELD;
    }
    if (look->request->force && sum->voting > 0)
        cli_error("nodes", "%zu of %zu masters vote already: they are declared once more, as --force says",
                  sum->voting, sum->n);
    if (look->request->force)
        return CLI_OK;
    if (names_of(look, REDLOCK_FAULT_RING, names, sizeof names) > 0) {
        cli_error("nodes", "not declared: %s: in use by a deployment with other masters or another quorum. "
                           "Stop its clients, wait for max_ttl, and add --force", names);
        return CLI_NOT_HELD;
    }
    if (sum->voting > 0) {
        cli_error("nodes", "not declared: %zu of %zu masters vote, so this deployment is not new%s",
                  sum->voting, sum->n,
                  sum->voting == sum->n ? "" : ". The others may have forgotten locks: wait for them, or stop all "
                                               "clients, wait for max_ttl, and add --force");
        return CLI_NOT_HELD;
    }
    return CLI_OK;
}

static bool new_confirmed(const struct nodes_look *look)
{
    char max_ttl[DURATION_TEXT_SIZE];

    fprintf(stderr,
            "\nYou are about to declare %zu master%s new: that no client holds a lock there which\n"
            "they may have forgotten. They will vote at once, and do not wait for the end of\n"
            "such locks (%s + 1 s). If this is not true, two clients may hold one lock.\n",
            look->sum.answering, look->sum.answering == 1 ? "" : "s",
            duration_text(look->request->common.max_ttl_ms * INT64_C(1000), max_ttl));
    if (term_types("new"))
        return true;
    fputs("Nothing is declared.\n", stderr);
    return false;
}

int nodes_declare(struct session *session, const struct nodes_request *request, struct nodes_look *look)
{
    struct nodes_request numbered = *request;
    int code = objection_to_new(look);

    if (code != CLI_OK)
        return code;
    if (!request->yes && !new_confirmed(look))
        return CLI_NOT_HELD;
    numbered.common.declaration = nodes_next_declaration(look);
    nodes_look_end(look);
    if (nodes_look(session, &numbered, REDLOCK_JOIN_DECLARE, look, &code))
        code = CLI_OK;
    look->request = request;
    return code;
}
