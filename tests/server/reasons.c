/* Why an operation has failed: each master's own reason, and the sentence about all of them. */
#include <redlock/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "trust_rig.h"

/* The latest event of an operation's end, as a program would log it. */
static struct logged {
    enum redlock_level level;
    char line[REDLOCK_MAX_LINE_BYTES];
} logged;

static void on_event(const struct redlock_event *event, void *user_data)
{
    if (event->type != REDLOCK_EVENT_FAILED && event->type != REDLOCK_EVENT_RELEASED)
        return;
    logged.level = redlock_event_level(event);
    redlock_event_line(event, logged.line, sizeof logged.line);
}

static void connect_logging(void)
{
    memset(&logged, 0, sizeof logged);
    rig.options.on_event = on_event;
    rig_connect(&rig);
}

static void expect_why(const struct outcome *outcome, const char *beginning, const char *part)
{
    ck_assert_msg(strncmp(outcome->why, beginning, strlen(beginning)) == 0 && strstr(outcome->why, part),
                  "not '%s' ... '%s', but '%s'", beginning, part, outcome->why);
}

static void expect_warning(const char *part)
{
    ck_assert_int_eq(logged.level, REDLOCK_LEVEL_WARNING);
    ck_assert_msg(strstr(logged.line, part) != NULL, "no '%s' in '%s'", part, logged.line);
}

/* Tries for a moment, so that the operation ends by its deadline. */
static struct outcome try_for_a_moment(void)
{
    struct redlock_acquire_options request = rig_lease(SHORT_MAX_TTL_MS, 300);

    return rig_acquire(&rig, rig_new_lock(rig.client, "key"), &request);
}

GROUP(reasons, "reasons", NULL, trust_close)

TEST(reasons, masters_in_quarantine_can_be_reached_but_do_not_vote)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_vote(&rig.options);
    connect_logging();
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_uint_eq(outcome.reachable, 3);
    ck_assert_uint_eq(outcome.voting, 0);
    outcome_expect_failed(&outcome, 1, "in quarantine, 6");
    outcome_expect_failed(&outcome, 1, " s left");
    expect_why(&outcome, "0 of 3 masters can vote: ", "redlock nodes --new-deployment");
    expect_warning("0 of 3 masters can vote: ");
}

TEST(reasons, a_long_quarantine_is_told_in_hours)
{
    struct outcome outcome;

    rig_start_masters(&rig, 1, NULL);
    trust_vote(&rig.options);
    rig.options.max_ttl_ms = 24 * 3600 * 1000;
    rig_connect(&rig);
    outcome = trust_try("key", 1000);
    outcome_expect_failed(&outcome, 0, "in quarantine, 24 h ");
    outcome_expect_failed(&outcome, 0, " min left");
}

TEST(reasons, masters_that_are_gone_are_told_by_the_error_of_the_connection_also_at_a_deadline)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    connect_logging();
    for (size_t i = 0; i < 2; i++)
        ck_assert(masters_kill(rig.masters, i));
    for (size_t i = 0; i < 2; i++)
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
    outcome = try_for_a_moment();
    outcome_expect(&outcome, REDLOCK_DEADLINE);
    ck_assert_uint_eq(outcome.reachable, 1);
    for (size_t i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(strstr(outcome.nodes[i].detail, "connect: "));
    expect_why(&outcome, "1 of 3 masters can be reached: 2 not reached (connect: ", ")");
    ck_assert_ptr_null(strstr(outcome.why, "--new-deployment"));
    expect_warning("1 of 3 masters can be reached");
    expect_warning("the last attempt: ");
}

TEST(reasons, a_release_that_reaches_nobody_says_why)
{
    struct redlock_acquire_options request = rig_lease(20000, 0);
    struct redlock_lock *lock;
    struct outcome outcome;

    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    connect_logging();
    lock = rig_new_lock(rig.client, "key");
    outcome = rig_expect_acquire_in_time(&rig, lock, &request, REDLOCK_OK);
    ck_assert_str_eq(outcome.why, "");
    rig_kill_master(&rig, 0);
    outcome = rig_expect_release(&rig, lock, REDLOCK_NO_QUORUM);
    expect_why(&outcome, "0 of 1 masters can be reached: 1 not reached (", ")");
    expect_warning("0 of 1 masters can be reached");
}

