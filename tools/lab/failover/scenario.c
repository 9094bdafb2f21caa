#include "scenario.h"

#include <string.h>

/* What comes after a quarantine: a reconnect with its backoff, and some time to see that all is well again. */
#define SETTLE_MS 1500

const struct fo_scenario fo_scenarios[FO_SCENARIOS] = {
    {.name = "baseline", .text = "nothing is done", .compared = true,
     .story = "The yardstick: what this machine does to the load by itself."},
    {.name = "kill-1", .text = "1 master is killed", .fault = FO_KILL, .masters = 1, .compared = true,
     .story = "The others are a quorum, and nobody waits for the dead."},
    {.name = "kill-leader", .text = "the leading master is killed", .fault = FO_KILL, .masters = 1, .leader = true,
     .by_name = true, .compared = true,
     .story = "Where one master leads the others, they must notice its end and choose another."},
    {.name = "kill-lagging", .text = "the leading master is killed while its replicas lag behind", .fault = FO_KILL,
     .masters = 1, .leader = true, .lagging = true, .by_name = true, .compared = true,
     .story = "It has granted a lock that its replicas have not heard of, and dies. One of them takes its place."},
    {.name = "kill-2", .text = "2 masters are killed", .fault = FO_KILL, .masters = 2, .compared = true,
     .story = "Three of five are still a quorum."},
    {.name = "kill-3", .text = "3 masters are killed: the quorum is lost", .fault = FO_KILL, .masters = 3,
     .story = "Two of five may not grant anything: everybody is refused in time. Masters without persistence come back "
              "without memory and must wait until every lock that they may have forgotten has run out."},
    {.name = "kill-all", .text = "all masters are killed", .fault = FO_KILL, .masters = FO_ALL_MASTERS,
     .by_name = true, .compared = true,
     .story = "Nobody can be asked. What they come back with is what their persistence has kept."},
    {.name = "hang-1", .text = "1 master is stopped", .fault = FO_HANG, .masters = 1, .compared = true,
     .story = "It takes connections and requests, and never answers. The others decide without it."},
    {.name = "hang-leader", .text = "the leading master is stopped", .fault = FO_HANG, .masters = 1, .leader = true,
     .by_name = true, .compared = true,
     .story = "It may be replaced meanwhile, and does not know it when it goes on."},
    {.name = "hang-2", .text = "2 masters are stopped", .fault = FO_HANG, .masters = 2, .compared = true,
     .story = "Three answers are enough."},
    {.name = "hang-3", .text = "3 masters are stopped: the quorum is lost", .fault = FO_HANG, .masters = 3,
     .story = "Refused in time. When they go on, they execute all that has piled up, old attempts and their "
              "rollbacks."},
    {.name = "hang-all", .text = "all masters are stopped", .fault = FO_HANG, .masters = FO_ALL_MASTERS,
     .by_name = true, .compared = true,
     .story = "Nobody gets an answer, and when they go on, all that has piled up is executed."},
    {.name = "restart-empty", .text = "3 masters come back at once with nothing in their memory", .fault = FO_EMPTY,
     .masters = 3, .own_only = true, .compared = true,
     .story = "The case that breaks plain Redlock: a majority has forgotten who holds what, and would grant it again. "
              "Here they do not vote until the quarantine is over, and holders renew their locks meanwhile."},
    {.name = "rolling-restart", .text = "every master is restarted, one after the other", .fault = FO_ROLL,
     .story = "As an operator would, waiting for each to vote again before the next."},
    {.name = "partition", .text = "the clients are parted: some see 2 masters, the others 3", .fault = FO_PART,
     .masters = 2, .relayed = true,
     .story = "The majority's side goes on, the minority's is refused. Everything that was sent into the gap arrives "
              "when it closes, seconds late."},
    {.name = "partition-holder", .text = "the leader is cut off, with fewer than half of the masters",
     .fault = FO_PART, .masters = 2, .relayed = true, .holder = true, .by_name = true, .compared = true,
     .story = "It cannot renew its lock, and must know that before the other side grants it to a successor."},
    {.name = "slow-master", .text = "1 master answers 50 ms late, in pieces", .fault = FO_SLOW, .masters = 1,
     .relayed = true, .story = "The quorum's pace is that of its fastest members."},
    {.name = "lost-replies", .text = "2 masters execute everything, and their answers are lost",
     .fault = FO_LOSE_REPLIES, .masters = 2, .relayed = true,
     .story = "Nobody knows what these two have stored; what is not known is undone once they can be asked again."},
    {.name = "clock-step", .text = "the clocks of 2 masters are set forward by a minute", .fault = FO_STEP,
     .masters = 2, .own_only = true, .compared = true,
     .story = "All their keys end at once. The step is found out by the first answer, and they do not vote until every "
              "lock from before has run out."},
    {.name = "replace-1", .text = "1 master is killed, and another one takes its place in the list", .fault = FO_CHANGE,
     .masters = 1, .coming = 1, .own_only = true, .by_name = true,
     .story = "Two lists follow each other, and each stands until no lock by the one before is alive. Clients follow "
              "while they work."},
    {.name = "grow-3-to-5", .text = "2 masters join a list of 2 fewer", .fault = FO_CHANGE, .coming = 2,
     .growing = true, .own_only = true, .by_name = true,
     .story = "The list between has a larger quorum, since its quorums must meet those of both others."},
    {.name = "move-all", .text = "all masters are replaced by others, one list between", .fault = FO_CHANGE,
     .coming = FO_ALL_MASTERS, .own_only = true, .by_name = true,
     .story = "Another rack: locks are held throughout, and no master of the first list is one of the last."},
    {.name = "holder-dies", .text = "the leader's process is killed", .fault = FO_CRASH, .compared = true,
     .story = "Its lock must run out before anybody may have it, unless somebody who outlives it has held it for it."},
    {.name = "holder-pause", .text = "the leader's process is stopped for longer than its lock lasts",
     .fault = FO_PAUSE, .compared = true,
     .story = "It wakes up in the middle of a write, after a successor has been at work: the write comes too late, and "
              "the fencing token keeps it out."},
};

