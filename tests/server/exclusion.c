/* Masters that are not fit to vote: each is named, and left out until it is mended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "master_relay.h"
#include "suite.h"
#include "trust_rig.h"

static char url[200];

GROUP(exclusion, "exclusion", NULL, trust_close)

TEST(exclusion, a_replica_is_excluded)
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

TEST(exclusion, a_master_that_becomes_a_replica_is_found_out_by_its_first_refusal)
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

static bool cluster_is_up(void *argument)
{
    char *reply = masters_command(rig.masters, 0, (const char *const[]){"CLUSTER", "INFO", NULL});
    bool up = reply && strstr(reply, "cluster_state:ok");

    free(reply);
    return up;
}

/* With slots and without: the latter cannot even answer. */
TEST(exclusion, a_node_of_a_cluster_is_excluded)
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

static void make_evicting(size_t node)
{
    rig_do(&rig, node, "CONFIG", "SET", "maxmemory", "100mb", NULL);
    rig_do(&rig, node, "CONFIG", "SET", "maxmemory-policy", "volatile-lru", NULL);
}

TEST(exclusion, a_master_that_evicts_is_excluded_unless_that_is_allowed)
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

TEST(exclusion, an_excluded_master_that_is_mended_votes_without_a_restart_of_the_client)
{
    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    make_evicting(0);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_EVICTS);
    rig_do(&rig, 0, "CONFIG", "SET", "maxmemory-policy", "noeviction", NULL);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}

/* Which of the first two masters of the list has the vote, where the other one is the same server. */
static bool has_one_vote(void *argument)
{
    size_t *voter = argument;
    struct redlock_node_info infos[] = {trust_info(rig.client, 0), trust_info(rig.client, 1)};

    *voter = infos[0].standing == REDLOCK_STANDING_VOTES ? 0 : 1;
    return infos[*voter].standing == REDLOCK_STANDING_VOTES && infos[1 - *voter].standing == REDLOCK_STANDING_EXCLUDED;
}

/* It counts as a master that is not reached. */
static void expect_another_master(size_t node)
{
    struct redlock_node_info info = trust_info(rig.client, node);

    ck_assert_int_eq(info.standing, REDLOCK_STANDING_EXCLUDED);
    ck_assert_int_eq(info.fault, REDLOCK_FAULT_SAME_SERVER);
    ck_assert_int_eq(info.link, REDLOCK_LINK_DOWN);
    ck_assert_str_eq(info.last_error, info.fault_text);
}

static size_t wait_for_one_vote(void)
{
    size_t voter;

    rig_wait(&rig, has_one_vote, &voter, "one of two addresses to vote");
    expect_another_master(1 - voter);
    return voter;
}

/* Not all masters will be ready. */
static void connect_at_once(void)
{
    struct redlock_error error;

    rig.client = NULL;
    ck_assert_msg(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &rig.client, &error) == 0, "%s",
                  error.text);
}

TEST(exclusion, the_same_server_under_two_addresses_votes_once)
{
    const struct masters_options options = {.count = 2, .tcp = true};
    struct outcome outcome;
    size_t other;

    if (!suite_resolves_localhost())
        return;
    trust_start(&options);
    snprintf(url, sizeof url, "redis://localhost%s", strrchr(rig.urls[0], ':'));
    rig.urls[1] = url;
    rig.options.connect_timeout_ms = 10000;
    connect_at_once();
    other = 1 - wait_for_one_vote();
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_vote(&outcome, other, REDLOCK_VOTE_FAILED,
                        "it is the same server as another master of the list");
    ck_assert_int_eq(outcome.nodes[other].fault, REDLOCK_FAULT_SAME_SERVER);
}

static bool is_another_master(void *argument)
{
    return trust_info(rig.client, *(size_t *)argument).fault == REDLOCK_FAULT_SAME_SERVER;
}

static void wait_for_another_master(size_t node)
{
    rig_wait(&rig, is_another_master, &node, "the server to say that it is another master");
    expect_another_master(node);
}

/* A name, as a path, that leads to this server until the relay is destroyed. */
static struct relay *lead(const char *name, size_t node)
{
    char listen[160], why[200] = "";
    struct relay_options options = {.listen = listen, .upstream = masters_url(rig.masters, node)};
    struct relay *relay;

    snprintf(listen, sizeof listen, "unix://%s/%s", masters_dir(rig.masters), name);
    relay = relay_create(rig.base, &options, why, sizeof why);
    ck_assert_msg(relay != NULL, "%s", why);
    return relay;
}

static uint64_t disconnects_of(size_t node)
{
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_client_node_stats(rig.client, node, &stats, sizeof stats), 0);
    return stats.disconnects;
}

static bool was_tried_again(void *argument)
{
    const uint64_t *before = argument;

    return disconnects_of(0) > before[0] && disconnects_of(1) > before[1];
}

