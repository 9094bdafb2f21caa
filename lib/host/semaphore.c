#include "host/semaphore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"

static struct rl_semaphore *semaphore_at(struct rl_table_node *node)
{
    return RL_CONTAINER_OF(node, struct rl_semaphore, node);
}

uint64_t rl_semaphore_hash(struct rl_table_node *node)
{
    return rl_key_hash(semaphore_at(node)->key);
}

static struct rl_semaphore *find(const struct rl_table *semaphores, const struct rl_key *key)
{
    struct rl_table_node *node = rl_table_chain(semaphores, rl_key_hash(key));

    for (; node; node = node->next) {
        if (rl_slice_equals(rl_key_slice(semaphore_at(node)->key), rl_key_slice(key)))
            return semaphore_at(node);
    }
    return NULL;
}

static bool grow(struct rl_semaphore *semaphore, uint32_t limit)
{
    struct rl_key **slots;

    if (limit <= semaphore->limit)
        return true;
    slots = calloc(limit, sizeof(struct rl_key *));
    if (!slots)
        return false;
    if (semaphore->limit)
        memcpy(slots, semaphore->slots, semaphore->limit * sizeof(struct rl_key *));
    free(semaphore->slots);
    semaphore->slots = slots;
    semaphore->limit = limit;
    return true;
}

static void destroy(struct rl_semaphore *semaphore)
{
    for (uint32_t i = 0; i < semaphore->limit; i++)
        rl_key_unref(semaphore->slots[i]);
    free(semaphore->slots);
    rl_key_unref(semaphore->key);
    free(semaphore);
}

struct rl_semaphore *rl_semaphore_get(struct rl_host *host, const struct rl_key *key, uint32_t limit)
{
    struct rl_semaphore *semaphore = find(&host->permits.semaphores, key);

    if (!semaphore) {
        semaphore = calloc(1, sizeof *semaphore);
        if (!semaphore)
            return NULL;
        semaphore->free_until = RL_LONG_AGO;
        semaphore->key = rl_key_ref((struct rl_key *)(uintptr_t)key);
        rl_table_add(&host->permits.semaphores, &semaphore->node);
    }
    semaphore->references++;
    if (grow(semaphore, limit))
        return semaphore;
    rl_semaphore_put(host, semaphore);
    return NULL;
}

void rl_semaphore_put(struct rl_host *host, struct rl_semaphore *semaphore)
{
    if (!semaphore || --semaphore->references)
        return;
    rl_table_remove(&host->permits.semaphores, &semaphore->node);
    destroy(semaphore);
}

struct rl_key *rl_semaphore_key(struct rl_semaphore *semaphore, uint32_t slot)
{
    char suffix[16];
    int size = snprintf(suffix, sizeof suffix, "#%u", (unsigned)slot);

    if (!semaphore->slots[slot])
        semaphore->slots[slot] = rl_key_create(rl_key_slice(semaphore->key), suffix, (size_t)size);
    return semaphore->slots[slot];
}

uint32_t rl_semaphore_claims_at(const struct rl_semaphore *semaphore, uint32_t slot)
{
    return semaphore->slots[slot] ? semaphore->slots[slot]->references - 1 : 0;
}

void rl_semaphore_note_released(struct rl_semaphore *semaphore, uint32_t slot)
{
    rl_semaphore_forget_released(semaphore, slot);
    if (semaphore->n_released == RL_MAX_RELEASED) {
        semaphore->n_released--;
        memmove(semaphore->released, semaphore->released + 1, (RL_MAX_RELEASED - 1) * sizeof semaphore->released[0]);
    }
    semaphore->released[semaphore->n_released++] = slot;
}

void rl_semaphore_forget_released(struct rl_semaphore *semaphore, uint32_t slot)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < semaphore->n_released; i++) {
        if (semaphore->released[i] != slot)
            semaphore->released[kept++] = semaphore->released[i];
    }
    semaphore->n_released = kept;
}
