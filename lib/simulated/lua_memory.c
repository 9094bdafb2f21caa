#include "simulated/lua_memory.h"

#include <stdlib.h>
#include <string.h>

static size_t class_of(size_t size)
{
    return (size - 1) / LUA_MEMORY_GRAIN;
}

static void *take(struct lua_memory *memory, size_t size)
{
    size_t class = class_of(size);
    struct lua_block *block;

    if (class >= LUA_MEMORY_CLASSES)
        return malloc(size);
    block = memory->free[class];
    if (!block)
        return malloc((class + 1) * LUA_MEMORY_GRAIN);
    memory->free[class] = block->next;
    return block;
}

static void give(struct lua_memory *memory, void *old, size_t size)
{
    struct lua_block *block = old;

    if (class_of(size) >= LUA_MEMORY_CLASSES) {
        free(old);
        return;
    }
    block->next = memory->free[class_of(size)];
    memory->free[class_of(size)] = block;
}

static void *move(struct lua_memory *memory, void *old, size_t old_size, size_t size)
{
    void *block;

    if (class_of(old_size) == class_of(size) && class_of(size) < LUA_MEMORY_CLASSES)
        return old;
    block = take(memory, size);
    if (!block)
        return NULL;
    memcpy(block, old, old_size < size ? old_size : size);
    give(memory, old, old_size);
    return block;
}

void *lua_memory_alloc(void *memory, void *old, size_t old_size, size_t size)
{
    if (size && old)
        return move(memory, old, old_size, size);
    if (size)
        return take(memory, size);
    if (old)
        give(memory, old, old_size);
    return NULL;
}

void lua_memory_fini(struct lua_memory *memory)
{
    for (size_t class = 0; class < LUA_MEMORY_CLASSES; class++) {
        while (memory->free[class]) {
            struct lua_block *block = memory->free[class];

            memory->free[class] = block->next;
            free(block);
        }
    }
}
