#include "api/set_parts.h"

#include <redlock/semaphore.h>
#include <string.h>

#include "api/handle.h"
#include "api/set_hold.h"
#include "api/set_pending.h"

/* Shorter keys come before longer ones that begin with them. */
static int compare(const struct redlock_lock *lock, const void *key, size_t key_size)
{
    size_t size;
    const void *own = redlock_lock_key(lock, &size);
    int order = memcmp(own, key, size < key_size ? size : key_size);

    return order ? order : (size > key_size) - (size < key_size);
}

/* The alarm of a lost part may be still to come. */
void rl_set_insert(struct redlock_set *set, unsigned at, struct rl_set_member part)
{
    if (at <= set->lost_part)
        set->lost_part++;
    memmove(set->parts + at + 1, set->parts + at, (set->n - at) * sizeof set->parts[0]);
    set->parts[at] = part;
    set->n++;
    redlock_lock_watch(part.lock, rl_set_alarm, set);
}

int rl_set_check_addition(struct redlock_set *set, const void *key, size_t key_size)
{
    int status = !set || key || !key_size ? rl_set_check(set) : REDLOCK_E_ARGUMENT;

    if (status < 0)
        return status;
    if (rl_set_is_busy(set))
        return REDLOCK_E_BUSY;
    return set->state == REDLOCK_STATE_HELD ? REDLOCK_E_ALREADY_HELD : 0;
}

/* A gate stands where its permits do. */
static const struct redlock_lock *orders_by(const struct redlock_set *set, unsigned part)
{
    return set->parts[part + rl_set_is_gate(set, part)].lock;
}

unsigned rl_set_place_for(const struct redlock_set *set, const void *key, size_t key_size)
{
    unsigned at = 0;

    while (at < set->n && compare(orders_by(set, at), key, key_size) < 0)
        at++;
    return at;
}

bool rl_set_has_key(const struct redlock_set *set, const void *key, size_t key_size)
{
    for (unsigned i = 0; i < set->n; i++) {
        if (compare(set->parts[i].lock, key, key_size) == 0)
            return true;
    }
    return false;
}

/* The key is "KEY#s", a slot of this semaphore: whoever holds the permit with that slot holds this key. */
static bool is_slot(const void *key, size_t key_size, const void *semaphore, size_t semaphore_size, uint32_t limit)
{
    const char *at = (const char *)key + semaphore_size;
    const char *end = (const char *)key + key_size;
    uint32_t slot = 0;

    if (key_size < semaphore_size + 2 || memcmp(key, semaphore, semaphore_size) != 0 || *at++ != '#' ||
        (*at == '0' && end - at > 1))
        return false;
    for (; at < end && slot < limit; at++) {
        if (*at < '0' || *at > '9')
            return false;
        slot = slot * 10 + (uint32_t)(*at - '0');
    }
    return slot < limit;
}

/* A set that had a permit, and the key of its slot, would wait for itself. `limit` is 0 for a key that is no
 * semaphore's. */
static bool has_slot(const struct redlock_set *set, const void *key, size_t key_size, uint32_t limit)
{
    for (unsigned i = 0; i < set->n; i++) {
        uint32_t own_limit = redlock_lock_limit(set->parts[i].lock);
        size_t size;
        const void *own = redlock_lock_key(set->parts[i].lock, &size);

        if (limit == 0 ? own_limit != 0 && is_slot(key, key_size, own, size, own_limit)
                       : own_limit == 0 && is_slot(own, size, key, key_size, limit))
            return true;
    }
    return false;
}

int rl_set_check_room(const struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit)
{
    return n > REDLOCK_MAX_SET_KEYS - redlock_set_size(set) || rl_set_has_key(set, key, key_size) ||
                   has_slot(set, key, key_size, limit)
               ? REDLOCK_E_SET_KEYS
               : 0;
}
