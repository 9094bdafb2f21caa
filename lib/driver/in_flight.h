/* The commands of one connection that have no reply yet, in the order in which they were written. */
#ifndef RL_DRIVER_RING_H
#define RL_DRIVER_RING_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/transport.h"

struct rl_ring_entry {
    struct rl_ticket ticket;
    uint64_t start; /* where its first byte is in everything queued on this connection */
};

struct rl_ring {
    struct rl_ring_entry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t first;    /* these two only grow; the index is taken modulo the capacity */
    size_t end;
};

/* All zero is an empty ring. */
void rl_ring_fini(struct rl_ring *ring);

static inline size_t rl_ring_count(const struct rl_ring *ring)
{
    return ring->end - ring->first;
}

/* The oldest; the ring must not be empty. */
static inline const struct rl_ring_entry *rl_ring_front(const struct rl_ring *ring)
{
    assert(rl_ring_count(ring) > 0);
    return &ring->entries[ring->first & (ring->capacity - 1)];
}

/* Gives memory back after a burst; to be called now and then. */
void rl_ring_relax(struct rl_ring *ring);

static inline struct rl_ring_entry rl_ring_pop(struct rl_ring *ring)
{
    assert(rl_ring_count(ring) > 0);
    return ring->entries[ring->first++ & (ring->capacity - 1)];
}

/* Makes room for one more; false if memory is short. */
bool rl_ring_reserve(struct rl_ring *ring);

/* Only after rl_ring_reserve(). */
static inline void rl_ring_push(struct rl_ring *ring, const struct rl_ticket *ticket, uint64_t start)
{
    assert(rl_ring_count(ring) < ring->capacity);
    ring->entries[ring->end++ & (ring->capacity - 1)] = (struct rl_ring_entry){*ticket, start};
}

#endif
