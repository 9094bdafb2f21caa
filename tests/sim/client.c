/* A simulated client: its time, its turns, what becomes of its handles. */
#include "client.h"

#include <string.h>

#include "client_calls.h"
#include "client_elections.h"
#include "client_host.h"
#include "client_latches.h"
#include "client_looks.h"
#include "client_observers.h"
#include "client_sets.h"
#include "client_shutdown.h"
#include "engine/hold.h"
#include "wire.h"
#include "world.h"

/* --- Time --------------------------------------------------------------------------------------------------------- */

int64_t client_true_now(const struct client *client)
{
    return client->world->now + client->lag;
}

int64_t client_when(const struct client *client, struct rl_instant local)
{
    int64_t at;

    if (local.ns == RL_NEVER.ns)
        return INT64_MAX;
    at = clockwork_when(&client->clock, local.ns);
    return at > client_true_now(client) ? at : client_true_now(client);
}

void client_hiccup(struct client *client)
{
    struct world *world = client->world;

    if (!plan_has(&world->plan, FAULT_HICCUP) || world->phase != PHASE_FAULTS ||
        !rng_chance(&world->host, world->plan.hiccup_permille))
        return;
    client->lag += rng_scaled(&world->host, RL_NS_PER_US, world->plan.fault_length[FAULT_HICCUP]);
    world->coverage->faults[FAULT_HICCUP]++;
}

/* --- Timers ------------------------------------------------------------------------------------------------------- */

static struct rl_timer *timer_at(struct rl_list *at)
{
    return RL_CONTAINER_OF(at, struct rl_timer, link);
}

static struct rl_instant next_wakeup(const struct client *client)
{
    struct rl_instant next = RL_NEVER;

    for (struct rl_list *at = client->timers.next; at != &client->timers; at = at->next)
        next = rl_earlier(next, timer_at(at)->at);
    return next;
}

static void arm_timer(struct client *client)
{
    struct world *world = client->world;
    int64_t at = client_when(client, next_wakeup(client));

    if (at == INT64_MAX || client->timer_at <= at)
        return;
    client->timer_at = at;
    client->timer_generation++;
    world_event(world, at + rng_between(&world->host, 0, world->plan.timer_slack_ns), EVENT_TIMER, client->index, 0,
                client->timer_generation);
}

/* Each once; what is armed meanwhile for the past has its turn at the next event. */
static void fire_timers(struct client *client)
{
    struct rl_instant now = rl_host_read_clock(&client->host);
    struct rl_list due;

    rl_list_init(&due);
    for (struct rl_list *at = client->timers.next, *next; at != &client->timers; at = next) {
        next = at->next;
        if (rl_before(now, timer_at(at)->at))
            continue;
        rl_list_remove(at);
        rl_list_append(&due, at);
    }
    while (!rl_list_empty(&due)) {
        struct rl_timer *timer = timer_at(due.next);

        rl_list_remove(&timer->link);
        timer->fire(timer, now);
        client_watch(client);
    }
}

void client_on_timer(struct client *client)
{
    client->timer_at = INT64_MAX;
    fire_timers(client);
}

/* --- Turns -------------------------------------------------------------------------------------------------------- */

static bool memory_is_short(struct world *world)
{
    bool is_short = plan_has(&world->plan, FAULT_NO_MEMORY) && world->phase == PHASE_FAULTS &&
                    rng_chance(&world->host, 30);

    world->coverage->faults[FAULT_NO_MEMORY] += is_short;
    return is_short;
}

void client_begin(struct client *client)
{
    client->world->acting = client;
    client->lag = 0;
    client->options.max_claims = memory_is_short(client->world) ? 0 : MAX_BINDINGS / 2;
    rl_host_read_clock(&client->host);
    world_count(client->world, COUNTER_TURNS);
}

static bool has_completed(const struct client *client, const struct handle *handle)
{
    for (size_t i = 0; i < client->n_completions; i++) {
        if (client->completions[i].handle == handle->index)
            return true;
    }
    return false;
}

/* There is room for the next operation before the callback runs, which may start it. */
static void give_back(struct handle *handle, enum rl_op op)
{
    if (op == RL_OP_RELEASE) {
        handle->releasing = false;
        return;
    }
    handle->host.call = NULL;
    memset(&handle->call.request, 0xa5, sizeof handle->call.request);
}

static void deliver(struct client *client, const struct completion *completion)
{
    struct handle *handle = &client->handles[completion->handle];

    give_back(handle, (enum rl_op)completion->op);
    workload_on_completion(client, completion);
    if (!client_is_busy(handle) && !has_completed(client, handle))
        rl_lock_forget(&client->host.engine, &handle->host.core);
}

/* Callbacks run at the end of the turn, and what they start is written with the rest. */
static void deliver_completions(struct client *client)
{
    rl_host_read_clock(&client->host);
    while (client->n_completions) {
        struct completion completion = client->completions[0];

        client->n_completions--;
        memmove(client->completions, client->completions + 1, client->n_completions * sizeof completion);
        deliver(client, &completion);
    }
}

/* The loss was found at the end of this turn. */
static bool has_loss_to_tell(const struct client *client)
{
    bool has = client->set.state == SET_HELD && client->set.lost;

    for (unsigned i = 0; i < client->n_handles; i++)
        has |= client->handles[i].lost;
    return has;
}

