/* Memory for very many things of one size: in blocks, so that each costs no more than it needs. Given back when the
 * pool ends: its size is that of the largest number that was ever in use at once.
 *
 * With the address sanitizer a piece that is not in use is poisoned, as it would be by free(). */
#ifndef RL_UTIL_POOL_H
#define RL_UTIL_POOL_H

#include <stddef.h>

struct rl_pool {
    struct rl_pool_block *blocks;
    void *spare;
    size_t size; /* of a piece */
};

/* Allocates nothing. Pieces are aligned like pointers; size is a multiple of that. */
void rl_pool_init(struct rl_pool *pool, size_t size);

/* All pieces. `end`, if it is not NULL, is called for each before that, in use or not. */
void rl_pool_fini(struct rl_pool *pool, void (*end)(void *piece));

/* Zeroed if it is new, else as it was given back; but for its last pointer. NULL: out of memory. */
void *rl_pool_take(struct rl_pool *pool);
void rl_pool_give(struct rl_pool *pool, void *piece);

#endif
