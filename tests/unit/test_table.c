/* The hash table: what is in it is found, whatever the hashes, and each node is visited once. */
#include "util/table.h"

#include <stdbool.h>
#include <string.h>

#include "suite.h"
#include "util/hash.h"
#include "util/list.h"

#define MANY 3000 /* the table grows several times */

struct thing {
    struct rl_table_node node;
    unsigned visits;
};

static struct rl_table table;
static struct thing things[MANY];

static void setup(void)
{
    memset(things, 0, sizeof things);
    rl_table_init(&table);
}

static void teardown(void)
{
    rl_table_fini(&table);
}

static uint64_t hash_of(const struct thing *thing)
{
    return rl_hash_address(thing);
}

static void add_all(uint64_t (*hash)(const struct thing *thing))
{
    for (size_t i = 0; i < MANY; i++)
        rl_table_add(&table, &things[i].node, hash(&things[i]));
}

static void visit_all(bool and_remove)
{
    for (struct rl_table_node *node = rl_table_next(&table, NULL), *next; node; node = next) {
        next = rl_table_next(&table, node);
        RL_CONTAINER_OF(node, struct thing, node)->visits++;
        if (and_remove)
            rl_table_remove(&table, node);
    }
}

GROUP(cases, "table", setup, teardown)

TEST(cases, nothing_is_found_in_an_empty_table)
{
    ck_assert_ptr_null(rl_table_find(&table, hash_of(&things[0])));
    ck_assert_ptr_null(rl_table_next(&table, NULL));
    ck_assert_uint_eq(table.count, 0);
}

TEST(cases, each_node_is_found_until_it_is_removed)
{
    add_all(hash_of);
    ck_assert_uint_eq(table.count, MANY);
    for (size_t i = 0; i < MANY; i += 2)
        rl_table_remove(&table, &things[i].node);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_ptr_eq(rl_table_find(&table, hash_of(&things[i])), i % 2 ? &things[i].node : NULL);
    ck_assert_uint_eq(table.count, MANY / 2);
}

/* Ten hashes, which differ in upper bits only: they share a bucket. */
static uint64_t poor_hash(const struct thing *thing)
{
    return (uint64_t)((thing - things) % 10) << 60;
}

TEST(cases, nodes_with_the_same_hash_are_found_one_after_the_other)
{
    add_all(poor_hash);
    for (size_t i = 0; i < 10; i++) {
        size_t found = 0;

        for (struct rl_table_node *node = rl_table_find(&table, poor_hash(&things[i])); node;
             node = rl_table_find_next(node)) {
            ck_assert_uint_eq((uint64_t)(RL_CONTAINER_OF(node, struct thing, node) - things) % 10, i);
            found++;
        }
        ck_assert_uint_eq(found, MANY / 10);
    }
}

TEST(cases, each_node_is_visited_once)
{
    add_all(hash_of);
    visit_all(false);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(things[i].visits, 1);
}

TEST(cases, a_visit_may_remove_what_it_visits)
{
    add_all(hash_of);
    visit_all(true);
    for (size_t i = 0; i < MANY; i++)
        ck_assert_uint_eq(things[i].visits, 1);
    ck_assert_uint_eq(table.count, 0);
    ck_assert_ptr_null(rl_table_next(&table, NULL));
}

TEST(cases, a_table_that_has_grown_keeps_its_chains_short)
{
    size_t longest = 0;

    add_all(hash_of);
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
