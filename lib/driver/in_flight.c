#include "driver/in_flight.h"

#include <stdlib.h>

#define SMALLEST_CAPACITY 16

void rl_in_flight_fini(struct rl_in_flight *in_flight)
{
    free(in_flight->entries);
    *in_flight = (struct rl_in_flight){0};
}

/* Room for so many is kept when there are none: more than a busy client has in flight. */
#define KEPT_CAPACITY 1024

void rl_in_flight_relax(struct rl_in_flight *in_flight)
{
    if (in_flight->capacity > KEPT_CAPACITY && rl_in_flight_count(in_flight) == 0)
        rl_in_flight_fini(in_flight);
}

bool rl_in_flight_reserve(struct rl_in_flight *in_flight)
{
    size_t count = rl_in_flight_count(in_flight);
    size_t capacity = in_flight->capacity ? in_flight->capacity * 2 : SMALLEST_CAPACITY;
    struct rl_in_flight_entry *entries;

    if (count < in_flight->capacity)
        return true;
    entries = capacity <= SIZE_MAX / sizeof(*entries) ? malloc(capacity * sizeof(*entries)) : NULL;
    if (!entries)
        return false;
    for (size_t i = 0; i < count; i++)
        entries[i] = rl_in_flight_pop(in_flight);
    free(in_flight->entries);
    *in_flight = (struct rl_in_flight){.entries = entries, .capacity = capacity, .first = 0, .end = count};
    return true;
}
