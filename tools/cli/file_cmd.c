/* redlock extend and redlock check: a lock that was left to a file lasts longer; whether it is still held. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/diagnosis.h"
#include "cli/hold.h"
#include "cli/hold_file.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"
#include "options/message.h"

static const char extend_help[] =
    "Usage: redlock extend FILE [OPTION...]\n"
    "\n"
    "Extends the lock that 'redlock lock --token-file FILE' has taken, or all of\n"
    "several: the ttl counts from now again, and FILE is replaced. A lock that has\n"
    "ended is not brought back, since somebody else may have had it meanwhile. With\n"
    "'-', FILE is read from standard input and written to standard output.\n"
    "\n"
    "  -t, --ttl DUR        the new ttl, not less than the present one (the same)\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON instead of the table\n"
    CLI_VOTES_HELP CLI_AGENT_HELP "\n" CLI_COMMON_HELP
    "\n"
    "FILE can be used on the machine that has taken the lock, until that is booted\n"
    "again, and in the same time namespace: the remaining time is counted by its\n"
    "clock.\n"
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
    const char *path;
    struct file_out out;
    struct hold hold;     /* what the file says */
    struct lock_spec spec; /* ... and what that was taken for */
    struct locks locks;
};

enum { FINISH_MS = 1000 };

static void print_json(const struct request *request, const struct locks *locks, const struct outcome *outcome)
{
    struct cli_json json = cli_json_open(stdout);

    hold_print_locks(&json, &request->hold, false);
    cli_json_string(&json, "status", redlock_status_name(outcome->status));
    cli_json_int(&json, "ttl_ms", request->hold.ttl_ms);
    cli_json_int(&json, "remaining_ms", outcome->remaining_ms);
    cli_json_int(&json, "quorum", locks_masters(locks).quorum);
    cli_json_int(&json, "granted", locks_nodes_ok(locks));
    cli_json_int(&json, "elapsed_us", outcome->elapsed_us);
    votes_json(&json, outcome);
    cli_json_close(&json);
}

static void explain(const struct request *request, const struct session *session, const struct term *term)
{
    const struct locks *locks = &request->locks;
    const struct outcome *outcome = &session->last;
    char headline[DIAGNOSIS_SIZE];
    char left[16];

    if (outcome->status != REDLOCK_OK) {
        cli_error("extend", "%s not extended: %s", request->spec.title, diagnosis_headline(outcome, headline));
        diagnosis_explain(stderr, session->client, outcome, &request->common);
    } else if (request->common.shows_votes) {
        term_print(term, TERM_GREEN, "extended");
        putc(' ', term->out);
        shown_put(term->out, request->spec.title);
        fprintf(term->out, ": %u of %zu votes (%u needed); valid for %s\n", locks_nodes_ok(locks),
                locks_masters(locks).n, locks_masters(locks).quorum,
                term_time(outcome->remaining_ms * 1000, left, sizeof left));
    }
}

/* The file says what is true from here on: the client would release what is not left to the file. */
static int leave(struct request *request, struct locks *locks, uint32_t ttl_ms, unsigned nodes_ok)
{
    struct hold hold;
    int status;

    hold_describe(&hold, locks, ttl_ms, nodes_ok);
    hold.keep_until = request->hold.keep_until;
    status = hold_leave(&request->out, locks, &hold);
    hold_fini(&hold);
    if (status == 0)
        return CLI_OK;
    if (status == REDLOCK_E_SYSTEM)
        return CLI_INFRASTRUCTURE;
    hold = request->hold;
    snprintf(hold.state, sizeof hold.state, "lost");
    hold.exported = NULL;
    hold_write(&request->out, &hold, HOLD_PATIENCE_MS);
    return CLI_NOT_HELD;
}

/* The masters have been asked for nothing. */
static void leave_as_it_was(struct request *request, struct locks *locks)
{
    leave(request, locks, request->hold.ttl_ms, (unsigned)strtoul(request->hold.nodes_ok, NULL, 10));
}

static int write_back(struct request *request, struct locks *locks, const struct outcome *outcome)
{
    bool changed = outcome->status == REDLOCK_OK && request->ttl_ms != 0;
    int code = leave(request, locks, changed ? request->ttl_ms : request->hold.ttl_ms, locks_nodes_ok(locks));

    return code != CLI_OK || outcome->status == REDLOCK_OK ? code : CLI_INFRASTRUCTURE;
}

