/* redlock nodes --replace, --add, --remove, --set-quorum, --rename and --abort: another list of masters while locks are
 * held. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <redlock/redlock.h>

#include "ask.h"
#include "suite.h"
#include "tool.h"

enum { SERVERS = 6, LIST_SIZE = 1024 };

static struct tool tool;
static struct tool holder;
static struct masters *masters;

/* The masters in this order, as commands find them. */
static void use(const char *order)
{
    char list[LIST_SIZE] = "";

    for (; *order; order++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? "," : "",
                 masters_url(masters, (size_t)(*order - '0')));
    setenv("REDLOCK_NODES", list, 1);
}

static void setup(void)
{
    const struct masters_options options = {.count = SERVERS};

    masters = ask_open(&options);
    setenv("REDLOCK_MAX_TTL", "2s", 1);
    use("012");
    tool_expect_run(&tool, "nodes --new-deployment --yes", 0);
}

static void teardown(void)
{
    unsetenv("REDLOCK_MAX_TTL");
    masters_destroy(masters);
}

/* The command, where %N stands for a master. */
static const char *with_masters(const char *line)
{
    static char text[LIST_SIZE];
    size_t size = 0;

    for (; *line; line++) {
        if (*line == '%')
            size += (size_t)snprintf(text + size, sizeof text - size, "%s",
                                     masters_url(masters, (size_t)(*++line - '0')));
        else
            text[size++] = *line;
    }
    text[size] = '\0';
    return text;
}

/* As messages name it. */
static const char *master_name(size_t i)
{
    return strstr(masters_url(masters, i), "://") + strlen("://");
}

static void run(const char *line, int exit_code)
{
    tool_expect_run(&tool, with_masters(line), exit_code);
}

static void expect(const char *stream, const char *text)
{
    ck_assert_msg(strstr(stream, text), "no '%s' in:\n%s%s", text, tool.out, tool.err);
}

/* Where the masters' keys are, in the order of their numbers. */
static void expect_keys(const char *key, const char *there)
{
    char line[80];

    snprintf(line, sizeof line, "EXISTS %s", key);
    for (size_t i = 0; i < SERVERS; i++)
        ck_assert_msg(!masters_pid(masters, i) ||
                          ask_integer(masters, i, line) == (strchr(there, (int)('0' + i)) != NULL), "master %zu", i);
}

static void hold_with(const char *option)
{
    const char *const words[] = {"run", option, "--ttl", "1900ms", "held", "--",
                                 "sh",  "-c",   "echo begun; exec sleep 1000", NULL};

    tool_start(&holder, words);
    tool_read_until(&holder, "begun");
}

/* A lock that is held until its end is asked for: then it must have been held all the time. */
static void hold(void)
{
    hold_with("--quiet");
}

static void end_holder(void)
{
    kill(holder.pid, SIGTERM);
    tool_finish(&holder);
    tool_expect_signal(&holder, SIGTERM);
}

static void expect_held(void)
{
    end_holder();
    ck_assert_str_eq(holder.err, "");
}

static size_t count(const char *stream, const char *text)
{
    size_t n = 0;

    while ((stream = strstr(stream, text)) != NULL)
        n++, stream++;
    return n;
}

GROUP(members, "members", setup, teardown)

TEST(members, a_dead_master_is_replaced_while_a_lock_is_held)
{
    hold();
    ck_assert(masters_kill(masters, 2));
    run("nodes --replace %2=%3 --yes", 0);
    expect(tool.err, "1.   ");
    expect(tool.err, "(quorum 2): all of them are needed.");
    expect(tool.err, "done: the masters are");
    expect(tool.err, "stop for good: ");
    ck_assert(masters_kill(masters, 1));
    tool_expect_run(&tool, "run --wait 20s --ttl 1900ms other -- true", 0);
    expect_held();
}

