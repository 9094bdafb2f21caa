#include "util/table.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_BUCKETS (sizeof((struct rl_table *)0)->first_buckets / sizeof(struct rl_table_node *))

void rl_table_init(struct rl_table *table, rl_table_hash_fn hash)
{
    *table = (struct rl_table){.hash = hash, .buckets = table->first_buckets, .mask = FIRST_BUCKETS - 1};
}

static void free_buckets(struct rl_table *table)
{
    if (table->buckets != table->first_buckets)
        free(table->buckets);
}

void rl_table_fini(struct rl_table *table)
{
    free_buckets(table);
    rl_table_init(table, table->hash);
}

static void push(struct rl_table_node **bucket, struct rl_table_node *node)
{
    node->next = *bucket;
    *bucket = node;
}

static void grow(struct rl_table *table)
{
    size_t mask = table->mask * 2 + 1;
    struct rl_table_node **buckets = calloc(mask + 1, sizeof *buckets);

    if (!buckets)
        return;
    for (size_t i = 0; i <= table->mask; i++) {
        for (struct rl_table_node *node = table->buckets[i], *next; node; node = next) {
            next = node->next;
            push(&buckets[table->hash(node) & mask], node);
        }
    }
    free_buckets(table);
    table->buckets = buckets;
    table->mask = mask;
}

static struct rl_table_node **bucket_of(const struct rl_table *table, struct rl_table_node *node)
{
    return &table->buckets[table->hash(node) & table->mask];
}

void rl_table_add(struct rl_table *table, struct rl_table_node *node)
{
    if (table->count > table->mask)
        grow(table);
    push(bucket_of(table, node), node);
    table->count++;
}

void rl_table_remove(struct rl_table *table, struct rl_table_node *node)
{
    struct rl_table_node **at = bucket_of(table, node);

    while (*at != node) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = node->next;
    table->count--;
}