static int extend(struct request *request, struct session *session, struct locks *locks)
{
    int status = locks_extend(locks, session, request->ttl_ms);
    struct outcome *outcome = &session->last;
    struct term term;

    if (status <= REDLOCK_E_NOMEM && outcome->n_nodes == 0 && status != REDLOCK_E_NOT_HELD) {
        leave_as_it_was(request, locks);
        return refused_operation(session, "extend", status);
    }
    if (locks_remaining_ns(locks) > 0) /* of a lock that is lost no more answers are told */
        locks_settle(locks, session, request->common.node_timeout_ms); /* a missing one shortens the next extension */
    term_init(&term, stderr);
    if (request->common.shows_votes)
        votes_print(&term, outcome);
    if (request->common.json)
        print_json(request, locks, outcome);
    explain(request, session, &term);
    return write_back(request, locks, outcome);
}

/* Takes over from the file. */
static int adopt(struct session *session, struct redlock_client *client, void *data)
{
    struct request *request = data;
    struct locks *locks = &request->locks;
    struct redlock_acquire_options options;
    int status = locks_create(locks, session, &request->spec);

    if (status != 0)
        return refused_call("extend", status);
    redlock_acquire_options_init(&options);
    options.renew_ms = REDLOCK_NO_RENEWAL;
    session_join(session, client);
    status = locks_adopt(locks, &options, request->hold.exported);
    if (status == 0 && session->caught != 0) {
        leave_as_it_was(request, locks);
        return CLI_INFRASTRUCTURE;
    }
    if (status == REDLOCK_E_NOT_HELD) {
        cli_error("extend", "%s not extended: %s time is over", request->spec.title,
                  lock_spec_has_several(&request->spec) ? "their" : "its");
        return CLI_NOT_HELD;
    }
    return status == 0 ? extend(request, session, locks) : refused_operation(session, "extend", status);
}

static bool file_fits(const struct request *request)
{
    const struct hold *hold = &request->hold;

    if (!hold->exported && strcmp(hold->state, "held") == 0)
        cli_error("extend", "'%s' is not for others to extend: 'redlock run' does", request->path);
    else if (request->ttl_ms != 0 && request->ttl_ms < hold->ttl_ms)
        cli_error("extend", "--ttl is below that of the lock (%u ms): a lock is not made shorter", hold->ttl_ms);
    else
        return cli_ttl_fits("extend", request->ttl_ms != 0 ? request->ttl_ms : hold->ttl_ms, &request->common);
    return false;
}

static int run_by_hold(struct request *request)
{
    const char *foreign = hold_foreign_clock(&request->hold);
    struct session session = {.observer = locks_on_event, .observer_data = &request->locks};
    int code = CLI_INFRASTRUCTURE;

    if (!hold_spec(&request->hold, &request->spec)) {
        cli_error("extend", "out of memory");
    } else if (strcmp(request->hold.state, "held") != 0) {
        cli_error("extend", "%s not extended: '%s' says that it was lost", request->spec.title, request->path);
        code = CLI_NOT_HELD;
    } else if (foreign) {
        cli_error("extend", "%s not extended: '%s' cannot be used: %s", request->spec.title, request->path, foreign);
        code = CLI_USAGE;
    } else {
        code = session_command(&session, "extend", &request->common, FINISH_MS, adopt, request);
    }
    lock_spec_fini(&request->spec);
    return code;
}

/* Nothing is asked of a master unless the file can be read, and written anew. */
static int run_by_file(struct request *request)
{
    int reserved = hold_reserve("extend", request->path);
    int code = CLI_USAGE;

    if (reserved >= 0 && hold_read("extend", request->path, reserved, &request->hold) && file_fits(request) &&
        file_out_open(&request->out, "extend", request->path, FILE_RENEWED))
        code = run_by_hold(request);
    hold_fini(&request->hold);
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
        return cli_need_masters_or_agent("extend", &request->common, (const char *const[]){NULL});
    return false;
}

int extend_main(int argc, char **argv)
{
    struct request request = {0};
    const struct cli_option options[] = {
        {.name = "ttl", .letter = 't', .duration_ms = &request.ttl_ms, .least = 1},
        CLI_VOTES_OPTIONS(&request.common),
        CLI_AGENT_OPTION(&request.common),
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "extend", .help = extend_help, .options = options,
                                        .operands = (const char *const[]){"FILE", NULL}};
    int code;

    cli_common_init(&request.common);
    code = cli_common_parse(&command, argc, argv, &request.path, &request.common);
    if (code < 0)
        code = has_place(&request) ? run_by_file(&request) : cli_usage("extend");
    cli_common_fini(&request.common);
    return code;
}

