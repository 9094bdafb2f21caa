#include "box.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 64u

void box_pool_fini(struct box_pool *pool)
{
    for (uint32_t i = 0; i < pool->n_chunks; i++)
        free(pool->chunks[i]);
    free(pool->chunks);
    *pool = (struct box_pool){0};
}

static void grow(struct box_pool *pool)
{
    struct box **chunks = realloc(pool->chunks, (pool->n_chunks + 1) * sizeof *chunks);
    struct box *chunk = malloc(CHUNK * sizeof *chunk);

    if (!chunks || !chunk) {
        fputs("sim: out of memory\n", stderr);
        abort();
    }
    pool->chunks = chunks;
    pool->chunks[pool->n_chunks++] = chunk;
}

struct box *box_take(struct box_pool *pool)
{
    struct box *box;

    if (pool->used == pool->n_chunks * CHUNK)
        grow(pool);
    box = &pool->chunks[pool->used / CHUNK][pool->used % CHUNK];
    memset(box, 0, sizeof *box);
    box->id = ++pool->used;
    return box;
}

struct box *box_get(const struct box_pool *pool, uint32_t id)
{
    assert(id >= 1 && id <= pool->used);
    return &pool->chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
}

struct box *box_maker(const struct box_pool *pool, uint32_t id)
{
    struct box *box = box_get(pool, id);

    while (box->origin)
        box = box_get(pool, box->origin);
    return box;
}

/* A client's letter, then the number of the first box with this value. */
struct box *box_of_token(const struct box_pool *pool, const char *token, size_t size)
{
    uint32_t id = 0;
    struct box *box;

    for (size_t i = 1; i < size; i++)
        id = 10 * id + (uint32_t)(token[i] - '0');
    if (id == BOX_NONE || id > pool->used)
        return NULL;
    box = box_get(pool, id);
    return box->token_size == size && memcmp(box->token, token, size) == 0 ? box : NULL;
}
