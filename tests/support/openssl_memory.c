#include "openssl_memory.h"

#include <openssl/crypto.h>
#include <stdlib.h>

struct openssl_memory openssl_memory = {.failing = -1};

static bool fails(void)
{
    return openssl_memory.armed && openssl_memory.allocations++ == openssl_memory.failing;
}

static void *scarce_malloc(size_t size, const char *file, int line)
{
    return fails() ? NULL : malloc(size);
}

static void *scarce_realloc(void *old, size_t size, const char *file, int line)
{
    return fails() ? NULL : realloc(old, size);
}

static void plain_free(void *memory, const char *file, int line)
{
    free(memory);
}

bool openssl_memory_hook(void)
{
    return CRYPTO_set_mem_functions(scarce_malloc, scarce_realloc, plain_free) == 1;
}

bool openssl_memory_next(long dense, long step)
{
    struct openssl_memory *m = &openssl_memory;
    bool reached = m->failing < 0 || m->allocations > m->failing;

    if (!reached)
        m->failing = -1;
    else if (m->failing < 0)
        m->failing = 0;
    else
        m->failing += m->failing < dense ? 1 : step;
    m->allocations = 0;
    return reached;
}
