/* The library's calls. */
#include "client.h"

#include <string.h>

#include "world.h"

void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *wish)
{
    TRACE(client->world, name_of_handle(client, handle), "acquire %s ttl=%u", name_of_key(handle->key), wish->ttl_ms);
    once_start(client->world, client, handle, RL_OP_ACQUIRE, wish);
    rl_lock_acquire(&client->engine, &handle->lock, client->now, wish);
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
    rl_lock_release(&client->engine, &handle->lock, client_read_clock(client));
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
    rl_lock_detach(&client->engine, &handle->lock);
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
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    rl_lock_release_value(&client->engine, &handle->lock, client_read_clock(client), box_claim(box),
                          origin->max_ttl_ms);
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
