/* JOIN on servers that were replicas: what they have is another's memory, and may lack what was not replicated. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <time.h>

#include "join_rig.h"
#include "suite.h"

static void wait_for(size_t node, const char *part)
{
    time_t give_up = time(NULL) + SUITE_PATIENCE_S;
    bool seen = false;

    while (!seen) {
        char *info = ask(join_master, node, "INFO");

        seen = strstr(info, part) != NULL;
        free(info);
        ck_assert_msg(time(NULL) < give_up, "server %zu has not come to %s", node, part);
    }
}

/* The second of the two becomes a copy of the first. */
static void replicate(size_t from, size_t to)
{
    const char *port = strrchr(masters_url(join_master, from), ':') + 1;
    char line[64];

    snprintf(line, sizeof line, "REPLICAOF 127.0.0.1 %s", port);
    ask_expect(join_master, to, line, "OK");
    wait_for(to, "\nmaster_link_status:up\r");
}

static void promote(size_t node)
{
    ask_expect(join_master, node, "REPLICAOF NO ONE", "OK");
    wait_for(node, "\nrole:master\r");
}

static void join_first_durable(void)
{
    join_as(RL_JOIN_DECLARE, "first");
    ck_assert_int_eq(join_durable("second", RL_DURABILITY_ALWAYS).event, RL_JOIN_KEPT);
}

GROUP(tc, "failover", join_start_two, join_stop)

TEST(tc, replicas_are_counted_and_change_nothing)
{
    struct rl_join_report report;

    join_first_durable();
    replicate(0, 1);
    wait_for(0, "\nconnected_slaves:1\r");
    report = join_as(RL_JOIN_VOTE, "third");
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_int_eq(report.replicas, 1);
    ck_assert(!report.promoted);
}

/* Durability is of the disk; replication has lost what was not yet sent. */
TEST(tc, a_promoted_replica_does_not_resume_however_durable)
{
    struct rl_join_report report;

    join_first_durable();
    replicate(0, 1);
    promote(1);
    join_node = 1;
    report = join_durable("third", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_RESTARTED);
    ck_assert_str_eq(report.incarnation, "third");
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    ck_assert(report.promoted);
    ck_assert_int_eq(join_durable("fourth", RL_DURABILITY_ALWAYS).event, RL_JOIN_KEPT);
}

/* Its own marker comes back to it from the copy, with its own run_id; what it had granted since has not. */
TEST(tc, a_master_that_comes_back_with_its_replicas_memory_is_new)
{
    struct rl_join_report report;

    join_first_durable();
    replicate(0, 1);
    promote(1);
    replicate(1, 0);
    promote(0);
    report = join_durable("third", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_RESTARTED);
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "fourth").event, RL_JOIN_KEPT);
}

TEST(tc, a_promoted_server_that_was_joined_resumes_after_a_restart)
{
    struct rl_join_report report;

    join_first_durable();
    replicate(0, 1);
    promote(1);
    join_node = 1;
    join_durable("third", RL_DURABILITY_ALWAYS);
    wait_for(1, "\naof_rewrite_scheduled:0\r"); /* what it got from the other is not on its disk before that */
    wait_for(1, "\naof_rewrite_in_progress:0\r");
    join_restart();
    report = join_durable("fourth", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_RESUMED);
    ck_assert_str_eq(report.incarnation, "third");
    ck_assert(!report.promoted);
    ask_expect(join_master, 1, "HGET marker run", report.run_id);
}

/* The server forgets that it was promoted when its backlog has timed out; its memory is the same. */
TEST(tc, a_past_that_is_forgotten_is_no_new_memory)
{
    char line[128], *run;

    join_as(RL_JOIN_DECLARE, "first");
    run = ask(join_master, 0, "HGET marker run");
    snprintf(line, sizeof line, "HSET marker run %s/0123456789012345678901234567890123456789", run);
    ask_expect(join_master, 0, line, "(integer) 0");
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").event, RL_JOIN_KEPT);
    free(run);
}

SUITE_WITH_SERVER("failover")
