#include "cli/hindrance.h"

#include <stdio.h>

#include "cli/common.h"
#include "cli/standings.h"
#include "cli/term.h"

/* The first that is excluded stands for all: `redlock nodes` tells each. */
static void explain_excluded(const char *command, const struct redlock_node_info *infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (infos[i].standing == REDLOCK_STANDING_EXCLUDED) {
            cli_error(command, "%s does not vote: %s", infos[i].name, infos[i].fault_text);
            return;
        }
}

static void explain_waiting(const char *command, const struct standings *sum)
{
    char wait[24];

    if (sum->quorum_in_ms > 0)
        cli_error(command, "%zu of %zu masters abstain, since they are new, restarted or emptied, or a clock was set: "
                           "enough of them vote in %s", sum->waiting, sum->n,
                  term_time(sum->quorum_in_ms * 1000, wait, sizeof(wait)));
    else
        cli_error(command, "%zu of %zu masters abstain, since they are new, restarted or emptied, or a clock was set",
                  sum->waiting, sum->n);
}

void hindrance_explain(const char *command, const struct redlock_client *client, size_t quorum)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t n = standings_read(client, infos);
    struct standings sum = standings_of(infos, n, quorum);

    if (sum.voting >= quorum || sum.voting == sum.answering)
        return;
    if (sum.waiting > 0)
        explain_waiting(command, &sum);
    if (sum.voting + sum.waiting < quorum)
        explain_excluded(command, infos, n);
    cli_error(command, "'redlock nodes' tells more, and how to mend it");
}

void hindrance_json(struct cli_json *json, const struct redlock_client *client, size_t quorum)
{
    struct redlock_node_info infos[REDLOCK_MAX_MASTERS];
    size_t n = standings_read(client, infos);
    struct standings sum = standings_of(infos, n, quorum);

    cli_json_int(json, "voting", (int64_t)sum.voting);
    if (sum.quorum_in_ms > 0)
        cli_json_int(json, "quorum_in_ms", sum.quorum_in_ms);
    else if (sum.quorum_in_ms < 0)
        cli_json_null(json, "quorum_in_ms");
}
