/* status on real masters. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "locks_rig.h"
#include "suite.h"

GROUP(status, "status", locks_open, locks_close)

TEST(status, status_of_a_free_key_exits_with_1)
{
    tool_expect_run(&tool, "status job", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "free: no key on the 5 of 5 masters"));
}

TEST(status, status_shows_a_split_and_does_not_call_it_held)
{
    locks_store(0, "a");
    locks_store(1, "a");
    locks_store(2, "b");
    locks_command(3, (const char *const[]){"RPUSH", "job", "x", NULL});
    tool_expect_run(&tool, "status job", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "split: 4 of 5 masters have the key"));
    ck_assert_ptr_nonnull(strstr(tool.out, "not a string"));
}

TEST(status, status_without_enough_answers_is_unknown)
{
    locks_store(0, "a");
    locks_store(1, "a");
    ck_assert(masters_kill(masters, 3));
    ck_assert(masters_hang(masters, 4));
    tool_expect_run(&tool, "status job --node-timeout 2s", 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: only 3 of 5 masters answered"));
    ck_assert_ptr_nonnull(strstr(tool.out, "Connection refused"));
    ck_assert_ptr_nonnull(strstr(tool.out, "no answer in time"));
}

TEST(status, status_judges_by_the_quorum_whatever_the_silent_masters_store)
{
    for (size_t i = 0; i < 3; i++)
        locks_store(i, "a");
    ck_assert(masters_kill(masters, 3));
    ck_assert(masters_kill(masters, 4));
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "on 3 of 5 masters"));
}

/* Slot 1 is held by a majority, slot 0 is wanted by three, and slot 2 is held by somebody who names more permits. */
TEST(status, status_shows_each_permit_and_those_beyond)
{
    static const char *const rivals[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++) {
        locks_command(i, (const char *const[]){"SET", "job#0", rivals[i], "PX", "30000", NULL});
        locks_command(i, (const char *const[]){"SET", "job#1", "the-holder", "PX", "30000", NULL});
        locks_command(i, (const char *const[]){"SET", "job#2", "another", "PX", "30000", NULL});
    }
    tool_expect_run(&tool, "status job --permits 2", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "       0  unsettled\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "       1  the-hold  "));
    ck_assert_ptr_nonnull(strstr(tool.out, "1 of 2 permits held\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "1 more held by programs that name more than 2 permits\n"));
    tool_expect_run(&tool, "status other --permits 2 --json", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "\"permits\":2,\"held\":0,\"beyond\":0,\"unknown\":0"));
}

TEST(status, status_without_masters_knows_no_permits)
{
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    tool_expect_run(&tool, "status job --permits 2", 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: too few masters answered for 2 of them\n"));
}

#define LATCH "redlock:latch:ready"

/* As redlock_latch_create(3) and latch.lua have it: a generation of three parties, one of which is there. */
static void arrive(size_t i, const char *generation, const char *party)
{
    locks_command(i, (const char *const[]){"HSET", LATCH, "n", "3", "gen", generation, NULL});
    locks_command(i, (const char *const[]){"HSET", LATCH, party, "1764000000", "c:channel", "1", NULL});
    locks_command(i, (const char *const[]){"PEXPIRE", LATCH, "86400000", NULL});
}

/* One master has stayed behind, and one has something else. */
TEST(status, status_shows_who_has_arrived_at_a_latch)
{
    arrive(0, "10", "a:index");
    arrive(1, "10", "a:cache");
    arrive(2, "9", "a:old");
    locks_command(3, (const char *const[]){"SET", LATCH, "x", NULL});
    locks_command(0, (const char *const[]){"HSET", LATCH, "was", "9 3", NULL});
    tool_expect_run(&tool, "status ready --latch", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "shut: 2 of the 3 parties of generation 10 are known to have arrived\n"
                                           "arrived: cache index\n"
                                           "generation 9, the one before, has opened\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "shut                       9         3         1  "));
    ck_assert_ptr_nonnull(strstr(tool.out, "foreign"));
    ck_assert_ptr_nonnull(strstr(tool.out, "absent"));
    arrive(1, "10", "a:mail");
    tool_expect_run(&tool, "status ready --latch --json", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "\"verdict\":\"open\",\"answered\":5,\"generation\":\"10\",\"parties\":3,"
                                           "\"arrived\":[\"cache\",\"index\",\"mail\"]"));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"generation\":\"10\",\"parties\":3,\"arrived\":1,\"open\":false,"
                                           "\"generation_before\":\"9\",\"pttl_ms\":"));
}

/* That a latch is open needs one witness; that it is shut, a quorum. */
TEST(status, status_of_a_latch_judges_by_the_masters_that_answer)
{
    tool_expect_run(&tool, "status ready --latch", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "absent: no latch on the 5 of 5 masters that answered"));
    for (size_t i = 0; i < 3; i++)
        locks_command(i, (const char *const[]){"SET", LATCH, "x", NULL});
    tool_expect_run(&tool, "status ready --latch", 4);
    ck_assert_ptr_nonnull(strstr(tool.out, "foreign: on 3 of 5 masters the key of the latch is not a latch"));
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    arrive(3, "1", "a:index");
    tool_expect_run(&tool, "status ready --latch", 3);
    ck_assert_ptr_nonnull(strstr(tool.out, "unknown: only 2 of 5 masters answered"));
    arrive(3, "1", "open");
    tool_expect_run(&tool, "status ready --latch", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "open: 1 of the 3 parties of generation 1 are known to have arrived"));
}

