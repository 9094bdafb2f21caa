/* The commands of one connection that have no reply yet, in the order in which they were written. */
#ifndef RL_DRIVER_IN_FLIGHT_H
#define RL_DRIVER_IN_FLIGHT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/transport.h"

struct rl_in_flight_entry {
    struct rl_tag tag;
    uint64_t start; /* where its first byte is in everything queued on this connection */
};

struct rl_in_flight {
    struct rl_in_flight_entry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t first;    /* these two only grow; the index is taken modulo the capacity */
    size_t end;
};

/* With all members zero there is nothing in flight. */
void rl_in_flight_fini(struct rl_in_flight *in_flight);

static inline size_t rl_in_flight_count(const struct rl_in_flight *in_flight)
{
    return in_flight->end - in_flight->first;
}

/* The oldest; there must be one. */
static inline const struct rl_in_flight_entry *rl_in_flight_front(const struct rl_in_flight *in_flight)
{
    assert(rl_in_flight_count(in_flight) > 0);
    return &in_flight->entries[in_flight->first & (in_flight->capacity - 1)];
}

/* Gives memory back after a burst; to be called now and then. */
void rl_in_flight_relax(struct rl_in_flight *in_flight);

static inline struct rl_in_flight_entry rl_in_flight_pop(struct rl_in_flight *in_flight)
{
    assert(rl_in_flight_count(in_flight) > 0);
    return in_flight->entries[in_flight->first++ & (in_flight->capacity - 1)];
}

/* Makes room for one more; false if memory is short. */
bool rl_in_flight_reserve(struct rl_in_flight *in_flight);

/* Only after rl_in_flight_reserve(). */
static inline void rl_in_flight_push(struct rl_in_flight *in_flight, const struct rl_tag *tag, uint64_t start)
{
    assert(rl_in_flight_count(in_flight) < in_flight->capacity);
    in_flight->entries[in_flight->end++ & (in_flight->capacity - 1)] = (struct rl_in_flight_entry){*tag, start};
}

#endif
