/* Each event to whom it concerns. */
#include "client_host.h"
#include "listener.h"
#include "story.h"
#include "wire.h"
#include "world.h"

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
        if (world->conns[conn].listens)
            listener_on_closed(client, client_place(client, conn));
        else
            wire_on_closed(client, client_place(client, conn));
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
    case EVENT_LISTENER:
        if (client->listeners[event->b].timer_generation == event->generation)
            listener_on_timer(client, event->b);
        break;
    case EVENT_TIMER:
        if (client->timer_generation == event->generation)
            client_on_timer(client);
        break;
    case EVENT_SHUTDOWN:
        workload_on_shutdown_event(client);
        break;
    case EVENT_QUIT:
        workload_on_quit_event(client);
        break;
    case EVENT_LOOK:
        workload_on_look_event(client);
        break;
    case EVENT_LATCH:
        workload_on_latch_event(client, event->b);
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
    case EVENT_FREED:
        idle_on_freed(world);
        break;
    case EVENT_OVERDUE:
        shutdown_on_overdue(world, &world->clients[event->a], event->generation);
        break;
    case EVENT_OBSERVE:
        exclusion_recheck(world, &world->clients[event->a]);
        break;
    case EVENT_ALARM:
        client = &world->clients[event->a];
        alarm_on_event(world, client, &client->handles[event->b], event->generation);
        break;
    case EVENT_CHECK:
        client = &world->clients[event->a];
        once_on_check(world, client, &client->handles[event->b], event->generation);
        break;
    case EVENT_LOOK_DUE:
        look_on_due(world, &world->clients[event->a], event->b, event->generation);
        break;
    case EVENT_LATCH_DUE:
        latch_on_due(world, &world->clients[event->a], event->b, event->generation);
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
        phase_heal(world);
        break;
    case EVENT_PROMPT:
        phase_on_prompt(world, event->a == 1);
        break;
    case EVENT_PATIENCE:
        wait_queue_on_patience(world);
        break;
    case EVENT_LIMIT:
        phase_on_limit(world);
        break;
    case EVENT_OPERATE:
        operator_on_event(world);
        break;
    case EVENT_CHANGE:
        change_on_event(world, event->a);
        break;
    case EVENT_ERRAND:
        errand_on_event(world, event->a);
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
    case EVENT_LISTENER:
    case EVENT_TIMER:
    case EVENT_SHUTDOWN:
    case EVENT_QUIT:
    case EVENT_LOOK:
    case EVENT_LATCH:
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
    case EVENT_LISTENER:
        return !world->clients[event->a].alive ||
               world->clients[event->a].listeners[event->b].timer_generation != event->generation;
    case EVENT_TIMER:
        return !world->clients[event->a].alive || world->clients[event->a].timer_generation != event->generation;
    case EVENT_SHUTDOWN:
    case EVENT_QUIT:
    case EVENT_LOOK:
    case EVENT_LATCH:
        return !world->clients[event->a].alive || world->clients[event->a].life != event->generation;
    case EVENT_APP:
        return !world->clients[event->a].alive ||
               world->agents[event->a][event->b].generation != event->generation;
    default:
        return false;
    }
}

void world_dispatch(struct world *world, const struct event *event)
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
