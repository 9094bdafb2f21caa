/* Fencing tokens (rules 8) in every small case, against what has really happened at the masters. */
#include "core_harness.h"
#include "kinds/mutex.h"
#include "suite.h"

static struct core *start_claiming(const uint64_t *counters, size_t n_nodes)
{
    struct core *core = core_start(n_nodes);
    struct rl_acquire request = core_request_once();

    for (size_t node = 0; node < n_nodes; node++)
        core->counters[node] = counters[node];
    request.kind = &rl_fenced_kind;
    core->proposal = 1000;
    core_acquire(core, &request);
    core_skip(core);
    return core;
}

static uint64_t token(const struct core *core)
{
    return rl_claim_token(core->locks[0].claim);
}

/* What has really happened at a master, apart from the engine: whether it has granted, and what it has recorded. */
struct truth {
    bool granted;
    uint64_t recorded;
};

/* A raise confirmed by a master lifts its counter. */
static void answer_truly(struct core *core, struct truth *truth, unsigned node, bool confirm)
{
    const struct core_queue *queue = &core->queues[node];
    enum rl_step step = queue->commands[queue->head].step;

    if (step == RL_STEP_CLAIM) {
        truth[node] = (struct truth){true, core->counters[node]};
        core_answer(core, node, RL_GRANTED);
    } else if (step == RL_STEP_RAISE && confirm) {
        uint64_t raised = token(core);

        truth[node].recorded = raised > truth[node].recorded ? raised : truth[node].recorded;
        core_answer(core, node, RL_GRANTED);
    } else {
        core_answer(core, node, RL_REFUSED);
    }
}

static void check_token(const struct core *core, const struct truth *truth)
{
    unsigned recorded = 0;

    for (unsigned node = 0; node < 3; node++)
        recorded += truth[node].granted && truth[node].recorded == token(core);
    CORE_DEMAND(recorded >= 2, "token %llu is recorded by %u masters\n%s", (unsigned long long)token(core), recorded,
                core->log);
}

/* Counters from 1 to 3, six orders of the claims' answers, and a confirmation or denial from each master. */
static void play(unsigned number)
{
    static const unsigned orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t counters[] = {1 + number % 3, 1 + number / 3 % 3, 1 + number / 9 % 3};
    const unsigned *order = orders[number / 27 % 6];
    unsigned confirms = number / 162;
    struct core *core = start_claiming(counters, 3);
    struct truth truth[3] = {{0}};

    for (unsigned turn = 0; turn < 6 && core_state(core) == RL_LOCK_ACQUIRING; turn++) {
        unsigned node = order[turn % 3];

        if (core_queued(core, node))
            answer_truly(core, truth, node, confirms & (1u << node));
    }
    CORE_DEMAND(core_state(core) != RL_LOCK_ACQUIRING, "undecided\n%s", core->log);
    CORE_DEMAND(confirms != 7 || core_state(core) == RL_LOCK_HELD, "all have confirmed\n%s", core->log);
    if (core_state(core) == RL_LOCK_HELD)
        check_token(core, truth);
    core_stop(core);
}

GROUP(cases, "every small case", NULL, NULL)

TEST(cases, a_lock_is_held_only_with_a_token_that_a_quorum_has_recorded)
{
    for (unsigned number = 0; number < 162 * 8; number++)
        play(number);
}

SUITE("engine_fence_every")
