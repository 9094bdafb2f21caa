#include "cli/status_master.h"

#include "cli/session.h"

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
