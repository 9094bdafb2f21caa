/* The marker: which memory a server has, as the JOIN script finds it on real servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join_rig.h"
#include "suite.h"

/* --- The marker --------------------------------------------------------------------------------------------------- */

GROUP(marker, "marker", join_start, join_stop)

TEST(marker, a_server_without_a_marker_is_new_and_gets_one)
{
    struct rl_join_report report = join_as(RL_JOIN_VOTE, "first");

    ck_assert_int_eq(report.event, RL_JOIN_NEW);
    ck_assert_str_eq(report.incarnation, "first");
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
    ask_expect(join_master, 0, "HGET marker run", report.run_id);
    ask_expect(join_master, 0, "HGET marker inc", "first");
    ask_expect(join_master, 0, "HGET marker ring", "ring-of-three");
    ask_expect(join_master, 0, "HGET marker max_ttl", "30000");
    ask_expect(join_master, 0, "HGET marker durable", "0");
    ck_assert_int_eq(ask_integer(join_master, 0, "PTTL marker"), -1);
    ck_assert_int_eq(join_evaluated(&report).kind, RL_ADMISSION_QUARANTINED);
}

TEST(marker, the_same_memory_is_recognized_and_its_quarantine_runs_on)
{
    struct rl_join_report first = join_as(RL_JOIN_VOTE, "first");
    struct rl_join_report second;

    clock_fault_step_ms(join_clock, 10000);
    second = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(second.event, RL_JOIN_KEPT);
    ck_assert_str_eq(second.incarnation, "first");
    ck_assert_str_eq(second.run_id, first.run_id);
    ck_assert_int_le(second.left_ms, QUARANTINE - 10000);
    ck_assert_int_gt(second.left_ms, 0);
}

TEST(marker, a_quarantine_ends_by_the_servers_clock)
{
    struct rl_join_report report;

    join_as(RL_JOIN_VOTE, "first");
    clock_fault_step_ms(join_clock, QUARANTINE);
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_int_eq(report.left_ms, 0);
    ck_assert_int_eq(join_evaluated(&report).kind, RL_ADMISSION_VOTES);
    ck_assert(join_evaluated(&report).epoch_checked);
}

/* "until" is a year ahead then; taken at its word it would keep the server out for a year, one quarantine after
 * another. */
TEST(marker, a_clock_that_is_set_back_does_not_make_a_quarantine_longer)
{
    struct rl_join_report report;

    join_as(RL_JOIN_VOTE, "first");
    clock_fault_step_ms(join_clock, -INT64_C(365) * 86400000);
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    clock_fault_step_ms(join_clock, QUARANTINE);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "third").left_ms, 0);
}

TEST(marker, a_look_writes_nothing)
{
    struct rl_join_report report = join_as(RL_JOIN_READ, "first");

    ck_assert_int_eq(report.event, RL_JOIN_ABSENT);
    ck_assert_str_eq(report.incarnation, "");
    ck_assert_int_eq(report.left_ms, 0);
    ck_assert_int_eq(ask_integer(join_master, 0, "DBSIZE"), 0);
    ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_NO_MARKER);
}

TEST(marker, a_look_reports_what_a_vote_would_find_after_a_restart)
{
    struct rl_join_report declared = join_as(RL_JOIN_DECLARE, "first");
    struct rl_join_report report;

    ck_assert_int_eq(join_as(RL_JOIN_READ, "second").event, RL_JOIN_KEPT);
    join_restart();
    report = join_as(RL_JOIN_READ, "third");
    ck_assert_int_eq(report.event, RL_JOIN_RESTARTED);
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    ck_assert_str_eq(report.incarnation, "first");
    ask_expect(join_master, 0, "HGET marker run", declared.run_id);
    ask_expect(join_master, 0, "HGET marker inc", "first");
}

TEST(marker, a_declared_server_votes_at_once)
{
    struct rl_join_report report = join_as(RL_JOIN_DECLARE, "first");

    ck_assert_int_eq(report.event, RL_JOIN_DECLARED);
    ck_assert_str_eq(report.incarnation, "first");
    ck_assert_int_eq(report.left_ms, 0);
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_str_eq(report.incarnation, "first");
    ck_assert_int_eq(report.left_ms, 0);
}

