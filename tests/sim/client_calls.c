/* The library's calls. */
#include "client_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/status.h>

#include "client_host.h"
#include "client_process.h"
#include "host/trust/view.h"
#include "host/upgrade.h"
#include "kinds/mutex.h"
#include "kinds/permit.h"
#include "plan_members.h"
#include "world.h"

bool client_is_busy(const struct handle *handle)
{
    return handle->host.call || handle->releasing;
}

bool client_has_busy(const struct client *client)
{
    for (unsigned i = 0; i < client->n_handles; i++) {
        if (client_is_busy(&client->handles[i]))
            return true;
    }
    return false;
}

static bool is_upgraded(const struct handle *handle)
{
    return handle->host.call && handle->host.call->worker != &handle->host;
}

static void lend_attempt(struct handle *handle, enum rl_op op)
{
    handle->call_op = (uint8_t)op;
    rl_host_lend(&handle->host, &handle->call);
    memset(&handle->call.entry, 0xa5, sizeof handle->call.entry);
    handle->call.entry.ticket = 0; /* for the oracle: it has none yet */
}

void client_acquire(struct client *client, struct handle *handle, const struct rl_acquire *request)
{
    TRACE(client->world, name_of_handle(client, handle), "acquire %s ttl=%u",
          handle->permit ? "s" : name_of_key(handle->key), request->ttl_ms);
    rl_host_begin_operation(&handle->host);
    once_start(client->world, client, handle, RL_OP_ACQUIRE, request);
    handle->turn.failed = handle->turn.attempts;
    handle->wanted_since = client_true_now(client);
    handle->freed_slots = 0;
    lend_attempt(handle, RL_OP_ACQUIRE);
    rl_host_acquire(&handle->host, request);
    client_watch(client);
}

void client_extend(struct client *client, struct handle *handle, uint32_t ttl_ms)
{
    rl_host_begin_operation(&handle->host);
    if (handle->host.core.state != RL_LOCK_HELD)
        return; /* it has just been lost */
    TRACE(client->world, name_of_handle(client, handle), "extend ttl=%u",
          ttl_ms ? ttl_ms : handle->host.core.claim->ttl_ms);
    if (ttl_ms && ttl_ms < handle->host.core.claim->ttl_ms)
        world_count(client->world, COUNTER_SHORTENED);
    once_start(client->world, client, handle, RL_OP_EXTEND, NULL);
    lend_attempt(handle, RL_OP_EXTEND);
    rl_host_extend(&handle->host, ttl_ms);
    client_watch(client);
}

void client_lower(struct client *client, struct handle *handle, enum rl_mode mode)
{
    rl_host_begin_operation(&handle->host);
    if (handle->host.core.state != RL_LOCK_HELD)
        return; /* it has just been lost */
    TRACE(client->world, name_of_handle(client, handle),
          mode == RL_SHARED ? "shares the lock from now on" : "lets readers in from now on");
    world_count(client->world, COUNTER_LOWERED);
    once_start(client->world, client, handle, RL_OP_CONVERT, NULL);
    lend_attempt(handle, RL_OP_CONVERT);
    rl_host_lower(&handle->host, mode);
    client_watch(client);
}

void client_upgrade(struct client *client, struct handle *handle, struct rl_instant deadline, bool once)
{
    const struct rl_acquire request = {.deadline = deadline, .once = once};

    rl_host_begin_operation(&handle->host);
    if (handle->host.core.state != RL_LOCK_HELD)
        return; /* it has just been lost */
    TRACE(client->world, name_of_handle(client, handle), "upgrade");
    world_count(client->world, COUNTER_UPGRADES);
    once_start(client->world, client, handle, RL_OP_CONVERT, &request);
    lend_attempt(handle, RL_OP_CONVERT);
    if (rl_host_upgrade(&handle->host, deadline, once) < 0)
        abort();
    client_watch(client);
}