TEST(status, status_shows_the_first_names_and_counts_the_rest)
{
    char party[16];

    for (int i = 0; i < 25; i++) {
        snprintf(party, sizeof party, "a:p%02d", i);
        arrive(0, "1", party);
    }
    locks_command(0, (const char *const[]){"HSET", LATCH, "n", "30", NULL});
    tool_expect_run(&tool, "status ready --latch", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "arrived: p00 "));
    ck_assert_ptr_nonnull(strstr(tool.out, " p19 and 5 more\n"));
    tool_run(&tool, "status ready --latch --verbose");
    ck_assert_ptr_nonnull(strstr(tool.out, " p24\n"));
    tool_expect_run(&tool, "status ready --latch --permits 2", 2);
    ck_assert_ptr_nonnull(strstr(tool.err, "--latch and --permits exclude each other"));
}

TEST(status, status_shortens_tokens_unless_told_otherwise)
{
    const char *token = locks_lock();

    tool_run(&tool, "status job");
    ck_assert_ptr_null(strstr(tool.out, token));
    tool_run(&tool, "status job --json");
    ck_assert_ptr_null(strstr(tool.out, token));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"token_prefix\":\""));
    tool_run(&tool, "status job --json --verbose");
    ck_assert_ptr_nonnull(strstr(tool.out, token));
}

#define FAR "99999999999999 0 - 0 0 channel"

/* The queue as redlock(7) describes it: a ticket for each value, and an entry that begins with the end of the lease,
 * or with a mode that is not exclusive. */
static void line_up(size_t i, const char *value, const char *ticket, const char *entry)
{
    locks_command(i, (const char *const[]){"ZADD", "redlock:queue:job", ticket, value, NULL});
    locks_command(i, (const char *const[]){"HSET", "redlock:waiters:job", value, entry, NULL});
}

TEST(status, status_shows_who_waits_in_the_queue_and_where)
{
    locks_lock();
    for (size_t i = 0; i < 5; i++) {
        line_up(i, "second-waiter", "1700000000000002", "r " FAR);
        if (i != 2)
            line_up(i, "first-waiter", "1700000000000001", FAR);
    }
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "wait queue: 2\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "first-wa      1700000000000001    1  1  -  1  1"));
    ck_assert_ptr_nonnull(strstr(tool.out, "second-w      1700000000000002    2  2  1  2  2"));
    ck_assert_ptr_nonnull(strstr(tool.out, "  shared       -\n"));
    tool_run(&tool, "status job --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"mode\":\"shared\"}"));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"queue_length\":2,\"queue\":[{\"token_prefix\":\"first-wa\",\"ticket\":"
                                           "1700000000000001,\"lease_ms\":"));
    ck_assert_ptr_null(strstr(tool.out, "first-waiter"));
}

TEST(status, status_shows_the_key_where_the_queue_may_not_be_looked_at)
{
    locks_lock();
    line_up(0, "waiter", "1", FAR);
    for (size_t i = 0; i < 5; i++)
        locks_command(i, (const char *const[]){"ACL", "SETUSER", "default", "-zrange", NULL});
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_null(strstr(tool.out, "wait queue"));
    tool_run(&tool, "status job --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"queue_error\":\"NOPERM"));
}

/* Votes as redlock(7) describes them: two that share, one of which is upgradeable, and one that has no quorum. */
TEST(status, status_tells_who_shares_a_key)
{
    const char *far = "99999999999999";

    for (size_t i = 0; i < 3; i++)
        locks_command(i, (const char *const[]){"ZADD", "job", far, "r reader", far, "u writer-to-be", far, "@u", NULL});
    locks_command(3, (const char *const[]){"ZADD", "job", far, "r other", "1", "r ended", NULL});
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "shared by 2, for at most "));
    ck_assert_ptr_nonnull(strstr(tool.out, "; writer-t is upgradeable\n"));
    tool_expect_run(&tool, "status job --json", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "\"verdict\":\"shared\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"shared_by\":2,"));
}

