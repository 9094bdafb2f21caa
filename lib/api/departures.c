#include "api/departures.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"

struct rl_departures {
    uint32_t capacity; /* for those that wait, and for all inner entries */
    uint32_t count;    /* those that wait, the oldest first */
    struct rl_pending waiting[];
};

#define FIRST_CAPACITY 4

uint32_t rl_departures_count(const struct redlock_lock *lock)
{
    return lock->departures ? lock->departures->count : 0;
}

int rl_departures_reserve(struct redlock_lock *lock)
{
    struct rl_departures *departures = lock->departures;
    uint32_t capacity = departures ? departures->capacity : 0;
    uint32_t needed = rl_departures_count(lock) + lock->host.inner_entries;

    if (needed >= REDLOCK_MAX_DEPTH)
        return REDLOCK_E_DEPTH;
    if (needed <= capacity)
        return 0;
    capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
    departures = realloc(departures, sizeof *departures + capacity * sizeof departures->waiting[0]);
    if (!departures)
        return REDLOCK_E_NOMEM;
    if (!lock->departures)
        departures->count = 0;
    departures->capacity = capacity;
    lock->departures = departures;
    return 0;
}

void rl_departures_push(struct redlock_lock *lock, const struct rl_pending *pending)
{
    struct rl_departures *departures = lock->departures;

    assert(departures && departures->count < departures->capacity);
    departures->waiting[departures->count++] = *pending;
}

bool rl_departures_shift(struct redlock_lock *lock, struct rl_pending *ret_pending)
{
    struct rl_departures *departures = lock->departures;

    if (!rl_departures_count(lock))
        return false;
    *ret_pending = departures->waiting[0];
    departures->count--;
    memmove(departures->waiting, departures->waiting + 1, departures->count * sizeof departures->waiting[0]);
    return true;
}

void rl_departures_fini(struct redlock_lock *lock)
{
    free(lock->departures);
    lock->departures = NULL;
}
