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

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static void grow_numbers(struct seen_numbers *table)
{
    struct seen_numbers larger = {.capacity = table->capacity ? 2 * table->capacity : 1u << 12, .count = table->count};

    larger.hashes = seen_take(larger.capacity, sizeof *larger.hashes);
    larger.numbers = seen_take(larger.capacity, sizeof *larger.numbers);
    for (size_t i = 0; i < table->capacity; i++) {
        uint64_t *place = find(larger.hashes, larger.capacity, table->hashes[i]);

        if (!table->hashes[i])
            continue;
        *place = table->hashes[i];
        larger.numbers[place - larger.hashes] = table->numbers[i];
    }
    seen_numbers_fini(table);
    *table = larger;
}

bool seen_number(struct seen_numbers *table, uint64_t hash, uint32_t *ret_number)
{
    uint64_t *place;

    hash = hash ^ hash >> 32;
    hash = hash ? hash : 1;
    if (table->count >= table->capacity / 2)
        grow_numbers(table);
    place = find(table->hashes, table->capacity, hash);
    if (*place) {
        *ret_number = table->numbers[place - table->hashes];
        return false;
    }
    *place = hash;
    table->numbers[place - table->hashes] = *ret_number = (uint32_t)table->count++;
    return true;
}

void seen_numbers_fini(struct seen_numbers *table)
{
    free(table->hashes);
    free(table->numbers);
    *table = (struct seen_numbers){0};
}

void *seen_room(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    array = realloc(array, 2 * (count ? count : 1) * size);
    if (!array) {
        fputs("explore: out of memory\n", stderr);
        exit(2);
    }
    return array;
}
