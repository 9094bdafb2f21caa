/* IMPLEMENTATION NOTES
 *
 * Each object is in the client's list from its creation to its destruction, unless it belongs to another object. A
 * destroyed object goes to the list of what is to be freed when nobody keeps it any more (depth 0), and is freed when
 * no callback of the client is on the stack.
 *
 * What callbacks bring about is delivered in the next turn of the loop, so that no turn starves the loop. */
#include "api/object.h"

#include <assert.h>
#include <stdlib.h>

#include "api/call.h"
#include "api/handle.h"
#include "api/lock_state.h"

void rl_object_init(struct rl_object *object, struct redlock_client *client, const struct rl_object_type *type)
{
    *object = (struct rl_object){.client = client, .type = type};
    rl_list_append(&client->objects, &object->link);
    client->counts[type->kind]++;
}

void rl_object_give_away(struct rl_object *object)
{
    rl_list_remove(&object->link);
}

int rl_object_check(const struct rl_object *object)
{
    if (!object)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(object->client))
        return REDLOCK_E_FORKED;
    return object->destroyed ? REDLOCK_E_CLOSING : 0;
}

int rl_object_check_new(const struct rl_object *object)
{
    int status = rl_object_check(object);

    return status == 0 && object->client->host.closing ? REDLOCK_E_CLOSING : status;
}

void rl_object_keep(struct rl_object *object)
{
    object->depth++;
}

void rl_object_drop(struct rl_object *object)
{
    assert(object->depth > 0);
    if (--object->depth == 0 && object->destroyed) {
        assert(rl_list_empty(&object->link));
        rl_list_append(&object->client->deferred, &object->link);
    }
}

void rl_object_enter(struct rl_object *object)
{
    object->client->depth++;
    rl_object_keep(object);
}

void rl_object_leave(struct rl_object *object)
{
    object->client->depth--;
    rl_object_drop(object);
}

void rl_object_due(struct rl_object *object)
{
    struct redlock_client *client = object->client;

    assert(!object->destroyed && object->type->deliver);
    object->due = true;
    if (!object->listed) {
        object->listed = true;
        rl_object_keep(object);
        object->next_listed = NULL;
        *client->last_listed = object;
        client->last_listed = &object->next_listed;
    }
    rl_transport_wake(&client->host.transport);
}

void rl_object_not_due(struct rl_object *object)
{
    object->due = false;
}

void rl_object_destroy(struct rl_object *object)
{
    struct redlock_client *client;

    if (!object || object->destroyed)
        return;
    client = object->client;
    rl_object_enter(object);
    object->destroyed = true;
    client->counts[object->type->kind]--;
    rl_list_remove(&object->link);
    rl_object_not_due(object);
    object->type->destroy(object);
    rl_object_leave(object);
    rl_objects_free(client);
}

void rl_objects_init(struct redlock_client *client)
{
    rl_list_init(&client->objects);
    client->last_listed = &client->listed;
    rl_list_init(&client->deferred);
    rl_pool_init(&client->pool, sizeof(struct redlock_lock));
}

/* Takes an object off the list that it begins; the list goes on with the next one. */
static void unlist(struct rl_object **list)
{
    struct rl_object *object = *list;

    *list = object->next_listed;
    object->listed = false;
    rl_object_drop(object);
}

void rl_objects_deliver(struct redlock_client *client)
{
    struct rl_object *listed = client->listed;

    client->listed = NULL;
    client->last_listed = &client->listed;
    while (listed) {
        struct rl_object *object = listed;

        rl_object_enter(object);
        unlist(&listed);
        if (object->due) {
            object->due = false;
            object->type->deliver(object);
        }
        rl_object_leave(object);
    }
}

bool rl_objects_end(struct redlock_client *client)
{
    bool again = false;

    for (struct rl_list *at = client->objects.next; at != &client->objects; at = at->next) {
        struct rl_object *object = RL_CONTAINER_OF(at, struct rl_object, link);

        again |= object->type->end && object->type->end(object);
    }
    return again;
}

bool rl_objects_are_busy(const struct redlock_client *client)
{
    for (struct rl_list *at = client->objects.next; at != &client->objects; at = at->next) {
        const struct rl_object *object = RL_CONTAINER_OF(at, struct rl_object, link);

        if (object->type->is_busy && object->type->is_busy(object))
            return true;
    }
    return false;
}

void rl_objects_destroy(struct redlock_client *client)
{
    while (!rl_list_empty(&client->objects))
        rl_object_destroy(RL_CONTAINER_OF(client->objects.next, struct rl_object, link));
    while (client->listed)
        unlist(&client->listed);
    client->last_listed = &client->listed;
}

void rl_objects_free(struct redlock_client *client)
{
    if (client->depth)
        return;
    while (!rl_list_empty(&client->deferred)) {
        struct rl_object *object = RL_CONTAINER_OF(client->deferred.next, struct rl_object, link);

        rl_list_remove(&object->link);
        object->type->free(object);
    }
    if (!client->destroyed)
        return;
    rl_driver_destroy(client->driver, rl_client_forked(client));
    rl_host_fini(&client->host);
    rl_pool_fini(&client->pool, NULL);
    rl_calls_fini(client);
    free(client->list);
    free(client->may_follow);
    rl_usage_fini(&client->usage);
    free(client);
}
