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

/* From hashes to numbers. A zeroed one is empty. */
struct seen_numbers {
    uint64_t *hashes; /* as above */
    uint32_t *numbers;
    size_t capacity;
    size_t count;
};

/* The number that belongs to the hash. true: it is a new one, the count so far. */
bool seen_number(struct seen_numbers *table, uint64_t hash, uint32_t *ret_number);
void seen_numbers_fini(struct seen_numbers *table);

/* Room for one more in an array that doubles. */
void *seen_room(void *array, size_t count, size_t size);

#endif