TEST(marker, a_declaration_replaces_another_rings_marker)
{
    struct rl_join_question other = join_question(RL_JOIN_VOTE, "first");

    other.list_id = join_slice("ring-of-five");
    other.max_ttl_ms = 2 * MAX_TTL;
    join_ask(&other);
    ck_assert_int_eq(join_as(RL_JOIN_DECLARE, "second").event, RL_JOIN_DECLARED);
    ask_expect(join_master, 0, "HGET marker ring", "ring-of-three");
    ask_expect(join_master, 0, "HGET marker inc", "second");
    ask_expect(join_master, 0, "HGET marker max_ttl", "30000");
}

static void expect_marker_left_alone(const struct rl_join_question *asked, enum rl_join_event event)
{
    char *before = ask(join_master, 0, "HGETALL marker");
    struct rl_join_report report = join_ask(asked);
    char *after = ask(join_master, 0, "HGETALL marker");

    ck_assert_int_eq(report.event, event);
    ck_assert_str_eq(before, after);
    free(before);
    free(after);
}

/* Whatever a vote would write: another ttl, another durability, an end that is too far away. */
TEST(marker, a_look_at_a_marker_leaves_it_alone)
{
    struct rl_join_question asked = join_question(RL_JOIN_READ, "second");

    asked.max_ttl_ms = 2 * MAX_TTL;
    asked.durability = RL_DURABILITY_ALWAYS;
    join_as(RL_JOIN_VOTE, "first");
    clock_fault_step_ms(join_clock, -86400000);
    expect_marker_left_alone(&asked, RL_JOIN_KEPT);
}

TEST(marker, another_rings_marker_is_left_alone)
{
    struct rl_join_question asked = join_question(RL_JOIN_VOTE, "second");
    struct rl_join_report report;

    asked.list_id = join_slice("ring-of-five");
    asked.max_ttl_ms = 2 * MAX_TTL;
    asked.durability = RL_DURABILITY_ALWAYS;
    join_as(RL_JOIN_VOTE, "first");
    expect_marker_left_alone(&asked, RL_JOIN_MISMATCH);
    report = join_ask(&asked);
    ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_RING);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
}

/* Two names lead to it, or one of them has moved here. */
TESTS(marker, the_marker_of_another_master_of_the_deployment_is_left_alone, 0, 3)
{
    static const enum rl_join_mode modes[] = {RL_JOIN_VOTE, RL_JOIN_READ, RL_JOIN_DECLARE};
    struct rl_join_question asked = join_question(modes[_i], "second");
    struct rl_join_report report;

    asked.node_id = join_slice("second");
    asked.durability = RL_DURABILITY_ALWAYS;
    join_as(RL_JOIN_VOTE, "first");
    expect_marker_left_alone(&asked, RL_JOIN_MISPLACED);
    report = join_ask(&asked);
    ck_assert_int_eq(join_evaluated(&report).fault, RL_FAULT_SAME_SERVER);
}

TEST(marker, another_runs_marker_of_another_master_is_written_anew)
{
    struct rl_join_question asked = join_question(RL_JOIN_VOTE, "second");

    asked.node_id = join_slice("second");
    join_as(RL_JOIN_DECLARE, "first");
    join_restart();
    ck_assert_int_eq(join_ask(&asked).event, RL_JOIN_RESTARTED);
    ck_assert_int_eq(join_ask(&asked).event, RL_JOIN_KEPT);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "third").event, RL_JOIN_MISPLACED);
}

static struct rl_join_report step(enum rl_join_mode mode, uint32_t max_ttl_ms, int64_t number)
{
    struct rl_join_question asked = join_question(mode, "declared");

    asked.max_ttl_ms = max_ttl_ms;
    asked.known.number = number;
    return join_ask(&asked);
}

static struct rl_join_report declare(uint32_t max_ttl_ms, int64_t number)
{
    step(RL_JOIN_ANNOUNCE, max_ttl_ms, number);
    step(RL_JOIN_CONFIRM, max_ttl_ms, number);
    return step(RL_JOIN_ALLOW, max_ttl_ms, number);
}

GROUP(declarations, "declarations", join_start, join_stop)

