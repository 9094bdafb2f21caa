/* An allocator for one interpreter (lua_Alloc): freed blocks of each small size wait for the next script, which wants
 * the same sizes again. */
#ifndef RL_SIMULATED_LUA_MEMORY_H
#define RL_SIMULATED_LUA_MEMORY_H

#include <stddef.h>

#define LUA_MEMORY_GRAIN 16u
#define LUA_MEMORY_CLASSES 16u /* of sizes; larger blocks are left to malloc() */

struct lua_block {
    struct lua_block *next;
};

struct lua_memory {
    struct lua_block *free[LUA_MEMORY_CLASSES];
};

void *lua_memory_alloc(void *memory, void *old, size_t old_size, size_t size);

/* When the interpreter has been closed. */
void lua_memory_fini(struct lua_memory *memory);

#endif
