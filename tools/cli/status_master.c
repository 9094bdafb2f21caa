#include "cli/status_master.h"

#include <stdio.h>

#include "cli/label.h"
#include "cli/session.h"

const char *status_mode_name(char mode)
{
    return mode == 'r' ? "shared" : mode == 'u' ? "upgradeable" : "exclusive";
}

void status_json_token(struct cli_json *json, const char *token, bool whole)
{
    const struct label label = label_of(token);
    char part[PROBE_VALUE_SIZE];

    snprintf(part, sizeof(part), "%.*s", whole ? PROBE_VALUE_SIZE - 1 : STATUS_SHORT_TOKEN, token);
    cli_json_string(json, whole ? "token" : "token_prefix", part);
    label_json(json, &label);
}

bool status_master_row(const struct term *term, const struct redlock_client *client, size_t node,
                       const struct probe *probe, int name_width)
{
    char name[32];

    fprintf(term->out, "  %-*s  ", name_width,
            term_fit(session_node_name(client, node), name_width, name, sizeof(name)));
    if (probe->answered)
        return true;
    term_print(term, TERM_RED, "%-*s", STATUS_COLUMN, "silent");
    fprintf(term->out, "%s\n", probe->why);
    return false;
}

void status_master_json(struct cli_json *json, const struct redlock_client *client, size_t node,
                        const struct probe *probe)
{
    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", session_node_name(client, node));
    cli_json_bool(json, "answered", probe->answered);
    if (probe->answered) {
        cli_json_bool(json, "present", probe->exists);
        cli_json_int(json, "latency_us", probe->latency_us);
    }
    if (probe->why[0] != '\0')
        cli_json_string(json, "error", probe->why);
}
