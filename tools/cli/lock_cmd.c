/* redlock lock: takes a lock and leaves it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/diagnosis.h"
#include "cli/hold.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"
#include "options/message.h"
#include "options/value.h"

static const char lock_help[] =
    "Usage: redlock lock KEY [OPTION...]\n"
    "       redlock lock --key KEY [--key KEY...] [OPTION...]\n"
    "\n"
    "Takes the lock on KEY, prints its token, and leaves the lock held until\n"
    "'redlock unlock KEY TOKEN' releases it or its ttl ends. Nothing renews it.\n"
    "\n"
    "  -k, --key KEY        the lock; if given several times, all of them together or\n"
    "                       none, and a line with a token for each, in this order\n"
    "  -t, --ttl DUR        how long the lock lives unless it is released (30s)\n"
    "  -w, --wait DUR       how long to try (0: one attempt), or 'forever'\n"
    "  --hold-at-least DUR  keep it for so long, also after 'unlock --token-file'\n"
    "  --min-validity DUR   least time the lock must have left when granted (1ms)\n"
    CLI_LABEL_HELP CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  --permits N/K        take N of the K permits of KEY instead, all or none, and\n"
    "                       print a line for each: TOKEN PERMIT, a number from 0 to\n"
    "                       K - 1\n"
    "  --shared             share the lock with others that say so, too; nobody else\n"
    "                       has it meanwhile\n"
    "  --fence              print a fencing token at the end of the line as well\n"
    "  -f, --token-file FILE\n"
    "                       write the token there instead, for extend, unlock, check;\n"
    "                       '-' is standard output\n"
    "  -j, --json           one line of JSON instead of the token and the table\n"
    CLI_VOTES_HELP CLI_AGENT_HELP "\n" CLI_COMMON_HELP
    "\n"
    "A fencing token is a number larger than that of every earlier fenced hold of the\n"
    "key, or not smaller, with --shared: pass it with every write, to a resource that\n"
    "refuses smaller ones.\n"
    "\n"
    "The token is printed alone on standard output. It proves ownership: whoever has\n"
    "it can unlock. On a terminal, each master's vote is shown on standard error;\n"
    "elsewhere, as in cron, only errors are.\n"
    "\n"
    "Exit status: 0 held; 1 someone else has it, or one of several; 2 wrong usage; 3\n"
    "no quorum of masters can vote, or another failure; 4 the key is another\n"
    "program's. After 1, 3 and 4 no master that can be reached keeps anything of the\n"
    "attempt. A master that is new, or was restarted without its keys, does not vote\n"
    "for max-ttl + 1 s: see 'redlock nodes'.\n"
    "\n"
    "Examples:\n"
    "  export REDLOCK_NODES=10.0.0.1:6379,10.0.0.2:6379,10.0.0.3:6379\n"
    "  token=$(redlock lock jobs:nightly --ttl 45s --wait 10s) || exit\n"
    "  timeout 40 ./nightly.sh\n"
    "  redlock unlock jobs:nightly \"$token\"\n"
    "\n"
    "  redlock lock -k account:4 -k account:7 --token-file both.json || exit\n"
    "  timeout 25 ./transfer.sh\n"
    "  redlock unlock --token-file both.json\n";

struct request {
    struct cli_common common;
    struct lock_spec spec;
    struct locks locks;
    uint32_t ttl_ms;
    uint32_t min_validity_ms;
    int64_t wait_ms;
    bool fenced;
    const char *token_file; /* NULL: the tokens are printed */
    struct file_out out;    /* ... to it */
    const char *operand;
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

/* Where waiting might have helped. */
static const char *reason(const struct request *request, const struct outcome *outcome)
{
    int status = has_cause(outcome) ? outcome->cause : outcome->status;

    if (status != REDLOCK_HELD || request->spec.permits == 0)
        return redlock_strerror(status);
    return request->spec.n_permits > 1 ? "too many permits are held by others" : "all permits are held by others";
}

