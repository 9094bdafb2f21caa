/* New deployments, and masters that have lost their memory: when their votes count. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"
#include "trust_rig.h"

/* --- New deployments --------------------------------------------------------------------------------------------- */

GROUP(fresh, "new", NULL, trust_close)

TEST(fresh, new_masters_that_are_declared_so_vote_at_once)
{
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, trust_declare);
    for (size_t i = 0; i < 3; i++)
        trust_expect_votes(i);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_OK);
    rig_wait_count(&rig, "key", 3);
    ck_assert_uint_eq(trust_stats().disproved, 0);
}

TEST(fresh, new_masters_are_quarantined_and_vote_after_max_ttl_and_a_second)
{
    int64_t begin = rig_now_ms();
    struct redlock_node_info info;
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, trust_vote_short);
    info = trust_info(rig.client, 0);
    ck_assert_int_eq(info.standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_int_eq(info.fault, REDLOCK_FAULT_NEW_MEMORY);
    ck_assert_int_gt(info.quarantine_ms, 0);
    ck_assert_int_le(info.quarantine_ms, SHORT_QUARANTINE_MS * 101 / 100 + 4);
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_failed(&outcome, 0, "in quarantine, ");
    ck_assert_int_eq(outcome.nodes[0].fault, REDLOCK_FAULT_NEW_MEMORY);
    for (size_t i = 0; i < 3; i++)
        trust_wait_standing(i, REDLOCK_STANDING_VOTES);
    ck_assert_int_ge(rig_now_ms() - begin, SHORT_QUARANTINE_MS);
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(fresh, who_waits_gets_the_lock_when_the_quarantine_ends)
{
    struct redlock_acquire_options request = rig_request(SHORT_MAX_TTL_MS, SUITE_PATIENCE_S * 1000);

    rig_open_with(&rig, 3, 0, trust_vote_short);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, "key"), &request, REDLOCK_OK);
}

TEST(fresh, a_second_client_finds_the_marker_and_waits_for_nothing)
{
    rig_open_with(&rig, 3, 0, trust_declare);
    redlock_client_destroy(rig.client);
    trust_vote(&rig.options);
    rig_connect(&rig);
    for (size_t i = 0; i < 3; i++)
        trust_expect_votes(i);
}

TEST(fresh, who_only_looks_writes_no_marker)
{
    rig_open_with(&rig, 1, 0, trust_look);
    trust_expect_excluded(0, REDLOCK_FAULT_NO_MARKER);
    ck_assert_uint_eq(masters_count_key(rig.masters, "redlock:marker"), 0);
}

TEST(fresh, an_operator_s_declaration_ends_a_quarantine)
{
    struct redlock_client *operator;

    rig_open_with(&rig, 1, 0, trust_vote);
    ck_assert_int_gt(trust_info(rig.client, 0).quarantine_ms, SUITE_PATIENCE_S * 1000);
    trust_declare(&rig.options);
    operator = rig_new_client(&rig);
    redlock_client_destroy(operator);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}

/* --- Loss of memory ---------------------------------------------------------------------------------------------- */

GROUP(loss, "loss", NULL, trust_close)

TEST(loss, a_vote_from_an_emptied_memory_does_not_count)
{
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, trust_declare_short);
    rig_do(&rig, 0, "FLUSHALL", NULL);
    rig_do(&rig, 1, "FLUSHALL", NULL);
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(trust_stats().disproved, 2);
    trust_wait_standing(0, REDLOCK_STANDING_QUARANTINED);
    trust_wait_standing(1, REDLOCK_STANDING_QUARANTINED);
    trust_expect_votes(2);
    rig_wait_absent(&rig, "key");
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
    trust_wait_standing(1, REDLOCK_STANDING_VOTES);
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(loss, one_emptied_master_does_not_stop_the_others)
{
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, trust_declare);
    rig_do(&rig, 0, "FLUSHALL", NULL);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_ne(outcome.nodes[0].vote, REDLOCK_VOTE_GRANTED);
    trust_wait_standing(0, REDLOCK_STANDING_QUARANTINED);
    ck_assert_int_eq(trust_info(rig.client, 0).fault, REDLOCK_FAULT_NEW_MEMORY);
}

TEST(loss, a_marker_of_another_incarnation_does_not_count_either)
{
    struct outcome outcome;

    rig_open_with(&rig, 1, 0, trust_declare);
    rig_do(&rig, 0, "HSET", "redlock:marker", "inc", "somebody-else's", NULL);
    outcome = trust_try("key", 5000);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(trust_stats().disproved, 1);
}

