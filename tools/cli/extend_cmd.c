/* redlock extend: makes a lock that was left to a token file last longer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char extend_help[] =
    "Usage: redlock extend FILE [OPTION...]\n"
    "\n"
    "Extends the lock that 'redlock lock --token-file FILE' has taken: its ttl counts\n"
    "from now again, and FILE is replaced. A lock that has ended is not brought back,\n"
    "since somebody else may have had it meanwhile. With '-', FILE is read from\n"
    "standard input and written to standard output.\n"
    "\n"
    "  -t, --ttl DUR        the new ttl, not less than the present one (the same)\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON instead of the table\n"
    "  -v, --verbose        each master's answer on standard error, as on a terminal\n"
    "  -q, --quiet          no table of answers on a terminal either\n"
    "\n" CLI_COMMON_HELP
    "\n"
    "FILE can be used on the machine that has taken the lock, until that is booted\n"
    "again: the remaining time is counted by its clock.\n"
    "\n"
    "Exit status: 0 extended; 1 the lock is lost; 2 wrong usage, or FILE cannot be\n"
    "used; 3 no quorum has confirmed: the lock is held until the end it had before.\n"
    "\n"
    "Example:\n"
    "  redlock lock jobs:nightly --ttl 30s --token-file lock.json || exit\n"
    "  for part in 1 2 3; do\n"
    "      redlock extend lock.json && ./work $part || break\n"
    "  done\n"
    "  redlock unlock --token-file lock.json\n";

struct request {
    struct cli_common common;
    uint32_t ttl_ms; /* 0: as before */
    bool verbose;
    bool quiet;
    const char *path;
    struct file_out out;
};

enum { FINISH_MS = 1000 };

static void print_json(const struct hold *hold, const struct redlock_client *client, const struct outcome *outcome)
{
    struct cli_json json;

    cli_json_init(&json, stdout);
    cli_json_begin(&json, NULL, '{');
    cli_json_key(&json, hold->key);
    cli_json_string(&json, "status", redlock_status_name(outcome->status));
    cli_json_int(&json, "ttl_ms", hold->ttl_ms);
    cli_json_int(&json, "remaining_ms", outcome->remaining_ms);
    cli_json_int(&json, "quorum", outcome->quorum);
    cli_json_int(&json, "granted", outcome->granted);
    cli_json_int(&json, "elapsed_us", outcome->elapsed_us);
    votes_json(&json, client, outcome);
    cli_json_end(&json, '}');
    putchar('\n');
}

static void explain(const struct request *request, const struct redlock_client *client, const struct term *term,
                    const struct hold *hold, const struct outcome *outcome)
{
    char headline[HINDRANCE_SIZE];
    char left[16];

    if (outcome->status != REDLOCK_OK) {
        cli_error("extend", "'%s' not extended: %s", hold->key, hindrance_headline(outcome, headline));
        hindrance_explain(client, outcome);
    } else if (!request->quiet) {
        term_print(term, TERM_GREEN, "extended");
        term_key(term, hold->key);
        fprintf(term->out, ": %u of %zu votes (%u needed); valid for %s\n", outcome->granted, outcome->n_nodes,
                outcome->quorum, term_time(outcome->remaining_ms * 1000, left, sizeof(left)));
    }
}

/* The file says what is true from here on: the client would release a lock that is not left to the file. */
static int leave(struct request *request, struct hold *hold, struct redlock_lock *lock, uint32_t ttl_ms,
                 unsigned nodes_ok)
{
    int status = hold_leave(&request->out, lock, ttl_ms, nodes_ok, request->common.masters.count);

    if (status == 0)
        return CLI_OK;
    if (status == REDLOCK_E_SYSTEM)
        return CLI_INFRASTRUCTURE;
    snprintf(hold->state, sizeof(hold->state), "lost");
    hold->handover[0] = '\0';
    hold_write(&request->out, hold, HOLD_PATIENCE_MS);
    return CLI_NOT_HELD;
}

/* The masters have been asked for nothing. */
static void leave_as_it_was(struct request *request, struct hold *hold, struct redlock_lock *lock)
{
    leave(request, hold, lock, hold->ttl_ms, (unsigned)strtoul(hold->nodes_ok, NULL, 10));
}

static int write_back(struct request *request, struct hold *hold, struct redlock_lock *lock,
                      const struct outcome *outcome)
{
    uint32_t ttl_ms = outcome->status == REDLOCK_OK && request->ttl_ms != 0 ? request->ttl_ms : hold->ttl_ms;
    int code = leave(request, hold, lock, ttl_ms, (unsigned)votes_count(outcome, REDLOCK_VOTE_GRANTED));

    return code != CLI_OK || outcome->status == REDLOCK_OK ? code : CLI_INFRASTRUCTURE;
}

