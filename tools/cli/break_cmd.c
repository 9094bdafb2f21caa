/* redlock break: takes a lock away from whoever has it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/diagnosis.h"
#include "cli/json.h"
#include "cli/probe.h"
#include "cli/session.h"
#include "cli/status.h"
#include "cli/term.h"
#include "cli/verdict.h"

static const char break_help[] =
    "Usage: redlock break KEY --yes [OPTION...]\n"
    "\n"
    "Takes the lock on KEY away from its holder. Each master deletes the key if it\n"
    "still has the value that it showed a moment before, so a lock that is taken\n"
    "meanwhile is not touched. If the list of masters has been changed, those of the\n"
    "new list do.\n"
    "\n"
    "THE HOLDER IS NOT ASKED. It learns of the loss at its next renewal, as a rule a\n"
    "third of its ttl later at most, or, if it never renews ('redlock lock'), when it\n"
    "extends the lock; until then two clients may believe that they have it. Stop the\n"
    "holder first. A lock without a holder ends by itself after its ttl, so this\n"
    "command is for locks with a long one.\n"
    "\n"
    "  -y, --yes            required, since this can break what the lock protects\n"
    CLI_PROFILE_HELP
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    "\n" CLI_COMMON_HELP
    "\n"
    "Exit status: 0 broken; 1 nobody had it; 2 wrong usage; 3 no quorum of masters\n"
    "has confirmed; 4 the key is another program's, and is left as it is.\n"
    "\n"
    "Example:\n"
    "  redlock status jobs:nightly --verbose; redlock break jobs:nightly --yes\n";

struct request {
    struct cli_common common;
    bool yes;
    const char *key;
    struct probe_place places[REDLOCK_MAX_MASTERS]; /* of the masters that are asked */
};

struct tally {
    size_t values;  /* different ones that were found */
    size_t deleted; /* masters that have deleted any */
    bool has_deleted[REDLOCK_MAX_MASTERS];
    int status;     /* of the worst release */
    struct outcome worst;
};

enum { FINISH_MS = 1000 };

/* A master that deletes several votes counts once, and one that has left the list does not. */
static void count_deleted(const struct outcome *outcome, const struct probe *probes, size_t n, struct tally *tally)
{
    for (size_t i = 0; i < n; i++) {
        bool deletes = outcome->votes[probes[i].node].vote == REDLOCK_VOTE_GRANTED && !tally->has_deleted[i];

        tally->deleted += deletes;
        tally->has_deleted[i] |= deletes;
    }
}

static bool is_first_of_its_value(const struct probe *probes, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (probes[j].exists && probes[j].is_token && probes[j].value_hash == probes[i].value_hash)
            return false;
    return probes[i].exists && probes[i].is_token;
}

static bool is_first_of_its_vote(const struct probe_votes *votes, size_t i, uint64_t value_hash)
{
    for (size_t j = 0; j < i; j++)
        for (size_t k = 0; k < votes[j].n; k++)
            if (votes[j].votes[k].value_hash == value_hash)
                return false;
    return true;
}

static void release(struct session *session, struct redlock_lock *lock, const char *value, const struct probe *probes,
                    size_t n, struct tally *tally)
{
    int status = session_release_token(session, lock, value);

    tally->values++;
    count_deleted(&session->last, probes, n, tally);
    if (status != REDLOCK_OK) {
        tally->status = status;
        tally->worst = session->last;
    }
}

/* One release for each value that somebody stores, as its holder would do it. */
static struct tally release_all(struct session *session, struct redlock_lock *lock, const struct probe *probes,
                                const struct probe_votes *votes, size_t n)
{
    struct tally tally = {0};

    for (size_t i = 0; i < n && session->caught == 0; i++) {
        if (is_first_of_its_value(probes, i))
            release(session, lock, probes[i].value, probes, n, &tally);
        for (size_t j = 0; j < votes[i].n && session->caught == 0; j++)
            if (is_first_of_its_vote(votes, i, votes[i].votes[j].value_hash))
                release(session, lock, votes[i].votes[j].value, probes, n, &tally);
    }
    return tally;
}

