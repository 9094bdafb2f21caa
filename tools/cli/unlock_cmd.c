/* redlock unlock: gives up a lock that `redlock lock` has left. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/diagnosis.h"
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
    "that someone else has taken meanwhile is never touched. A token file of several\n"
    "locks stands for all of them.\n"
    "\n"
    "Other users of the machine can see command lines, and whoever has the token can\n"
    "release the lock: use '-' or a file where that matters.\n"
    "\n"
    "  -f, --token-file FILE\n"
    "                       take key and token from the file of 'redlock lock', and\n"
    "                       remove it after the release; '-': standard input\n"
    "  --slot N             of the semaphore KEY, the permit with this number, which\n"
    "                       'redlock lock --permits' has printed behind the token\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON instead of the table\n"
    CLI_VOTES_HELP CLI_AGENT_HELP "\n" CLI_COMMON_HELP
    "\n"
    "Exit status: 0 released; 1 no master had the key with this token, since it was\n"
    "released before or its ttl has ended; 2 wrong usage, or FILE cannot be used; 3\n"
    "no quorum of masters has confirmed: the key may stay held until its ttl ends.\n"
    "Of several locks the largest counts.\n"
    "\n"
    "Example:\n"
    "  echo \"$token\" | redlock unlock jobs:nightly -\n";

/* Distinguishable from every permit's number. */
#define NO_SLOT UINT32_MAX

struct request {
    struct cli_common common;
    const char *token_file;  /* NULL: none */
    const char *operands[3]; /* KEY, TOKEN, NULL */
    uint32_t slot;           /* of the permit; NO_SLOT: KEY is that of a lock */
    struct hold hold;        /* what the file says, or the operands */
};

enum { FINISH_MS = 1000 };

/* How the release of one lock has ended. */
static int code_of(const struct outcome *outcome)
{
    if (outcome->status != REDLOCK_OK)
        return CLI_INFRASTRUCTURE;
    return votes_count(outcome, REDLOCK_VOTE_GRANTED) == 0 ? CLI_NOT_HELD : CLI_OK;
}

static void explain(const struct request *request, const struct redlock_client *client, const struct term *term,
                    const char *key, const struct outcome *outcome)
{
    char headline[DIAGNOSIS_SIZE];

    switch (code_of(outcome)) {
    case CLI_OK:
        if (!request->common.shows_votes)
            return;
        term_print(term, TERM_GREEN, "released");
        term_key(term, key);
        fprintf(term->out, ": deleted on %zu of %zu masters\n", votes_count(outcome, REDLOCK_VOTE_GRANTED),
                outcome->n_nodes);
        break;
    case CLI_NOT_HELD:
        cli_error("unlock", "'%s' was not held with this token", key);
        break;
    default:
        cli_error("unlock", "'%s': %s; it may stay held until its ttl ends", key,
                  diagnosis_headline(outcome, headline));
        diagnosis_explain(stderr, client, outcome, &request->common);
    }
}

static void add_json(struct cli_json *json, const struct hold_lock *lock, const struct outcome *outcome)
{
    int status = code_of(outcome) == CLI_NOT_HELD ? REDLOCK_E_NOT_HELD : outcome->status;
    char key[HOLD_NAME_SIZE];

    hold_name(lock, key);
    cli_json_key(json, key);
    cli_json_string(json, "status", redlock_status_name(status));
    cli_json_int(json, "deleted", (int64_t)votes_count(outcome, REDLOCK_VOTE_GRANTED));
    cli_json_int(json, "quorum", outcome->quorum);
    cli_json_int(json, "elapsed_us", outcome->elapsed_us);
    votes_json(json, outcome);
}

/* The first n locks of the hold have been asked about. */
static void print_json(const struct hold *hold, const struct outcome *outcomes, size_t n)
{
    struct cli_json json = cli_json_open(stdout);

    if (hold->n == 1) {
        add_json(&json, &hold->locks[0], &outcomes[0]);
    } else {
        cli_json_begin(&json, "locks", '[');
        for (size_t i = 0; i < n; i++) {
            cli_json_begin(&json, NULL, '{');
            add_json(&json, &hold->locks[i], &outcomes[i]);
            cli_json_end(&json, '}');
        }
        cli_json_end(&json, ']');
    }
    cli_json_close(&json);
}

static int report(const struct request *request, const struct redlock_client *client, const struct hold_lock *lock,
                  const struct outcome *outcome)
{
    char key[HOLD_NAME_SIZE];
    struct term term;

    hold_name(lock, key);
    term_init(&term, stderr);
    if (request->common.shows_votes)
        votes_print(&term, outcome);
    explain(request, client, &term, key, outcome);
    return code_of(outcome);
}