static int extend(struct request *request, struct session *session, struct hold *hold,
                  struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    struct term term;
    int status;

    status = session_extend(session, lock, request->ttl_ms);
    if (session->last.n_nodes == 0 && status != REDLOCK_E_NOT_HELD) {
        leave_as_it_was(request, hold, lock);
        return refused_call("extend", status);
    }
    session_settle(session, request->common.node_timeout_ms); /* what has no answer shortens the next extension */
    term_init(&term, stderr);
    if (!request->quiet)
        votes_print(&term, client, &session->last);
    if (request->common.json)
        print_json(hold, client, &session->last);
    explain(request, client, &term, hold, &session->last);
    return write_back(request, hold, lock, &session->last);
}

/* Takes the lock over from the file. */
static int adopt(struct request *request, struct session *session, struct redlock_client *client,
                 struct hold *hold)
{
    struct redlock_acquire_options options;
    struct redlock_lock *lock;
    int status = redlock_lock_create(client, hold->key, strlen(hold->key), &lock);

    if (status != 0)
        return refused_call("extend", status);
    redlock_acquire_options_init(&options);
    options.renew_ms = REDLOCK_NO_RENEWAL;
    session_join(session, client);
    status = redlock_lock_adopt(lock, &options, hold->handover);
    if (status == 0 && session->caught != 0) {
        leave_as_it_was(request, hold, lock);
        return CLI_INFRASTRUCTURE;
    }
    if (status == REDLOCK_E_NOT_HELD) {
        cli_error("extend", "'%s' not extended: its time is over", hold->key);
        return CLI_NOT_HELD;
    }
    return status == 0 ? extend(request, session, hold, lock) : refused_call("extend", status);
}

static bool file_fits(const struct request *request, const struct hold *hold)
{
    if (hold->handover[0] == '\0' && strcmp(hold->state, "held") == 0)
        cli_error("extend", "'%s' is not for others to extend: 'redlock run' does", request->path);
    else if (request->ttl_ms != 0 && request->ttl_ms < hold->ttl_ms)
        cli_error("extend", "--ttl is below that of the lock (%u ms): a lock is not made shorter", hold->ttl_ms);
    else
        return cli_ttl_fits("extend", request->ttl_ms != 0 ? request->ttl_ms : hold->ttl_ms, &request->common);
    return false;
}

static int run(struct request *request, struct hold *hold)
{
    struct session session;
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;

    if (strcmp(hold->state, "held") != 0) {
        cli_error("extend", "'%s' not extended: '%s' says that it was lost", hold->key, request->path);
        return CLI_NOT_HELD;
    }
    if (session_open(&session, "extend") && session_catch_signals(&session, "extend"))
        client = session_client(&session, "extend", &request->common, &code);
    if (client != NULL)
        code = adopt(request, &session, client, hold);
    return finish(&session, client, FINISH_MS, code);
}

/* Nothing is asked of a master unless the file can be read, and written anew. */
static int run_by_file(struct request *request)
{
    struct hold hold;
    int reserved = hold_reserve("extend", request->path);
    int code = CLI_USAGE;

    if (reserved >= 0 && hold_read("extend", request->path, reserved, &hold) && file_fits(request, &hold) &&
        file_out_open(&request->out, "extend", request->path, FILE_RENEWED))
        code = run(request, &hold);
    file_out_close(&request->out);
    if (reserved >= 0)
        close(reserved);
    return code;
}

/* Each is a line of JSON, and together they would be none. */
static bool has_place(struct request *request)
{
    if (strcmp(request->path, "-") == 0 && request->common.json)
        cli_error("extend", "with '-' the lock goes to standard output: --json has no place there");
    else
        return cli_need_masters("extend", &request->common.masters);
    return false;
}

int extend_main(int argc, char **argv)
{
    struct request request = {0};
    const struct cli_option options[] = {
        {.name = "ttl", .letter = 't', .duration_ms = &request.ttl_ms, .least = 1},
        {.name = "verbose", .letter = 'v', .flag = &request.verbose},
        {.name = "quiet", .letter = 'q', .flag = &request.quiet},
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "extend", .help = extend_help, .options = options,
                                        .operands = (const char *const[]){"FILE", NULL}};
    int code;

    cli_common_init(&request.common);
    code = cli_parse(&command, argc, argv, &request.path);
    if (code < 0 && !cli_one_volume("extend", request.verbose, request.quiet))
        code = cli_usage("extend");
    request.quiet = !cli_shows_votes(request.verbose, request.quiet, request.common.json);
    if (code < 0)
        code = has_place(&request) ? run_by_file(&request) : cli_usage("extend");
    cli_common_fini(&request.common);
    return code;
}
