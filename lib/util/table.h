/* Intrusive hash table, with a chain of nodes in each bucket. The caller brings the hash of each node, and compares
 * what it looks for: two different things may have the same hash.
 *
 * The table grows with the number of its nodes. Adding never fails: without memory the chains just get longer. */
#ifndef RL_UTIL_TABLE_H
#define RL_UTIL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct rl_table_node {
    struct rl_table_node *next;
    uint64_t hash;
};

/* Does not move in memory. */
struct rl_table {
    struct rl_table_node **buckets;
    size_t mask; /* the number of buckets is a power of two; this is one less */
    size_t count;
    struct rl_table_node *first_buckets[8];
};

void rl_table_init(struct rl_table *table);

/* The nodes stay the caller's. */
void rl_table_fini(struct rl_table *table);

/* The hash is good in its lower bits (util/hash.h). */
void rl_table_add(struct rl_table *table, struct rl_table_node *node, uint64_t hash);

/* The node must be in the table. */
void rl_table_remove(struct rl_table *table, struct rl_table_node *node);

/* A node with this hash, and the next one with the same hash; NULL if there is none. */
struct rl_table_node *rl_table_find(const struct rl_table *table, uint64_t hash);
struct rl_table_node *rl_table_find_next(const struct rl_table_node *node);

/* Visits all nodes in any order: the first one for NULL, then the one after `node`, at last NULL. A loop that removes
 * the node it has been given asks for the next one before. */
struct rl_table_node *rl_table_next(const struct rl_table *table, const struct rl_table_node *node);

#endif
