/* redlock latch: says that a party has arrived, and waits until all have. */
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/latch.h>

#include "cli/agent_client.h"
#include "cli/agent_words.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/diagnosis.h"
#include "cli/json.h"
#include "cli/quorum_status.h"
#include "cli/session.h"
#include "cli/term.h"
#include "cli/votes.h"
#include "options/message.h"
#include "options/value.h"

static const char latch_help[] =
    "Usage: redlock latch arrive NAME --parties N --generation G --party P ...\n"
    "       redlock latch await NAME --parties N --generation G ...\n"
    "\n"
    "A latch opens when all of its N parties have arrived, each with a name of its\n"
    "own. 'arrive' says that party P has; 'await' waits until the latch is open. With\n"
    "--party, 'await' arrives first: all parties together, it is a barrier.\n"
    "\n"
    "  --parties N          how many must arrive, the same for all (1 to 1000)\n"
    "  --generation G       which use of NAME this is, as the number of a run: each\n"
    "                       is larger than the one before, which must have opened\n"
    "  --party P            the name of the party: no blanks, at most 64 bytes. One\n"
    "                       that arrives twice counts once\n"
    "  -w, --wait DUR       how long to try; 0: ask each master once; or 'forever'\n"
    "                       (arrive: 0, await: forever)\n"
    "  --keep DUR           how long the masters keep what they know of the latch\n"
    "                       after its latest use (24h)\n"
    "  --node-timeout DUR   how long one master may take to answer (500ms)\n"
    "  -j, --json           print one line of JSON\n"
    CLI_VOTES_HELP CLI_AGENT_HELP "\n" CLI_COMMON_HELP
    "\n"
    "An arrival is safe as soon as a majority has recorded it, which is the success\n"
    "of 'arrive', and stays when the command has ended. But a program that stays\n"
    "repeats it, and this command cannot: if a majority of the masters should lose\n"
    "their memory before the latch opens, the latch stays shut until the party\n"
    "arrives once more. A latch never opens early. 'redlock status NAME --latch'\n"
    "shows who has arrived.\n"
    "\n"
    "Exit status: 0 arrived, or open; 1 not open in that time, or it is not the turn\n"
    "of the generation: one before it has not opened, or it was passed over; 2 wrong\n"
    "usage, or the latch has another number of parties, or they have arrived without\n"
    "this one; 3 too few masters have answered; 4 the key of the latch is another\n"
    "program's.\n"
    "\n"
    "Example: two workers and what waits for them\n"
    "  redlock latch arrive import --parties 2 --generation 20260814 --party east\n"
    "  redlock latch arrive import --parties 2 --generation 20260814 --party west\n"
    "  redlock latch await import --parties 2 --generation 20260814 --wait 1h\n";

enum { FINISH_MS = 1000 };

/* Distinguishable from everything that can be given. */
#define NO_WAIT INT64_MIN

struct request {
    struct cli_common common;
    const char *operands[2]; /* what is done, NAME */
    bool awaits;
    uint32_t parties;
    uint64_t generation;
    bool has_generation;
    const char *party; /* NULL: none */
    int64_t wait_ms;
    uint32_t keep_ms;
};

/* The operation that decides: the wait, if there is one. */
struct operation {
    const struct request *request;
    const struct redlock_client *client;
    bool done;
    bool in_vain; /* so many masters refuse the password or the certificates */
    int code;
};

/* Whether the master has recorded what was asked. */
static bool is_recorded(const struct request *request, const struct redlock_latch_node *node)
{
    return request->awaits ? node->open : node->arrived;
}

/* On so many masters that no quorum can record anything. */
static bool is_foreign(const struct redlock_latch_result *result)
{
    size_t foreign = 0;

    for (size_t i = 0; i < result->n_nodes; i++)
        foreign += strcmp(result->nodes[i].detail, "foreign") == 0;
    return result->n_nodes - foreign < result->quorum;
}

static int code_of(const struct operation *operation, const struct redlock_latch_result *result)
{
    if (operation->in_vain && result->status != REDLOCK_OK)
        return CLI_INFRASTRUCTURE;
    if (result->status != REDLOCK_OK && is_foreign(result))
        return CLI_FOREIGN;
    switch (result->status) {
    case REDLOCK_OK:
        return CLI_OK;
    case REDLOCK_OTHER_PARTIES:
        return CLI_USAGE; /* waiting does not help */
    case REDLOCK_OTHER_GENERATION:
    case REDLOCK_CANCELED:
        return CLI_NOT_HELD;
    default:
        return result->cause == REDLOCK_NO_QUORUM || result->status != REDLOCK_DEADLINE ? CLI_INFRASTRUCTURE
                                                                                         : CLI_NOT_HELD;
    }
}