/* Below the message, unless that has said it. */
static void explain_holder(const struct busy *busy)
{
    char text[BUSY_TEXT_SIZE];

    if (busy->hopeless || *busy_text(busy, text) == '\0')
        return;
    fputs("redlock:   ", stderr);
    shown_put(stderr, text);
    putc('\n', stderr);
}

static void explain_failure(const struct request *request, const struct locks *locks, const struct outcome *outcome,
                            const struct busy *busy)
{
    char foreign[BUSY_TEXT_SIZE];
    const char *decisive = locks_decisive_key(locks, outcome);
    char headline[DIAGNOSIS_SIZE];
    const char *why = lacked_votes(outcome) ? diagnosis_headline(outcome, headline) : reason(request, outcome);
    bool timed_out = !lacked_votes(outcome) && has_cause(outcome) && !busy->hopeless;

    why = busy->hopeless ? busy_text(busy, foreign) : why;
    cli_error("lock", "%s not acquired: %s%s%s%s%s%s", request->spec.title,
              timed_out ? redlock_strerror(outcome->status) : "", timed_out ? "; last attempt: " : "",
              decisive ? "'" : "", decisive ? decisive : "", decisive ? "': " : "", why);
}

static void explain(const struct request *request, const struct locks *locks, const struct term *term,
                    const struct outcome *outcome, const struct busy *busy)
{
    char took[16];
    char left[16];

    term_time(outcome->elapsed_us, took, sizeof took);
    if (outcome->status != REDLOCK_OK) {
        explain_failure(request, locks, outcome, busy);
        if (request->common.shows_votes && locks->n == 1)
            fprintf(term->out, "%u attempt%s in %s, rolled back\n", outcome->attempts,
                    outcome->attempts == 1 ? "" : "s", took);
        return;
    }
    if (!request->common.shows_votes)
        return;
    term_print(term, TERM_GREEN, "acquired");
    putc(' ', term->out);
    shown_put(term->out, request->spec.title);
    term_time(outcome->remaining_ms * 1000, left, sizeof left);
    if (locks->n == 1)
        fprintf(term->out, ": %u of %zu masters had agreed when it was granted (%u needed), in %s; valid for %s\n",
                outcome->granted, locks_masters(locks).n, outcome->quorum, took, left);
    else
        fprintf(term->out, ": %u of %zu masters have agreed to each key (%u needed), in %s; valid for %s\n",
                locks_nodes_ok(locks), locks_masters(locks).n, locks_masters(locks).quorum, took, left);
}

/* What has been got: nothing of a lock that is not held. */
static void add_tokens(struct cli_json *json, const struct locks *locks, size_t i, bool held)
{
    struct locks_part part = locks_part(locks, i);

    if (held)
        cli_json_string(json, "token", part.token);
    if (held && part.slot >= 0)
        cli_json_int(json, "slot", part.slot);
    if (held && part.fence != 0)
        cli_json_int(json, "fence", (int64_t)part.fence);
}

