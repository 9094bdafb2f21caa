/* The orderly end of a simulated process: what lib/api/shutdown.c and redlock_client_destroy() do. */
#include "client_shutdown.h"

#include "client_calls.h"
#include "client_latches.h"
#include "client_process.h"
#include "host/shutdown.h"
#include "world.h"

/* An acquisition or extension is over, and its callback has not run. */
static bool has_undelivered(const struct handle *handle, enum rl_op op)
{
    return handle->host.call && handle->call_op == op;
}

/* A held lock is released whatever its depth. True: there is more to do. A lock that has been acquired is released when
 * its callback has run. */
static bool end_lock(struct client *client, struct handle *handle)
{
    uint8_t state = handle->host.core.state;

    if (rl_lock_is_acquiring(&handle->host.core)) {
        client_cancel(client, handle);
        return true;
    }
    if (state != RL_LOCK_HELD && state != RL_LOCK_EXTENDING)
        return false;
    if (handle->releasing || has_undelivered(handle, RL_OP_ACQUIRE))
        return true;
    handle->host.inner_entries = 0;
    handle->inner = 0;
    client_release(client, handle);
    return false;
}

static void end_locks(struct client *client)
{
    client->shutdown.ending = false;
    for (unsigned i = 0; i < client->n_handles; i++)
        client->shutdown.ending |= end_lock(client, &client->handles[i]);
}

void client_shutdown(struct client *client, struct rl_span timeout)
{
    TRACE(client->world, name_of_client(client->index), "shuts down, for %.3f ms at most", (double)timeout.ns / 1e6);
    rl_host_start_shutdown(&client->host, timeout);
    shutdown_on_start(client->world, client, timeout);
    end_locks(client);
    client_stop_latches(client);
    idle_on_end(client->world);
    client_watch(client);
}

static void end(struct client *client, enum shutdown_end status)
{
    static const char *const names[] = {"confirmed", "its time is up", "canceled"};

    rl_host_stop_shutdown(&client->host);
    TRACE(client->world, name_of_client(client->index), "has shut down: %s", names[status]);
    shutdown_on_end(client->world, client, status);
}

void client_check_shutdown(struct client *client)
{
    if (!client->host.shutdown.running)
        return;
    if (client->shutdown.ending)
        end_locks(client);
    switch (rl_host_shutdown_progress(&client->host)) {
    case RL_SHUTDOWN_WAITING:
        break;
    case RL_SHUTDOWN_CONFIRMED:
        if (!client->host.shutdown.expired && client_has_busy(client))
            break;
        end(client, SHUTDOWN_OK);
        workload_on_shutdown(client);
        break;
    case RL_SHUTDOWN_UNCONFIRMED:
        end(client, SHUTDOWN_DEADLINE);
        workload_on_shutdown(client);
        break;
    }
}

/* Every lock is ended as by client_destroy(), whose releases are then written, once. */
void client_quit(struct client *client)
{
    TRACE(client->world, name_of_client(client->index), "quits");
    world_count(client->world, COUNTER_QUITS);
    client->host.closing = true;
    client->quits = true;
    for (unsigned i = 0; i < client->n_handles; i++)
        client_destroy(client, &client->handles[i]);
    client_destroy_latches(client);
    if (client->host.shutdown.running)
        end(client, SHUTDOWN_CANCELED);
    idle_on_end(client->world);
}

/* What the kernel has taken is still delivered; but a connection that has something left to write is reset. */
static void hang_up(struct client *client, unsigned node)
{
    struct wire *wire = &client->wires[node];

    if (wire->conn != CONN_NONE && wire->phase == WIRE_OPEN && !wire->unsent.count) {
        network_finish(client->world, wire->conn);
        wire->conn = CONN_NONE;
    }
}

void client_leave(struct client *client)
{
    for (unsigned node = 0; node < client->n_places; node++)
        hang_up(client, node);
    client_vanish(client);
    workload_on_leave(client);
}
