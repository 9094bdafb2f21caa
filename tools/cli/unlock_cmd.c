/* redlock unlock: gives up a lock that `redlock lock` has left. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/finish.h"
#include "cli/hindrance.h"
#include "cli/hold.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"

static const char unlock_help[] =
    "Usage: redlock unlock KEY - [OPTION...]    # the token comes from standard input\n"
    "       redlock unlock KEY TOKEN [OPTION...]\n"
    "       redlock unlock --token-file FILE [OPTION...]\n"
    "\n"
    "Releases the lock on KEY that was taken with TOKEN (as printed by 'redlock\n"
    "lock'). Every master deletes the key only if it still has this token, so a lock\n"
    "that someone else has taken meanwhile is never touched.\n"
    "\n"
    "Other users of the machine can see command lines, and whoever has the token can\n"
    "release the lock: use '-' or a file where that matters.\n"
    "\n"
    "  -f, --token-file FILE\n"
    "                       take key and token from the file of 'redlock lock', and\n"
    "                       remove it after the release; '-': standard input\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON instead of the table\n"
    "  -v, --verbose        each master's answer on standard error, as on a terminal\n"
    "  -q, --quiet          no table of answers on a terminal either\n"
    "\n" CLI_COMMON_HELP
    "\n"
    "Exit status: 0 released; 1 no master had the key with this token, since it was\n"
    "released before or its ttl has ended; 2 wrong usage, or FILE cannot be used; 3\n"
    "no quorum of masters has confirmed: the key may stay held until its ttl ends.\n"
    "\n"
    "Example:\n"
    "  echo \"$token\" | redlock unlock jobs:nightly -\n";

struct request {
    struct cli_common common;
    bool verbose;
    bool quiet;
    const char *token_file;  /* NULL: none */
    struct hold hold;        /* ... and what it says */
    const char *operands[2]; /* KEY, TOKEN */
};

enum { FINISH_MS = 1000 };

static int explain(const struct request *request, const struct redlock_client *client, const struct term *term,
                   const struct outcome *outcome)
{
    char headline[HINDRANCE_SIZE];
    size_t deleted = votes_count(outcome, REDLOCK_VOTE_GRANTED);

    if (outcome->status != REDLOCK_OK) {
        cli_error("unlock", "'%s': %s; it may stay held until its ttl ends", request->operands[0],
                  hindrance_headline(outcome, headline));
        hindrance_explain(client, outcome);
        return CLI_INFRASTRUCTURE;
    }
    if (deleted == 0) {
        cli_error("unlock", "'%s' was not held with this token", request->operands[0]);
        return CLI_NOT_HELD;
    }
    if (!request->quiet) {
        term_print(term, TERM_GREEN, "released");
        term_key(term, request->operands[0]);
        fprintf(term->out, ": deleted on %zu of %zu masters\n", deleted, outcome->n_nodes);
    }
    return CLI_OK;
}

static void print_json(const struct request *request, const struct redlock_client *client,
                       const struct outcome *outcome)
{
    size_t deleted = votes_count(outcome, REDLOCK_VOTE_GRANTED);
    bool nobody = outcome->status == REDLOCK_OK && deleted == 0;
    struct cli_json json;

    cli_json_init(&json, stdout);
    cli_json_begin(&json, NULL, '{');
    cli_json_key(&json, request->operands[0]);
    cli_json_string(&json, "status", redlock_status_name(nobody ? REDLOCK_E_NOT_HELD : outcome->status));
    cli_json_int(&json, "deleted", (int64_t)deleted);
    cli_json_int(&json, "quorum", outcome->quorum);
    cli_json_int(&json, "elapsed_us", outcome->elapsed_us);
    votes_json(&json, client, outcome);
    cli_json_end(&json, '}');
    putchar('\n');
}

static int release(const struct request *request, struct session *session, struct redlock_client *client)
{
    struct redlock_lock *lock;
    struct term term;
    int status = redlock_lock_create(client, request->operands[0], strlen(request->operands[0]), &lock);

    if (status != 0)
        return refused_call("unlock", status);
    session_join(session, client); /* a release waits for its answers, and no longer for connections */
    status = session_release_token(session, lock, request->operands[1]);
    if (session->last.n_nodes == 0)
        return refused_call("unlock", status);
    term_init(&term, stderr);
    if (!request->quiet)
        votes_print(&term, client, &session->last);
    if (request->common.json)
        print_json(request, client, &session->last);
    return explain(request, client, &term, &session->last);
}

static int run(const struct request *request)
{
    struct session session;
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;

    if (session_open(&session, "unlock") && session_catch_signals(&session, "unlock"))
        client = session_client(&session, "unlock", &request->common, &code);
    if (client != NULL)
        code = release(request, &session, client);
    return finish(&session, client, FINISH_MS, code);
}

/* Key and token of the file, which nobody may extend meanwhile. */
static int run_by_file(struct request *request)
{
    int reserved = hold_reserve("unlock", request->token_file);
    int code = CLI_USAGE;

    if (reserved >= 0 && hold_read("unlock", request->token_file, reserved, &request->hold)) {
        request->operands[0] = request->hold.key;
        request->operands[1] = request->hold.token;
        code = run(request);
        if (code == CLI_OK || code == CLI_NOT_HELD)
            hold_remove(request->token_file, reserved);
    }
    if (reserved >= 0)
        close(reserved);
    return code;
}

/* The first word of standard input. */
static bool read_token(struct request *request)
{
    static char line[REDLOCK_MAX_TOKEN_BYTES + 64];

    if (fgets(line, sizeof(line), stdin) == NULL)
        line[0] = '\0';
    line[strcspn(line, " \t\r\n")] = '\0';
    request->operands[1] = line;
    if (line[0] == '\0')
        cli_error("unlock", "there is no token on standard input");
    return line[0] != '\0';
}

/* Either both operands or the file. */
static bool names_a_lock(struct request *request)
{
    if (request->token_file != NULL && request->operands[0] != NULL)
        cli_error("unlock", "--token-file stands for KEY and TOKEN");
    else if (request->token_file == NULL && request->operands[1] == NULL)
        cli_error("unlock", "%s is missing", request->operands[0] == NULL ? "KEY" : "TOKEN");
    else
        return request->operands[1] == NULL || strcmp(request->operands[1], "-") != 0 || read_token(request);
    return false;
}

int unlock_main(int argc, char **argv)
{
    struct request request = {0};
    const struct cli_option options[] = {
        {.name = "verbose", .letter = 'v', .flag = &request.verbose},
        {.name = "quiet", .letter = 'q', .flag = &request.quiet},
        {.name = "token-file", .letter = 'f', .file = &request.token_file},
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "unlock", .help = unlock_help, .options = options,
                                        .operands = (const char *const[]){"[KEY]", "[TOKEN]", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK; /* to give up needs no vote, so no marker either */
    code = cli_parse(&command, argc, argv, request.operands);
    if (code < 0 && !cli_one_volume("unlock", request.verbose, request.quiet))
        code = cli_usage("unlock");
    request.quiet = !cli_shows_votes(request.verbose, request.quiet, request.common.json);
    if (code < 0 && !(names_a_lock(&request) && cli_need_masters("unlock", &request.common.masters)))
        code = cli_usage("unlock");
    if (code < 0)
        code = request.token_file != NULL ? run_by_file(&request) : run(&request);
    cli_common_fini(&request.common);
    return code;
}