TEST(declarations, a_client_with_a_longer_ttl_is_refused_and_leaves_no_trace)
{
    struct rl_join_question longer = join_question(RL_JOIN_VOTE, "second");
    struct rl_admission_rules rules = {.max_ttl_ms = MAX_TTL + 15000};
    struct rl_join_report report;

    longer.max_ttl_ms = MAX_TTL + 15000;
    join_as(RL_JOIN_DECLARE, "first");
    report = join_ask(&longer);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
    ck_assert_int_eq(rl_admission_evaluate(&report, &rules, (struct rl_instant){0}).fault, RL_FAULT_MAX_TTL);
    ask_expect(join_master, 0, "HGET marker longest", "30000");
    join_restart();
    ck_assert_int_eq(join_ask(&longer).left_ms, QUARANTINE);
}

TEST(declarations, a_declaration_raises_the_ttl_in_three_steps)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    report = step(RL_JOIN_ANNOUNCE, 2 * MAX_TTL, 2);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
    ck_assert_uint_eq(report.longest_ms, 2 * MAX_TTL);
    ck_assert_str_eq(report.incarnation, "first");
    report = step(RL_JOIN_CONFIRM, 2 * MAX_TTL, 2);
    ck_assert_int_eq(report.confirmed, 2);
    ck_assert_str_eq(report.incarnation, "declared");
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
    ck_assert_uint_eq(step(RL_JOIN_ALLOW, 2 * MAX_TTL, 2).max_ttl_ms, 2 * MAX_TTL);
}

TEST(declarations, a_step_of_another_declaration_does_nothing)
{
    join_as(RL_JOIN_DECLARE, "first");
    declare(2 * MAX_TTL, 3);
    ck_assert_uint_eq(declare(MAX_TTL / 2, 2).max_ttl_ms, 2 * MAX_TTL);
    ck_assert_uint_eq(step(RL_JOIN_ALLOW, MAX_TTL / 2, 4).max_ttl_ms, 2 * MAX_TTL);
}

/* A client that knows of the declaration, since another master has taken the second step, joins before this one has. */
TEST(declarations, a_client_that_votes_takes_no_step)
{
    struct rl_join_question knows = join_question(RL_JOIN_VOTE, "second");

    join_as(RL_JOIN_DECLARE, "first");
    step(RL_JOIN_ANNOUNCE, 2 * MAX_TTL, 2);
    knows.known = (struct rl_deployment){.number = 2, .max_ttl_ms = MAX_TTL, .longest_ms = 2 * MAX_TTL};
    ck_assert_int_eq(join_ask(&knows).confirmed, 1);
    ck_assert_int_eq(step(RL_JOIN_CONFIRM, 2 * MAX_TTL, 2).confirmed, 2);
    ck_assert_uint_eq(step(RL_JOIN_ALLOW, 2 * MAX_TTL, 2).max_ttl_ms, 2 * MAX_TTL);
}

/* Nobody needs to look again: clients that are connected stay so. */
TEST(declarations, a_declaration_of_the_same_ttl_keeps_the_memory)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    ck_assert_str_eq(step(RL_JOIN_ANNOUNCE, MAX_TTL, 2).incarnation, "first");
    ck_assert_str_eq(step(RL_JOIN_CONFIRM, MAX_TTL, 2).incarnation, "first");
    report = step(RL_JOIN_ALLOW, MAX_TTL, 2);
    ck_assert_str_eq(report.incarnation, "first");
    ck_assert_int_eq(report.confirmed, 2);
    ck_assert_uint_eq(report.longest_ms, MAX_TTL);
}

TEST(declarations, a_smaller_ttl_holds_at_once_and_the_longer_lock_is_remembered_for_its_time)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    declare(2 * MAX_TTL, 2);
    report = step(RL_JOIN_ANNOUNCE, MAX_TTL, 3);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
    ck_assert_int_eq(report.falls_ms, 0);
    report = declare(MAX_TTL, 3);
    ck_assert_uint_eq(report.longest_ms, 2 * MAX_TTL);
    ck_assert_int_gt(report.falls_ms, 0);
    clock_fault_step_ms(join_clock, 2 * MAX_TTL + 1000);
    ck_assert_uint_eq(join_as(RL_JOIN_VOTE, "second").longest_ms, MAX_TTL);
    join_restart();
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "third").left_ms, QUARANTINE);
}

TEST(declarations, a_restart_before_that_is_quarantined_for_the_longer_lock)
{
    join_as(RL_JOIN_DECLARE, "first");
    declare(2 * MAX_TTL, 2);
    declare(MAX_TTL, 3);
    join_restart();
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").left_ms, 2 * MAX_TTL + 1000);
}

