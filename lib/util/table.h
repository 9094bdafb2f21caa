/* Intrusive hash table, with a chain of nodes in each bucket. The caller has a function for the hash of a node, and
 * compares what it looks for: different things share a chain.
 *
 * The table grows with the number of its nodes. Adding never fails: without memory the chains just get longer. */
#ifndef RL_UTIL_TABLE_H
#define RL_UTIL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct rl_table_node {
    struct rl_table_node *next; /* in its chain */
};

/* Good in its lower bits (util/hash.h), and the same for as long as the node is in the table. */
typedef uint64_t (*rl_table_hash_fn)(struct rl_table_node *node);

/* Does not move in memory. */
struct rl_table {
    rl_table_hash_fn hash;
    struct rl_table_node **buckets;
    size_t mask; /* the number of buckets is a power of two; this is one less */
    size_t count;
    struct rl_table_node *first_buckets[8];
};

void rl_table_init(struct rl_table *table, rl_table_hash_fn hash);

/* The nodes stay the caller's. */
void rl_table_fini(struct rl_table *table);

void rl_table_add(struct rl_table *table, struct rl_table_node *node);

/* The node must be in the table. */
void rl_table_remove(struct rl_table *table, struct rl_table_node *node);

/* The first node of the chain that has all nodes with this hash, and others; NULL: there are none. */
static inline struct rl_table_node *rl_table_chain(const struct rl_table *table, uint64_t hash)
{
    return table->buckets[hash & table->mask];
}

#endif