/* --- Output ------------------------------------------------------------------------------------------------------- */

static void print_row(const struct term *term, const struct request *request, const struct redlock_latch_node *node,
                      int name_width)
{
    char name[32];
    char latency[16];

    fprintf(term->out, "  %-*s  ", name_width, term_fit(node->name, name_width, name, sizeof name));
    if (!node->answered)
        term_print(term, node->detail[0] != '\0' ? TERM_RED : TERM_DIM, "%-8s", "-"); /* perhaps it was not awaited */
    else if (is_recorded(request, node))
        term_print(term, TERM_GREEN, "%-8s", request->awaits ? "open" : "recorded");
    else
        term_print(term, TERM_BOLD, "%-8s", request->awaits ? "shut" : "refused");
    fprintf(term->out, "  %8s", node->latency_us >= 0 ? term_time(node->latency_us, latency, sizeof latency) : "-");
    if (node->detail[0] != '\0') {
        fputs("  ", term->out);
        shown_put(term->out, node->detail);
    }
    putc('\n', term->out);
}

static void print_success(const struct term *term, const struct request *request,
                          const struct redlock_latch_result *result)
{
    char took[16];

    term_print(term, TERM_GREEN, request->awaits ? "open" : "arrived");
    term_key(term, request->operands[1]);
    fprintf(term->out, ": recorded by %u of %zu masters (%u needed), in %s\n", result->confirmed, result->n_nodes,
            result->quorum, term_time(result->elapsed_us, took, sizeof took));
}

static void explain_refusal(const struct operation *operation, size_t n)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    const char *texts[REDLOCK_MAX_MASTERS], *names[REDLOCK_MAX_MASTERS];

    quorum_status_read(operation->client, infos);
    for (size_t i = 0; i < n; i++) {
        names[i] = infos[i].name;
        texts[i] = quorum_status_answers(&infos[i]) ? "" : infos[i].last_error;
    }
    cli_error("latch", "too few of the %zu masters take what they are given, and waiting does not help", n);
    diagnosis_explain_texts(stderr, names, texts, n);
}

static void explain_failure(const struct operation *operation, const struct redlock_latch_result *result)
{
    const char *texts[REDLOCK_MAX_MASTERS], *names[REDLOCK_MAX_MASTERS];

    if (operation->in_vain) {
        explain_refusal(operation, result->n_nodes);
        return;
    }
    cli_error("latch", operation->request->awaits ? "'%s' is not open: %s" : "no arrival at '%s': %s",
              operation->request->operands[1], result->why);
    if (result->cause != REDLOCK_NO_QUORUM)
        return;
    for (size_t i = 0; i < result->n_nodes; i++) {
        names[i] = result->nodes[i].name;
        texts[i] = result->nodes[i].answered ? "" : result->nodes[i].detail;
    }
    diagnosis_explain_texts(stderr, names, texts, result->n_nodes);
}

static void add_master(struct cli_json *json, const struct redlock_latch_node *node, bool recorded)
{
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", node->name);
    cli_json_bool(json, "answered", node->answered);
    cli_json_bool(json, "recorded", recorded);
    cli_json_bool(json, "open", node->open);
    cli_json_string(json, "detail", node->detail);
    cli_json_int_or_null(json, "latency_us", node->latency_us);
    cli_json_end(json, '}');
}

/* The generation is a string as in `redlock status`. */
static void print_json(const struct request *request, const struct redlock_latch_result *result)
{
    char generation[24];
    struct cli_json json = cli_json_open(stdout);

    snprintf(generation, sizeof generation, "%" PRIu64, request->generation);
    cli_json_key(&json, request->operands[1]);
    cli_json_string(&json, "status", redlock_status_name(result->status));
    if (result->cause != 0)
        cli_json_string(&json, "cause", redlock_status_name(result->cause));
    cli_json_string(&json, "why", result->why);
    cli_json_string(&json, "generation", generation);
    cli_json_int(&json, "parties", request->parties);
    if (request->party)
        cli_json_string(&json, "party", request->party);
    cli_json_begin(&json, "arrived", '[');
    for (size_t i = 0; i < result->n_arrived; i++)
        cli_json_string(&json, NULL, result->arrived[i]);
    cli_json_end(&json, ']');
    cli_json_int(&json, "quorum", result->quorum);
    cli_json_int(&json, "recorded", result->confirmed);
    cli_json_int(&json, "elapsed_us", result->elapsed_us);
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < result->n_nodes; i++)
        add_master(&json, &result->nodes[i], is_recorded(request, &result->nodes[i]));
    cli_json_end(&json, ']');
    cli_json_close(&json);
}