/* It was emptied, and joined by a client that had not heard of the longer locks. */
TEST(declarations, who_was_born_without_a_declaration_abstains_for_the_rest_of_the_right_time)
{
    struct rl_join_question knows = join_question(RL_JOIN_VOTE, "second");
    struct rl_join_report report;

    knows.known = (struct rl_deployment){2, 2 * MAX_TTL, 2 * MAX_TTL};
    join_as(RL_JOIN_VOTE, "first");
    clock_fault_step_ms(join_clock, QUARANTINE);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").left_ms, 0);
    report = join_ask(&knows);
    ck_assert_int_gt(report.left_ms, MAX_TTL - 1000);
    ck_assert_int_le(report.left_ms, MAX_TTL);
    ck_assert_int_eq(report.announced, 2);
    ck_assert_uint_eq(report.max_ttl_ms, 2 * MAX_TTL);
    ck_assert_str_eq(report.incarnation, "second");
}

TEST(marker, joining_again_writes_nothing)
{
    char *before, *after;

    join_as(RL_JOIN_VOTE, "first");
    before = ask(join_master, 0, "INFO persistence");
    join_as(RL_JOIN_VOTE, "second");
    after = ask(join_master, 0, "INFO persistence");
    ck_assert_ptr_nonnull(strstr(before, "rdb_changes_since_last_save:"));
    ck_assert_int_eq(atoll(strstr(before, "rdb_changes_since_last_save:") + 28),
                     atoll(strstr(after, "rdb_changes_since_last_save:") + 28));
    free(before);
    free(after);
}

/* --- Lost memory -------------------------------------------------------------------------------------------------- */

GROUP(lost_memory, "lost memory", join_start, join_stop)

TEST(lost_memory, a_restart_with_its_keys_kept_is_a_new_memory)
{
    struct rl_join_report first = join_as(RL_JOIN_DECLARE, "first");
    struct rl_join_report second;

    join_restart();
    second = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(second.event, RL_JOIN_RESTARTED);
    ck_assert_str_eq(second.incarnation, "second");
    ck_assert_str_ne(second.run_id, first.run_id);
    ck_assert_int_eq(second.left_ms, QUARANTINE);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "third").event, RL_JOIN_KEPT);
}

TEST(lost_memory, a_durable_server_resumes)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    ck_assert_int_eq(join_durable("second", RL_DURABILITY_ALWAYS).event, RL_JOIN_KEPT);
    join_restart();
    report = join_durable("third", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_RESUMED);
    ck_assert_str_eq(report.incarnation, "first");
    ck_assert_int_eq(report.left_ms, 0);
    ask_expect(join_master, 0, "HGET marker run", report.run_id);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "fourth").event, RL_JOIN_KEPT);
}

/* It was the other's replica for a while, and has its keys and its marker; the restart hides that. */
TEST(lost_memory, a_durable_server_with_the_marker_of_another_does_not_resume)
{
    struct rl_join_question other = join_question(RL_JOIN_DECLARE, "first");

    other.node_id = join_slice("second");
    join_ask(&other);
    other.mode = RL_JOIN_VOTE;
    other.durability = RL_DURABILITY_ALWAYS;
    join_ask(&other);
    join_restart();
    ck_assert_int_eq(join_durable("third", RL_DURABILITY_ALWAYS).event, RL_JOIN_RESTARTED);
    ask_expect(join_master, 0, "HGET marker seat", "first");
}

TEST(lost_memory, a_resumed_quarantine_runs_on)
{
    struct rl_join_report report;

    ck_assert_int_eq(join_durable("first", RL_DURABILITY_ALWAYS).event, RL_JOIN_NEW);
    join_restart();
    clock_fault_step_ms(join_clock, 5000);
    report = join_durable("second", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_RESUMED);
    ck_assert_int_gt(report.left_ms, 0);
    ck_assert_int_le(report.left_ms, QUARANTINE - 5000);
}

/* What counts is that it was durable while it ran, not only that it is now. */
TEST(lost_memory, a_server_that_was_not_durable_before_does_not_resume)
{
    join_as(RL_JOIN_DECLARE, "first");
    join_durable("second", RL_DURABILITY_ALWAYS);
    join_durable("third", RL_DURABILITY_NONE);
    join_restart();
    ck_assert_int_eq(join_durable("fourth", RL_DURABILITY_ALWAYS).event, RL_JOIN_RESTARTED);
}