/* A string is the vote of somebody who found no shared votes there, so it is no part of an upgrade. */
TEST(status, status_tells_an_upgrade_from_a_rival)
{
    const char *far = "99999999999999";

    for (size_t i = 0; i < 3; i++)
        locks_command(i, (const char *const[]){"ZADD", "job", far, "u writer-to-be", far, "@u", NULL});
    locks_store(3, "rival");
    locks_command(4, (const char *const[]){"ZADD", "job", far, "x stranger", far, "@x", NULL});
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "shared by 1, for at most "));
    ck_assert_ptr_nonnull(strstr(tool.out, "; writer-t is upgradeable\n"));
    locks_command(0, (const char *const[]){"ZADD", "job", far, "x later", far, "@x", NULL});
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "upgrading by 1, for at most "));
    ck_assert_ptr_nonnull(strstr(tool.out, "; writer-t is upgradeable, and has exclusive votes already\n"));
    tool_expect_run(&tool, "status job --json", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "\"verdict\":\"upgrading\""));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"shared_by\":1,"));
}

TEST(status, two_that_lock_shared_hold_it_together_and_keep_another_out)
{
    for (size_t i = 0; i < 2; i++) {
        tool_expect_run(&tool, "lock job --shared", 0);
    }
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "shared by 2, "));
    tool_expect_run(&tool, "lock job", 1);
    tool_expect_run(&tool, "break job --yes", 0);
    tool_expect_run(&tool, "status job", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "free"));
}

/* "UUID:LABEL+SECONDS", asked for an hour ago. */
static const char *labelled(char first, const char *label)
{
    static char token[128];
    static long long asked;

    if (asked == 0)
        asked = (long long)time(NULL) - 3600;
    snprintf(token, sizeof token, "%c0000000-0000-5000-8000-000000000000:%s+%lld", first, label, asked);
    return token;
}

TEST(status, status_tells_who_holds_a_lock_who_waits_and_for_how_long)
{
    char ticket[32];

    snprintf(ticket, sizeof ticket, "%lld", ((long long)time(NULL) - 5400) * 1000000);
    for (size_t i = 0; i < 5; i++) {
        locks_store(i, labelled('a', "root@web1:42"));
        line_up(i, labelled('b', "web2:7"), ticket, FAR);
    }
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "held by a0000000 on 5 of 5 masters, for at most "));
    ck_assert_ptr_nonnull(strstr(tool.out, "  root@web1:42\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "  60 min "));
    ck_assert_ptr_nonnull(strstr(tool.out, "  90 min "));
    ck_assert_ptr_nonnull(strstr(tool.out, "exclusive    web2:7\n"));
    tool_run(&tool, "status job --verbose --json");
    ck_assert_ptr_nonnull(strstr(tool.out, labelled('a', "root@web1:42")));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"label\":\"root@web1:42\",\"asked_us\":"));
    ck_assert_ptr_nonnull(strstr(tool.out, "\"mode\":\"exclusive\",\"pttl_ms\":"));
}

TEST(status, status_tells_each_that_shares_a_key)
{
    const char *far = "99999999999999";
    char vote[160];

    for (size_t i = 0; i < 3; i++) {
        snprintf(vote, sizeof vote, "r %s", labelled('a', "reader-1"));
        locks_command(i, (const char *const[]){"ZADD", "job", far, vote, NULL});
        snprintf(vote, sizeof vote, "r %s", labelled('b', "reader-2"));
        locks_command(i, (const char *const[]){"ZADD", "job", far, vote, NULL});
    }
    tool_expect_run(&tool, "status job", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "  a0000000  shared  "));
    ck_assert_ptr_nonnull(strstr(tool.out, "  reader-1\n"));
    ck_assert_ptr_nonnull(strstr(tool.out, "  reader-2\n"));
}

/* Neither is free, though there is no key of that name itself. */
TEST(status, status_finds_out_that_a_key_is_a_semaphore_or_a_latch)
{
    tool_expect_run(&tool, "lock pool --permits 2/900 --label batch", 0);
    tool_expect_run(&tool, "status pool", 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "semaphore: 2 permits held; "));
    ck_assert_ptr_nonnull(strstr(tool.out, "  batch\n"));
    tool_run(&tool, "status pool --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"kind\":\"semaphore\",\"held\":2,"));
    tool_expect_run(&tool, "latch arrive ready --parties 2 --generation 1 --party a", 0);
    tool_expect_run(&tool, "status ready", 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "shut: 1 of the 2 parties of generation 1"));
}

