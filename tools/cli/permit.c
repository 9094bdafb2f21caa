#include "cli/permit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_permits_of(const char *word, uint32_t *ret_permits)
{
    char *end;
    unsigned long number;

    if (strncmp(word, "1/", 2) != 0 || word[2] < '1' || word[2] > '9')
        return false;
    number = strtoul(word + 2, &end, 10);
    if (*end != '\0' || number > REDLOCK_MAX_PERMITS)
        return false;
    *ret_permits = (uint32_t)number;
    return true;
}

int cli_lock_create(struct redlock_client *client, const char *key, uint32_t permits, struct redlock_lock **ret_lock)
{
    if (permits != 0)
        return redlock_permit_create(client, key, strlen(key), permits, ret_lock);
    return redlock_lock_create(client, key, strlen(key), ret_lock);
}

void cli_held_key(const struct redlock_lock *lock, const char *key, char *ret_text, size_t size)
{
    if (redlock_lock_limit(lock) != 0)
        snprintf(ret_text, size, "%s#%d", key, (int)redlock_lock_slot(lock));
    else
        snprintf(ret_text, size, "%s", key);
}
