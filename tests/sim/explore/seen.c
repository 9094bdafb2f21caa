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

static bool insert(uint64_t *hashes, size_t capacity, uint64_t hash)
{
    size_t at = hash & (capacity - 1);

    while (hashes[at] && hashes[at] != hash)
        at = (at + 1) & (capacity - 1);
    if (hashes[at])
        return false;
    hashes[at] = hash;
    return true;
}

static void grow(struct seen *seen)
{
    size_t capacity = seen->capacity ? 2 * seen->capacity : FIRST_CAPACITY;
    uint64_t *hashes = seen_take(capacity, sizeof *hashes);

    for (size_t i = 0; i < seen->capacity; i++) {
        if (seen->hashes[i])
            insert(hashes, capacity, seen->hashes[i]);
    }
    free(seen->hashes);
    seen->hashes = hashes;
    seen->capacity = capacity;
}

bool seen_add(struct seen *seen, uint64_t hash)
{
    if (seen->count >= seen->capacity / 2)
        grow(seen);
    if (!insert(seen->hashes, seen->capacity, hash ? hash : 1))
        return false;
    seen->count++;
    return true;
}

void seen_fini(struct seen *seen)
{
    free(seen->hashes);
    *seen = (struct seen){0};
}
