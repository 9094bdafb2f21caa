/* What an operator changes while clients are connected: it is seen at the next recheck, without a new connection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "trust_rig.h"

GROUP(looks, "looks", NULL, trust_close)

TEST(looks, a_policy_that_begins_to_evict_at_run_time_excludes_and_its_end_heals)
{
    rig_open_with(&rig, 3, 0, trust_declare);
    trust_expect_votes(0);
    rig_do(&rig, 0, "CONFIG", "SET", "maxmemory-policy", "volatile-lru", NULL);
    rig_do(&rig, 0, "CONFIG", "SET", "maxmemory", "100mb", NULL);
    trust_wait_standing(0, REDLOCK_STANDING_EXCLUDED);
    ck_assert_int_eq(trust_info(rig.client, 0).fault, REDLOCK_FAULT_EVICTS);
    ck_assert_str_eq(trust_info(rig.client, 0).eviction_policy, "volatile-lru");
    rig_do(&rig, 0, "CONFIG", "SET", "maxmemory", "0", NULL);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}

static bool is_not_durable(void *argument)
{
    char *word = masters_command(rig.masters, 0, (const char *const[]){"HGET", "redlock:marker", "durable", NULL});
    bool seen = word && strcmp(word, "0") == 0;

    free(word);
    return seen && !trust_info(rig.client, 0).durable;
}

TEST(looks, a_durable_master_that_stops_being_so_at_run_time_is_no_longer_marked_as_durable)
{
    const struct masters_options options = {.count = 1, .persistence = MASTERS_ALWAYS};

    trust_start(&options);
    rig_connect(&rig);
    trust_expect_votes(0);
    ck_assert_uint_eq(trust_info(rig.client, 0).durable, 1);
    rig_do(&rig, 0, "CONFIG", "SET", "appendfsync", "everysec", NULL);
    rig_wait(&rig, is_not_durable, NULL, "the next look");
    ck_assert_int_eq(trust_info(rig.client, 0).standing, REDLOCK_STANDING_VOTES);
}

/* The databases of a server have markers of their own, and the names of the database belong to the ring. */
TEST(looks, a_database_that_was_swapped_with_another_does_not_vote)
{
    const struct masters_options options = {.count = 1};
    struct redlock_client *other;
    struct outcome outcome;
    char url[200];

    trust_start(&options);
    rig_connect(&rig);
    snprintf(url, sizeof url, "%s?db=1", rig.urls[0]);
    rig.urls[0] = url;
    other = rig_further_client(&rig);
    rig_wait_link(&rig, other, 0, REDLOCK_LINK_READY);
    rig_do(&rig, 0, "SWAPDB", "0", "1", NULL);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    trust_wait_standing(0, REDLOCK_STANDING_EXCLUDED);
    ck_assert_int_eq(trust_info(rig.client, 0).fault, REDLOCK_FAULT_RING);
}

SUITE_WITH_SERVER("recheck")
