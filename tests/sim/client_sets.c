/* Sets of locks: some handles of one client, held all together or not at all. What decides is the engine's
 * (set.h); this file is in the place of lib/api/set*.c. */
#include "client_sets.h"

#include <string.h>

#include "client_calls.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "kinds/shared.h"
#include "world.h"

bool client_is_part(const struct client *client, const struct handle *handle)
{
    return handle->index < client->set.core.n;
}

static const char *name_of_set(const struct client *client)
{
    return name_of_client(client->index);
}

void client_start_set(struct client *client)
{
    struct client_set *set = &client->set;

    *set = (struct client_set){.core.n = client->world->plan.set_sizes[client->index],
                               .core.engine = &client->host.engine,
                               .in_vain_since = INT64_MAX};
    for (unsigned i = 0; i < set->core.n; i++) {
        set->core.locks[i] = &client->handles[i].host.core;
        if (client->handles[i].key == GATE_KEY)
            rl_parts_add(&set->core.gates, i);
        else if (rl_parts_any(set->core.gates))
            rl_parts_add(&set->core.permits, i);
    }
}

static void give_up(struct client *client, struct rl_parts parts)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (rl_parts_has(parts, i))
            client_abandon(client, &client->handles[i]);
    }
}

static void choose_kind(const struct client *client, unsigned part, struct rl_acquire *request)
{
    if (rl_parts_has(client->set.core.gates, part))
        request->kind = &rl_mutex_kind;
    else if (client->handles[part].permit)
        request->kind = rl_permit_form(request->kind);
    else if (client->set.modes[part] != RL_EXCLUSIVE)
        request->kind = rl_shared_form(request->kind);
    request->mode = client->set.modes[part];
}

static void start_part(struct client *client, unsigned part, bool once)
{
    struct rl_acquire request = client->set.request;

    choose_kind(client, part, &request);
    if (once) {
        request.once = true;
        request.wait = RL_WAIT_SPIN;
    } else if (request.wait == RL_WAIT_QUEUE) {
        request.wait = RL_WAIT_FIFO;
    }
    if (client->set.core.deadline.ns != RL_LONG_AGO.ns)
        request.deadline = client->set.core.deadline;
    client_acquire(client, &client->handles[part], &request);
}

static void count_wait(const struct client *client, unsigned awaited)
{
    const struct client_set *set = &client->set;
    bool behind_gate = false;

    for (unsigned i = 0; i < awaited; i++)
        behind_gate |= rl_parts_has(set->core.gates, i);
    world_count(client->world, COUNTER_SETS_WAITING);
    if (rl_parts_has(set->core.gates, awaited))
        world_count(client->world, COUNTER_SETS_AT_GATE);
    else if (behind_gate)
        world_count(client->world, COUNTER_SETS_BEHIND_GATE);
}

static void start_parts(struct client *client, const struct rl_set_step *step)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (rl_parts_has(step->await, i))
            count_wait(client, i);
        if (rl_parts_has(step->await, i) || rl_parts_has(step->try, i))
            start_part(client, i, rl_parts_has(step->try, i));
    }
}

static void count_held(const struct client *client)
{
    const struct client_set *set = &client->set;
    bool shared = false;

    for (unsigned i = 0; i < set->core.n; i++)
        shared |= set->modes[i] != RL_EXCLUSIVE;
    world_count(client->world, COUNTER_SETS);
    if (shared)
        world_count(client->world, COUNTER_SETS_SHARED);
    if (rl_parts_any(set->core.gates))
        world_count(client->world, COUNTER_SETS_OF_PERMITS);
}

static void end(struct client *client, enum client_set_state state, enum rl_end status)
{
    static const char *const words[] = {
        [SET_IDLE] = "idle", [SET_ACQUIRING] = "wanted", [SET_HELD] = "held", [SET_RELEASING] = "released",
        [SET_LOST] = "lost"};

    TRACE(client->world, name_of_set(client), "its set is %s", words[state]);
    client->set.state = (uint8_t)state;
    if (state == SET_HELD)
        count_held(client);
    workload_on_set(client, status);
}

