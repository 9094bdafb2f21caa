/* What one client knows of a semaphore: the keys of its slots, its own claims for each, and the slots that it has
 * released.
 *
 * The keys of slots are made when they are first needed, and kept. Each claim has a reference to the key of its slot,
 * so the number of references says how many claims of this client there are for a slot. */
#ifndef RL_HOST_SEMAPHORE_H
#define RL_HOST_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include "util/instant.h"
#include "util/table.h"

struct rl_host;
struct rl_key;

#define RL_MAX_RELEASED 16

/* Shared by the client's handles. */
struct rl_semaphore {
    struct rl_table_node node;
    struct rl_key *key;
    size_t references;
    uint32_t limit;              /* the largest that a handle has named */
    /* The slots that handles have released, and not chosen since then; the latest is the last. */
    uint32_t n_released;
    uint32_t released[RL_MAX_RELEASED];
    /* One that masters have shown to be free, and that nobody here has chosen since then; worth a try until then. */
    uint32_t free_slot;
    struct rl_instant free_until;
    struct rl_key **slots;       /* by number; NULL: not needed yet */
};

/* For the client's table of semaphores. */
uint64_t rl_semaphore_hash(struct rl_table_node *node);

/* The semaphore of this key; NULL: out of memory. Each call is matched by one of rl_semaphore_put(). */
struct rl_semaphore *rl_semaphore_get(struct rl_host *host, const struct rl_key *key, uint32_t limit);
void rl_semaphore_put(struct rl_host *host, struct rl_semaphore *semaphore);

/* The key of a slot, borrowed from the semaphore; NULL: out of memory. */
struct rl_key *rl_semaphore_key(struct rl_semaphore *semaphore, uint32_t slot);

/* How many claims of this client there are for a slot. */
uint32_t rl_semaphore_claims_at(const struct rl_semaphore *semaphore, uint32_t slot);

void rl_semaphore_note_released(struct rl_semaphore *semaphore, uint32_t slot);
void rl_semaphore_forget_released(struct rl_semaphore *semaphore, uint32_t slot);

#endif
