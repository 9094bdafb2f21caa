/* The masters, what is wrong with them, and the verdict, as one line of JSON. */
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/nodes/nodes.h"

static void server(struct cli_json *json, const struct redlock_node_info *info)
{
    cli_json_string(json, "version", info->version);
    cli_json_string(json, "role", info->role);
    cli_json_bool(json, "cluster", info->cluster);
    cli_json_string(json, "append_fsync", info->append_fsync);
    cli_json_bool(json, "durable", info->durable);
    cli_json_string(json, "eviction_policy", info->eviction_policy);
    cli_json_int(json, "maxmemory", info->maxmemory);
    cli_json_int(json, "replicas", info->replicas);
    cli_json_bool(json, "promoted", info->promoted);
    cli_json_string(json, "run_id", info->run_id);
    cli_json_int(json, "marker_max_ttl_ms", info->marker_max_ttl_ms);
    cli_json_int(json, "marker_longest_ms", info->marker_longest_ms);
    cli_json_int(json, "marker_falls_ms", info->marker_falls_ms);
    cli_json_int(json, "declaration", info->declaration);
    cli_json_int(json, "declaration_confirmed", info->declaration_confirmed);
    cli_json_int(json, "clock_offset_us", info->clock_offset_us);
    cli_json_int(json, "clock_step_us", info->clock_step_us);
}

static void advices(struct cli_json *json, const struct nodes_look *look, size_t node)
{
    struct advice found[ADVICE_MOST];
    size_t n = nodes_advice(look, node, found);

    cli_json_begin(json, "advice", '[');
    for (size_t i = 0; i < n; i++) {
        char *command = nodes_command(look, &found[i]);

        cli_json_begin(json, NULL, '{');
        cli_json_bool(json, "serious", found[i].serious);
        cli_json_string(json, "what", found[i].what);
        cli_json_string(json, "mend", found[i].mend);
        cli_json_string(json, "command", command != NULL ? command : "");
        cli_json_end(json, '}');
        free(command);
    }
    cli_json_end(json, ']');
}

static void master(struct cli_json *json, const struct nodes_look *look, size_t node)
{
    const struct redlock_node_info *info = &look->infos[node];
    bool up = nodes_answers(look, node);

    cli_json_begin(json, NULL, '{');
    cli_json_string(json, "name", info->name);
    cli_json_bool(json, "reachable", up);
    cli_json_string(json, "standing", nodes_refuses(look, node)   ? "refuses"
                                      : standings_answers(info) ? redlock_standing_name(info->standing)
                                      : nodes_is_slow(look, node) ? "slow"
                                                                  : "down");
    cli_json_string(json, "fault", redlock_fault_name(info->fault));
    cli_json_int(json, "quarantine_ms", info->quarantine_ms);
    if (look->probes[node].latency_us >= 0)
        cli_json_int(json, "latency_us", look->probes[node].latency_us);
    else
        cli_json_null(json, "latency_us");
    if (info->looked)
        server(json, info);
    if (look->probes[node].refused)
        cli_json_string(json, "error", look->probes[node].why);
    else if (!up)
        cli_json_string(json, "error", info->last_error);
    advices(json, look, node);
    cli_json_end(json, '}');
}

void nodes_json(const struct nodes_look *look, FILE *out)
{
    static const char *const verdicts[] = {
        [CLI_OK] = "safe", [CLI_NOT_HELD] = "unsafe", [CLI_INFRASTRUCTURE] = "unknown"};
    struct cli_json json;

    cli_json_init(&json, out);
    cli_json_begin(&json, NULL, '{');
    cli_json_string(&json, "verdict", verdicts[nodes_exit_code(look)]);
    cli_json_int(&json, "quorum", (int64_t)look->able.quorum);
    cli_json_int(&json, "answering", (int64_t)look->able.answering);
    cli_json_int(&json, "voting", (int64_t)look->able.voting);
    if (look->able.quorum_in_ms >= 0)
        cli_json_int(&json, "quorum_in_ms", look->able.quorum_in_ms);
    else
        cli_json_null(&json, "quorum_in_ms");
    cli_json_string(&json, "prefix", look->request->common.prefix);
    if (nodes_max_ttl_ms(look) > 0)
        cli_json_int(&json, "max_ttl_ms", nodes_max_ttl_ms(look));
    cli_json_begin(&json, "masters", '[');
    for (size_t i = 0; i < look->sum.n; i++)
        master(&json, look, i);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
    putc('\n', out);
}