static void follow(struct client *client, struct rl_set_step step)
{
    struct client_set *set = &client->set;

    if (step.outcome == RL_SET_HELD)
        sets_on_held(client->world, client);
    give_up(client, step.give_up);
    if (step.outcome == RL_SET_AGAIN) {
        world_count(client->world, COUNTER_SETS_AGAIN);
        step = rl_set_acquire_again(&set->core);
    }
    if (step.outcome == RL_SET_PENDING || step.outcome == RL_SET_AGAIN)
        start_parts(client, &step);
    else if (step.outcome == RL_SET_HELD)
        end(client, SET_HELD, RL_END_OK);
    else
        end(client, SET_IDLE, step.outcome == RL_SET_TOO_SLOW ? RL_END_TOO_SLOW : RL_END_HELD);
}

void client_acquire_set(struct client *client, const struct rl_acquire *request, const uint8_t modes[MAX_HANDLES])
{
    struct client_set *set = &client->set;
    struct rl_set_step step;

    TRACE(client->world, name_of_set(client), "acquires its set, ttl=%u", request->ttl_ms);
    if (set->state == SET_LOST)
        give_up(client, rl_parts_below(client->set.core.n));
    set->lost = 0;
    set->request = *request;
    memcpy(set->modes, modes, sizeof set->modes);
    set->request.once = false;
    set->request.max_attempts = 0;
    set->core.deadline = request->once ? RL_LONG_AGO : request->deadline;
    set->core.min_validity = request->min_validity;
    set->state = SET_ACQUIRING;
    step = rl_set_acquire(&set->core);
    start_parts(client, &step);
}

void client_release_set(struct client *client)
{
    client->set.state = SET_RELEASING;
    for (unsigned i = 0; i < client->set.core.n; i++) {
        struct handle *handle = &client->handles[i];
        uint8_t state = handle->host.core.state;

        if (state == RL_LOCK_HELD || state == RL_LOCK_EXTENDING || state == RL_LOCK_LOST)
            client_release(client, handle);
    }
}

void client_cancel_set(struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++)
        client_cancel(client, &client->handles[i]);
    client->set.core.canceled = true;
}

void client_destroy_set(struct client *client)
{
    client->set.state = SET_IDLE;
    client->set.lost = 0;
    for (unsigned i = 0; i < client->set.core.n; i++)
        client_destroy(client, &client->handles[i]);
}

static void cancel(struct client *client)
{
    give_up(client, rl_set_abandon(&client->set.core.plan).give_up);
    end(client, SET_IDLE, RL_END_CANCELED);
}

static void acquired(struct client *client, unsigned part, enum rl_end status)
{
    struct rl_set *set = &client->set.core;
    uint8_t before = set->plan.parts[part];
    struct rl_instant now = rl_host_read_clock(&client->host);

    if (client->set.state != SET_ACQUIRING || (before != RL_PART_TRIED && before != RL_PART_AWAITED))
        return;
    if (set->canceled || status == RL_END_CANCELED || status == RL_END_REFUSED_BY_HOST)
        cancel(client);
    else if (status == RL_END_OK)
        follow(client, rl_set_part_granted(set, now, part));
    else
        follow(client, rl_set_part_refused(set, now, part));
}

static bool is_released(const struct client *client)
{
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (client->handles[i].releasing)
            return false;
    }
    return true;
}

void client_on_part(struct client *client, const struct completion *completion)
{
    if (completion->op == RL_OP_ACQUIRE)
        acquired(client, completion->handle, (enum rl_end)completion->status);
    else if (completion->op == RL_OP_RELEASE && client->set.state == SET_RELEASING && is_released(client))
        end(client, SET_IDLE, RL_END_NONE);
}

void client_on_part_lost(struct client *client, const struct handle *handle)
{
    client->set.lost |= UINT32_C(1) << handle->index;
}

/* The set was held, and is lost with the first of its parts; or it is being acquired. */
static void lose(struct client *client, unsigned part)
{
    if (client->set.state == SET_ACQUIRING) {
        follow(client, rl_set_part_lost(&client->set.core, rl_host_read_clock(&client->host), part));
    } else if (client->set.state == SET_HELD) {
        world_count(client->world, COUNTER_SETS_LOST);
        give_up(client, rl_set_rest(&client->set.core, part));
        end(client, SET_LOST, RL_END_LOST);
    }
}

void client_end_turn_of_set(struct client *client)
{
    uint32_t lost = client->set.lost;

    client->set.lost = 0;
    for (unsigned i = 0; i < client->set.core.n; i++) {
        if (lost >> i & 1u)
            lose(client, i);
    }
}