/* --- redlock check ------------------------------------------------------------------------------------------------ */

/* redlock check: whether a lock is still held, by the clock and the file alone. */

static const char check_help[] =
    "Usage: redlock check [FILE] [OPTION...]\n"
    "\n"
    "Prints for how many milliseconds what FILE describes is still held for certain:\n"
    "the lock, or all of several. FILE is that of 'redlock lock --token-file' or of\n"
    "'redlock run --lock-file'; '-' is standard input. Without FILE,\n"
    "REDLOCK_LOCK_FILE names it, which 'redlock run' sets for its command.\n"
    "\n"
    "  --at-least DUR       count the lock as lost if less than this is left (1ms)\n"
    "  -j, --json           print one line of JSON\n"
    "  -q, --quiet          print nothing\n"
    "\n"
    "No master is asked: FILE says until when the lock is held, by the clock of this\n"
    "machine, and of this time namespace. FILE of another clock counts as lost. Check\n"
    "before each step that needs the lock, with --at-least for the time that the\n"
    "step takes.\n"
    "\n"
    "Exit status: 0 held; 1 not held, or not for so long; 2 wrong usage, or FILE\n"
    "cannot be read or is no such file.\n"
    "\n"
    "Example, in a script that 'redlock run --lock-file' has started:\n"
    "  redlock check --quiet --at-least 5s || exit\n";

struct check_request {
    const char *path;
    uint32_t at_least_ms;
    bool json;
    bool quiet;
};

/* NULL: it is held. */
static const char *why_not_held(const struct hold *hold, int64_t left_ms)
{
    const char *foreign = hold_foreign_clock(hold);

    if (left_ms > 0)
        return NULL;
    if (strcmp(hold->state, "held") != 0)
        return "it says that the lock was lost";
    return foreign ? foreign : "the time of the lock is over";
}

static void print_check_json(const struct hold *hold, int64_t left_ms, const char *why)
{
    struct cli_json json = cli_json_open(stdout);

    hold_print_locks(&json, hold, false);
    cli_json_string(&json, "state", left_ms > 0 ? "held" : "lost");
    cli_json_int(&json, "remaining_ms", left_ms);
    if (why)
        cli_json_string(&json, "why", why);
    cli_json_close(&json);
}

static void tell(const struct check_request *request, const struct hold *hold, int64_t left_ms)
{
    const char *why = why_not_held(hold, left_ms);

    if (request->quiet)
        return;
    if (request->json)
        print_check_json(hold, left_ms, why);
    else
        printf("%" PRId64 "\n", left_ms);
    if (why)
        cli_error("check", "'%s': not held: %s", request->path, why);
}

static int check(const struct check_request *request)
{
    int fd = hold_open("check", request->path);
    struct hold hold;
    bool understood;
    int64_t left_ms = 0;

    if (fd < 0)
        return CLI_USAGE;
    understood = hold_read("check", request->path, fd, &hold);
    close(fd);
    if (understood) {
        left_ms = hold_remaining_ms(&hold);
        tell(request, &hold, left_ms);
    }
    hold_fini(&hold);
    if (!understood)
        return CLI_USAGE;
    return left_ms > 0 && left_ms >= request->at_least_ms ? CLI_OK : CLI_NOT_HELD;
}

int check_main(int argc, char **argv)
{
    struct check_request request = {.at_least_ms = 1};
    const struct cli_option options[] = {
        {.name = "at-least", .duration_ms = &request.at_least_ms},
        {.name = "json", .letter = 'j', .flag = &request.json},
        {.name = "quiet", .letter = 'q', .flag = &request.quiet},
        {0},
    };
    const struct cli_command command = {.name = "check", .help = check_help, .options = options,
                                        .operands = (const char *const[]){"[FILE]", NULL}};
    int code = cli_parse(&command, argc, argv, &request.path);

    if (code < 0 && request.json && request.quiet) {
        cli_error("check", "--json and --quiet exclude each other");
        code = cli_usage("check");
    }
    if (code >= 0)
        return code;
    if (!request.path)
        request.path = getenv("REDLOCK_LOCK_FILE");
    if (request.path)
        return check(&request);
    cli_error("check", "FILE is missing, and there is no REDLOCK_LOCK_FILE");
    return cli_usage("check");
}
