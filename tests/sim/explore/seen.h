/* The states that a search has seen: a set of 64-bit hashes. With 10^8 the chance of a collision is 3 in 10^4. */
#ifndef SIM_SEEN_H
#define SIM_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
    uint64_t *hashes; /* open addressing; 0: empty */
    size_t capacity;
    uint64_t count;
};

/* Zeroed memory for a search, which ends the program where there is none. */
void *seen_take(size_t count, size_t size);

/* true: it was not there. A zeroed set is empty. */
bool seen_add(struct seen *seen, uint64_t hash);
bool seen_has(const struct seen *seen, uint64_t hash);
void seen_fini(struct seen *seen);

#endif