static const struct {
    const char *words[5];
} foreign[] = {
    {{"RPUSH", "job", "x", NULL}},
    {{"SET", "job", "never-ends", NULL}},
    {{"SET", "job", "two words", "PX", "60000"}},
    {{"ZADD", "job", "1", "scores", NULL}},
};

static void store_foreign(int which)
{
    const char *const *words = foreign[which].words;

    for (size_t i = 0; i < 3; i++)
        locks_command(i, (const char *const[]){words[0], words[1], words[2], words[3], words[4], NULL});
}

static void expect_foreign(const char *line, int code)
{
    tool_expect_run(&tool, line, code);
    ck_assert_msg(strstr(tool.out, "another program has the key on 3 of 5 masters") ||
                  strstr(tool.err, "another program has the key on 3 of 5 masters"),
                  "%s: %s%s", line, tool.out, tool.err);
}

TESTS(status, all_commands_call_a_key_of_another_program_foreign_and_leave_it, 0, 4)
{
    store_foreign(_i);
    expect_foreign("status job", 4);
    expect_foreign("lock job", 4);
    expect_foreign("lock job --wait forever", 4);
    expect_foreign("lock -k job -k other --wait forever", 4);
    expect_foreign("break job --yes", 4);
    expect_foreign("run job --on-busy skip -- true", 121);
    expect_foreign("run job --wait forever -- true", 121);
    tool_run(&tool, "status job --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"verdict\":\"foreign\""));
    tool_run(&tool, "lock job --json");
    ck_assert_ptr_nonnull(strstr(tool.out, "\"foreign\":3,"));
    ck_assert_uint_eq(masters_count_key(masters, "job"), 3);
}

/* Its value says neither who it is nor when it began. */
TEST(status, a_holder_without_a_label_is_told_by_its_token_alone)
{
    for (size_t i = 0; i < 5; i++)
        locks_store(i, "a0000000-0000-5000-8000-000000000000");
    tool_expect_run(&tool, "lock job", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "  a client without a label ("));
    ck_assert_ptr_nonnull(strstr(tool.err, ") has it, for at most "));
}

/* It may be a cache's page as well as a lock of another library. */
TEST(status, a_token_that_is_none_of_this_library_is_told_as_such)
{
    for (size_t i = 0; i < 5; i++)
        locks_store(i, "<html>");
    tool_run(&tool, "lock job");
    ck_assert_ptr_nonnull(strstr(tool.err, "  another library's client, or another program, (<html>) has it"));
    tool_run(&tool, "status job");
    ck_assert_ptr_nonnull(strstr(tool.out, "  that is no token of this library: "));
}

TEST(status, a_minority_of_foreign_keys_keeps_nobody_out)
{
    for (size_t i = 0; i < 2; i++)
        locks_command(i, (const char *const[]){"RPUSH", "job", "x", NULL});
    locks_lock();
    tool_expect_run(&tool, "lock job", 1);
    ck_assert_ptr_nonnull(strstr(tool.err, "held by another client"));
    ck_assert_ptr_nonnull(strstr(tool.err, ") has it, asked for it "));
    tool_expect_run(&tool, "break job --yes", 0);
    ck_assert_uint_eq(masters_count_key(masters, "job"), 2);
}

/* Renewals change times alone; a latch and permits are watched by the same code. */
TEST(status, status_watches_a_key_and_prints_what_changes)
{
    static struct tool watch;
    char token[128];

    tool_start(&watch, (const char *const[]){"status", "job", "--watch", "--json", NULL});
    tool_read_until(&watch, "\"verdict\":\"free\"");
    strcpy(token, locks_lock());
    tool_read_until(&watch, "\"verdict\":\"held\"");
    sleep(3);
    ck_assert_int_eq(kill(watch.pid, 0), 0);
    locks_unlock(token);
    watch.out[0] = '\0';
    watch.out_size = 0;
    tool_read_until(&watch, "\n");
    ck_assert_ptr_nonnull(strstr(watch.out, "\"verdict\":\"free\""));
    kill(watch.pid, SIGTERM);
    tool_finish(&watch);
    tool_expect_signal(&watch, SIGTERM);
}

TEST(status, a_watch_tells_the_time_and_ends_with_its_reader)
{
    static struct tool watch;

    tool_start(&watch, (const char *const[]){"status", "ready", "--latch", "--watch", NULL});
    tool_read_until(&watch, "absent: no latch");
    ck_assert(watch.out[2] == ':' && watch.out[5] == ':' && watch.out[8] == '\n');
    close(watch.fds[0]);
    watch.fds[0] = -1;
    arrive(0, "1", "a:index");
    tool_expect_end(&watch, 3);
}

int main(int argc, char **argv)
{
    return tool_run_suite(argc, argv, suite_collect("status"));
}
