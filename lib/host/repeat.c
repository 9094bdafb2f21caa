#include "host/repeat.h"

#include "host/commands.h"
#include "host/host.h"
#include "host/send.h"

static bool repeat(struct rl_host *host, unsigned node, const struct rl_ticket *ticket, uint8_t flags)
{
    struct rl_ticket again = *ticket;

    rl_batch_flush(host); /* which may end an attempt */
    if ((ticket->flags & flags) ||
        !rl_engine_may_repeat(&host->engine, host->now, ticket->owner, (enum rl_step)ticket->step, ticket->round, node))
        return false;
    again.flags |= flags;
    return rl_host_send_again(host, node, &again);
}

bool rl_repeat_with_text(struct rl_host *host, unsigned node, const struct rl_ticket *ticket)
{
    if (!repeat(host, node, ticket, RL_COMMAND_AS_EVAL))
        return false;
    host->counters.script_reloads++;
    return true;
}

bool rl_repeat_alone(struct rl_host *host, unsigned node, const struct rl_ticket *ticket)
{
    return repeat(host, node, ticket, RL_REPEAT_ALONE);
}

bool rl_repeat_in_full(struct rl_host *host, unsigned node, const struct rl_ticket *ticket, enum rl_outcome outcome)
{
    uint8_t deleted = outcome == RL_GRANTED ? RL_REPEAT_DELETED : 0;

    rl_contended_note(&host->contended, rl_host_wanted_key(ticket->owner), host->now);
    return repeat(host, node, ticket, RL_COMMAND_IN_FULL | deleted);
}
