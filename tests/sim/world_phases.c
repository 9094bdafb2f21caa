/* From the faults to the healing, and from there to the end. */
#include "world.h"

/* Long enough for everything to be connected again and every pending rollback to have been tried: two silences, then a
 * resend. */
static int64_t settling_time(const struct plan *plan)
{
    int64_t time = 2 * (plan->stall_timeout.ns + plan->connect_timeout.ns + plan->backoff_max.ns);

    time += 4 * plan->config.node_timeout.ns + 6 * plan->timer_slack_ns + 1000 * RL_NS_PER_MS;
    return time + time / 8; /* clocks may be slow */
}

void phase_heal(struct world *world)
{
    int64_t healed = faults_heal(world);
    int64_t patience = 4 * rl_ms(world->plan.max_ttl_ms).ns + 120 * 1000 * RL_NS_PER_MS + world->set_back_by;

    TRACE(world, "--", "everything heals");
    world->phase = PHASE_HEALED;
    operator_on_heal(world);
    world_event(world, healed, EVENT_PROMPT, 0, 0, 0);
    world_event(world, healed + settling_time(&world->plan), EVENT_PROMPT, 1, 0, 0);
    world_event(world, healed + settling_time(&world->plan) + patience, EVENT_LIMIT, 0, 0, 0);
    /* A second time to settle: who cannot have a majority asks nobody, and so finds out who is silent only after the
     * quarantines, or after he has looked again at those who did not vote. */
    world_event(world, healed + 2 * settling_time(&world->plan) + rl_ms(world->plan.max_ttl_ms + 1000).ns +
                2 * CLIENT_LOOKS_AGAIN_NS + wait_queue_patience(world), EVENT_PATIENCE, 0, 0, 0);
    workload_heal(world);
}

static bool clients_are_free(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        if (!client->alive || client->busy_until > world->now || client->host.closing)
            return false;
    }
    return true;
}

/* No rollback is pending, nothing is under way. */
static bool is_quiet(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        if (client->host.engine.votes.n_pending_rollbacks)
            return false;
        for (unsigned i = 0; i < MAX_LOOKS; i++) {
            if (client->looks[i].number)
                return false;
        }
        for (unsigned m = 0; m < client->n_places; m++) {
            if (client->wires[m].count && client->wires[m].phase == WIRE_OPEN)
                return false;
        }
    }
    return clients_are_free(world) && network_idle(world);
}

static void finish(struct world *world)
{
    world->phase = PHASE_OVER;
    residue_check_final(world);
    wait_queue_check_final(world);
    once_check_final(world);
    memory_check_final(world);
}

void phase_advance(struct world *world)
{
    if (world->phase == PHASE_HEALED && workload_done(world) && change_done(world) && clients_are_free(world)) {
        world->phase = PHASE_DRAINING;
        TRACE(world, "--", "all handles are destroyed");
        workload_end(world);
    } else if (world->phase == PHASE_DRAINING && world->prompt_checked && is_quiet(world)) {
        finish(world);
    }
}

void phase_on_prompt(struct world *world, bool check)
{
    if (!check) {
        residue_mark(world);
        return;
    }
    residue_check_prompt(world);
    world->prompt_checked = true;
}

void phase_on_limit(struct world *world)
{
    progress_on_limit(world);
    if (!world->violated)
        world_violation(world, "memory", "a rollback is still pending, long after everything has healed");
}
