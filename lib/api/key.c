#include "api/key.h"

#include <string.h>

#include "api/handle.h"
#include "kinds/names.h"

static bool begins_with(const void *key, size_t size, const char *name)
{
    return size >= strlen(name) && memcmp(key, name, strlen(name)) == 0;
}

/* Behind the prefix, such a key would be the marker, or a key that belongs to another lock. */
static bool is_reserved(const void *key, size_t size)
{
    return (size == strlen(RL_MARKER_NAME) && begins_with(key, size, RL_MARKER_NAME)) ||
           begins_with(key, size, RL_COUNTER_NAME) || begins_with(key, size, RL_QUEUE_NAME) ||
           begins_with(key, size, RL_WAITERS_NAME) || begins_with(key, size, RL_PERMITS_NAME) ||
           begins_with(key, size, RL_PERMIT_WAITERS_NAME) || begins_with(key, size, RL_LATCH_NAME);
}

int rl_key_check(const struct redlock_client *client, const void *key, size_t key_size, size_t longest_suffix)
{
    if (rl_client_forked(client))
        return REDLOCK_E_FORKED;
    if (client->host.closing)
        return REDLOCK_E_CLOSING;
    if (key_size == 0)
        return REDLOCK_E_KEY_EMPTY;
    if (key_size + client->host.trust.prefix_size + longest_suffix > REDLOCK_MAX_KEY_BYTES)
        return REDLOCK_E_KEY_TOO_LONG;
    return is_reserved(key, key_size) ? REDLOCK_E_KEY_RESERVED : 0;
}
