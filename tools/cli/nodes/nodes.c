/* redlock nodes: which masters may vote, why others may not, and how to mend it. */
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/nodes/nodes.h"

static const char nodes_help[] =
    "Usage: redlock nodes [--new-deployment [--force]] [--max-ttl DUR] [--yes]\n"
    "                     [OPTION...]\n"
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
    "  refuses      it answers with an error to a client, or to a write or a command\n"
    "               that every lock needs: no lock can be taken there\n"
    "  slow         it answers, but a handshake takes longer than clients wait\n"
    "  down         it does not answer\n"
    "\n"
    "  --new-deployment     declare the masters new: you promise that no client holds\n"
    "                       a lock that they may have forgotten. They vote at once.\n"
    "                       The command asks before it declares\n"
    "  --max-ttl DUR        declare the longest ttl of the deployment: clients with a\n"
    "                       larger --max-ttl get no votes. Without --new-deployment,\n"
    "                       change it while the deployment is in use; every master\n"
    "                       must answer, and the command asks before. For a smaller\n"
    "                       value the clients come first, for a larger one the\n"
    "                       masters. After a smaller value, quarantines stay long\n"
    "                       until the longest lock that may be alive has ended\n"
    "  -y, --yes            do not ask\n"
    "  --force              also where masters are in use by this or another\n"
    "                       deployment\n"
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    "\n";

static const char more_help[] =
    CLI_COMMON_HELP
    "\n"
    "Name the masters as the clients do: a deployment is identified by these names,\n"
    "--quorum and --prefix. A quarantine lasts max_ttl + 1 s by the master's clock,\n"
    "and clients add the drift allowance: about 62 s by default. Clocks are compared\n"
    "with that of this machine.\n"
    "\n"
    "Exit status: 0 a safe quorum votes now; 1 it does not, or nothing was declared;\n"
    "2 wrong usage; 3 no quorum of masters answered.\n"
    "\n"
    "Examples:\n"
    "  redlock nodes --nodes 10.0.0.1,10.0.0.2,10.0.0.3\n"
    "  redlock nodes --new-deployment    # once, before the first lock\n"
    "  redlock nodes --max-ttl 24h       # let clients take locks of a day\n";

/* A single literal would be longer than C11 promises to take. */
static void write_help(FILE *out)
{
    fputs(nodes_help, out);
    fputs(more_help, out);
}

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

static int run(const struct nodes_request *request)
{
    struct session session;
    int code = CLI_INFRASTRUCTURE;

    if (session_open(&session, "nodes") && session_catch_signals(&session, "nodes")) {
        if (request->declare)
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
    if (request->yes && !request->declare && !request->change_max_ttl) {
        cli_error("nodes", "--yes goes with --new-deployment and --max-ttl only");
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
        {.name = "yes", .letter = 'y', .flag = &request.yes},
        {.name = "force", .flag = &request.force},
        CLI_MASTER_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "nodes", .write_help = write_help, .options = options,
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
