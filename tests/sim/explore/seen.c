#include "seen.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAPACITY (1u << 16)

void *seen_take(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory) {
        fputs("explore: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Where the hash is, or belongs. */
static uint64_t *find(uint64_t *hashes, size_t capacity, uint64_t hash)
{
    size_t at = hash & (capacity - 1);

    while (hashes[at] && hashes[at] != hash)
        at = (at + 1) & (capacity - 1);
    return &hashes[at];
}

static void grow(struct seen *seen)
{
    size_t capacity = seen->capacity ? 2 * seen->capacity : FIRST_CAPACITY;
    uint64_t *hashes = seen_take(capacity, sizeof *hashes);

    for (size_t i = 0; i < seen->capacity; i++) {
        if (seen->hashes[i])
            *find(hashes, capacity, seen->hashes[i]) = seen->hashes[i];
    }
    free(seen->hashes);
    seen->hashes = hashes;
    seen->capacity = capacity;
}

bool seen_add(struct seen *seen, uint64_t hash)
{
    uint64_t *place;

    if (seen->count >= seen->capacity / 2)
        grow(seen);
    place = find(seen->hashes, seen->capacity, hash ? hash : 1);
    if (*place)
        return false;
    *place = hash ? hash : 1;
    seen->count++;
    return true;
}

bool seen_has(const struct seen *seen, uint64_t hash)
{
    return seen->count && *find(seen->hashes, seen->capacity, hash ? hash : 1);
}

void seen_fini(struct seen *seen)
{
    free(seen->hashes);
    *seen = (struct seen){0};
}
