/* The hash table: what is in it is found, whatever the hashes. */
#include "util/table.h"

#include <stdbool.h>

#include "suite.h"
#include "util/hash.h"

#define MANY 3000 /* the table grows several times */

static struct rl_table table;
static struct rl_table_node nodes[MANY];

static uint64_t good_hash(struct rl_table_node *node)
{
    return rl_hash_address(node);
}

/* Ten hashes, which differ in upper bits only: they share a bucket. */
static uint64_t poor_hash(struct rl_table_node *node)
{
    return (uint64_t)(node - nodes) % 10 << 60;
}

static void setup(void)
{
    rl_table_init(&table, good_hash);
}

static void teardown(void)
{
    rl_table_fini(&table);
}

static void add_all(void)
{
    for (size_t i = 0; i < MANY; i++)
        rl_table_add(&table, &nodes[i]);
}

static bool is_found(struct rl_table_node *wanted)
{
    const struct rl_table_node *node = rl_table_chain(&table, table.hash(wanted));

    while (node && node != wanted)
        node = node->next;
    return node;
}

GROUP(cases, "table", setup, teardown)

TEST(cases, nothing_is_found_in_an_empty_table)
{
    ck_assert(!is_found(&nodes[0]));
    ck_assert_uint_eq(table.count, 0);
}

TEST(cases, each_node_is_found_until_it_is_removed)
{
    add_all();
    ck_assert_uint_eq(table.count, MANY);
    for (size_t i = 0; i < MANY; i += 2)
        rl_table_remove(&table, &nodes[i]);
    for (size_t i = 0; i < MANY; i++)
        ck_assert(is_found(&nodes[i]) == (i % 2 == 1));
    ck_assert_uint_eq(table.count, MANY / 2);
}

TEST(cases, nodes_with_the_same_hash_are_all_found)
{
    rl_table_init(&table, poor_hash);
    add_all();
    for (size_t i = 0; i < MANY; i += 2)
        rl_table_remove(&table, &nodes[i]);
    for (size_t i = 0; i < MANY; i++)
        ck_assert(is_found(&nodes[i]) == (i % 2 == 1));
}

TEST(cases, a_table_that_has_grown_keeps_its_chains_short)
{
    size_t longest = 0;

    add_all();
    ck_assert_uint_ge(table.mask, MANY / 2);
    for (size_t i = 0; i <= table.mask; i++) {
        size_t length = 0;

        for (const struct rl_table_node *node = table.buckets[i]; node; node = node->next)
            length++;
        longest = length > longest ? length : longest;
    }
    ck_assert_uint_le(longest, 12);
}

SUITE("table")