TEST(members, a_lock_moves_with_all_its_masters)
{
    hold();
    run("nodes --replace %0=%3 --replace %1=%4 --replace %2=%5 --yes", 0);
    expect_keys("held", "345");
    for (size_t i = 0; i < 3; i++)
        ck_assert(masters_kill(masters, i));
    use("345");
    run("nodes", 0);
    expect(tool.out, "list of masters, changed by an operator (1.4)");
    expect(tool.out, "    a quorum has had it for ");
    expect(tool.out, "    a program whose configuration names another list greeted them ");
    expect(tool.out, "safe quorum: 3 of 3 masters vote (2 needed); 1 more may fail");
    expect_held();
    expect_keys("held", "");
}

TEST(members, status_and_break_ask_the_present_masters_when_they_are_given_the_former_ones)
{
    char names[LIST_SIZE];

    snprintf(names, sizeof names,
             "it is now %s,%s,%s, with a quorum of 2, and is used here; correct REDLOCK_NODES\n", master_name(3),
             master_name(4), master_name(5));
    hold();
    run("nodes --replace %0=%3 --replace %1=%4 --replace %2=%5 --yes", 0);
    ck_assert(masters_kill(masters, 0) && masters_kill(masters, 4));
    run("status held", 0);
    expect(tool.out, " on 2 of 3 masters, for at most ");
    expect(tool.out, master_name(4));
    expect(tool.err, names);
    ck_assert_uint_eq(count(tool.err, "\n"), 1);
    use("345");
    run("status held", 0);
    ck_assert_str_eq(tool.err, "");
    use("012");
    run("break held --yes", 0);
    expect(tool.err, names);
    expect(tool.err, "deleted on 2 of 3 masters");
    expect_keys("held", "");
    run("status held", 1);
    expect(tool.out, "free: no key on the 2 of 3 masters that answered");
    tool_finish(&holder);
}

TEST(members, commands_that_take_a_lock_tell_each_list_once)
{
    static const char told[] = "the list of masters is now";

    hold_with("--wait=0");
    run("nodes --replace %2=%3 --yes", 0);
    ck_assert_uint_eq(count(tool.err, told), 0);
    run("lock mine --ttl 1900ms", 0);
    ck_assert_uint_eq(count(tool.err, told), 1);
    expect(tool.err, "lock: the list of masters is now");
    end_holder();
    ck_assert_uint_eq(count(holder.err, told), 2);
    ck_assert_uint_eq(count(holder.err, "with a quorum of 3; this program's configuration is out of date\n"), 1);
    ck_assert_uint_eq(count(holder.err, "with a quorum of 2; this program's configuration is out of date\n"), 1);
}

TEST(members, three_become_five_and_three_again)
{
    hold();
    run("nodes --add %3 --add %4 --yes", 0);
    use("01234");
    run("nodes", 0);
    expect(tool.out, "safe quorum: 5 of 5 masters vote (3 needed); 2 more may fail");
    run("nodes --remove %0 --remove %2 --yes", 0);
    expect_keys("held", "134");
    expect_held();
}

TEST(members, the_plan_alone_changes_nothing)
{
    run("nodes --replace %2=%3 --dry-run", 0);
    expect(tool.out, "1.   ");
    expect(tool.out, "(quorum 3): one more may fail.");
    expect(tool.out, "Each list stands for 3.0");
    run("nodes --replace %2=%3 --dry-run --json", 0);
    expect(tool.out, "{\"schema\":1,\"stage\":\"asking\",\"why\":\"\",\"standing_ms\":30");
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(ask_integer(masters, i, "HEXISTS redlock:marker turn"), 0);
    ck_assert_int_eq(ask_integer(masters, 3, "DBSIZE"), 0);
    run("nodes --json", 0);
    expect(tool.out, "\"view\":{\"turn\":0,\"step\":0,");
}

TEST(members, nobody_is_asked_where_nobody_can_answer)
{
    run("nodes --replace %2=%3", 2);
    expect(tool.err, "add --yes if you are sure, or --dry-run for the plan alone");
}

/* Cut off at any moment; the same command goes on. */
static void cut_off(const char *line, const char *where)
{
    const char *words[8];
    char *text = strdup(with_masters(line));
    size_t n = 0;

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[n++] = word;
    words[n] = NULL;
    tool_start(&tool, words);
    tool_read_error_until(&tool, where);
    kill(tool.pid, SIGKILL);
    tool_finish(&tool);
    free(text);
}

