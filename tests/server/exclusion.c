/* Masters that are not fit to vote: each is named, and left out until it is mended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "master_relay.h"
#include "suite.h"
#include "trust_rig.h"

static char url[200];

START_TEST(a_replica_is_excluded)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    rig_do(&rig, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_NOT_MASTER);
    ck_assert_str_eq(trust_info(rig.client, 0).role, "slave");
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_FAILED, "it is a replica");
    ck_assert_int_eq(outcome.nodes[0].fault, REDLOCK_FAULT_NOT_MASTER);
}
END_TEST

START_TEST(a_master_that_becomes_a_replica_is_found_out_by_its_first_refusal)
{
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, trust_declare);
    rig_do(&rig, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_OK);
    trust_wait_standing(0, REDLOCK_STANDING_EXCLUDED);
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_READY);
    trust_expect_excluded(0, REDLOCK_FAULT_NOT_MASTER);
}
END_TEST

static bool cluster_is_up(void *argument)
{
    char *reply = masters_command(rig.masters, 0, (const char *const[]){"CLUSTER", "INFO", NULL});
    bool up = reply && strstr(reply, "cluster_state:ok");

    free(reply);
    return up;
}

/* With slots and without: the latter cannot even answer. */
START_TEST(a_node_of_a_cluster_is_excluded)
{
    static const char *const arguments[] = {"--cluster-enabled", "yes", NULL};
    const struct masters_options options = {.count = 2, .tcp = true, .extra_args = arguments};

    trust_start(&options);
    rig_do(&rig, 0, "CONFIG", "SET", "cluster-require-full-coverage", "no", NULL);
    ask_serve_slots(rig.masters, 0);
    rig_wait(&rig, cluster_is_up, NULL, "the cluster");
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_CLUSTER);
    trust_expect_excluded(1, REDLOCK_FAULT_CLUSTER);
    ck_assert_uint_eq(trust_info(rig.client, 0).cluster, 1);
}
END_TEST

static void make_evicting(size_t node)
{
    rig_do(&rig, node, "CONFIG", "SET", "maxmemory", "100mb", NULL);
    rig_do(&rig, node, "CONFIG", "SET", "maxmemory-policy", "volatile-lru", NULL);
}

START_TEST(a_master_that_evicts_is_excluded_unless_that_is_allowed)
{
    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    make_evicting(0);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_EVICTS);
    ck_assert_str_eq(trust_info(rig.client, 0).eviction_policy, "volatile-lru");
    ck_assert_int_eq(trust_info(rig.client, 0).maxmemory, 100 << 20);
    redlock_client_destroy(rig.client);
    rig.options.allow_eviction = 1;
    rig_connect(&rig);
    trust_expect_votes(0);
}
END_TEST

START_TEST(an_excluded_master_that_is_mended_votes_without_a_restart_of_the_client)
{
    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    make_evicting(0);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_EVICTS);
    rig_do(&rig, 0, "CONFIG", "SET", "maxmemory-policy", "noeviction", NULL);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}
END_TEST

START_TEST(the_same_server_under_two_addresses_votes_once)
{
    const struct masters_options options = {.count = 2, .tcp = true};
    struct outcome outcome;

    if (!suite_resolves_localhost())
        return;
    trust_start(&options);
    snprintf(url, sizeof(url), "redis://localhost%s", strrchr(rig.urls[0], ':'));
    rig.urls[1] = url;
    rig.options.connect_timeout_ms = 10000;
    rig_connect(&rig);
    trust_expect_excluded(1, REDLOCK_FAULT_SAME_SERVER);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_vote(&outcome, 1, REDLOCK_VOTE_FAILED, "it is the same server as another master of the list");
    ck_assert_int_eq(outcome.nodes[1].fault, REDLOCK_FAULT_SAME_SERVER);
}
END_TEST

static uint64_t connects_of(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof(stats)), 0);
    return stats.connects;
}

static bool has_joined_again(void *argument)
{
    return connects_of(1) > *(uint64_t *)argument;
}

/* As when a name leads to another server than before. The votes by the first address still count in a held lock. */
START_TEST(the_second_address_of_a_server_does_not_vote_while_the_first_is_down)
{
    const struct masters_options options = {.count = 3};
    struct relay *relay;
    uint64_t before;

    trust_start(&options);
    relay = master_relay_create(rig.base, rig.masters, 0);
    rig.urls[1] = rig.urls[0];
    rig.urls[0] = relay_url(relay);
    rig_connect(&rig);
    trust_expect_excluded(1, REDLOCK_FAULT_SAME_SERVER);
    before = connects_of(1);
    relay_destroy(relay);
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_DOWN);
    rig_do(&rig, 0, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes", NULL);
    rig_wait(&rig, has_joined_again, &before, "the second address to join again");
    rig_wait_link(&rig, rig.client, 1, REDLOCK_LINK_READY);
    trust_expect_excluded(1, REDLOCK_FAULT_SAME_SERVER);
}
END_TEST