TEST(loss, a_restarted_master_without_persistence_is_quarantined)
{
    rig_open_with(&rig, 1, 0, trust_declare);
    rig_restart_master(&rig, 0);
    ck_assert_int_eq(trust_info(rig.client, 0).standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_uint_eq(trust_info(rig.client, 0).durable, 0);
    ck_assert_str_eq(trust_info(rig.client, 0).append_fsync, "off");
}

TEST(loss, a_restarted_durable_master_votes_at_once)
{
    const struct masters_options options = {.count = 1, .persistence = MASTERS_ALWAYS};

    trust_start(&options);
    rig_connect(&rig);
    ck_assert_uint_eq(trust_info(rig.client, 0).durable, 1);
    ck_assert_str_eq(trust_info(rig.client, 0).append_fsync, "always");
    rig_restart_master(&rig, 0);
    trust_expect_votes(0);
}

TEST(loss, a_restarted_master_that_syncs_every_second_is_quarantined)
{
    const struct masters_options options = {.count = 1, .persistence = MASTERS_EVERYSEC};

    trust_start(&options);
    rig_connect(&rig);
    rig_restart_master(&rig, 0);
    ck_assert_int_eq(trust_info(rig.client, 0).standing, REDLOCK_STANDING_QUARANTINED);
    ck_assert_str_eq(trust_info(rig.client, 0).append_fsync, "everysec");
}

/* --- A name that leads to two servers ----------------------------------------------------------------------------- */

/* Three masters, the first by a name that can lead to the fourth server as well. */
static char name_url[256];

static const char *path_of(const char *url)
{
    return strchr(url, '/') + strspn(strchr(url, '/'), "/") - 1;
}

static void lead_name_to(size_t server)
{
    const char *name = path_of(name_url);
    char other[256];

    snprintf(other, sizeof other, "%s.new", name);
    ck_assert_int_eq(symlink(path_of(masters_url(rig.masters, server)), other), 0);
    ck_assert_int_eq(rename(other, name), 0);
    for (size_t i = 0; i < 4; i++) {
        if (masters_pid(rig.masters, i))
            rig_do(&rig, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
    }
}

static void wait_until_all_are_connected(void)
{
    for (size_t i = 0; i < rig.n; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_READY);
}

static void open_with_a_name(void)
{
    struct masters_options options = {.count = 4};

    trust_start(&options);
    trust_declare_short(&rig.options);
    rig.n = 3;
    snprintf(name_url, sizeof name_url, "unix://%s/name.sock", masters_dir(rig.masters));
    rig.urls[0] = name_url;
    ck_assert_int_eq(symlink(path_of(masters_url(rig.masters, 0)), path_of(name_url)), 0);
    rig_connect(&rig);
}

static bool has_met(void *argument)
{
    return strcmp(trust_info(rig.client, 0).run_id, argument) == 0;
}

static void wait_until_met(size_t server)
{
    static const char *const info[] = {"INFO", "server", NULL};
    char *text = masters_command(rig.masters, server, info);
    char run_id[41] = "";

    ck_assert_ptr_nonnull(text);
    memcpy(run_id, strstr(text, "run_id:") + 7, 40);
    free(text);
    rig_wait(&rig, has_met, run_id, "the client to meet the server");
}

GROUP(two, "two servers", open_with_a_name, trust_close)

TEST(two, who_meets_a_server_again_after_another_one_knows_that_there_are_two)
{
    struct outcome outcome;

    lead_name_to(3);
    wait_until_met(3);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
    lead_name_to(0);
    wait_until_met(0);
    trust_expect_excluded(0, REDLOCK_FAULT_TWO_SERVERS);
    wait_until_all_are_connected();
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome_expect_failed(&outcome, 0, "its name leads to two servers by turns");
}

TEST(two, who_meets_a_memory_that_was_there_beside_the_former_one_knows_at_once)
{
    struct redlock_client *other;
    struct redlock_client *first = rig.client;

    lead_name_to(3);
    other = rig_new_client(&rig);
    rig_run_for(&rig, 2 * SHORT_MAX_TTL_MS + 2000);
    lead_name_to(0);
    rig.client = rig_new_client(&rig);
    wait_until_met(0);
    lead_name_to(3);
    wait_until_met(3);
    trust_expect_excluded(0, REDLOCK_FAULT_TWO_SERVERS);
    redlock_client_destroy(other);
    redlock_client_destroy(first);
}

/* As the operator mends it. */
TEST(two, the_master_votes_again_when_the_one_that_stays_was_restarted)
{
    lead_name_to(3);
    wait_until_met(3);
    lead_name_to(0);
    wait_until_met(0);
    trust_expect_excluded(0, REDLOCK_FAULT_TWO_SERVERS);
    ck_assert(masters_kill(rig.masters, 3));
    ck_assert(masters_kill(rig.masters, 0));
    ck_assert(masters_restart(rig.masters, 0));
    wait_until_met(0);
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}

TEST(two, restarts_on_end_are_not_two_servers)
{
    for (int i = 0; i < 6; i++) {
        ck_assert(masters_kill(rig.masters, 0));
        ck_assert(masters_restart(rig.masters, 0));
        wait_until_met(0);
        ck_assert_int_ne(trust_info(rig.client, 0).fault, REDLOCK_FAULT_TWO_SERVERS);
    }
    trust_wait_standing(0, REDLOCK_STANDING_VOTES);
}

SUITE_WITH_SERVER("memory")