/* What each master had before. */
static void json_masters(struct cli_json *json, const struct redlock_client *client, const struct probe *probes,
                         size_t n)
{
    cli_json_begin(json, "masters", '[');
    for (size_t i = 0; i < n; i++) {
        status_key_json(json, client, &probes[i], false);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

/* Either too few have answered the look, or too few the worst release. */
static int explain_failure(const struct request *request, const struct redlock_client *client,
                           const struct tally *tally, const struct probe *probes, size_t answered)
{
    char headline[DIAGNOSIS_SIZE];

    if (tally->status != REDLOCK_OK) {
        cli_error("break", "'%s': %s; it may stay held until its ttl ends", request->key,
                  diagnosis_headline(&tally->worst, headline));
        diagnosis_explain(stderr, client, &tally->worst, &request->common);
    } else {
        cli_error("break", "'%s': %zu of %zu masters have answered (%u needed); it may stay held until its ttl ends",
                  request->key, answered, request->common.masters.count, cli_quorum(&request->common));
        diagnosis_explain_probes(client, probes, request->common.masters.count);
    }
    return CLI_INFRASTRUCTURE;
}

static int conclude(const struct request *request, const struct redlock_client *client, const struct tally *tally,
                    const struct probe *probes, size_t answered)
{
    int status = tally->status == REDLOCK_OK && answered < cli_quorum(&request->common) ? REDLOCK_NO_QUORUM
                                                                                          : tally->status;
    bool nobody = status == REDLOCK_OK && tally->deleted == 0;

    if (request->common.json) {
        struct cli_json json = cli_json_open(stdout);

        cli_json_key(&json, request->key);
        cli_json_string(&json, "status", redlock_status_name(nobody ? REDLOCK_E_NOT_HELD : status));
        cli_json_int(&json, "holders", (int64_t)tally->values);
        cli_json_int(&json, "deleted", (int64_t)tally->deleted);
        cli_json_int(&json, "answered", (int64_t)answered);
        json_masters(&json, client, probes, request->common.masters.count);
        cli_json_close(&json);
    } else if (tally->deleted > 0) {
        struct term term;

        term_init(&term, stderr);
        fputs("broken", stderr);
        term_key(&term, request->key);
        fprintf(stderr, ": deleted on %zu of %zu masters\n", tally->deleted, request->common.masters.count);
    }
    if (status != REDLOCK_OK)
        return explain_failure(request, client, tally, probes, answered);
    if (!nobody)
        return CLI_OK;
    cli_error("break", "nobody has '%s'", request->key);
    return CLI_NOT_HELD;
}

/* What is no lock is not deleted. */
static int refuse_foreign(const struct request *request, size_t foreign)
{
    if (request->common.json) {
        struct cli_json json = cli_json_open(stdout);

        cli_json_key(&json, request->key);
        cli_json_int(&json, "foreign", (int64_t)foreign);
        cli_json_close(&json);
    }
    cli_error("break", "'%s': " VERDICT_FOREIGN_TEXT "; it is not deleted", request->key, foreign,
              request->common.masters.count);
    return CLI_FOREIGN;
}

static int break_lock(struct session *session, struct redlock_client *client, void *data)
{
    struct request *request = data;
    static struct probe_votes votes[REDLOCK_MAX_MASTERS]; /* too large for a stack */
    struct probe probes[REDLOCK_MAX_MASTERS];
    char key[REDLOCK_MAX_KEY_BYTES + 1];
    struct probe_masters masters;
    size_t n;
    size_t answered = 0;
    size_t foreign = 0;
    struct redlock_lock *lock;
    struct tally tally;
    int status = redlock_lock_create(client, request->key, strlen(request->key), &lock);

    if (status == 0 && snprintf(key, sizeof key, "%s%s", request->common.prefix, request->key) >= (int)sizeof key)
        status = REDLOCK_E_KEY_TOO_LONG;
    if (status != 0)
        return refused_call("break", status);
    if (!session_follow(session, client, &request->common, request->places))
        return CLI_INFRASTRUCTURE;
    n = request->common.masters.count;
    masters = probe_masters_of(&request->common);
    masters.places = request->places;
    probe_key_and_votes(&masters, key, probes, votes);
    for (size_t i = 0; i < n; i++) {
        answered += probes[i].answered;
        foreign += verdict_is_foreign(&probes[i], &votes[i]);
    }
    if (n - foreign < cli_quorum(&request->common))
        return refuse_foreign(request, foreign);
    tally = release_all(session, lock, probes, votes, n);
    return conclude(request, client, &tally, probes, answered);
}

int break_main(int argc, char **argv)
{
    struct request request = {0};
    struct session session = {.tells_members = true};
    const struct cli_option options[] = {
        {.name = "yes", .letter = 'y', .flag = &request.yes},
        CLI_COMMON_OPTIONS(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "break", .help = break_help, .options = options,
                                        .operands = (const char *const[]){"KEY", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK;
    code = cli_common_parse(&command, argc, argv, &request.key, &request.common);
    if (code < 0 && !request.yes) {
        cli_error("break", "the holder is not asked: add --yes if you mean it");
        code = cli_usage("break");
    }
    if (code < 0)
        code = cli_need_masters("break", &request.common.masters)
                   ? session_command(&session, "break", &request.common, FINISH_MS, break_lock, &request)
                   : cli_usage("break");
    cli_common_fini(&request.common);
    return code;
}
