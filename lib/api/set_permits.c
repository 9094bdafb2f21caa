/* Permits of a semaphore as parts of a set: several of one semaphore have a mutex, their gate, in front of them
 * (family 5.4). */
#include <redlock/semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/set_parts.h"

int redlock_set_add_permit(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit)
{
    return redlock_set_add_permits(set, key, key_size, 1, limit);
}

#define GATE_SUFFIX "#gate"

static int create_gate(struct redlock_set *set, const void *key, size_t key_size, struct redlock_lock **ret_lock)
{
    size_t size = key_size + sizeof GATE_SUFFIX - 1;
    char *name = malloc(size);
    int status = name ? 0 : REDLOCK_E_NOMEM;

    if (name) {
        memcpy(name, key, key_size);
        memcpy(name + key_size, GATE_SUFFIX, sizeof GATE_SUFFIX - 1);
        status = rl_set_has_key(set, name, size) ? REDLOCK_E_SET_KEYS
                                                 : redlock_lock_create(set->client, name, size, ret_lock);
    }
    free(name);
    return status;
}

/* Of several permits the gate comes first. All or none are made. */
static int create_permits(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit,
                          struct redlock_lock **locks, unsigned n)
{
    unsigned made = 0;
    int status = 0;

    if (n > 1)
        status = create_gate(set, key, key_size, &locks[made]);
    made = n > 1 && status == 0;
    while (status == 0 && made < n) {
        status = redlock_permit_create(set->client, key, key_size, limit, &locks[made]);
        made += status == 0;
    }
    while (status < 0 && made > 0)
        redlock_lock_destroy(locks[--made]);
    return status;
}

int redlock_set_add_permits(struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    struct redlock_lock *locks[REDLOCK_MAX_SET_KEYS + 1];
    int status = rl_set_check_addition(set, key, key_size);
    unsigned parts = n > 1 ? n + 1 : n;
    unsigned at;

    if (status < 0)
        return status;
    if (n == 0 || n > limit || limit > REDLOCK_MAX_PERMITS)
        return REDLOCK_E_PERMITS;
    status = rl_set_check_room(set, key, key_size, n, limit);
    if (status == 0)
        status = create_permits(set, key, key_size, limit, locks, parts);
    if (status < 0)
        return status;
    at = rl_set_place_for(set, key, key_size);
    for (unsigned i = parts; i-- > 0;)
        rl_set_insert(set, at, (struct rl_set_member){.lock = locks[i], .mode = REDLOCK_EXCLUSIVE,
                                                      .is_gate = parts > 1 && i == 0, .is_behind_gate = i > 0});
    return 0;
}