void client_reenter(struct client *client, struct handle *handle, struct rl_span min_validity)
{
    struct stillness before;
    int status;

    rl_host_begin_operation(&handle->host);
    client_watch(client);
    before = reentry_before(client, handle);
    status = rl_host_reenter(&handle->host, min_validity);
    if (status == 0)
        TRACE(client->world, name_of_handle(client, handle), "re-enter: depth %u", rl_host_depth(&handle->host));
    else
        TRACE(client->world, name_of_handle(client, handle), "re-enter: %s", redlock_strerror(status));
    world_count(client->world, status == 0 ? COUNTER_REENTERED : COUNTER_NOT_REENTERED);
    reentry_on_enter(client->world, client, handle, &before, min_validity, status);
}

static bool leave(struct client *client, struct handle *handle)
{
    struct stillness before = reentry_before(client, handle);
    bool left = rl_host_leave(&handle->host);

    if (left)
        TRACE(client->world, name_of_handle(client, handle), "release: depth %u", rl_host_depth(&handle->host));
    reentry_on_leave(client->world, client, handle, &before, left);
    return left;
}

void client_release(struct client *client, struct handle *handle)
{
    rl_host_begin_operation(&handle->host);
    client_watch(client);
    if (leave(client, handle))
        return;
    TRACE(client->world, name_of_handle(client, handle), "release");
    if (handle->host.core.state == RL_LOCK_EXTENDING || is_upgraded(handle)) {
        handle->extension = handle->pending;
        handle->pending.op = RL_OP_NONE;
    }
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    idle_on_release(client->world, handle);
    permits_on_release(client->world, handle);
    handle->releasing = true;
    rl_host_release(&handle->host);
    client_watch(client);
}

bool client_cancel(struct client *client, struct handle *handle)
{
    rl_host_begin_operation(&handle->host);
    if (!rl_lock_is_acquiring(&handle->host.core) && handle->host.core.state != RL_LOCK_EXTENDING &&
        !is_upgraded(handle))
        return false;
    TRACE(client->world, name_of_handle(client, handle), "cancel");
    world_count(client->world, COUNTER_CANCELS);
    rl_host_cancel(&handle->host);
    client_watch(client);
    return true;
}

void client_detach(struct client *client, struct handle *handle)
{
    struct box *box;

    rl_host_begin_operation(&handle->host);
    if (handle->host.core.state != RL_LOCK_HELD)
        return;
    box = handle_box(handle);
    TRACE(client->world, name_of_handle(client, handle), "detach %s", box->token);
    box->let_go = true;
    rl_host_detach(&handle->host);
    client_watch(client);
}

static void expect_value(struct client *client, const struct handle *handle, uint32_t origin)
{
    client->incoming = origin;
    client->receiver = handle;
}

void client_release_value(struct client *client, struct handle *handle, struct box *origin)
{
    TRACE(client->world, name_of_handle(client, handle), "release %s", origin->token);
    world_count(client->world, COUNTER_RELEASED_VALUES);
    rl_host_begin_operation(&handle->host);
    once_start(client->world, client, handle, RL_OP_RELEASE, NULL);
    handle->releasing = true;
    expect_value(client, handle, origin->id);
    if (handle->permit)
        handle->key = origin->key;
    if (rl_host_release_value(&handle->host, handle->permit ? &rl_permit_kind : &rl_mutex_kind,
                              (uint32_t)(origin->key - FIRST_SLOT), origin->token) < 0) {
        handle->releasing = false;
        once_abandon(handle);
    }
    client_watch(client);
    client->incoming = BOX_NONE; /* nobody may have been asked */
}

static void pack_ledger(const struct client *client, struct parcel *parcel)
{
    struct rl_slice view = rl_trust_view(&client->host);
    static struct rl_member_list list;

    parcel->list = (uint8_t)list_by_id(&client->world->plan, client->host.trust.names.list_id);
    snprintf(parcel->view, sizeof parcel->view, "%.*s", (int)view.size, view.size ? (const char *)view.data : "");
    change_describe_list(client->world, &client->world->change.lists[parcel->list], &list);
    rl_host_order_masters(&client->host, view.size ? &client->host.trust.view->list : &list, &parcel->origin.order);
    rl_host_put_ledger(&parcel->exported, &parcel->origin);
}

