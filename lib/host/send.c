#include "host/send.h"

#include "engine/answer.h"
#include "host/commands.h"
#include "host/host.h"

static bool send_scratch(struct rl_host *host, unsigned node, enum rl_sending how, const struct rl_tag *tag)
{
    bool sent = rl_transport_send(&host->transport, node, &host->scratch, how, tag);

    host->counters.commands += sent;
    return sent;
}

/* A refusal of one master may end the attempt before the next one is asked. */
static bool is_wanted(const struct rl_effect *effect)
{
    return effect->step != RL_STEP_ENQUEUE || (effect->claim->lock && !effect->claim->rolling_back);
}

static enum rl_sending sending_of(enum rl_step step)
{
    return step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE ? RL_SENDING_CLAIM : RL_SENDING;
}

/* Formats once where that is possible, fans out the bytes. */
void rl_host_send_now(struct rl_host *host, const struct rl_effect *effect)
{
    struct rl_tag tag = {.owner = effect->claim, .sent = host->now, .round = effect->round,
                               .step = (uint8_t)effect->step};
    struct rl_event refused = {.now = host->now, .claim = effect->claim, .step = effect->step, .round = effect->round,
                               .answer = {RL_FAILED, RL_DETAIL_BACKLOG, 0}, .latency_us = RL_NO_LATENCY};
    unsigned formatted_for = REDLOCK_MAX_MASTERS;
    bool encoded = false;

    if (effect->step == RL_STEP_ENQUEUE)
        rl_waiters_enter(host, effect->claim);
    for (unsigned node = 0; node < host->engine.votes.config.n_nodes; node++) {
        if (!(effect->nodes & rl_bit(node)))
            continue;
        if (formatted_for == REDLOCK_MAX_MASTERS ||
            !rl_command_is_same(host, effect->claim, effect->step, formatted_for, node)) {
            encoded = is_wanted(effect) && rl_command_of_step(host, node, &tag);
            formatted_for = node;
        }
        if (encoded && send_scratch(host, node, sending_of(effect->step), &tag))
            continue;
        refused.node = node;
        rl_engine_reply(&host->engine, &refused);
    }
}

bool rl_host_send_again(struct rl_host *host, unsigned node, const struct rl_tag *tag)
{
    return rl_command_of_step(host, node, tag) &&
           send_scratch(host, node, sending_of((enum rl_step)tag->step), tag);
}
