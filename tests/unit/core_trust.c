/* The harness's masters as the host judges them: standings, guards, restarts, clocks that are set. */
#include <string.h>

#include "core_harness.h"

/* --- Standings ---------------------------------------------------------------------------------------------------- */

static void judge(struct core *core, unsigned node, struct rl_standing standing)
{
    rl_engine_standing(&core->engine, core->now, node, &standing);
}

void core_judge_votes(struct core *core, unsigned node, bool guarded)
{
    judge(core, node, (struct rl_standing){.kind = RL_STANDING_VOTES, .guarded = guarded});
}

void core_judge_quarantined(struct core *core, unsigned node, int64_t until_ms)
{
    judge(core, node, (struct rl_standing){RL_STANDING_QUARANTINED, RL_FAULT_NEW_MEMORY, {rl_ms(until_ms).ns}, true});
}

void core_judge(struct core *core, unsigned node, enum rl_standing_kind kind)
{
    judge(core, node, (struct rl_standing){.kind = kind, .fault = RL_FAULT_NO_RIGHTS});
}

struct core *core_start_guarded(size_t n_nodes)
{
    struct core *core = core_start(n_nodes);

    for (unsigned node = 0; node < n_nodes; node++)
        core_judge_votes(core, node, true);
    return core;
}

void core_restart(struct core *core, unsigned node, int64_t until_ms)
{
    core_drop(core, node);
    core_judge_quarantined(core, node, until_ms);
    core_link(core, node, RL_LINK_READY);
}

void core_step_clock(struct core *core, unsigned node, int64_t ms)
{
    rl_engine_clock_stepped(&core->engine, core->now, node);
    for (unsigned i = 0; i < CORE_LOCKS; i++)
        rl_lock_clock_stepped(&core->engine, &core->locks[i], core->now, node, rl_ms(ms));
    core_drain(core);
}

/* --- Guards ------------------------------------------------------------------------------------------------------- */

/* A guard finds no room where other commands do not either. */
void core_write_guards(struct core *core)
{
    uint32_t nodes = rl_engine_take_unguarded(&core->engine);

    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        struct core_queue *queue = &core->queues[node];

        if (!(nodes & (UINT32_C(1) << node)) || core->clogged[node])
            continue;
        CORE_DEMAND(core->engine.votes.standings[node].guarded, "a guard for master %u, unguarded\n%s", node,
                    core->log);
        CORE_DEMAND(queue->size < CORE_QUEUE, "master %u has too much to answer\n%s", node, core->log);
        queue->commands[(queue->head + queue->size++) % CORE_QUEUE] = (struct core_command){.claim = NULL};
    }
}

static void answer_guard(struct core *core, unsigned node, enum rl_outcome outcome)
{
    const struct core_queue *queue = &core->queues[node];

    CORE_DEMAND(queue->size > 0 && !queue->commands[queue->head].claim, "master %u has no guard to answer\n%s", node,
                core->log);
    core_answer(core, node, outcome);
}

void core_prove(struct core *core, unsigned node)
{
    answer_guard(core, node, RL_GRANTED);
}

void core_disprove(struct core *core, unsigned node)
{
    answer_guard(core, node, RL_REFUSED);
}

/* --- The second reading ------------------------------------------------------------------------------------------- */

static bool has_live_vote(const struct core *core, const struct core_command *command, unsigned node)
{
    return core->now.ns < command->claim->claim->slots[node].bound.ns;
}

void core_check_trusted(const struct core *core, const struct core_command *command, unsigned node)
{
    const struct rl_standing *standing = &core->engine.votes.standings[node];
    bool stepped = core->now.ns < core->engine.votes.stepped_until[node].ns;
    bool quarantined = standing->kind == RL_STANDING_QUARANTINED && core->now.ns < standing->until.ns;

    CORE_DEMAND(standing->kind == RL_STANDING_VOTES || standing->kind == RL_STANDING_QUARANTINED,
                "master %u must not be asked\n%s", node, core->log);
    if (command->step == RL_STEP_CLAIM || command->step == RL_STEP_ENQUEUE)
        CORE_DEMAND(!quarantined && !stepped, "a claim to master %u, which must not vote\n%s", node, core->log);
    else if (quarantined || (stepped && command->step == RL_STEP_EXTEND))
        CORE_DEMAND(has_live_vote(core, command, node), "master %u has lost a vote that is over\n%s", node, core->log);
    CORE_DEMAND(command->step != RL_STEP_REPAIR || !stepped, "master %u gets a new vote, its clock was set\n%s", node,
                core->log);
}
