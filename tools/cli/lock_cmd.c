/* redlock lock: takes a lock and leaves it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/finish.h"
#include "cli/hindrance.h"
#include "cli/hold.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"
#include "options/duration.h"

static const char lock_help[] =
    "Usage: redlock lock KEY [OPTION...]\n"
    "\n"
    "Takes the lock on KEY, prints its token, and leaves the lock held until\n"
    "'redlock unlock KEY TOKEN' releases it or its ttl ends. Nothing renews it.\n"
    "\n"
    "  -t, --ttl DUR        how long the lock lives unless it is released (30s)\n"
    "  -w, --wait DUR       how long to try (0: one attempt), or 'forever'\n"
    "  --min-validity DUR   least time the lock must have left when granted (1ms)\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  --shared             share the lock with others that say so, too; nobody else\n"
    "                       has it meanwhile\n"
    "  --fence              print a fencing token behind the token: TOKEN NUMBER\n"
    "  -f, --token-file FILE\n"
    "                       write the token there instead, for extend, unlock, check;\n"
    "                       '-' is standard output\n"
    "  -j, --json           one line of JSON instead of the token and the table\n"
    "  -v, --verbose        each master's vote on standard error, as on a terminal\n"
    "  -q, --quiet          no table of votes on a terminal either\n"
    "\n" CLI_COMMON_HELP
    "\n"
    "A fencing token is a number larger than that of every earlier fenced hold of the\n"
    "key: pass it with every write, to a resource that refuses smaller ones.\n"
    "\n"
    "The token is printed alone on standard output. It proves ownership: whoever has\n"
    "it can unlock. On a terminal, each master's vote is shown on standard error;\n"
    "elsewhere, as in cron, only errors are.\n"
    "\n"
    "Exit status: 0 the lock is held; 1 someone else has it; 2 wrong usage; 3 no\n"
    "quorum of masters can vote, or another failure. After 1 and 3 no master that can\n"
    "be reached keeps anything of the attempt. A master that is new, or was restarted\n"
    "without its keys, does not vote for max-ttl + 1 s: see 'redlock nodes'.\n"
    "\n"
    "Examples:\n"
    "  export REDLOCK_NODES=10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379\n"
    "  token=$(redlock lock jobs:nightly --ttl 45s --wait 10s) || exit\n"
    "  timeout 40 ./nightly.sh\n"
    "  redlock unlock jobs:nightly \"$token\"\n";

struct request {
    struct cli_common common;
    uint32_t ttl_ms;
    uint32_t min_validity_ms;
    int64_t wait_ms;
    bool verbose;
    bool quiet;
    bool fenced;
    bool shared;
    const char *token_file; /* NULL: the token is printed */
    struct file_out out;    /* ... to it */
    const char *key;
};

/* Below the least ttl no validity of a millisecond is left. */
enum { SETTLE_MS = 100, ROLLBACK_MS = 1000, LEAST_TTL_MS = 5 };

/* Only "held by another" is an answer; everything else is a failure to get one. */
static int exit_code_of(int status, int cause)
{
    int reason = status == REDLOCK_DEADLINE ? cause : status;

    if (reason == REDLOCK_OK)
        return status == REDLOCK_OK ? CLI_OK : CLI_INFRASTRUCTURE;
    if (reason == REDLOCK_HELD || reason == REDLOCK_CANCELED)
        return CLI_NOT_HELD;
    return reason <= REDLOCK_E_NOMEM && !redlock_status_retryable(reason) ? CLI_USAGE : CLI_INFRASTRUCTURE;
}

/* Only these end for a reason of their own, and leave open why the last attempt failed. */
static bool has_cause(const struct outcome *outcome)
{
    return outcome->cause != 0 && (outcome->status == REDLOCK_DEADLINE || outcome->status == REDLOCK_CANCELED);
}

static bool lacked_votes(const struct outcome *outcome)
{
    return outcome->short_of_masters;
}

