#include "driver/ring.h"

#include <stdlib.h>

#define SMALLEST_CAPACITY 16

void rl_ring_fini(struct rl_ring *ring)
{
    free(ring->entries);
    *ring = (struct rl_ring){0};
}

/* An empty ring keeps room for so many; that is more than a busy client has in flight. */
#define KEPT_CAPACITY 1024

void rl_ring_relax(struct rl_ring *ring)
{
    if (ring->capacity > KEPT_CAPACITY && rl_ring_count(ring) == 0)
        rl_ring_fini(ring);
}

bool rl_ring_reserve(struct rl_ring *ring)
{
    size_t count = rl_ring_count(ring);
    size_t capacity = ring->capacity ? ring->capacity * 2 : SMALLEST_CAPACITY;
    struct rl_ring_entry *entries;

    if (count < ring->capacity)
        return true;
    entries = capacity <= SIZE_MAX / sizeof(*entries) ? malloc(capacity * sizeof(*entries)) : NULL;
    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        entries[i] = rl_ring_pop(ring);
    free(ring->entries);
    *ring = (struct rl_ring){.entries = entries, .capacity = capacity, .first = 0, .end = count};
    return true;
}