/* A list without a view is known to those who are configured with it, and to those who go by it. */
static bool find_origin(struct client *client, const struct parcel *parcel, struct rl_host_origin *origin)
{
    const char *id = id_of_list(&client->world->plan, parcel->list);
    static struct rl_member_list list;

    if (parcel->view[0])
        return rl_host_go_by(&client->host, id, rl_slice_of(parcel->view), origin);
    change_describe_list(client->world, &client->world->change.lists[parcel->list], &list);
    rl_host_order_masters(&client->host, &list, &origin->order);
    return rl_host_knows_list(&client->host, id, origin) && (!origin->older || client->configured == parcel->list);
}

/* Both processes run on one machine, whose clock they share; here they have clocks of their own, so bounds move by the
 * difference. */
static bool take_ledger(struct client *client, const struct parcel *parcel, struct rl_host_exported *exported)
{
    const struct clockwork *former = &client->world->clients[parcel->client].clock;
    int64_t difference = client->host.now.ns - clockwork_read(former, client_true_now(client));
    struct rl_host_origin origin = parcel->origin;
    uint32_t went_by = client->host.trust.generation;

    if (!find_origin(client, parcel, &origin))
        return false;
    if (origin.older || client->host.trust.generation != went_by)
        world_count(client->world, COUNTER_ADOPTED_ACROSS);
    for (size_t i = 0; i < origin.order.n; i++)
        origin.bounds[i].ns += origin.bounds[i].ns == RL_LONG_AGO.ns ? 0 : difference;
    origin.standing.ns += origin.standing.ns == RL_LONG_AGO.ns ? 0 : difference;
    rl_host_take_ledger(&client->host, &origin, exported);
    return true;
}

bool client_export(struct client *client, struct handle *handle, struct parcel *ret_parcel)
{
    struct box *box;

    rl_host_begin_operation(&handle->host);
    if (handle->host.core.state != RL_LOCK_HELD)
        return false;
    box = handle_box(handle);
    TRACE(client->world, name_of_handle(client, handle), "export %s", box->token);
    ret_parcel->box = box->id;
    ret_parcel->client = client->index;
    ret_parcel->key = handle->key;
    rl_host_export(&handle->host, &ret_parcel->exported);
    pack_ledger(client, ret_parcel);
    box->let_go = true;
    rl_host_detach(&handle->host);
    client_watch(client);
    ret_parcel->since = client_true_now(client);
    return true;
}

void client_adopt(struct client *client, struct handle *handle, const struct parcel *parcel,
                  const struct rl_acquire *request)
{
    struct rl_host_exported exported = parcel->exported;

    rl_host_begin_operation(&handle->host);
    TRACE(client->world, name_of_handle(client, handle), "adopt %s", exported.token);
    exported.state.kind = request->kind;
    exported.slot = (uint32_t)(parcel->key - FIRST_SLOT);
    if (take_ledger(client, parcel, &exported)) {
        if (handle->permit)
            handle->key = parcel->key;
        expect_value(client, handle, parcel->box);
        client->late_import = true;
        if (rl_host_import(&handle->host, request, &exported) == 0)
            world_count(client->world, COUNTER_ADOPTED);
        client->late_import = false;
    }
    client_watch(client);
    client->incoming = BOX_NONE; /* there may have been no room for it */
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

void client_abandon(struct client *client, struct handle *handle)
{
    if (handle->host.core.state == RL_LOCK_IDLE && !client_is_busy(handle))
        return;
    TRACE(client->world, name_of_handle(client, handle), "give up");
    idle_on_release(client->world, handle);
    rl_host_abandon(&handle->host);
    exclusion_forget(handle, client_true_now(client));
    once_abandon(handle);
    forget_completions(client, handle);
    handle->host.call = NULL;
    handle->releasing = false;
    client_watch(client);
}

void client_destroy(struct client *client, struct handle *handle)
{
    TRACE(client->world, name_of_handle(client, handle), "destroy");
    world_count(client->world, COUNTER_DESTROYS);
    if (handle->host.core.state != RL_LOCK_IDLE)
        world_count(client->world, COUNTER_DESTROYS_HELD);
    idle_on_release(client->world, handle);
    rl_host_end_lock(&handle->host);
    exclusion_forget(handle, client_true_now(client));
    once_abandon(handle);
    forget_completions(client, handle);
    client_renew_handle(client, handle);
    client_watch(client);
}