TEST(members, a_change_that_was_cut_off_goes_on_with_the_same_command)
{
    static const char line[] = "nodes --replace %2=%3 --yes";

    hold();
    cut_off(line, "waiting for new masters");
    cut_off(line, "told 4 of 4");
    run("nodes", 0);
    expect(tool.out, "locks may be alive by the list before");
    cut_off(line, "told 3 of 3");
    run(line, 0);
    expect_keys("held", "013");
    expect_held();
}

TEST(members, a_change_that_was_cut_off_can_be_taken_back)
{
    hold();
    cut_off("nodes --replace %2=%3 --yes", "told 4 of 4");
    run("nodes --abort --yes", 0);
    expect_keys("held", "012");
    run("nodes --abort --yes", 2);
    expect(tool.err, "no list has been told that leads to another one");
    run("nodes", 0);
    expect(tool.out, "safe quorum: 3 of 3 masters vote (2 needed); 1 more may fail");
    expect_held();
}

TEST(members, what_has_told_its_goal_is_not_taken_back)
{
    cut_off("nodes --replace %2=%3 --yes", "told 3 of 3");
    run("nodes --abort --yes", 2);
    expect(tool.err, "the goal has been told");
}

TEST(members, a_new_master_is_reached_as_the_others_are)
{
    char line[LIST_SIZE];

    snprintf(line, sizeof line, "nodes --replace %%2=unix://:secret@%s --yes",
             masters_url(masters, 3) + strlen("unix://"));
    run(line, 2);
    expect(tool.err, "its user or password is not that of the others, by which clients reach it");
}

TEST(members, a_new_master_that_cannot_vote_is_named_with_the_reason)
{
    ask_expect(masters, 3, "REPLICAOF 127.0.0.1 1", "OK");
    cut_off("nodes --replace %2=%3 --yes", "3.sock (it is a replica)");
    ask_expect(masters, 3, "REPLICAOF NO ONE", "OK");
    run("nodes --replace %2=%3 --yes", 0);
}

TEST(members, masters_are_counted_by_the_present_list)
{
    char list[LIST_SIZE];

    hold_with("--verbose");
    run("nodes --add %3 --yes", 0);
    tool_read_error_until(&holder, "renewed: 4/4 masters");
    use("0123");
    run("nodes --remove %0 --yes", 0);
    tool_read_error_until(&holder, "renewed: 3/3 masters");
    run("lock --verbose --ttl 1s other", 0);
    expect(tool.err, " of 3 masters had agreed when it was granted (2 needed)");
    snprintf(list, sizeof list, "the list of masters is now %s,%s,%s, with", master_name(1), master_name(2),
             master_name(3));
    expect(tool.err, list);
    end_holder();
    ck_assert(masters_kill(masters, 2) && masters_kill(masters, 3));
    run("lock --ttl 1s another", 3);
    expect(tool.err, "1 of 3 masters can be reached (2 needed)");
}

TEST(members, a_semaphore_is_looked_at_by_the_present_list)
{
    run("nodes --replace %2=%3 --yes", 0);
    use("013");
    run("status jobs --permits 2", 1);
    expect(tool.out, "free");
}

TEST(members, a_change_is_for_the_list_that_its_command_names)
{
    run("nodes --replace %2=%3 --yes", 0);
    run("nodes --replace %2=%3 --yes", 0);
    expect(tool.err, "The masters go by this list already.");
    run("nodes --replace %2=%4 --yes", 1);
    expect(tool.err, "the list of masters has been changed since: name the masters and the quorum");
    run("nodes", 0);
    expect(tool.out, "left");
    expect(tool.out, "it has left the list of masters");
}

TEST(members, max_ttl_is_declared_to_the_present_masters_and_not_during_a_change)
{
    ck_assert(masters_kill(masters, 2));
    cut_off("nodes --replace %2=%3 --yes", "told 2 of 2");
    run("nodes --max-ttl 3s --yes", 1);
    expect(tool.err, "max_ttl is not changed while the list of masters changes");
    run("nodes --replace %2=%3 --yes", 0);
    run("nodes --max-ttl 3s --yes", 0);
    expect(tool.out, "max_ttl 3s");
    ask_expect(masters, 3, "HGET redlock:marker max_ttl", "3000");
}

