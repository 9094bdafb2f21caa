#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "story.h"

/* A world that is not over after so many events runs in circles. */
#define MAX_EVENTS 3000000u

struct world *world_create(struct lua_host *lua, struct coverage *coverage)
{
    struct world *world = calloc(1, sizeof *world);

    if (!world) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
    world->lua = lua;
    world->coverage = coverage;
    return world;
}

void world_destroy(struct world *world)
{
    if (!world)
        return;
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        for (unsigned m = 0; m < MAX_MASTERS; m++)
            wire_fini(&world->clients[c].wires[m]);
    }
    queue_fini(&world->queue);
    message_pool_fini(&world->messages);
    box_pool_fini(&world->boxes);
    free(world);
}

void world_event(struct world *world, int64_t at, enum event_kind kind, unsigned a, unsigned b, uint32_t generation)
{
    queue_push(&world->queue, (struct event){.at = at > world->now ? at : world->now, .generation = generation,
                                             .kind = (uint16_t)kind, .a = (uint16_t)a, .b = (uint16_t)b});
}

void world_violation(struct world *world, const char *oracle, const char *format, ...)
{
    va_list arguments;
    int size;

    if (world->violated)
        return;
    world->violated = true;
    size = snprintf(world->violation, sizeof world->violation, "%s, at %.6f ms: ", oracle, (double)world->now / 1e6);
    va_start(arguments, format);
    vsnprintf(world->violation + size, sizeof world->violation - (size_t)size, format, arguments);
    va_end(arguments);
    TRACE(world, "!!", "%s", world->violation);
}

/* --- Phases ------------------------------------------------------------------------------------------------------- */

/* Long enough for everything to be connected again and every debt to have been tried: two silences, then a resend. */
static int64_t settling_time(const struct plan *plan)
{
    int64_t time = 2 * (plan->stall_timeout.ns + plan->connect_timeout.ns + plan->backoff_max.ns);

    time += 4 * plan->config.node_timeout.ns + 6 * plan->timer_slack_ns + 1000 * RL_NS_PER_MS;
    return time + time / 8; /* clocks may be slow */
}

static void heal(struct world *world)
{
    int64_t healed = faults_heal(world);
    int64_t patience = 4 * rl_ms(world->plan.max_ttl_ms).ns + 120 * 1000 * RL_NS_PER_MS;

    TRACE(world, "--", "everything heals");
    world->phase = PHASE_HEALED;
    world_event(world, healed, EVENT_PROMPT, 0, 0, 0);
    world_event(world, healed + settling_time(&world->plan), EVENT_PROMPT, 1, 0, 0);
    world_event(world, healed + settling_time(&world->plan) + patience, EVENT_LIMIT, 0, 0, 0);
    workload_heal(world);
}

static bool clients_are_free(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        if (!world->clients[c].alive || world->clients[c].busy_until > world->now)
            return false;
    }
    return true;
}