static void explain(const struct request *request, const struct term *term, const struct outcome *outcome)
{
    char headline[HINDRANCE_SIZE];
    char took[16];
    char left[16];

    term_time(outcome->elapsed_us, took, sizeof(took));
    if (outcome->status == REDLOCK_OK) {
        if (request->quiet)
            return;
        term_print(term, TERM_GREEN, "acquired");
        term_key(term, request->key);
        fprintf(term->out, ": %u of %zu votes at the decision (%u needed), in %s; valid for %s\n", outcome->granted,
                outcome->n_nodes, outcome->quorum, took,
                term_time(outcome->remaining_ms * 1000, left, sizeof(left)));
        return;
    }
    if (lacked_votes(outcome))
        cli_error("lock", "'%s' not acquired: %s", request->key, hindrance_headline(outcome, headline));
    else
        cli_error("lock", "'%s' not acquired: %s%s%s", request->key, redlock_strerror(outcome->status),
                  has_cause(outcome) ? "; last attempt: " : "",
                  has_cause(outcome) ? redlock_strerror(outcome->cause) : "");
    if (!request->quiet)
        fprintf(term->out, "%u attempt%s in %s, rolled back\n", outcome->attempts,
                outcome->attempts == 1 ? "" : "s", took);
}

static void print_json(const struct request *request, const struct redlock_client *client,
                       const struct outcome *outcome, const char *token, uint64_t fence)
{
    struct cli_json json;

    cli_json_init(&json, stdout);
    cli_json_begin(&json, NULL, '{');
    cli_json_key(&json, request->key);
    cli_json_string(&json, "status", redlock_status_name(outcome->status));
    if (has_cause(outcome))
        cli_json_string(&json, "cause", redlock_status_name(outcome->cause));
    if (token != NULL)
        cli_json_string(&json, "token", token);
    if (fence != 0)
        cli_json_int(&json, "fence", (int64_t)fence);
    cli_json_int(&json, "ttl_ms", request->ttl_ms);
    cli_json_int(&json, "remaining_ms", token != NULL ? outcome->remaining_ms : 0);
    cli_json_int(&json, "attempts", outcome->attempts);
    cli_json_int(&json, "elapsed_us", outcome->elapsed_us);
    cli_json_int(&json, "quorum", outcome->quorum);
    cli_json_int(&json, "granted", outcome->granted);
    if (lacked_votes(outcome))
        hindrance_json(&json, client, outcome);
    votes_json(&json, client, outcome);
    cli_json_end(&json, '}');
    putchar('\n');
}

/* A token that reached nobody would leave a lock that nobody can give up: then the lock is given back instead. */
static int leave_held(const struct request *request, struct session *session, struct redlock_lock *lock)
{
    if (session->caught == 0 && fflush(stdout) == 0 && redlock_lock_detach(lock) == 0)
        return CLI_OK;
    if (session->caught == 0)
        cli_error("lock", "cannot write the token: '%s' is given back", request->key);
    session_release(session, lock);
    return CLI_INFRASTRUCTURE;
}

/* The same for a file: once it has been handed over, the handle does not know the lock any more. */
static int leave_to_file(struct request *request, struct session *session, struct redlock_lock *lock)
{
    unsigned granted = (unsigned)votes_count(&session->last, REDLOCK_VOTE_GRANTED);
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];

    snprintf(token, sizeof(token), "%s", redlock_lock_token(lock));
    if (session->caught == 0 &&
        hold_leave(&request->out, lock, request->ttl_ms, granted, session->last.n_nodes) == 0)
        return CLI_OK;
    if (session->caught == 0)
        cli_error("lock", "cannot write the token: '%s' is given back", request->key);
    if (session_release(session, lock) == REDLOCK_E_NOT_HELD)
        session_release_token(session, lock, token);
    return CLI_INFRASTRUCTURE;
}

static int report(struct request *request, struct session *session, struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    struct outcome *outcome = &session->last;
    const char *token = outcome->status == REDLOCK_OK ? redlock_lock_token(lock) : NULL;
    uint64_t fence = token != NULL ? redlock_lock_fence(lock) : 0;
    struct term term;

    term_init(&term, stderr);
    if (token != NULL)
        session_join_behind(session, client);
    if (token != NULL && (!request->quiet || request->token_file != NULL))
        session_settle(session, SETTLE_MS);
    if (!request->quiet)
        votes_print(&term, client, outcome);
    explain(request, &term, outcome);
    hindrance_explain(client, outcome);
    if (request->common.json)
        print_json(request, client, outcome, token, fence);
    else if (request->token_file != NULL)
        fflush(stdout);
    else if (fence != 0)
        printf("%s %" PRIu64 "\n", token, fence);
    else if (token != NULL)
        puts(token);
    if (token == NULL && hindrance_is_max_ttl(client, outcome))
        return CLI_USAGE; /* waiting does not help */
    if (token == NULL)
        return exit_code_of(outcome->status, outcome->cause);
    return request->token_file != NULL ? leave_to_file(request, session, lock) : leave_held(request, session, lock);
}