TEST(members, a_client_with_a_password_goes_only_where_it_is_told)
{
    char line[LIST_SIZE], path[LIST_SIZE / 2];
    FILE *file;

    snprintf(path, sizeof path, "%s/password", masters_dir(masters));
    snprintf(line, sizeof line, "nodes --replace %%2=%%3 --dry-run --password-file %s", path);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("secret\n", file);
    fclose(file);
    for (size_t i = 0; i < 4; i++)
        ask_expect(masters, i, "CONFIG SET requirepass secret", "OK");
    run(line, 0);
    expect(tool.out, "a client follows to ");
    expect(tool.out, "--may-follow");
}

/* Another name of a master. */
static const char *other_name(size_t i)
{
    static char url[LIST_SIZE / 2];
    const char *path = masters_url(masters, i) + strlen("unix://");

    snprintf(url, sizeof url, "unix://%s/other-%zu", masters_dir(masters), i);
    symlink(path, url + strlen("unix://"));
    return url;
}

static void rename_masters(const char *line, size_t i, int exit_code)
{
    char text[LIST_SIZE];

    snprintf(text, sizeof text, line, other_name(i));
    run(text, exit_code);
}

TEST(members, a_master_gets_another_name_while_a_lock_is_held)
{
    char list[LIST_SIZE];
    int64_t inc = ask_integer(masters, 2, "HSTRLEN redlock:marker inc");

    hold();
    rename_masters("nodes --rename %%2=%s --dry-run", 2, 0);
    expect(tool.out, "These are the same masters under other names: nothing has to be waited for");
    ck_assert_int_eq(ask_integer(masters, 2, "HEXISTS redlock:marker turn"), 0);
    rename_masters("nodes --rename %%2=%s --yes", 2, 0);
    expect(tool.err, "done: the masters are");
    ck_assert_int_eq(ask_integer(masters, 2, "HSTRLEN redlock:marker inc"), inc);
    rename_masters("nodes --rename %%2=%s --yes", 2, 0);
    expect(tool.err, "The masters go by this list already.");
    snprintf(list, sizeof list, "%s,%s", getenv("REDLOCK_NODES"), other_name(2));
    *strstr(list, masters_url(masters, 2)) = '\0';
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s", other_name(2));
    setenv("REDLOCK_NODES", list, 1);
    run("nodes", 0);
    expect(tool.out, "safe quorum: 3 of 3 masters vote (2 needed); 1 more may fail");
    run("run --wait 0 --ttl 1900ms mine -- true", 0);
    ck_assert_str_eq(tool.err, "");
    run("nodes --replace %1=%2 --yes", 1);
    expect(tool.err, "was the name of a master before that now is ");
    ck_assert(masters_kill(masters, 1));
    tool_expect_run(&tool, "run --wait 20s --ttl 1900ms other -- true", 0);
    expect_held();
}

TEST(members, another_name_is_that_of_the_same_server)
{
    hold();
    run("nodes --rename %2=%3 --yes", 1);
    expect(tool.err, "3.sock leads to another server than ");
    expect(tool.err, "If that server is to take the place of ");
    expect(tool.err, with_masters("redlock nodes --replace %2="));
    ck_assert_int_eq(ask_integer(masters, 3, "DBSIZE"), 0);
    rename_masters("nodes --rename %%2=%s --yes", 1, 1);
    expect(tool.err, "other-1 is another name of ");
    rename_masters("nodes --replace %%2=%s --yes", 1, 1);
    expect(tool.err, "other-1 is another name of ");
    expect(tool.err, "redlock nodes --rename ");
    expect(tool.err, ", for all clients:");
    ck_assert(masters_kill(masters, 2));
    rename_masters("nodes --rename %%2=%s --yes", 2, 1);
    expect(tool.err, "other-2 does not answer, and is not seen to be ");
    run("nodes", 0);
    ck_assert_ptr_null(strstr(tool.out, "changed by an operator"));
    run("nodes --replace %2=%3 --yes", 0);
    expect_held();
}

