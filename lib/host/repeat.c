#include "host/repeat.h"

#include "engine/repeat.h"
#include "host/commands.h"
#include "host/effects.h"
#include "host/host.h"
#include "host/send.h"

static bool repeat(struct rl_host *host, unsigned node, const struct rl_tag *tag, uint8_t flags)
{
    struct rl_tag again = *tag;

    if (rl_batch_flush(host)) /* which may end an attempt */
        rl_host_run(host);
    if ((tag->flags & flags) ||
        !rl_engine_may_repeat(&host->engine, host->now, tag->owner, (enum rl_step)tag->step, tag->round, node))
        return false;
    again.flags |= flags;
    return rl_host_send_again(host, node, &again);
}

bool rl_repeat_with_text(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    if (!repeat(host, node, tag, RL_COMMAND_AS_EVAL))
        return false;
    host->counters.script_reloads++;
    return true;
}

bool rl_repeat_alone(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    return repeat(host, node, tag, RL_REPEAT_ALONE);
}

bool rl_repeat_in_full(struct rl_host *host, unsigned node, const struct rl_tag *tag, enum rl_outcome outcome)
{
    uint8_t deleted = outcome == RL_GRANTED ? RL_REPEAT_DELETED : 0;

    rl_contended_note(&host->contended, rl_host_wanted_key(tag->owner), host->now);
    return repeat(host, node, tag, RL_COMMAND_IN_FULL | deleted);
}