static void add_locks(struct cli_json *json, const struct locks *locks, bool held)
{
    cli_json_begin(json, "locks", '[');
    for (size_t i = 0; i < locks->n; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_key(json, locks_key(locks, i));
        add_tokens(json, locks, i, held);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

/* Votes of a set's masters are known of the key that decided. */
static void print_json(const struct request *request, const struct locks *locks, const struct session *session)
{
    const struct outcome *outcome = &session->last;
    const char *decisive = locks_decisive_key(locks, outcome);
    bool held = outcome->status == REDLOCK_OK;
    struct cli_json json = cli_json_open(stdout);

    if (locks->n == 1 || decisive)
        cli_json_key(&json, locks->n == 1 ? locks_key(locks, 0) : decisive);
    cli_json_string(&json, "status", redlock_status_name(outcome->status));
    if (has_cause(outcome))
        cli_json_string(&json, "cause", redlock_status_name(outcome->cause));
    if (locks->n == 1)
        add_tokens(&json, locks, 0, held);
    else
        add_locks(&json, locks, held);
    cli_json_int(&json, "ttl_ms", request->ttl_ms);
    cli_json_int(&json, "remaining_ms", held ? outcome->remaining_ms : 0);
    if (locks->n == 1)
        cli_json_int(&json, "attempts", outcome->attempts);
    cli_json_int(&json, "elapsed_us", outcome->elapsed_us);
    cli_json_int(&json, "quorum", locks_masters(locks).quorum);
    cli_json_int(&json, "granted", locks->n == 1 ? outcome->granted : held ? locks_nodes_ok(locks) : 0);
    if (lacked_votes(outcome))
        diagnosis_json(&json, session->client, outcome);
    busy_json(&json, &session->busy);
    votes_json(&json, outcome);
    cli_json_close(&json);
}

/* A line for each lock: TOKEN, of a permit its number, and the fencing token. */
static void print_tokens(const struct locks *locks)
{
    for (size_t i = 0; i < locks->n; i++) {
        struct locks_part part = locks_part(locks, i);

        fputs(part.token, stdout);
        if (part.slot >= 0)
            printf(" %d", (int)part.slot);
        if (part.fence != 0)
            printf(" %" PRIu64, part.fence);
        putchar('\n');
    }
}

/* A token that reached nobody would leave a lock that nobody can give up: then the lock is given back instead. */
static int leave_held(const struct request *request, struct session *session, struct locks *locks)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    int error = errno;

    if (session->caught == 0 && written && locks_detach(locks) == 0)
        return CLI_OK;
    if (session->caught == 0)
        cli_error("lock", "cannot write the token%s%s: %s %s given back", written ? "" : ": ",
                  written ? "" : strerror(error), request->spec.title, request->spec.verb);
    locks_release(locks, session);
    return CLI_INFRASTRUCTURE;
}

/* The same for a file: once they have been handed over, the handle does not know the locks any more. */
static int leave_to_file(struct request *request, struct session *session, struct locks *locks)
{
    struct rl_clock_identity clock;
    struct hold hold;
    int code = CLI_INFRASTRUCTURE;

    if (!rl_clock_identify(&clock))
        cli_error("lock", "/proc does not tell which clock the end of the lock would be of: %s", strerror(errno));
    hold_describe(&hold, locks, request->ttl_ms, locks_nodes_ok(locks));
    if (request->spec.hold_ms != 0)
        hold.keep_until = instant_after(instant_now(), request->spec.hold_ms * INT64_C(1000000));
    if (session->caught == 0 && hold_leave(&request->out, locks, &hold) == 0)
        code = CLI_OK;
    else if (session->caught == 0)
        cli_error("lock", "cannot write the token: %s %s given back", request->spec.title, request->spec.verb);
    if (code != CLI_OK && locks_release(locks, session) == REDLOCK_E_NOT_HELD)
        for (size_t i = 0; i < hold.n; i++)
            hold_release(session, &hold.locks[i]);
    hold_fini(&hold);
    return code;
}

static int report(struct request *request, struct session *session, struct locks *locks)
{
    struct redlock_client *client = session->client;
    struct outcome *outcome = &session->last;
    bool held = outcome->status == REDLOCK_OK;
    struct term term;

    term_init(&term, stderr);
    if (held)
        session_join_behind(session, client);
    if (held && (request->common.shows_votes || request->token_file))
        locks_settle(locks, session, SETTLE_MS);
    if (request->common.shows_votes)
        votes_print(&term, outcome);
    explain(request, locks, &term, outcome, &session->busy);
    if (!held)
        explain_holder(&session->busy);
    if (!session->busy.hopeless)
        diagnosis_explain(stderr, client, outcome, &request->common);
    if (request->common.json)
        print_json(request, locks, session);
    else if (request->token_file)
        fflush(stdout);
    else if (held)
        print_tokens(locks);
    if (!held && diagnosis_is_max_ttl(client, outcome))
        return CLI_USAGE; /* waiting does not help */
    if (session->busy.hopeless)
        return CLI_FOREIGN;
    if (!held)
        return exit_code_of(outcome->status, outcome->cause);
    return request->token_file ? leave_to_file(request, session, locks) : leave_held(request, session, locks);
}

static int acquire(struct session *session, struct redlock_client *client, void *data)
{
    struct request *request = data;
    struct locks *locks = &request->locks;
    struct redlock_acquire_options options;
    int status = locks_create(locks, session, &request->spec);

    if (status != 0)
        return refused_call("lock", status);
    redlock_acquire_options_init(&options);
    options.ttl_ms = request->ttl_ms;
    options.timeout_ms = request->wait_ms;
    options.min_validity_ms = request->min_validity_ms;
    options.fenced = request->fenced;
    options.mode = request->spec.shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    options.own_token = 1;
    if (!lock_spec_has_several(&request->spec))
        options.renew_ms = REDLOCK_NO_RENEWAL; /* it is detached at once */
    status = locks_acquire(locks, session, &options);
    if (status <= REDLOCK_E_NOMEM && session->last.n_nodes == 0)
        return refused_operation(session, "lock", status);
    return report(request, session, locks);
}

static void on_waiting(const struct busy *busy, void *data)
{
    const struct request *request = data;
    char text[BUSY_TEXT_SIZE];

    busy_waiting_text(busy, text);
    cli_error("lock", "%s %s awaited%s%s", request->spec.title, request->spec.verb, *text != '\0' ? ": " : "",
              text);
}

static bool times_fit(struct request *request)
{
    char ttl[DURATION_TEXT_SIZE];

    if (!cli_ttl_fits("lock", request->ttl_ms, &request->common) ||
        !cli_hold_fits("lock", request->spec.hold_ms, &request->ttl_ms, &request->common))
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
    if (request->spec.hold_ms != 0 && !request->token_file) {
        cli_error("lock", "--hold-at-least needs --token-file, from which 'redlock unlock' learns of it");
        return false;
    }
    if (!request->token_file || strcmp(request->token_file, "-") != 0 || !request->common.json)
        return true;
    cli_error("lock", "--token-file - goes to standard output: --json has no place there");
    return false;
}

static int run(struct request *request)
{
    struct session session = {.observer = locks_on_event,
                              .observer_data = &request->locks,
                              .least_ms = cli_hold_least_ms(request->spec.hold_ms),
                              .waiting = request->common.quiet ? NULL : on_waiting,
                              .waiting_data = request};

    if (request->token_file && !file_out_open(&request->out, "lock", request->token_file, FILE_SECRET))
        return CLI_USAGE;
    return session_command(&session, "lock", &request->common, ROLLBACK_MS, acquire, request);
}

int lock_main(int argc, char **argv)
{
    struct request request = {.ttl_ms = 30000, .min_validity_ms = 1};
    const struct cli_option options[] = {
        LOCK_SPEC_OPTIONS(&request.spec),
        {.name = "ttl", .letter = 't', .duration_ms = &request.ttl_ms, .least = LEAST_TTL_MS},
        {.name = "wait", .letter = 'w', .wait_ms = &request.wait_ms},
        {.name = "min-validity", .duration_ms = &request.min_validity_ms},
        CLI_VOTES_OPTIONS(&request.common),
        {.name = "token-file", .letter = 'f', .file = &request.token_file},
        {.name = "fence", .flag = &request.fenced},
        {.name = "fenced", .alias = true},
        CLI_LABEL_OPTION(&request.common),
        CLI_AGENT_OPTION(&request.common),
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "lock", .help = lock_help, .options = options,
                                        .operands = (const char *const[]){"[KEY]", NULL}};
    int code;

    cli_common_init(&request.common);
    code = cli_common_parse(&command, argc, argv, &request.operand, &request.common);
    if (code < 0 &&
        !(lock_spec_take_key("lock", &request.spec, request.operand) && lock_spec_complete("lock", &request.spec) &&
          times_fit(&request) && has_place(&request) && cli_label_fits("lock", &request.common) &&
          cli_need_masters_or_agent("lock", &request.common, request.spec.keys.items)))
        code = cli_usage("lock");
    if (code < 0)
        code = run(&request);
    file_out_close(&request.out);
    lock_spec_fini(&request.spec);
    cli_common_fini(&request.common);
    return code;
}
