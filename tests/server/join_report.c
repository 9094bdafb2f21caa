/* What the JOIN script reports of real servers, and what it is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "join_rig.h"
#include "scripted.h"
#include "suite.h"

/* --- What the server says of itself ------------------------------------------------------------------------------- */

static int64_t real_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void expect_info(const char *name, const char *value)
{
    char line[128];

    snprintf(line, sizeof line, "\n%s:%s\r\n", name, value);
    ask_contains(join_master, 0, "INFO", line);
}

GROUP(report_tests, "report", join_start, join_stop)

TEST(report_tests, the_report_is_what_the_server_says)
{
    int64_t before = real_us();
    struct rl_join_report report = join_as(RL_JOIN_VOTE, "first");
    int64_t after = real_us();

    expect_info("run_id", report.run_id);
    expect_info("master_replid", report.replication_id);
    expect_info(strncmp(report.version, "valkey ", 7) == 0 ? "valkey_version" : "redis_version",
                strchr(report.version, ' ') + 1);
    ck_assert_str_eq(report.role, "master");
    ck_assert_str_eq(report.policy, "noeviction");
    ck_assert_int_ge(report.time_us, before);
    ck_assert_int_le(report.time_us, after);
    ck_assert_int_eq(report.maxmemory, 0);
    ck_assert_int_eq(report.replicas, 0);
    ck_assert(report.append_only && !report.cluster && !report.promoted);
}

TEST(report_tests, an_evicting_server_is_excluded_unless_that_is_allowed)
{
    struct rl_admission_rules lenient = {.allow_eviction = true};
    struct rl_join_report report;

    ask_expect(join_master, 0, "CONFIG SET maxmemory 104857600", "OK");
    ask_expect(join_master, 0, "CONFIG SET maxmemory-policy volatile-lru", "OK");
    report = join_as(RL_JOIN_DECLARE, "first");
    ck_assert_int_eq(report.maxmemory, 104857600);
    ck_assert_str_eq(report.policy, "volatile-lru");
    ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_EVICTS);
    ck_assert_int_eq(rl_admission_evaluate(&report, &lenient, (struct rl_instant){0}).kind, RL_ADMISSION_VOTES);
    ask_expect(join_master, 0, "CONFIG SET maxmemory-policy noeviction", "OK");
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(join_evaluated(&report).kind, RL_ADMISSION_VOTES);
}

TEST(report_tests, a_server_out_of_memory_can_still_be_joined)
{
    ask_expect(join_master, 0, "CONFIG SET maxmemory 1", "OK");
    ask_refused(join_master, 0, "SET k v", "OOM");
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "first").event, RL_JOIN_NEW);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").event, RL_JOIN_KEPT);
}

TEST(report_tests, a_replica_is_excluded_and_nothing_is_written)
{
    struct rl_join_report report;

    ask_expect(join_master, 0, "REPLICAOF 127.0.0.1 1", "OK");
    for (int mode = RL_JOIN_VOTE; mode <= RL_JOIN_DECLARE; mode++) {
        report = join_as((enum rl_join_mode)mode, "first");
        ck_assert_int_eq(report.event, RL_JOIN_ABSENT);
        ck_assert_str_eq(report.role, "slave");
        ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_NOT_MASTER);
    }
    ask_expect(join_master, 0, "REPLICAOF NO ONE", "OK");
    ck_assert_int_eq(ask_integer(join_master, 0, "DBSIZE"), 0);
    report = join_as(RL_JOIN_VOTE, "first");
    ck_assert_int_eq(report.event, RL_JOIN_NEW);
    ck_assert(report.promoted);
}

GROUP(cluster, "cluster", join_start_cluster, join_stop)

/* Before it serves slots it refuses any key; then the script runs, and says what it is. */
TEST(cluster, a_cluster_node_is_excluded)
{
    time_t give_up = time(NULL) + SUITE_PATIENCE_S;
    struct rl_join_question asked = join_question(RL_JOIN_VOTE, "first");
    struct rl_join_report report;
    struct rl_command command;
    struct scripted scripted;

    ask_serve_slots(join_master, 0);
    rl_join_command(&asked, &command);
    scripted = scripted_run(join_master, 0, &command);
    while (scripted.reply.root.type == RL_REPLY_ERROR && time(NULL) < give_up) {
        ck_assert_msg(strncmp(scripted.text, "CLUSTERDOWN ", 12) == 0, "%s", scripted.text);
        scripted_free(&scripted);
        scripted = scripted_run(join_master, 0, &command);
    }
    ck_assert_msg(rl_join_parse(&scripted.reply, &report, NULL), "%s", scripted.text);
    ck_assert(report.cluster);
    ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_CLUSTER);
    scripted_free(&scripted);
}

/* --- Rights ------------------------------------------------------------------------------------------------------- */

static bool is_refused(void)
{
    struct rl_join_question asked = join_question(RL_JOIN_VOTE, "first");
    struct rl_command command;
    struct scripted scripted;
    bool refused;

    rl_join_command(&asked, &command);
    scripted = scripted_run(join_master, 0, &command);
    ck_assert_msg(scripted.reply.root.type == RL_REPLY_ERROR, "%s", scripted.text);
    refused = rl_join_is_refusal(scripted.reply.root.text);
    ck_assert_msg(refused, "not taken for a refusal: %s", scripted.text);
    scripted_free(&scripted);
    return refused;
}

static const char *const withheld[] = {"-eval", "-info", "-time", "-hget", "-hmget", "-hset", "-del",
                                       "resetkeys ~other"};

static void expect_refused_with(const char *rule)
{
    char line[128];

    snprintf(line, sizeof line, "ACL SETUSER default %s", rule);
    ask_expect(join_master, 0, line, "OK");
    ck_assert(is_refused());
    ask_expect(join_master, 0, "ACL SETUSER default +@all ~*", "OK");
    ck_assert_int_eq(ask_integer(join_master, 0, "DBSIZE"), 0);
}

TESTS(report_tests, a_user_without_the_rights_is_seen_to_lack_them, 0, sizeof withheld / sizeof *withheld)
{
    expect_refused_with(withheld[_i]);
}

TEST_SINCE(report_tests, a_user_who_may_only_read_the_marker_is_seen_to_lack_rights, 7, 0, "rights to read a key only")
{
    expect_refused_with("resetkeys %R~marker");
}

TEST(report_tests, the_rights_of_the_protocol_are_enough)
{
    ask_expect(join_master, 0,
               "ACL SETUSER default resetkeys ~marker -@all +eval +info +time +hget +hmget +hset +del", "OK");
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "first").event, RL_JOIN_NEW);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").event, RL_JOIN_KEPT);
}

SUITE_WITH_SERVER("join_report")