START_TEST(clients_that_disagree_on_the_masters_are_told_so)
{
    rig_open_with(&rig, 3, 0, trust_declare);
    redlock_client_destroy(rig.client);
    rig.n = 2;
    trust_vote(&rig.options);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_RING);
    trust_expect_excluded(1, REDLOCK_FAULT_RING);
}
END_TEST

START_TEST(the_order_of_the_masters_is_no_disagreement)
{
    const char *first;

    rig_open_with(&rig, 3, 0, trust_declare);
    redlock_client_destroy(rig.client);
    first = rig.urls[0];
    rig.urls[0] = rig.urls[2];
    rig.urls[2] = first;
    trust_vote(&rig.options);
    rig_connect(&rig);
    for (size_t i = 0; i < 3; i++)
        trust_expect_votes(i);
}
END_TEST

START_TEST(clients_with_different_prefixes_do_not_meet)
{
    rig_open_with(&rig, 1, 0, trust_declare);
    redlock_client_destroy(rig.client);
    rig.options.key_prefix = "other:";
    trust_declare(&rig.options);
    rig_connect(&rig);
    trust_expect_votes(0);
    ck_assert_uint_eq(masters_count_key(rig.masters, "other:redlock:marker"), 1);
    ck_assert_uint_eq(masters_count_key(rig.masters, "redlock:marker"), 1);
}
END_TEST

static const char *const withheld[] = {"-info", "-eval", "-hset", "-time"};

START_TEST(a_master_that_cannot_be_judged_votes_only_if_that_is_allowed)
{
    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    rig_do(&rig, 0, "ACL", "SETUSER", "small", "on", ">pw", "~*", "+@all", withheld[_i], NULL);
    snprintf(url, sizeof(url), "unix://small:pw@%s", rig.urls[0] + strlen("unix://"));
    rig.urls[0] = url;
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_NO_RIGHTS);
    ck_assert_uint_eq(trust_info(rig.client, 0).looked, 0);
    redlock_client_destroy(rig.client);
    rig.options.allow_unverified = 1;
    rig_connect(&rig);
    trust_expect_votes(0);
    ck_assert_int_eq(trust_try("key", 5000).status, REDLOCK_OK);
}
END_TEST

START_TEST(without_the_right_to_see_the_configuration_a_master_is_not_durable_but_votes)
{
    const struct masters_options options = {.count = 1, .persistence = MASTERS_ALWAYS};

    trust_start(&options);
    rig_do(&rig, 0, "ACL", "SETUSER", "small", "on", ">pw", "~*", "+@all", "-config", NULL);
    snprintf(url, sizeof(url), "unix://small:pw@%s", rig.urls[0] + strlen("unix://"));
    rig.urls[0] = url;
    rig_connect(&rig);
    trust_expect_votes(0);
    ck_assert_uint_eq(trust_info(rig.client, 0).looked, 1);
    ck_assert_uint_eq(trust_info(rig.client, 0).durable, 0);
    ck_assert_str_eq(trust_info(rig.client, 0).append_fsync, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exclusion");
    TCase *exclusion = suite_add_case(suite, "exclusion", NULL, trust_close);

    tcase_add_test(exclusion, a_replica_is_excluded);
    tcase_add_test(exclusion, a_master_that_becomes_a_replica_is_found_out_by_its_first_refusal);
    tcase_add_test(exclusion, a_node_of_a_cluster_is_excluded);
    tcase_add_test(exclusion, a_master_that_evicts_is_excluded_unless_that_is_allowed);
    tcase_add_test(exclusion, an_excluded_master_that_is_mended_votes_without_a_restart_of_the_client);
    tcase_add_test(exclusion, the_same_server_under_two_addresses_votes_once);
    tcase_add_test(exclusion, the_second_address_of_a_server_does_not_vote_while_the_first_is_down);
    tcase_add_test(exclusion, clients_that_disagree_on_the_masters_are_told_so);
    tcase_add_test(exclusion, the_order_of_the_masters_is_no_disagreement);
    tcase_add_test(exclusion, clients_with_different_prefixes_do_not_meet);
    tcase_add_loop_test(exclusion, a_master_that_cannot_be_judged_votes_only_if_that_is_allowed, 0, 4);
    tcase_add_test(exclusion, without_the_right_to_see_the_configuration_a_master_is_not_durable_but_votes);
    return suite_run_with_server(suite);
}
