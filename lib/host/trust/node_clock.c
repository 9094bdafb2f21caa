#include "host/trust/node_clock.h"

#include "engine/clock_step.h"
#include "host/host.h"
#include "host/trust/admission.h"

static void stepped_forward(struct rl_host *host, unsigned node, struct rl_span step, struct rl_instant now)
{
    host->counters.clock_steps++;
    rl_engine_clock_stepped(&host->engine, now, node);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        struct rl_host_lock *lock = RL_CONTAINER_OF(at, struct rl_host_lock, link);

        rl_lock_clock_stepped(&host->engine, &lock->core, now, node, step);
        rl_host_rearm(lock);
    }
    rl_trust_update(host, node, now);
}

void rl_trust_read_clock(struct rl_host *host, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now)
{
    struct rl_node_clock *clock = &host->trust.nodes[node].clock;
    enum rl_clock_finding finding = rl_node_clock_read(clock, host->options->drift_ppm, node_us, sent, now);

    if (finding == RL_CLOCK_STEADY)
        return;
    host->sink->validity(host, NULL);
    host->sink->clock(host, node, clock->last_step);
    if (finding == RL_CLOCK_FORWARD)
        stepped_forward(host, node, clock->last_step, now);
}