static int acquire(struct request *request, struct session *session, struct redlock_client *client)
{
    struct redlock_acquire_options options;
    struct redlock_lock *lock;
    int status = redlock_lock_create(client, request->key, strlen(request->key), &lock);

    if (status != 0)
        return refused_call("lock", status);
    redlock_acquire_options_init(&options);
    options.ttl_ms = request->ttl_ms;
    options.timeout_ms = request->wait_ms;
    options.min_validity_ms = request->min_validity_ms;
    options.fenced = request->fenced;
    options.mode = request->shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    options.own_token = 1;
    options.renew_ms = REDLOCK_NO_RENEWAL; /* it is detached at once */
    status = session_acquire_whole(session, lock, &options); /* nobody extends it any more */
    if (session->last.n_nodes == 0)
        return refused_call("lock", status);
    return report(request, session, lock);
}

static bool times_fit(const struct request *request)
{
    char ttl[DURATION_TEXT_SIZE];

    if (!cli_ttl_fits("lock", request->ttl_ms, &request->common))
        return false;
    if (request->min_validity_ms < request->ttl_ms)
        return true;
    duration_text(request->ttl_ms * INT64_C(1000), ttl);
    cli_error("lock", "--min-validity must be less than --ttl, %s", ttl);
    return false;
}

/* Each is a line of JSON, and together they would be none. */
static bool has_place(const struct request *request)
{
    if (request->token_file == NULL || strcmp(request->token_file, "-") != 0 || !request->common.json)
        return true;
    cli_error("lock", "--token-file - goes to standard output: --json has no place there");
    return false;
}

static int run(struct request *request)
{
    struct session session;
    struct redlock_client *client = NULL;
    int code = CLI_INFRASTRUCTURE;

    if (request->token_file != NULL && !file_out_open(&request->out, "lock", request->token_file, FILE_SECRET))
        return CLI_USAGE;

    if (session_open(&session, "lock") && session_catch_signals(&session, "lock"))
        client = session_client(&session, "lock", &request->common, &code);
    if (client != NULL)
        code = acquire(request, &session, client);
    return finish(&session, client, ROLLBACK_MS, code);
}

int lock_main(int argc, char **argv)
{
    struct request request = {.ttl_ms = 30000, .min_validity_ms = 1};
    const struct cli_option options[] = {
        {.name = "ttl", .letter = 't', .duration_ms = &request.ttl_ms, .least = LEAST_TTL_MS},
        {.name = "wait", .letter = 'w', .wait_ms = &request.wait_ms},
        {.name = "min-validity", .duration_ms = &request.min_validity_ms},
        {.name = "verbose", .letter = 'v', .flag = &request.verbose},
        {.name = "quiet", .letter = 'q', .flag = &request.quiet},
        {.name = "token-file", .letter = 'f', .file = &request.token_file},
        {.name = "shared", .flag = &request.shared},
        {.name = "fence", .flag = &request.fenced},
        {.name = "fenced", .alias = true},
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "lock", .help = lock_help, .options = options,
                                        .operands = (const char *const[]){"KEY", NULL}};
    int code;

    cli_common_init(&request.common);
    code = cli_parse(&command, argc, argv, &request.key);
    if (code < 0 && !cli_one_volume("lock", request.verbose, request.quiet))
        code = cli_usage("lock");
    request.quiet = !cli_shows_votes(request.verbose, request.quiet, request.common.json);
    if (code < 0 &&
        !(times_fit(&request) && has_place(&request) && cli_need_masters("lock", &request.common.masters)))
        code = cli_usage("lock");
    if (code < 0)
        code = run(&request);
    file_out_close(&request.out);
    cli_common_fini(&request.common);
    return code;
}