int fo_scenario_find(const char *name)
{
    for (int i = 0; i < FO_SCENARIOS; i++)
        if (strcmp(fo_scenarios[i].name, name) == 0)
            return i;
    return -1;
}

void fo_scenario_list(FILE *out)
{
    for (int i = 0; i < FO_SCENARIOS; i++)
        fprintf(out, "  %-16s %s\n", fo_scenarios[i].name, fo_scenarios[i].text);
}

bool fo_scenario_loses_quorum(const struct fo_scenario *scenario, size_t n_masters)
{
    bool stops = scenario->fault == FO_KILL || scenario->fault == FO_HANG || scenario->fault == FO_EMPTY ||
                 scenario->fault == FO_LOSE_REPLIES || scenario->fault == FO_STEP;

    return stops && (scenario->masters == FO_ALL_MASTERS || n_masters - scenario->masters < n_masters / 2 + 1);
}

enum fo_goal fo_scenario_goal(const struct fo_scenario *scenario, size_t n_masters)
{
    if (fo_scenario_loses_quorum(scenario, n_masters))
        return FO_REFUSED;
    if (scenario->fault == FO_KILL || scenario->fault == FO_HANG || (scenario->fault == FO_CHANGE && scenario->masters))
        return FO_UNNOTICED;
    return scenario->fault == FO_CRASH || scenario->fault == FO_PAUSE ? FO_TAKEOVER : FO_NO_GOAL;
}

static int64_t longer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct fo_phases fo_scenario_phases(const struct fo_scenario *scenario, size_t n_masters, uint32_t phase_ms,
                                    uint32_t ttl_ms, uint32_t quarantine_ms)
{
    struct fo_phases phases = {phase_ms, phase_ms, phase_ms};

    switch (scenario->fault) {
    case FO_KILL:
        phases.after_ms = longer(phase_ms, quarantine_ms + SETTLE_MS);
        break;
    case FO_EMPTY:
    case FO_STEP:
        phases.during_ms = longer(phase_ms, quarantine_ms + SETTLE_MS);
        break;
    case FO_ROLL:
        phases.during_ms = (int64_t)n_masters * (FO_ROLL_DOWN_MS + quarantine_ms + FO_ROLL_SETTLE_MS);
        break;
    case FO_CRASH:
    case FO_PAUSE:
        phases.during_ms = longer(phase_ms, ttl_ms + SETTLE_MS);
        break;
    case FO_PART:
        if (scenario->holder) /* where a new leader is chosen meanwhile leases may begin anew */
            phases.during_ms = longer(phase_ms, ttl_ms + ttl_ms / 2 + SETTLE_MS);
        break;
    default:
        break;
    }
    if (scenario->leader)
        phases.during_ms = longer(phases.during_ms, ttl_ms + SETTLE_MS);
    return phases;
}