/* The votes that it gave by the first address still count in held locks. */
TEST(exclusion, the_second_address_of_a_server_does_not_vote_while_the_first_is_down)
{
    const struct masters_options options = {.count = 3};
    struct relay *relays[2];
    uint64_t before[2];
    size_t voter;

    trust_start(&options);
    for (size_t i = 0; i < 2; i++) {
        relays[i] = lead(i == 0 ? "a" : "b", 0);
        rig.urls[i] = relay_url(relays[i]);
    }
    connect_at_once();
    voter = wait_for_one_vote();
    relay_destroy(relays[voter]);
    rig_wait_link(&rig, rig.client, voter, REDLOCK_LINK_DOWN);
    for (size_t i = 0; i < 2; i++)
        before[i] = disconnects_of(i);
    rig_wait(&rig, was_tried_again, before, "another try at both addresses");
    expect_another_master(1 - voter);
    relay_destroy(relays[1 - voter]);
}

/* A lock that has the second server's vote must not count that server again under the first one's name; a client that
 * is led to the first server all the same could hold the lock with the votes of the others. */
TEST(exclusion, a_name_that_moves_to_another_masters_server_has_no_vote_there)
{
    const struct masters_options options = {.count = 3};
    struct outcome outcome;
    struct relay *relay;

    trust_start(&options);
    relay = lead("moving", 0);
    rig.urls[0] = relay_url(relay);
    rig_connect(&rig);
    for (size_t i = 0; i < 3; i++)
        trust_expect_votes(i);
    relay_destroy(relay);
    rig_wait_link(&rig, rig.client, 0, REDLOCK_LINK_DOWN);
    relay = lead("moving", 1);
    wait_for_another_master(0);
    trust_expect_votes(1);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome_expect_vote(&outcome, 0, REDLOCK_VOTE_FAILED, "it is the same server as another master of the list");
    relay_destroy(relay);
}

/* As when two names are exchanged: each server has the marker of the other name, and no server is there twice. */
TEST(exclusion, a_server_under_the_name_of_another_votes_after_a_restart_and_a_quarantine)
{
    struct relay *relays[2];

    rig_start_masters(&rig, 3, NULL);
    trust_declare_short(&rig.options);
    for (size_t i = 0; i < 2; i++) {
        relays[i] = lead(i == 0 ? "a" : "b", i);
        rig.urls[i] = relay_url(relays[i]);
    }
    rig_connect(&rig);
    for (size_t i = 0; i < 2; i++) {
        relay_destroy(relays[i]);
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
    }
    for (size_t i = 0; i < 2; i++)
        relays[i] = lead(i == 0 ? "a" : "b", 1 - i);
    for (size_t i = 0; i < 2; i++)
        wait_for_another_master(i);
    for (size_t i = 0; i < 2; i++) {
        rig_kill_master(&rig, i);
        ck_assert_msg(masters_restart(rig.masters, i), "%s", masters_error());
    }
    for (size_t i = 0; i < 2; i++)
        trust_wait_standing(i, REDLOCK_STANDING_QUARANTINED);
    for (size_t i = 0; i < 2; i++)
        trust_wait_standing(i, REDLOCK_STANDING_VOTES);
    for (size_t i = 0; i < 2; i++)
        relay_destroy(relays[i]);
}

TEST(exclusion, clients_that_disagree_on_the_masters_are_told_so)
{
    rig_open_with(&rig, 3, 0, trust_declare);
    redlock_client_destroy(rig.client);
    rig.n = 2;
    trust_vote(&rig.options);
    rig_connect(&rig);
    trust_expect_excluded(0, REDLOCK_FAULT_RING);
    trust_expect_excluded(1, REDLOCK_FAULT_RING);
}

TEST(exclusion, the_order_of_the_masters_is_no_disagreement)
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

TEST(exclusion, clients_with_different_prefixes_do_not_meet)
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

static const char *const withheld[] = {"-info", "-eval", "-hset", "-time"};

TESTS(exclusion, a_master_that_cannot_be_judged_votes_only_if_that_is_allowed, 0, 4)
{
    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    rig_do(&rig, 0, "ACL", "SETUSER", "small", "on", ">pw", "~*", "+@all", withheld[_i], NULL);
    snprintf(url, sizeof url, "unix://small:pw@%s", rig.urls[0] + strlen("unix://"));
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

TEST(exclusion, without_the_right_to_see_the_configuration_a_master_is_not_durable_but_votes)
{
    const struct masters_options options = {.count = 1, .persistence = MASTERS_ALWAYS};

    trust_start(&options);
    rig_do(&rig, 0, "ACL", "SETUSER", "small", "on", ">pw", "~*", "+@all", "-config", NULL);
    snprintf(url, sizeof url, "unix://small:pw@%s", rig.urls[0] + strlen("unix://"));
    rig.urls[0] = url;
    rig_connect(&rig);
    trust_expect_votes(0);
    ck_assert_uint_eq(trust_info(rig.client, 0).looked, 1);
    ck_assert_uint_eq(trust_info(rig.client, 0).durable, 0);
    ck_assert_str_eq(trust_info(rig.client, 0).append_fsync, "");
}

SUITE_WITH_SERVER("exclusion")