TEST(lost_memory, a_client_without_rights_to_see_leaves_the_word_of_others)
{
    join_as(RL_JOIN_DECLARE, "first");
    join_durable("second", RL_DURABILITY_ALWAYS);
    join_durable("third", RL_DURABILITY_UNKNOWN);
    ask_expect(join_master, 0, "HGET marker durable", "1");
    join_restart();
    ck_assert_int_eq(join_durable("fourth", RL_DURABILITY_UNKNOWN).event, RL_JOIN_RESTARTED);
}

TEST(lost_memory, a_run_that_nobody_has_verified_is_not_durable)
{
    join_as(RL_JOIN_DECLARE, "first");
    join_durable("second", RL_DURABILITY_ALWAYS);
    join_restart();
    ck_assert_int_eq(join_durable("third", RL_DURABILITY_UNKNOWN).event, RL_JOIN_RESTARTED);
    join_restart();
    ck_assert_int_eq(join_durable("fourth", RL_DURABILITY_ALWAYS).event, RL_JOIN_RESTARTED);
}

TEST(lost_memory, a_flushed_server_is_new_whoever_it_was)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    join_durable("second", RL_DURABILITY_ALWAYS);
    ask_expect(join_master, 0, "FLUSHALL", "OK");
    report = join_durable("third", RL_DURABILITY_ALWAYS);
    ck_assert_int_eq(report.event, RL_JOIN_NEW);
    ck_assert_str_eq(report.incarnation, "third");
    ck_assert_int_eq(report.left_ms, QUARANTINE);
}

/* What somebody else has put there, or a hand has spoilt. */
static const char *const spoilt[] = {"SET marker x", "LPUSH marker x"};

TESTS(lost_memory, a_declaration_mends_a_marker_that_is_none, 0, 2)
{
    ck_assert_int_eq(ask_integer(join_master, 0, "DEL marker"), 0);
    free(ask(join_master, 0, spoilt[_i]));
    ck_assert_int_eq(join_as(RL_JOIN_DECLARE, "declared").event, RL_JOIN_DECLARED);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").event, RL_JOIN_KEPT);
}

static const char *const absurd[][2] = {{"max_ttl", "nan"}, {"max_ttl", "1e18"}, {"max_ttl", "-5"},
                                        {"max_ttl", "words"}, {"until", "nan"}, {"until", "inf"},
                                        {"until", "1e308"}};

TESTS(lost_memory, absurd_numbers_in_a_marker_keep_the_server_out_for_a_quarantine_at_most, 0, 7)
{
    char line[64];
    struct rl_join_report report;

    join_as(RL_JOIN_VOTE, "first");
    snprintf(line, sizeof line, "HSET marker %s %s", absurd[_i][0], absurd[_i][1]);
    ck_assert_int_eq(ask_integer(join_master, 0, line), 0);
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(report.event, RL_JOIN_KEPT);
    ck_assert_int_gt(report.left_ms, 0);
    ck_assert_int_le(report.left_ms, 2 * QUARANTINE);
    ck_assert_uint_eq(report.max_ttl_ms, MAX_TTL);
}

TEST(lost_memory, an_incarnation_that_is_too_long_to_be_ours_is_a_new_memory)
{
    join_as(RL_JOIN_VOTE, "first");
    ck_assert_int_eq(ask_integer(join_master, 0, "HSET marker inc 0123456789012345678901234567890123456789-more"), 0);
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "second").event, RL_JOIN_NEW);
}

TEST(lost_memory, a_torn_marker_counts_as_none)
{
    struct rl_join_report report;

    join_as(RL_JOIN_DECLARE, "first");
    ask_expect(join_master, 0, "HDEL marker inc", "(integer) 1");
    report = join_as(RL_JOIN_VOTE, "second");
    ck_assert_int_eq(report.event, RL_JOIN_NEW);
    ck_assert_int_eq(report.left_ms, QUARANTINE);
    ask_expect(join_master, 0, "HDEL marker until", "(integer) 1");
    ck_assert_int_eq(join_as(RL_JOIN_VOTE, "third").left_ms, QUARANTINE);
}

SUITE_WITH_SERVER("marker")
