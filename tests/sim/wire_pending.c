/* What a connection waits for, in the order in which it was written. */
#include "wire_pending.h"

#include <assert.h>
#include <stdlib.h>

static uint32_t slot_of(const struct wire *wire, uint32_t position)
{
    return (wire->head + position) & (wire->ring_size - 1);
}

static void ring_grow(struct wire *wire)
{
    uint32_t size = wire->ring_size ? 2 * wire->ring_size : 16;
    struct pending *ring = malloc(size * sizeof *ring);

    if (!ring)
        abort();
    for (uint32_t i = 0; i < wire->count; i++)
        ring[i] = wire->ring[slot_of(wire, i)];
    free(wire->ring);
    wire->ring = ring;
    wire->ring_size = size;
    wire->head = 0;
}

void pending_push(struct wire *wire, const struct pending *pending)
{
    if (wire->count == wire->ring_size)
        ring_grow(wire);
    wire->ring[slot_of(wire, wire->count++)] = *pending;
}

struct pending pending_shift(struct wire *wire)
{
    struct pending pending = wire->ring[wire->head];

    assert(wire->count);
    wire->head = slot_of(wire, 1);
    wire->count--;
    return pending;
}

void wire_fini(struct wire *wire)
{
    free(wire->ring);
    wire->ring = NULL;
    wire->ring_size = 0;
}
