/* A client that is shut down starts nothing new, ends its objects, and waits until the masters have confirmed that
 * as far as possible (host/shutdown.c). */
#include "api/shutdown.h"

#include "api/handle.h"
#include "host/shutdown.h"

int redlock_client_shutdown(struct redlock_client *client, int64_t timeout_ms, redlock_shutdown_fn cb, void *user_data)
{
    if (!client || !cb)
        return REDLOCK_E_ARGUMENT;
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    if (timeout_ms < 1 || timeout_ms > REDLOCK_MAX_TIMEOUT_MS)
        return REDLOCK_E_TIMEOUT;
    client->shutdown.cb = cb;
    client->shutdown.user_data = user_data;
    rl_host_start_shutdown(&client->host, rl_ms(timeout_ms));
    client->shutdown.again = rl_objects_end(client);
    return 0;
}

static void end(struct redlock_client *client, int status)
{
    rl_host_stop_shutdown(&client->host);
    if (rl_client_forked(client))
        return;
    client->depth++;
    client->shutdown.cb(client, status, client->shutdown.user_data);
    client->depth--;
}

void rl_shutdown_check(struct redlock_client *client)
{
    if (!client->host.shutdown.running)
        return;
    if (client->shutdown.again)
        client->shutdown.again = rl_objects_end(client);
    switch (rl_host_shutdown_progress(&client->host)) {
    case RL_SHUTDOWN_WAITING:
        break;
    case RL_SHUTDOWN_CONFIRMED:
        if (client->host.shutdown.expired || !rl_objects_are_busy(client))
            end(client, REDLOCK_OK);
        break;
    case RL_SHUTDOWN_UNCONFIRMED:
        end(client, REDLOCK_DEADLINE);
        break;
    }
}

void rl_shutdown_cancel(struct redlock_client *client)
{
    if (client->host.shutdown.running)
        end(client, REDLOCK_CANCELED);
}