/* As the driver's turn and the library's. */
void client_end(struct client *client)
{
    struct world *world = client->world;

    wire_close_failed(client);
    deliver_completions(client);
    client_end_turn_of_set(client);
    client_end_turn_of_elections(client);
    client_deliver_looks(client);
    client_deliver_observation(client);
    client_deliver_latches(client);
    if (!client->quits)
        client_check_shutdown(client);
    if (!client->quits)
        rl_host_end_turn(&client->host);
    client_watch(client);
    for (unsigned node = 0; node < client->n_places; node++) {
        if (client->wires[node].unsent.count)
            wire_flush(client, node);
    }
    if (client->n_completions || client_has_failed(client) || client_has_latch_due(client) || has_loss_to_tell(client))
        world_event(world, client_true_now(client), EVENT_TIMER, client->index, 0, client->timer_generation);
    for (unsigned i = 0; i < client->n_handles && client->has_host; i++)
        alarm_check_timer(client, &client->handles[i]);
    arm_timer(client);
    once_check_running(world, client);
    sets_check(world, client);
    elections_check(world, client);
    observer_check(world, client);
    latch_check_repeated(world, client);
    shutdown_check_running(world, client);
    client->busy_until = client_true_now(client);
    if (client->lag) {
        client->stopped_until = client->busy_until;
        world_event(world, client->busy_until, EVENT_OBSERVE, client->index, 0, client->life);
    }
    client->lag = 0;
    world->acting = NULL;
    if (client->quits)
        client_leave(client);
}

/* --- Watching the engine ------------------------------------------------------------------------------------------ */

/* The claim of one that was released is the next one's of its cohort. */
static void note_hand_off(struct client *client, struct handle *handle, struct box *box)
{
    TRACE(client->world, name_of_handle(client, &client->handles[box->handle]), "hands off %s", box->token);
    box->handle = handle->index;
    once_on_hand_off(client->world, client, handle, box);
}

static void note_held(struct client *client, struct handle *handle)
{
    struct box *box = handle_box(handle);

    reentry_on_hold(client->world, client, handle);
    if (handle->pending.op != RL_OP_ACQUIRE)
        return;
    if (box->handle != handle->index)
        note_hand_off(client, handle, box);
    else
        once_on_accept(client->world, client, handle);
    if (handle->permit)
        world_count(client->world, COUNTER_PERMITS);
    if (handle->host.core.claim->full_ttl_ms)
        world_count(client->world, COUNTER_LEASES);
    if (rl_lock_mode(&handle->host.core) == RL_SHARED)
        exclusion_count_shared(client->world, handle);
    idle_on_accept(client->world, client, handle);
    permits_on_accept(client->world, client, handle);
    wait_queue_on_accept(client->world, client, handle);
}

static void watch_state(struct client *client, struct handle *handle)
{
    uint8_t before = handle->seen_state;
    uint8_t state = handle->host.core.state;

    if (before == state)
        return;
    client->world->coverage->transitions[before][state]++;
    handle->seen_state = state;
    if (state == RL_LOCK_HELD && before != RL_LOCK_EXTENDING)
        note_held(client, handle);
}

static void watch_claim(struct client *client, struct handle *handle)
{
    const struct rl_claim *claim = handle->host.core.claim;

    if (handle->seen_claim == claim)
        return;
    if (claim)
        client_box(client, claim)->handle = handle->index;
    handle->former_claim = claim ? NULL : handle->seen_claim;
    handle->seen_claim = claim;
}

static bool holds(const struct handle *handle)
{
    return handle->host.core.state == RL_LOCK_HELD || handle->host.core.state == RL_LOCK_EXTENDING;
}

/* Those who have given something up come first: another one may have it. */
void client_watch(struct client *client)
{
    for (unsigned holding = 0; holding < 2 && !client->world->violated && client->has_host; holding++) {
        for (unsigned i = 0; i < client->n_handles; i++) {
            struct handle *handle = &client->handles[i];

            if (holds(handle) != (holding == 1))
                continue;
            watch_state(client, handle);
            exclusion_observe(client->world, client, handle, client_true_now(client));
        }
    }
    for (unsigned i = 0; i < client->n_handles && client->has_host; i++) {
        watch_claim(client, &client->handles[i]);
        idle_on_wait(client->world, &client->handles[i]);
    }
}

/* For that true time, with the machine and its clocks, unless client_go_on() comes first. */
void client_stand_still(struct client *client, int64_t length)
{
    struct world *world = client->world;

    TRACE(world, name_of_client(client->index), "its machine is paused for %.3f ms", (double)length / 1e6);
    client->busy_until = client->stopped_until = world->now + length;
    steps_on_standstill(world, client);
    client_set_rate(client, NEARLY_STILL);
}

void client_go_on(struct client *client)
{
    steps_on_wakeup(client->world, client);
    client_set_rate(client, plan_client_rate(&client->world->plan, &client->world->fate, true));
}

void client_set_rate(struct client *client, int64_t rate)
{
    clockwork_set_rate(&client->clock, client->world->now, rate);
    client_watch(client);
    if (client->timer_at <= client->world->now)
        return; /* it is due already, and only late */
    client->timer_at = INT64_MAX;
    arm_timer(client);
}
