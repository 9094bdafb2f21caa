#include "cli/quorum_status.h"

#include <string.h>

size_t quorum_status_read(const struct redlock_client *client, struct redlock_node_info ret_infos[REDLOCK_MAX_MASTERS])
{
    size_t n = redlock_client_node_count(client);

    memset(ret_infos, 0, REDLOCK_MAX_MASTERS * sizeof ret_infos[0]);
    for (size_t i = 0; i < n; i++)
        redlock_client_node_info(client, i, &ret_infos[i], sizeof ret_infos[i]);
    return n;
}

static bool connected(const struct redlock_node_info *info)
{
    return info->link == REDLOCK_LINK_READY || info->link == REDLOCK_LINK_LATE;
}

/* A server that says that it is another master of the list is not connected as this one. */
bool quorum_status_answers(const struct redlock_node_info *info)
{
    return connected(info) ||
           (info->fault == REDLOCK_FAULT_SAME_SERVER && strcmp(info->last_error, info->fault_text) == 0);
}

const char *quorum_status_word(const struct redlock_node_info *info)
{
    if (!quorum_status_answers(info))
        return "down";
    if (info->fault == REDLOCK_FAULT_NO_MEMBER)
        return "left";
    return info->fault == REDLOCK_FAULT_NO_MARKER ? "no marker" : redlock_standing_name(info->standing);
}

static bool votes_within(const struct redlock_node_info *info, int64_t ms)
{
    return connected(info) && (info->standing == REDLOCK_STANDING_VOTES ||
                               (info->standing == REDLOCK_STANDING_QUARANTINED && info->quarantine_ms <= ms));
}

static size_t count_within(const struct redlock_node_info *infos, size_t n, int64_t ms)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += votes_within(&infos[i], ms);
    return count;
}

/* The shortest of the quarantines after which the quorum is there. */
static int64_t quorum_in_ms(const struct redlock_node_info *infos, size_t n, size_t quorum)
{
    int64_t best = -1;

    for (size_t i = 0; i < n; i++) {
        int64_t ms = infos[i].quarantine_ms;

        if ((best < 0 || ms < best) && count_within(infos, n, ms) >= quorum)
            best = ms;
    }
    return best;
}

struct quorum_status quorum_status_of(const struct redlock_node_info *infos, size_t n, size_t quorum)
{
    struct quorum_status sum = {.n = n, .quorum = quorum};

    for (size_t i = 0; i < n; i++) {
        bool up = connected(&infos[i]);

        sum.answering += quorum_status_answers(&infos[i]);
        sum.voting += up && infos[i].standing == REDLOCK_STANDING_VOTES;
        sum.waiting += up && infos[i].standing == REDLOCK_STANDING_QUARANTINED;
        sum.unmarked += up && infos[i].fault == REDLOCK_FAULT_NO_MARKER;
    }
    sum.quorum_in_ms = sum.voting >= quorum ? 0 : quorum_in_ms(infos, n, quorum);
    return sum;
}