static void on_result(struct redlock_latch *latch, const struct redlock_latch_result *result, void *data)
{
    struct operation *operation = data;
    const struct request *request = operation->request;
    int name_width = 0;
    struct term term;

    operation->done = true;
    operation->code = code_of(operation, result);
    term_init(&term, stderr);
    for (size_t i = 0; i < result->n_nodes; i++)
        name_width = votes_wider(name_width, result->nodes[i].name);
    for (size_t i = 0; request->common.shows_votes && i < result->n_nodes; i++)
        print_row(&term, request, &result->nodes[i], name_width);
    if (request->common.json)
        print_json(request, result);
    if (result->status != REDLOCK_OK)
        explain_failure(operation, result);
    else if (request->common.shows_votes)
        print_success(&term, request, result);
}

/* --- The latch ---------------------------------------------------------------------------------------------------- */

static int start(const struct request *request, struct redlock_latch *latch, struct operation *operation)
{
    int status = 0;

    if (request->party)
        status = redlock_latch_arrive(latch, request->wait_ms, request->awaits ? NULL : on_result, operation);
    if (status == 0 && request->awaits)
        status = redlock_latch_await(latch, request->wait_ms, on_result, operation);
    return status;
}

static void finish_operation(struct session *session, struct redlock_latch *latch, struct operation *operation)
{
    bool canceled = false;

    while (!operation->done && event_base_loop(session->base, EVLOOP_ONCE) == 0) {
        operation->in_vain = session_is_in_vain(session);
        if ((session->caught != 0 || operation->in_vain) && !canceled) {
            redlock_latch_cancel(latch);
            canceled = true;
        }
    }
}

/* --- The latch by the agent --------------------------------------------------------------------------------------- */

static json_t *question_of(const struct request *request)
{
    char generation[24];
    json_t *question;

    snprintf(generation, sizeof generation, "%" PRIu64, request->generation);
    question = json_pack("{s:s, s:s, s:I, s:s, s:b}", "op", "latch", "name", request->operands[1], "parties",
                         (json_int_t)request->parties, "generation", generation, "await", (int)request->awaits);
    if (request->party)
        json_object_set_new(question, "party", json_string(request->party));
    json_object_set_new(question, "wait", request->wait_ms == REDLOCK_FOREVER ? json_string("forever")
                                                                               : json_integer(request->wait_ms));
    if (request->keep_ms != 0)
        json_object_set_new(question, "keep", json_integer(request->keep_ms));
    return question;
}

/* What the answer says, borrowed from it. */
struct reading {
    struct redlock_latch_result result;
    struct redlock_latch_node nodes[REDLOCK_MAX_MASTERS];
    const char *arrived[REDLOCK_MAX_PARTIES];
};

static void read_answer(const json_t *answer, const char *why, struct reading *ret)
{
    const json_t *masters = json_object_get(answer, "masters");
    const json_t *arrived = json_object_get(answer, "arrived");
    struct redlock_latch_result *result = &ret->result;
    struct agent_result read;

    agent_result_read(answer, why, &read);
    *result = (struct redlock_latch_result){
        .status = read.result.status, .cause = read.result.cause, .why = read.result.why,
        .quorum = read.result.quorum, .elapsed_us = read.result.elapsed_us,
        .confirmed = (uint32_t)agent_number(answer, "recorded"), .n_nodes = read.result.n_nodes,
        .nodes = ret->nodes, .arrived = ret->arrived};
    for (size_t i = 0; i < json_array_size(arrived) && i < REDLOCK_MAX_PARTIES; i++)
        ret->arrived[result->n_arrived++] = json_string_value(json_array_get(arrived, i));
    for (size_t i = 0; i < result->n_nodes; i++) {
        const json_t *master = json_array_get(masters, i);

        ret->nodes[i] = (struct redlock_latch_node){
            .name = agent_text(master, "name"), .detail = agent_text(master, "detail"), .latency_us = -1,
            .answered = json_is_true(json_object_get(master, "answered")),
            .arrived = json_is_true(json_object_get(master, "arrived")),
            .open = json_is_true(json_object_get(master, "open"))};
    }
}