/* Nobody can tell what that memory has forgotten meanwhile. */
TEST(members, a_master_whose_former_name_is_gone_is_replaced_by_itself)
{
    const char *path = masters_url(masters, 2) + strlen("unix://");
    char moved[LIST_SIZE / 4], line[LIST_SIZE / 2];

    snprintf(moved, sizeof moved, "%s/moved", masters_dir(masters));
    ck_assert_int_eq(rename(path, moved), 0);
    for (int replaces = 0; replaces < 2; replaces++) {
        snprintf(line, sizeof line, "nodes --%s %%2=unix://%s --yes", replaces ? "replace" : "rename", moved);
        run(line, 1);
        expect(tool.err, "is gone for good, restart the server of ");
        expect(tool.err, with_masters("redlock nodes --replace %2="));
    }
    ck_assert_int_eq(rename(moved, path), 0);
}

/* The masters by these names: %N, and the other name of one. */
static void use_other_name(const char *first_two, size_t other)
{
    char list[LIST_SIZE];

    snprintf(list, sizeof list, "%s,%s", with_masters(first_two), other_name(other));
    setenv("REDLOCK_NODES", list, 1);
}

TEST(members, a_command_that_spells_a_master_otherwise_stops_and_says_so)
{
    use_other_name("%0,%1", 2);
    run("nodes --replace %1=%3 --yes", 1);
    expect(tool.err, "the masters have the markers of a list that is written otherwise");
    ck_assert_int_eq(ask_integer(masters, 3, "DBSIZE"), 0);
    use("012");
    run("nodes --replace %1=%3 --yes", 0);
    use_other_name("%0,%3", 2);
    run("nodes --replace %3=%4 --yes", 1);
    expect(tool.err, "the list of masters has been changed since");
    expect(tool.err, "redlock nodes --rename ");
    expect(tool.err, "other-2 --nodes ");
    ck_assert_int_eq(ask_integer(masters, 4, "DBSIZE"), 0);
}

TEST(members, more_masters_than_a_client_can_have_are_changed_by_two_commands)
{
    char list[LIST_SIZE] = "";

    for (int i = 0; i < REDLOCK_MAX_MASTERS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%sunix:///none/%d", i ? "," : "", i);
    setenv("REDLOCK_NODES", list, 1);
    run("nodes --replace unix:///none/1=%0 --dry-run", 1);
    expect(tool.err, "more than 31: remove some by one command, and add others by the next");
}

TEST(members, wrong_words_are_refused_and_nothing_is_asked)
{
    static const struct {
        const char *line;
        const char *message;
    } cases[] = {
        {"nodes --replace %2", "--replace takes OLD=NEW, not"},
        {"nodes --replace %2=", "--replace takes OLD=NEW, not"},
        {"nodes --rename %2", "--rename takes OLD=NEW, not"},
        {"nodes --rename %2=%1", "are the same"},
        {"nodes --rename %2=%3 --add %4", "--rename goes without --replace, --add, --remove and --set-quorum"},
        {"nodes --rename %2=%3 --abort", "--abort goes back to the list before: it takes no"},
        {"nodes --replace 10.0.0.9=%3", "10.0.0.9 is none of the masters that --nodes or REDLOCK_NODES list"},
        {"nodes --remove %5", "is none of the masters that --nodes or REDLOCK_NODES list"},
        {"nodes --add %1", "are the same"},
        {"nodes --set-quorum 1", "the quorum must be more than half of the masters and at most all"},
        {"nodes --abort --add %3", "--abort goes back to the list before: it takes no"},
        {"nodes --dry-run", "--dry-run goes with --replace"},
        {"nodes --add %3 --max-ttl 2s", "goes without --new-deployment and --max-ttl"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run(cases[i].line, 2);
        expect(tool.err, cases[i].message);
    }
}

int main(int argc, char **argv)
{
    setenv("LC_ALL", "C", 1);
    return tool_run_suite(argc, argv, suite_collect("members"));
}
