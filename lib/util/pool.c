#include "util/pool.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(memory, size) ((void)(memory), (void)(size))
#endif

#define BLOCK_PIECES 64

struct rl_pool_block {
    struct rl_pool_block *next;
    void *pieces[];
};

void rl_pool_init(struct rl_pool *pool, size_t size)
{
    assert(size >= sizeof(void *) && size % sizeof(void *) == 0);
    *pool = (struct rl_pool){.size = size};
}

static void *piece_of(const struct rl_pool *pool, struct rl_pool_block *block, size_t i)
{
    return (char *)block->pieces + i * pool->size;
}

void rl_pool_fini(struct rl_pool *pool, void (*end)(void *piece))
{
    while (pool->blocks) {
        struct rl_pool_block *block = pool->blocks;

        ASAN_UNPOISON_MEMORY_REGION(block->pieces, BLOCK_PIECES * pool->size);
        for (size_t i = 0; end && i < BLOCK_PIECES; i++)
            end(piece_of(pool, block, i));
        pool->blocks = block->next;
        free(block);
    }
    pool->spare = NULL;
}

/* A piece that is not in use ends with the pointer to the next such one. */
static void **next_spare(const struct rl_pool *pool, void *piece)
{
    return (void **)(void *)((char *)piece + pool->size) - 1;
}

void rl_pool_give(struct rl_pool *pool, void *piece)
{
    *next_spare(pool, piece) = pool->spare;
    pool->spare = piece;
    ASAN_POISON_MEMORY_REGION(piece, pool->size);
}

/* The first piece of the block becomes the first spare one. */
static bool add_block(struct rl_pool *pool)
{
    struct rl_pool_block *block = calloc(1, sizeof *block + BLOCK_PIECES * pool->size);

    if (!block)
        return false;
    block->next = pool->blocks;
    pool->blocks = block;
    for (size_t i = BLOCK_PIECES; i-- > 0;)
        rl_pool_give(pool, piece_of(pool, block, i));
    return true;
}

void *rl_pool_take(struct rl_pool *pool)
{
    void *piece;

    if (!pool->spare && !add_block(pool))
        return NULL;
    piece = pool->spare;
    ASAN_UNPOISON_MEMORY_REGION(piece, pool->size);
    pool->spare = *next_spare(pool, piece);
    return piece;
}
