/* redlock status --agent: what the agent knows of a lock's key. It does not tell what each master has, nor tokens. */
#include <stdio.h>
#include <string.h>

#include "cli/agent_client.h"
#include "cli/agent_words.h"
#include "cli/label.h"
#include "cli/session.h"
#include "cli/status.h"
#include "options/exit.h"

enum { MODE_WIDTH = 11 };

struct picture {
    const struct status_request *request;
    const json_t *look;
    const char *verdict;
    int code;
};

/* In the words of the command. */
static void judge(struct picture *picture)
{
    static const struct {
        const char *agents, *own;
        int code;
    } verdicts[] = {
        {"exclusive", "held", CLI_OK},    {"shared", "shared", CLI_OK},        {"upgrading", "upgrading", CLI_OK},
        {"free", "free", CLI_NOT_HELD},   {"unsettled", "split", CLI_NOT_HELD}, {"", "unknown", CLI_INFRASTRUCTURE},
    };
    const char *word = agent_text(picture->look, "verdict");
    size_t i = 0;

    while (*verdicts[i].agents != '\0' && strcmp(verdicts[i].agents, word) != 0)
        i++;
    picture->verdict = verdicts[i].own;
    picture->code = verdicts[i].code;
    if (agent_number(picture->look, "members") - agent_number(picture->look, "foreign") <
        agent_number(picture->look, "quorum")) {
        picture->verdict = "foreign";
        picture->code = CLI_FOREIGN;
    }
}

/* --- As a table --------------------------------------------------------------------------------------------------- */

static void print_value(const struct term *term, const json_t *value)
{
    const char *label = agent_text(value, "label");
    char left[16], ago[LABEL_AGO_SIZE];

    term_time(agent_number(value, "left_ms") * 1000, left, sizeof left);
    fprintf(term->out, "  %-*s  %-*s  %9s  %-16s  ", STATUS_SHORT_TOKEN, agent_text(value, "token_prefix"), MODE_WIDTH,
            agent_text(value, "mode"), left, label_ago(agent_number(value, "asked_us"), ago));
    shown_put(term->out, *label != '\0' ? label : "-");
    putc('\n', term->out);
}

static void print_values(const struct term *term, const json_t *values, const char *title)
{
    if (json_array_size(values) == 0)
        return;
    term_print(term, TERM_DIM, "  %-*s  %-*s  %9s  %-16s  %s\n", STATUS_SHORT_TOKEN, title, MODE_WIDTH, "mode",
               "ttl left", "asked for it", "label");
    for (size_t i = 0; i < json_array_size(values); i++)
        print_value(term, json_array_get(values, i));
}

static void print_table(FILE *out, const void *data)
{
    const struct picture *picture = data;
    const json_t *look = picture->look;
    int64_t waiting = agent_number(look, "waiting");
    struct term term;

    term_init(&term, out);
    term_print(&term, picture->code == CLI_OK ? TERM_GREEN : TERM_BOLD, "%s", picture->verdict);
    fprintf(out, ", as the agent says: %lld of %lld masters have answered\n", (long long)agent_number(look, "answered"),
            (long long)agent_number(look, "members"));
    if (picture->code == CLI_NOT_HELD)
        fputs("  as a lock: permits and latches are shown where masters are named (--nodes)\n", out);
    if (picture->code == CLI_OK)
        print_values(&term, json_object_get(look, "holders"), "holder");
    if (waiting > 0)
        fprintf(out, "wait queue: %lld\n", (long long)waiting);
    print_values(&term, json_object_get(look, "waiters"), "waiting");
}

/* --- As JSON ------------------------------------------------------------------------------------------------------ */

static void add_values(struct cli_json *json, const char *name, const json_t *values, const char *time)
{
    cli_json_begin(json, name, '[');
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);
        int64_t left_ms = agent_number(value, "left_ms");
        struct label label = {.asked_us = agent_number(value, "asked_us")};

        snprintf(label.name, sizeof label.name, "%s", agent_text(value, "label"));
        cli_json_begin(json, NULL, '{');
        cli_json_string(json, "token_prefix", agent_text(value, "token_prefix"));
        label_json(json, &label);
        cli_json_string(json, "mode", agent_text(value, "mode"));
        cli_json_int(json, time, left_ms);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void print_json(FILE *out, const void *data)
{
    const struct picture *picture = data;
    const json_t *look = picture->look;
    struct cli_json json = cli_json_open(out);

    cli_json_key(&json, picture->request->key);
    cli_json_string(&json, "kind", "lock");
    cli_json_string(&json, "verdict", picture->verdict);
    cli_json_int(&json, "quorum", agent_number(look, "quorum"));
    cli_json_int(&json, "answered", agent_number(look, "answered"));
    add_values(&json, "held_by", picture->code == CLI_OK ? json_object_get(look, "holders") : NULL, "pttl_ms");
    cli_json_int(&json, "queue_length", agent_number(look, "waiting"));
    add_values(&json, "queue", json_object_get(look, "waiters"), "lease_ms");
    cli_json_close(&json);
}

/* --- A look ------------------------------------------------------------------------------------------------------- */

int status_by_agent(struct session *session, const struct status_request *request)
{
    json_t *answer = agent_client_get(session, json_pack("{s:s, s:s}", "op", "look", "key", request->key));
    struct picture picture = {.request = request, .look = answer};
    struct agent_result read;

    agent_result_read(answer, agent_client_why(session->agent), &read);
    if (read.result.status == REDLOCK_OK) {
        judge(&picture);
        status_print(request, print_json, print_table, &picture);
    } else if (session->caught == 0) {
        picture.code = refused_for("status", read.result.status, read.result.why);
    }
    json_decref(answer);
    return picture.code;
}
