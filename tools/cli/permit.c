#include "cli/permit.h"

#include <redlock/set.h>

#include <stdlib.h>
#include <string.h>

/* The digits in front of `end`, from 1 to `most`; otherwise NULL, or what follows. */
static const char *read_number(const char *word, char end, uint32_t most, uint32_t *ret_number)
{
    char *rest;
    unsigned long number;

    if (*word < '1' || *word > '9')
        return NULL;
    number = strtoul(word, &rest, 10);
    if (*rest != end || number > most)
        return NULL;
    *ret_number = (uint32_t)number;
    return rest + 1;
}

bool cli_permits_of(const char *word, uint32_t *ret_n, uint32_t *ret_permits)
{
    const char *rest = read_number(word, '/', REDLOCK_MAX_SET_KEYS, ret_n);

    return rest != NULL && read_number(rest, '\0', REDLOCK_MAX_PERMITS, ret_permits) != NULL && *ret_n <= *ret_permits;
}

int cli_lock_create(struct redlock_client *client, const char *key, uint32_t permits, struct redlock_lock **ret_lock)
{
    if (permits != 0)
        return redlock_permit_create(client, key, strlen(key), permits, ret_lock);
    return redlock_lock_create(client, key, strlen(key), ret_lock);
}
