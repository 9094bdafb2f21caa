/* The harness's masters as the host admits them: admission statuses, epoch checks, restarts, clocks that are set. */
#include <string.h>

#include "core_harness.h"
#include "engine/answer.h"

/* --- Admission statuses ------------------------------------------------------------------------------------------- */

static void admit(struct core *core, unsigned node, struct rl_admission_status admission)
{
    rl_engine_admission(&core->engine, node, &admission);
}

void core_admit_voting(struct core *core, unsigned node, bool guarded)
{
    admit(core, node, (struct rl_admission_status){.kind = RL_ADMISSION_VOTES, .epoch_checked = guarded});
}

void core_admit_quarantined(struct core *core, unsigned node, int64_t until_ms)
{
    admit(core, node,
          (struct rl_admission_status){.kind = RL_ADMISSION_QUARANTINED,
                                       .fault = RL_FAULT_NEW_MEMORY,
                                       .until = {rl_ms(until_ms).ns},
                                       .epoch_checked = true});
}

void core_admit(struct core *core, unsigned node, enum rl_admission kind)
{
    admit(core, node, (struct rl_admission_status){.kind = kind, .fault = RL_FAULT_NO_RIGHTS});
}

struct core *core_start_epoch_checked(size_t n_nodes)
{
    struct core *core = core_start(n_nodes);

    for (unsigned node = 0; node < n_nodes; node++)
        core_admit_voting(core, node, true);
    return core;
}

struct core *core_start_unverified(bool once)
{
    struct core *core = core_start_epoch_checked(3);
    struct rl_acquire request = once ? core_request_once() : core_request();

    core_acquire(core, &request);
    core_skip(core);
    return core;
}

struct core *core_start_restarted(unsigned n_restarted)
{
    struct core *core = core_start_held(3);

    for (unsigned node = 0; node < n_restarted; node++)
        core_restart(core, node, 6000);
    core_run_to(core, 300);
    core_skip(core);
    return core;
}

void core_miss(struct core *core, unsigned node)
{
    core_answer(core, node, RL_REFUSED);
    if (core->engine.votes.admissions[node].epoch_checked)
        core_pass_epoch_check(core, node);
}

void core_restart(struct core *core, unsigned node, int64_t until_ms)
{
    core_drop(core, node);
    core_admit_quarantined(core, node, until_ms);
    core_link(core, node, RL_LINK_READY);
}

void core_step_clock(struct core *core, unsigned node, int64_t ms)
{
    const struct rl_clock_move move = {core->now, core->now, rl_ms(ms), rl_ms(ms)};

    rl_engine_clock_stepped(&core->engine, core->now, node, &move);
    for (unsigned i = 0; i < CORE_LOCKS; i++) {
        rl_lock_clock_stepped(&core->engine, &core->locks[i], core->now, node, rl_ms(ms));
        core->looks[i] = true;
    }
    core_drain(core);
}

/* --- Guards ------------------------------------------------------------------------------------------------------- */

/* A guard finds no room where other commands do not either. */
void core_write_epoch_checks(struct core *core)
{
    uint32_t nodes = rl_engine_take_unchecked(&core->engine);

    for (unsigned node = 0; node < core->engine.votes.config.n_nodes; node++) {
        struct core_queue *queue = &core->queues[node];

        if (!(nodes & (UINT32_C(1) << node)) || core->clogged[node])
            continue;
        CORE_DEMAND(core->engine.votes.admissions[node].epoch_checked, "an epoch check for master %u, unchecked\n%s",
                    node,
                    core->log);
        CORE_DEMAND(queue->size < CORE_QUEUE, "master %u has too much to answer\n%s", node, core->log);
        queue->commands[(queue->head + queue->size++) % CORE_QUEUE] = (struct core_command){.claim = NULL};
    }
}

static void answer_guard(struct core *core, unsigned node, enum rl_outcome outcome)
{
    const struct core_queue *queue = &core->queues[node];

    CORE_DEMAND(queue->size > 0 && !queue->commands[queue->head].claim, "master %u has no epoch check to answer\n%s",
                node,
                core->log);
    core_answer(core, node, outcome);
}

void core_pass_epoch_check(struct core *core, unsigned node)
{
    answer_guard(core, node, RL_GRANTED);
}

void core_fail_epoch_check(struct core *core, unsigned node)
{
    answer_guard(core, node, RL_REFUSED);
}

/* --- The second reading ------------------------------------------------------------------------------------------- */

static bool has_live_vote(const struct core *core, const struct core_command *command, unsigned node)
{
    return core->now.ns < command->claim->claim->votes[node].bound.ns;
}

void core_check_trusted(const struct core *core, const struct core_command *command, unsigned node)
{
    const struct rl_admission_status *admission = &core->engine.votes.admissions[node];
    bool stepped = core->now.ns < core->engine.votes.stepped_until[node].ns;
    bool quarantined = admission->kind == RL_ADMISSION_QUARANTINED && core->now.ns < admission->until.ns;

    CORE_DEMAND(admission->kind == RL_ADMISSION_VOTES || admission->kind == RL_ADMISSION_QUARANTINED,
                "master %u must not be asked\n%s", node, core->log);
    if (command->step == RL_STEP_CLAIM || command->step == RL_STEP_ENQUEUE)
        CORE_DEMAND(!quarantined && !stepped, "a claim to master %u, which must not vote\n%s", node, core->log);
    else if (quarantined || (stepped && command->step == RL_STEP_EXTEND))
        CORE_DEMAND(has_live_vote(core, command, node), "master %u has lost a vote that is over\n%s", node, core->log);
    CORE_DEMAND(command->step != RL_STEP_REPAIR || !stepped, "master %u gets a new vote, its clock was set\n%s", node,
                core->log);
}
