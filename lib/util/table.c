#include "util/table.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_BUCKETS (sizeof((struct rl_table *)0)->first_buckets / sizeof(struct rl_table_node *))

void rl_table_init(struct rl_table *table)
{
    *table = (struct rl_table){.buckets = table->first_buckets, .mask = FIRST_BUCKETS - 1};
}

static void free_buckets(struct rl_table *table)
{
    if (table->buckets != table->first_buckets)
        free(table->buckets);
}

void rl_table_fini(struct rl_table *table)
{
    free_buckets(table);
    rl_table_init(table);
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
            push(&buckets[node->hash & mask], node);
        }
    }
    free_buckets(table);
    table->buckets = buckets;
    table->mask = mask;
}

void rl_table_add(struct rl_table *table, struct rl_table_node *node, uint64_t hash)
{
    if (table->count > table->mask)
        grow(table);
    node->hash = hash;
    push(&table->buckets[hash & table->mask], node);
    table->count++;
}

void rl_table_remove(struct rl_table *table, struct rl_table_node *node)
{
    struct rl_table_node **at = &table->buckets[node->hash & table->mask];

    while (*at != node) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = node->next;
    table->count--;
}

static struct rl_table_node *first_with(struct rl_table_node *node, uint64_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}

struct rl_table_node *rl_table_find(const struct rl_table *table, uint64_t hash)
{
    return first_with(table->buckets[hash & table->mask], hash);
}

struct rl_table_node *rl_table_find_next(const struct rl_table_node *node)
{
    return first_with(node->next, node->hash);
}

struct rl_table_node *rl_table_next(const struct rl_table *table, const struct rl_table_node *node)
{
    size_t i = 0;

    if (node) {
        if (node->next)
            return node->next;
        i = (node->hash & table->mask) + 1;
    }
    while (i <= table->mask && !table->buckets[i])
        i++;
    return i <= table->mask ? table->buckets[i] : NULL;
}