static int use_by_agent(struct session *session, struct operation *operation)
{
    json_t *answer = agent_client_get(session, question_of(operation->request));
    static struct reading reading; /* too large for a stack */

    if (session->caught == 0) {
        read_answer(answer, agent_client_why(session->agent), &reading);
        if (reading.result.status <= REDLOCK_E_NOMEM)
            operation->code = refused_for("latch", reading.result.status, reading.result.why);
        else
            on_result(NULL, &reading.result, operation);
    }
    json_decref(answer);
    return operation->code;
}

/* --- The latch by masters ----------------------------------------------------------------------------------------- */

static int use_latch(struct session *session, struct redlock_client *client, void *data)
{
    const struct request *request = data;
    struct operation operation = {.request = request, .client = client, .code = CLI_INFRASTRUCTURE};
    struct redlock_latch_options options;
    struct redlock_latch *latch;
    int status;

    if (session->agent)
        return use_by_agent(session, &operation);
    redlock_latch_options_init(&options);
    if (request->keep_ms != 0)
        options.keep_ms = request->keep_ms;
    status = redlock_latch_create(client, request->operands[1], strlen(request->operands[1]), request->parties,
                                  request->generation, request->party, &options, &latch);
    if (status != 0)
        return refused_call("latch", status);
    session_join(session, client); /* an arrival goes to every master that can be reached, and is not repeated */
    if (session->caught != 0)
        return CLI_INFRASTRUCTURE;
    status = start(request, latch, &operation);
    if (status != 0)
        return refused_call("latch", status);
    finish_operation(session, latch, &operation);
    return operation.code;
}

/* --- The command line --------------------------------------------------------------------------------------------- */

static bool refuse(const char *text)
{
    cli_error("latch", "%s", text);
    return false;
}

static bool keep_fits(const struct request *request)
{
    char keep[DURATION_TEXT_SIZE];
    char least[DURATION_TEXT_SIZE];

    if (request->keep_ms == 0 || request->common.agent || request->keep_ms >= request->common.max_ttl_ms)
        return true;
    cli_error("latch", "--keep %s is below --max-ttl, in which what is known is repeated (%s)",
              duration_text(request->keep_ms * INT64_C(1000), keep),
              duration_text(request->common.max_ttl_ms * INT64_C(1000), least));
    return false;
}

static bool complete(struct request *request)
{
    const char *deed = request->operands[0];

    request->awaits = strcmp(deed, "await") == 0;
    if (!request->awaits && strcmp(deed, "arrive") != 0) {
        cli_error("latch", "'%s' is neither 'arrive' nor 'await'", deed);
        return false;
    }
    if (request->parties == 0)
        return refuse("--parties is missing: how many must arrive");
    if (!request->has_generation)
        return refuse("--generation is missing: which use of the name this is, such as 1");
    if (!request->party && !request->awaits)
        return refuse("--party is missing: the name of what arrives");
    if (request->wait_ms == NO_WAIT)
        request->wait_ms = request->awaits ? REDLOCK_FOREVER : 0;
    return keep_fits(request) && cli_need_masters_or_agent(
                                     "latch", &request->common,
                                     (const char *const[]){request->operands[1], request->party, NULL});
}

int latch_main(int argc, char **argv)
{
    struct request request = {.wait_ms = NO_WAIT};
    struct session session = {0};
    const struct cli_option options[] = {
        {.name = "parties", .number = &request.parties, .least = 1, .most = REDLOCK_MAX_PARTIES},
        {.name = "generation", .count = &request.generation, .given = &request.has_generation, .most = UINT64_MAX},
        {.name = "party", .text = &request.party},
        {.name = "wait", .letter = 'w', .wait_ms = &request.wait_ms},
        {.name = "keep", .duration_ms = &request.keep_ms, .least = 1, .most = REDLOCK_MAX_KEEP_MS},
        CLI_VOTES_OPTIONS(&request.common),
        CLI_AGENT_OPTION(&request.common),
        CLI_MASTER_OPTIONS(&request.common),
        CLI_JSON_OPTION(&request.common),
        {0},
    };
    const struct cli_command command = {.name = "latch", .help = latch_help, .options = options,
                                        .operands = (const char *const[]){"arrive|await", "NAME", NULL}};
    int code;

    cli_common_init(&request.common);
    request.common.join = REDLOCK_JOIN_LOOK; /* a name needs no vote, so no marker either */
    code = cli_common_parse(&command, argc, argv, request.operands, &request.common);
    if (code < 0)
        code = complete(&request) ? session_command(&session, "latch", &request.common, FINISH_MS, use_latch, &request)
                                  : cli_usage("latch");
    cli_common_fini(&request.common);
    return code;
}