TEST(reasons, a_wrong_password_is_told)
{
    char url[512];
    struct outcome outcome;

    rig_start_masters(&rig, 1, NULL);
    trust_declare(&rig.options);
    rig_do(&rig, 0, "ACL", "SETUSER", "me", "on", ">secret", "~*", "+@all", NULL);
    snprintf(url, sizeof url, "unix://me:wrong@%s", rig.urls[0] + strlen("unix://"));
    rig.urls[0] = url;
    rig.client = NULL;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, 1, &rig.options, &rig.client, NULL), 0);
    outcome = try_for_a_moment();
    outcome_expect(&outcome, REDLOCK_DEADLINE);
    expect_why(&outcome, "0 of 1 masters can be reached: 1 not reached (AUTH: WRONGPASS ", ")");
    ck_assert_ptr_null(strstr(outcome.why, "wrong)"));
    ck_assert_ptr_null(strstr(outcome.why, "disabled.)"));
}

TEST(reasons, masters_that_are_excluded_name_the_fault)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    rig_do(&rig, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    rig_do(&rig, 1, "CONFIG", "SET", "maxmemory", "100mb", NULL);
    rig_do(&rig, 1, "CONFIG", "SET", "maxmemory-policy", "volatile-lru", NULL);
    rig_connect(&rig);
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_failed(&outcome, 0, "it is a replica");
    outcome_expect_failed(&outcome, 1, "it may evict locks: maxmemory is set with an evicting policy");
    ck_assert_uint_eq(outcome.voting, 1);
    expect_why(&outcome, "1 of 3 masters can vote: 1 excluded (it is a replica); 1 excluded (", "evict");
    ck_assert_ptr_null(strstr(outcome.why, "--new-deployment"));
}

TEST(reasons, another_deployment_is_told)
{
    const char *alone[1];
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    rig_connect(&rig);
    redlock_client_destroy(rig.client);
    alone[0] = rig.urls[0];
    trust_vote(&rig.options);
    ck_assert_int_eq(redlock_client_create(rig.base, alone, 1, &rig.options, &rig.client, NULL), 0);
    outcome = try_for_a_moment();
    expect_why(&outcome, "0 of 1 masters can vote: 1 excluded (its marker was written for other masters", ")");
}

TEST(reasons, masters_that_refuse_to_write_have_not_agreed)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    connect_logging();
    for (size_t i = 0; i < 2; i++)
        rig_do(&rig, i, "CONFIG", "SET", "maxmemory", "1", NULL); /* the policy is noeviction */
    outcome = trust_try("key", SHORT_MAX_TTL_MS);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    outcome_expect_failed(&outcome, 0, "OOM");
    expect_why(&outcome, "", " of 3 masters have agreed: 2 OOM");
    expect_warning("2 OOM");
}

TEST(reasons, a_key_that_is_held_is_no_warning_and_no_fault_of_masters)
{
    struct outcome outcome;

    rig_start_masters(&rig, 3, NULL);
    trust_declare(&rig.options);
    connect_logging();
    for (size_t i = 0; i < 3; i++)
        rig_occupy(&rig, i, "key");
    outcome = try_for_a_moment();
    outcome_expect(&outcome, REDLOCK_DEADLINE);
    ck_assert_int_eq(outcome.cause, REDLOCK_HELD);
    ck_assert_str_eq(outcome.why, redlock_strerror(REDLOCK_HELD));
    ck_assert_ptr_null(strchr(logged.line, '('));
    ck_assert_int_eq(logged.level, REDLOCK_LEVEL_INFO);
}

SUITE_WITH_SERVER("reasons")
