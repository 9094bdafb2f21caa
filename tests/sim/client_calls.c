/* The library's calls. */
#include "client.h"

#include <string.h>

#include "world.h"

void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *request)
{
    TRACE(client->world, name_of_handle(client, handle), "acquire %s ttl=%u", name_of_key(handle->key),
          request->ttl_ms);
    once_start(client->world, client, handle, RL_OP_ACQUIRE, request);
    handle->request = *request;
    handle->request.entry = &handle->entry;
    rl_lock_acquire(&client->engine, &handle->lock, client->now, &handle->request);
    client_pump(client);
}

void client_extend(struct client *client, struct handle *handle, uint32_t ttl_ms)
{
    TRACE(client->world, name_of_handle(client, handle), "extend ttl=%u", ttl_ms ? ttl_ms : handle->lock.claim->ttl_ms);
    if (ttl_ms && ttl_ms < handle->lock.claim->ttl_ms)
        world_count(client->world, COUNTER_SHORTENED);
    once_start(client->world, client, handle, RL_OP_EXTEND, NULL);
    rl_lock_extend(&client->engine, &handle->lock, client_read_clock(client), ttl_ms);
    client_pump(client);
}

void client_release(struct client *client, struct handle *handle)
{
    TRACE(client->world, name_of_handle(client, handle), "release");
    if (handle->lock.state == RL_LOCK_EXTENDING) {
        handle->extension = handle->pending;
        handle->pending.op = RL_OP_NONE;
    }
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    idle_on_release(client->world, handle);
    client_read_clock(client);
    if (!client_pass_on(client, handle))
        rl_lock_release(&client->engine, &handle->lock, client->now);
    client_pump(client);
}

bool client_cancel(struct client *client, struct handle *handle)
{
    if (handle->lock.op != RL_OP_ACQUIRE && handle->lock.op != RL_OP_EXTEND)
        return false;
    TRACE(client->world, name_of_handle(client, handle), "cancel");
    world_count(client->world, COUNTER_CANCELS);
    rl_lock_cancel(&client->engine, &handle->lock, client_read_clock(client));
    client_pump(client);
    return true;
}

void client_detach(struct client *client, struct handle *handle)
{
    struct box *box = box_of_claim(handle->lock.claim);

    TRACE(client->world, name_of_handle(client, handle), "detach %s", box->token);
    box->let_go = true;
    rl_lock_detach(&client->engine, &handle->lock, client->now);
    client_pump(client);
}

void client_release_value(struct client *client, struct handle *handle, struct box *origin)
{
    struct box *box = client_new_box(client, handle);

    TRACE(client->world, name_of_handle(client, handle), "release %s", origin->token);
    world_count(client->world, COUNTER_RELEASED_VALUES);
    memcpy(box->token, origin->token, sizeof box->token);
    box->token_size = origin->token_size;
    box->origin = origin->id;
    box->excused = origin->excused;
    box->timed = origin->timed;
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    rl_lock_release_value(&client->engine, &handle->lock, client_read_clock(client), box_claim(box),
                          &rl_mutex_kind, origin->max_ttl_ms);
    client_pump(client);
}

void client_export(struct client *client, struct handle *handle, struct parcel *ret_parcel)
{
    const struct rl_claim *claim = handle->lock.claim;
    struct box *box = box_of_claim(claim);

    TRACE(client->world, name_of_handle(client, handle), "export %s", box->token);
    ret_parcel->box = box->id;
    ret_parcel->client = client->index;
    ret_parcel->key = handle->key;
    ret_parcel->state = (struct rl_exported_state){
        .ttl_ms = claim->ttl_ms,
        .longest_ttl_ms = claim->longest_ttl_ms,
        .shortest_extension_ms = claim->shortest_extension_ms,
        .unresolved_extension = rl_claim_unresolved(claim),
        .fence = rl_claim_token(claim),
        .full_ttl_ms = claim->full_ttl_ms > claim->ttl_ms ? claim->full_ttl_ms : 0,
    };
    for (unsigned m = 0; m < client->world->plan.n_masters; m++) {
        const struct rl_slot *slot = &claim->slots[m];

        ret_parcel->bounds[m] = slot->bound;
    }
    box->let_go = true;
    rl_lock_detach(&client->engine, &handle->lock, client->now);
    client_pump(client);
}

/* Both processes run on one machine, whose clock they share; here they have clocks of their own, so bounds move by the
 * difference. */
void client_adopt(struct client *client, struct handle *handle, const struct parcel *parcel,
                  const struct rl_acquire *request)
{
    const struct clockwork *former = &client->world->clients[parcel->client].clock;
    struct box *origin = box_get(&client->world->boxes, parcel->box);
    struct box *box = client_new_box(client, handle);
    struct rl_instant bounds[MAX_MASTERS];
    struct rl_exported_state state = parcel->state;
    int64_t difference = client_read_clock(client).ns - clockwork_read(former, client_true_now(client));

    TRACE(client->world, name_of_handle(client, handle), "adopt %s", origin->token);
    memcpy(box->token, origin->token, sizeof box->token);
    box->token_size = origin->token_size;
    box->origin = origin->id;
    box->fenced = state.fence != 0;
    state.kind = client_kind(box);
    box->begun = client_true_now(client);
    box->max_ttl_ms = origin->max_ttl_ms;
    box->excused = origin->excused;
    box->timed = origin->timed;
    for (unsigned m = 0; m < client->world->plan.n_masters; m++)
        bounds[m] = parcel->bounds[m].ns == RL_LONG_AGO.ns ? RL_LONG_AGO
                                                           : (struct rl_instant){parcel->bounds[m].ns + difference};
    state.bounds = bounds;
    if (rl_lock_import(&client->engine, &handle->lock, client->now, box_claim(box), request, &state))
        world_count(client->world, COUNTER_ADOPTED);
    else
        box->let_go = true; /* too late: what is left runs out */
    client_pump(client);
}

static void forget_completions(struct client *client, const struct handle *handle)
{
    size_t kept = 0;

    for (size_t i = 0; i < client->n_completions; i++) {
        if (client->completions[i].handle != handle->index)
            client->completions[kept++] = client->completions[i];
    }
    client->n_completions = kept;
}

void client_destroy(struct client *client, struct handle *handle)
{
    TRACE(client->world, name_of_handle(client, handle), "destroy");
    world_count(client->world, COUNTER_DESTROYS);
    if (handle->lock.state != RL_LOCK_IDLE)
        world_count(client->world, COUNTER_DESTROYS_HELD);
    rl_lock_fini(&client->engine, &handle->lock, client_read_clock(client));
    handle->seen_state = handle->lock.state;
    once_abandon(handle);
    forget_completions(client, handle);
    client_pump(client);
}
