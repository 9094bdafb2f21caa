#include "host/trust/node_clock.h"

#include "engine/answer.h"
#include "engine/engine.h"
#include "host/host.h"
#include "host/trust/admission.h"
#include "votes/clocks.h"

/* Votes for held locks end earlier by the master's clock than was known. */
static void shorten_votes(struct rl_host *host, unsigned node, struct rl_span step, struct rl_instant now)
{
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next) {
        struct rl_host_lock *lock = RL_CONTAINER_OF(at, struct rl_host_lock, link);

        rl_lock_clock_stepped(&host->engine, &lock->core, now, node, step);
        rl_host_rearm(lock);
    }
}

/* Whether it was this client's own clock shows when the others are read, too: with the epoch checks of this turn. */
static void read_others(struct rl_host *host, unsigned node)
{
    const struct rl_clock_move *move = &host->trust.nodes[node].clock.last_move;

    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        const struct rl_node_clock *other = &host->trust.nodes[i].clock;

        if (i != node && host->engine.votes.links[i] == RL_LINK_READY && other->at.ns != RL_LONG_AGO.ns &&
            rl_before(host->engine.votes.moves[i].to, move->from))
            host->engine.votes.unchecked |= rl_bit(i);
    }
}

static void stepped_forward(struct rl_host *host, unsigned node, struct rl_instant now)
{
    const struct rl_node_clock *clock = &host->trust.nodes[node].clock;

    host->counters.clock_steps++;
    rl_engine_clock_stepped(&host->engine, now, node, &clock->last_move);
    shorten_votes(host, node, clock->last_step, now);
    rl_trust_update(host, node, now);
    read_others(host, node);
}

/* A master whose readings do not show it: votes there end as much earlier. One that was not read since has it to come,
 * and one that was asked before and has answered afterwards may have. */
static void foresee(struct rl_host *host, unsigned node, const struct rl_clock_move *own, struct rl_instant now)
{
    struct rl_node_clock *clock = &host->trust.nodes[node].clock;

    if (!rl_before(host->engine.votes.moves[node].to, own->from))
        return;
    shorten_votes(host, node, own->most, now);
    if (clock->at.ns != RL_LONG_AGO.ns && rl_before(clock->asked, own->to))
        rl_node_clock_shift(clock, rl_before(own->from, clock->at) ? (struct rl_span){0} : own->least, own->most);
}

static void explain(struct rl_host *host, unsigned node, struct rl_instant now)
{
    const struct rl_node_clock *clocks[RL_MAX_NODES] = {NULL};
    struct rl_clock_move own;
    unsigned n = (unsigned)host->engine.votes.config.n_nodes;
    uint32_t nodes;

    for (unsigned i = 0; i < n; i++)
        clocks[i] = &host->trust.nodes[i].clock;
    nodes = rl_explain_clock_steps(&host->engine.votes, clocks, node, &own);
    if (!nodes)
        return;
    host->sink->own_clock(host, nodes, &own);
    for (struct rl_list *at = host->locks.next; at != &host->locks; at = at->next)
        rl_lock_own_clock_stood(&RL_CONTAINER_OF(at, struct rl_host_lock, link)->core, own.most);
    for (unsigned i = 0; i < n; i++) {
        if (nodes & rl_bit(i))
            rl_trust_update(host, i, now);
        else
            foresee(host, i, &own, now);
    }
    rl_engine_admissions_changed(&host->engine, now);
}

/* A master that has not moved may be what was waited for. */
static void explain_steps(struct rl_host *host, struct rl_instant now)
{
    for (unsigned i = 0; i < host->engine.votes.config.n_nodes; i++) {
        if (rl_before(now, host->engine.votes.stepped_until[i]) &&
            host->engine.votes.moves[i].to.ns != RL_LONG_AGO.ns)
            explain(host, i, now);
    }
}

static void note_rate(struct rl_host *host, unsigned node, struct rl_instant now)
{
    bool slow = rl_node_clock_is_slow(&host->trust.nodes[node].clock);

    if (slow == !!(host->engine.votes.slow_clocks & rl_bit(node)))
        return;
    rl_note_slow_clock(&host->engine.votes, node, slow);
    rl_engine_admissions_changed(&host->engine, now);
    rl_trust_update(host, node, now);
}

void rl_trust_read_clock(struct rl_host *host, unsigned node, int64_t node_us, struct rl_instant sent,
                         struct rl_instant now)
{
    struct rl_node_clock *clock = &host->trust.nodes[node].clock;
    enum rl_clock_finding finding = rl_node_clock_read(clock, host->options->drift_ppm, node_us, sent, now);

    if (finding != RL_CLOCK_STEADY) {
        host->sink->validity(host, NULL);
        host->sink->clock(host, node, clock->last_step);
    }
    if (finding == RL_CLOCK_FORWARD)
        stepped_forward(host, node, now);
    note_rate(host, node, now);
    if (host->counters.clock_steps)
        explain_steps(host, now);
}