/* Nothing is owed, nothing is under way. */
static bool is_quiet(const struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        if (client->engine.n_debts)
            return false;
        for (unsigned m = 0; m < world->plan.n_masters; m++) {
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
    once_check_final(world);
    memory_check_final(world);
}

static void advance(struct world *world)
{
    if (world->phase == PHASE_HEALED && workload_done(world) && clients_are_free(world)) {
        world->phase = PHASE_DRAINING;
        TRACE(world, "--", "all handles are destroyed");
        workload_end(world);
    } else if (world->phase == PHASE_DRAINING && world->prompt_checked && is_quiet(world)) {
        finish(world);
    }
}

static void on_prompt(struct world *world, bool check)
{
    if (!check) {
        residue_mark(world);
        return;
    }
    residue_check_prompt(world);
    world->prompt_checked = true;
}

static void on_limit(struct world *world)
{
    progress_on_limit(world);
    if (!world->violated)
        world_violation(world, "memory", "something is still owed, long after everything has healed");
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static void count_engine(struct world *world, const struct client *client)
{
    const struct rl_counters *counters = &client->engine.counters;

    world->coverage->counters[COUNTER_LATE_GRANTS] += counters->late_grants;
    world->coverage->counters[COUNTER_ROLLBACKS] += counters->rollbacks;
    world->coverage->counters[COUNTER_DEBTS_PAID] += counters->debts_paid;
    world->coverage->counters[COUNTER_DEBTS_EXPIRED] += counters->debts_expired;
}

static bool conn_is_current(const struct world *world, const struct event *event)
{
    const struct conn *conn = &world->conns[event->a];

    return conn->in_use && conn->generation == event->generation;
}

static void on_conn_event(struct world *world, const struct event *event)
{
    uint16_t conn = event->a;
    struct client *client = &world->clients[world->conns[conn].client];

    switch ((enum event_kind)event->kind) {
    case EVENT_REQUEST:
        network_on_request(world, conn);
        break;
    case EVENT_ANSWER:
        network_on_answer(world, conn);
        break;
    case EVENT_UP:
        network_on_up(world, conn);
        break;
    case EVENT_DOWN:
        network_on_down(world, conn);
        break;
    case EVENT_CLOSE_SEEN:
    default:
        client_begin(client);
        wire_on_closed(client, world->conns[conn].master);
        client_end(client);
        break;
    }
}

static void on_client_event(struct world *world, struct client *client, const struct event *event)
{
    client_begin(client);
    switch ((enum event_kind)event->kind) {
    case EVENT_WIRE:
        if (client->wires[event->b].timer_generation == event->generation)
            wire_on_timer(client, event->b);
        break;
    case EVENT_TIMER:
        if (client->timer_generation == event->generation)
            client_on_timer(client);
        break;
    case EVENT_APP:
    default:
        workload_on_event(world, client, &client->handles[event->b], event->generation);
        break;
    }
    client_end(client);
}

static void on_world_event(struct world *world, const struct event *event)
{
    struct client *client;

    switch ((enum event_kind)event->kind) {
    case EVENT_OBSERVE:
        exclusion_recheck(world, &world->clients[event->a]);
        break;
    case EVENT_CHECK:
        client = &world->clients[event->a];
        once_on_check(world, client, &client->handles[event->b], event->generation);
        break;
    case EVENT_STRIKE:
        faults_on_strike(world, (enum fault)event->a);
        break;
    case EVENT_RECOVER:
        faults_on_recover(world, event->a);
        break;
    case EVENT_RESTART:
        faults_on_restart(world, event->a);
        break;
    case EVENT_REVIVE:
        faults_on_revive(world, event->a);
        break;
    case EVENT_HEAL:
        heal(world);
        break;
    case EVENT_PROMPT:
        on_prompt(world, event->a == 1);
        break;
    case EVENT_LIMIT:
        on_limit(world);
        break;
    case EVENT_STORY:
        story_on_line(world, event->a);
        break;
    default:
        break;
    }
}

/* Events that reach a process: not while it is stopped. */
static struct client *receiver(struct world *world, const struct event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_ANSWER:
    case EVENT_DOWN:
    case EVENT_CLOSE_SEEN:
        return &world->clients[world->conns[event->a].client];
    case EVENT_WIRE:
    case EVENT_TIMER:
    case EVENT_APP:
        return &world->clients[event->a];
    default:
        return NULL;
    }
}

static bool is_stale(const struct world *world, const struct event *event)
{
    switch ((enum event_kind)event->kind) {
    case EVENT_REQUEST:
    case EVENT_UP:
        return !conn_is_current(world, event);
    case EVENT_ANSWER:
    case EVENT_DOWN:
    case EVENT_CLOSE_SEEN:
        return !conn_is_current(world, event) || !world->conns[event->a].client_open;
    case EVENT_WIRE:
        return !world->clients[event->a].alive ||
               world->clients[event->a].wires[event->b].timer_generation != event->generation;
    case EVENT_TIMER:
        return !world->clients[event->a].alive || world->clients[event->a].timer_generation != event->generation;
    case EVENT_APP:
        return !world->clients[event->a].alive ||
               world->agents[event->a][event->b].generation != event->generation;
    default:
        return false;
    }
}

static void dispatch(struct world *world, const struct event *event)
{
    struct client *client;

    if (is_stale(world, event))
        return;
    client = receiver(world, event);
    if (client && client->busy_until > world->now)
        world_event(world, client->busy_until, (enum event_kind)event->kind, event->a, event->b, event->generation);
    else if (event->kind <= EVENT_CLOSE_SEEN)
        on_conn_event(world, event);
    else if (client)
        on_client_event(world, client, event);
    else
        on_world_event(world, event);
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

static void reset(struct world *world)
{
    struct plan *plan = &world->plan;

    world->now = 0;
    world->phase = PHASE_FAULTS;
    world->acting = NULL;
    world->keep[UP] = KEEP_RANDOM;
    world->keep[DOWN] = KEEP_RANDOM;
    world->violated = false;
    world->prompt_checked = false;
    queue_clear(&world->queue);
    message_pool_clear(&world->messages);
    world->boxes.used = 0;
    rng_init(&world->net, plan->seed, 2);
    rng_init(&world->fate, plan->seed, 3);
    rng_init(&world->work, plan->seed, 4);
    rng_init(&world->host, plan->seed, 5);
    network_reset(world);
    for (unsigned m = 0; m < plan->n_masters; m++) {
        master_init(&world->masters[m], m);
        world->masters[m].clock = (struct clockwork){0, plan->master_offset[m], plan->master_rate[m]};
        world->masters[m].everysec = plan->everysec[m];
    }
    for (unsigned c = 0; c < plan->n_clients; c++) {
        struct client *client = &world->clients[c];

        client->world = world;
        client->index = (uint8_t)c;
        client->n_handles = plan->n_handles[c];
        client->clock = (struct clockwork){0, plan->client_offset[c], plan->client_rate[c]};
        client->life = 0;
        client->ops = 0;
        client->busy_until = 0;
        client->stopped_until = 0;
    }
}

static void start(struct world *world)
{
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        client_start(world, &world->clients[c]);
    world_count(world, COUNTER_WORLDS);
    world->coverage->masters[world->plan.n_masters]++;
    if (world->story) {
        story_start(world);
        return;
    }
    workload_start(world);
    faults_start(world);
    world_event(world, world->plan.duration_ns, EVENT_HEAL, 0, 0, 0);
}

bool world_run(struct world *world)
{
    struct event event;
    uint64_t events = 0;

    reset(world);
    start(world);
    while (world->phase != PHASE_OVER && !world->violated && queue_pop(&world->queue, &event)) {
        world->now = event.at;
        dispatch(world, &event);
        advance(world);
        if (++events == MAX_EVENTS)
            world_violation(world, "progress", "still running after %u events", MAX_EVENTS);
    }
    world->coverage->counters[COUNTER_EVENTS] += events;
    for (unsigned c = 0; c < world->plan.n_clients; c++)
        count_engine(world, &world->clients[c]);
    return !world->violated;
}