/* One after the other; the worst decides. */
static int release(struct session *session, struct redlock_client *client, void *data)
{
    const struct request *request = data;
    const struct hold *hold = &request->hold;
    static struct outcome outcomes[CLI_MOST_TEXTS];
    int worst = CLI_OK;
    size_t n = 0;

    session_join(session, client); /* a release waits for its answers, and no longer for connections */
    for (; n < hold->n && session->caught == 0; n++) {
        int status = hold_release(session, &hold->locks[n]);
        int code;

        if (session->last.n_nodes == 0) {
            worst = refused_operation(session, "unlock", status);
            break;
        }
        outcomes[n] = session->last;
        code = report(request, client, &hold->locks[n], &outcomes[n]);
        worst = code > worst ? code : worst;
    }
    if (request->common.json && n > 0)
        print_json(hold, outcomes, n);
    return worst;
}

static int run(struct request *request)
{
    struct session session = {0};

    return session_command(&session, "unlock", &request->common, FINISH_MS, release, request);
}

static int run_by_operands(struct request *request)
{
    struct hold_lock *lock = &request->hold.locks[0];
    int code;

    if (strlen(request->operands[0]) >= sizeof lock->key)
        return refused_call("unlock", REDLOCK_E_KEY_TOO_LONG);
    if (strlen(request->operands[1]) >= sizeof lock->token)
        return refused_call("unlock", REDLOCK_E_TOKEN);
    request->hold.n = 1;
    strcpy(lock->key, request->operands[0]);
    strcpy(lock->token, request->operands[1]);
    if (request->slot != NO_SLOT) {
        lock->slot = request->slot;
        lock->permits = request->slot + 1; /* as many as there are at least */
    }
    code = run(request);
    hold_fini(&request->hold);
    return code;
}

/* The masters give it up when its ttl ends, which --hold-at-least has seen to. */
static int leave_to_masters(const struct request *request, int64_t keep_ms)
{
    char left[24];

    if (request->common.json) {
        struct cli_json json = cli_json_open(stdout);

        hold_print_locks(&json, &request->hold, false);
        cli_json_string(&json, "status", redlock_status_name(REDLOCK_OK));
        cli_json_int(&json, "kept_ms", keep_ms);
        cli_json_close(&json);
    } else if (request->common.shows_votes) {
        fprintf(stderr, "kept for another %s, as --hold-at-least has asked for\n",
                term_time(keep_ms * 1000, left, sizeof left));
    }
    return CLI_OK;
}

/* Keys and tokens of the file, which nobody may extend meanwhile. */
static int run_by_file(struct request *request)
{
    int reserved = hold_reserve("unlock", request->token_file);
    int code = CLI_USAGE;

    if (reserved >= 0 && hold_read("unlock", request->token_file, reserved, &request->hold)) {
        int64_t keep_ms = hold_keep_ms(&request->hold);

        code = keep_ms > 0 ? leave_to_masters(request, keep_ms) : run(request);
        if (code == CLI_OK || code == CLI_NOT_HELD)
            hold_remove(request->token_file, reserved);
    }
    hold_fini(&request->hold);
    if (reserved >= 0)
        close(reserved);
    return code;
}

/* The first word of standard input. */
static bool read_token(struct request *request)
{
    static char word[256]; /* longer than any token */
    bool found = scanf("%255s", word) == 1;

    request->operands[1] = word;
    if (!found)
        cli_error("unlock", "there is no token on standard input");
    return found;
}

/* Either both operands or the file. */
static bool names_a_lock(struct request *request)
{
    if (request->token_file && request->operands[0])
        cli_error("unlock", "--token-file stands for KEY and TOKEN");
    else if (request->token_file && request->slot != NO_SLOT)
        cli_error("unlock", "--slot goes with KEY and TOKEN: a token file knows its permits");
    else if (!request->token_file && !request->operands[1])
        cli_error("unlock", "%s is missing", !request->operands[0] ? "KEY" : "TOKEN");
    else
        return !request->operands[1] || strcmp(request->operands[1], "-") != 0 || read_token(request);
    return false;
}

int unlock_main(int argc, char **argv)
{
    struct request request = {.slot = NO_SLOT};
    const struct cli_option options[] = {
        CLI_VOTES_OPTIONS(&request.common),
        {.name = "token-file", .letter = 'f', .file = &request.token_file},
        {.name = "slot", .number = &request.slot, .most = REDLOCK_MAX_PERMITS - 1},
        CLI_AGENT_OPTION(&request.common),
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "unlock", .help = unlock_help, .options = options,
                                        .operands = (const char *const[]){"[KEY]", "[TOKEN]", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK; /* to give up needs no vote, so no marker either */
    code = cli_common_parse(&command, argc, argv, request.operands, &request.common);
    if (code < 0 && !(names_a_lock(&request) &&
                      cli_need_masters_or_agent("unlock", &request.common, request.operands)))
        code = cli_usage("unlock");
    if (code < 0)
        code = request.token_file ? run_by_file(&request) : run_by_operands(&request);
    cli_common_fini(&request.common);
    return code;
}
