/* The tour: it succeeds, and whatever ends it, it leaves no process and no file behind. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "masters.h"
#include "suite.h"
#include "tool.h"

#define STOPPED "Bob wants it, and waits" /* for a holder that is stopped */
#define MIDDLE "acquire p50" /* the heading of the table that is filled while masters are down */

static struct tool tool;
static char directory[32];

/* A directory of the test's own for what the demo creates, to see that it is empty afterwards. */
static void setup(void)
{
    strcpy(directory, "/tmp/redlock-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    setenv("TMPDIR", directory, 1);
}

static size_t entries(void)
{
    DIR *dir = opendir(directory);
    size_t n = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void teardown(void)
{
    ck_assert_uint_eq(entries(), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

/* The servers' process numbers are on the first screen: none of them may be alive. */
static void expect_no_server(void)
{
    size_t servers = 0;

    for (const char *p = strstr(tool.out, " pid "); p; p = strstr(p + 1, " pid ")) {
        ck_assert_msg(kill((pid_t)atoi(p + 5), 0) != 0, "server %d is alive", atoi(p + 5));
        servers++;
    }
    ck_assert_uint_eq(servers, 5);
}

/* What was said instead belongs to the message. */
static void expect_no_failed_check_behind(const char *text)
{
    const char *failed = strstr(strstr(tool.out, text), "FAILED");

    ck_assert_msg(!failed, "%.200s", failed);
}

GROUP(tour, "tour", setup, teardown)

TEST(tour, the_tour_holds_all_its_checks)
{
    tool_run_tour(&tool, "demo --fast");
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "checks held"));
    expect_no_failed_check_behind("");
    ck_assert_ptr_null(strchr(tool.out, '\033'));
    tool_orphans_end();
    expect_no_server();
}

/* On a machine that stands still for a second it gets as far, too. */
static const char *const interrupted[] = {"demo", "--fast", "--node-timeout", "3s", NULL};

static void interrupt_at(const char *text, int number, bool whole_group)
{
    tool_start(&tool, interrupted);
    tool_read_until(&tool, text);
    ck_assert_uint_eq(entries(), 1);
    ck_assert_int_eq(kill(whole_group ? -tool.pid : tool.pid, number), 0);
    tool_finish(&tool);
    ck_assert_int_eq(tool.signal, number);
    tool_orphans_end();
    expect_no_server();
}

static void interrupt(int number, bool whole_group)
{
    interrupt_at(MIDDLE, number, whole_group);
}

TEST(tour, sigint_in_the_middle_cleans_up)
{
    interrupt(SIGINT, false);
    ck_assert_ptr_nonnull(strstr(tool.out, "Interrupted"));
}

TEST(tour, control_c_for_the_whole_group_cleans_up)
{
    interrupt(SIGINT, true);
}

TEST(tour, sigterm_in_the_middle_cleans_up)
{
    interrupt(SIGTERM, false);
}

TEST(tour, even_sigkill_in_the_middle_leaves_nothing)
{
    interrupt(SIGKILL, false);
}

TEST(tour, sigterm_while_a_holder_is_stopped_cleans_up)
{
    interrupt_at(STOPPED, SIGTERM, false);
    ck_assert_ptr_nonnull(strstr(tool.out, "Interrupted"));
    expect_no_failed_check_behind(STOPPED);
}

TEST(tour, even_sigkill_while_a_holder_is_stopped_leaves_nothing)
{
    interrupt_at(STOPPED, SIGKILL, false);
}

TEST(tour, a_reader_that_goes_away_ends_the_tour_cleanly)
{
    tool_start(&tool, interrupted);
    tool_read_until(&tool, MIDDLE);
    close(tool.fds[0]);
    tool.fds[0] = -1;
    tool_finish(&tool);
    ck_assert_int_ne(tool.exit_code, 0);
    tool_orphans_end();
    expect_no_server();
}

TEST(tour, a_server_that_cannot_start_is_reported_with_3)
{
    char *server = getenv("REDLOCK_SERVER") ? strdup(getenv("REDLOCK_SERVER")) : NULL;

    setenv("REDLOCK_SERVER", "/nowhere/redis-server", 1);
    tool_expect_run(&tool, "demo", 3);
    ck_assert_ptr_nonnull(strstr(tool.err, "redlock: demo: cannot start"));
    tool_orphans_end();
    if (server)
        setenv("REDLOCK_SERVER", server, 1);
    free(server);
}

/* What a wait queue leaves behind ends within seconds; a fencing counter would stay for a day. */
static void await_empty(struct masters *masters, size_t i)
{
    time_t give_up = time(NULL) + SUITE_PATIENCE_S;
    bool empty = false;

    while (!empty) {
        char *size = masters_command(masters, i, (const char *const[]){"DBSIZE", NULL});

        ck_assert_msg(size != NULL, "%s", masters_error());
        empty = strcmp(size, "(integer) 0") == 0;
        ck_assert_msg(empty || time(NULL) < give_up, "%s keys are left", size);
        free(size);
        if (!empty)
            usleep(10000);
    }
}

TEST(tour, on_given_masters_nothing_is_harmed_or_left)
{
    const struct masters_options options = {.count = 3};
    struct masters *masters = masters_create(&options);
    char line[1024];

    ck_assert_msg(masters != NULL, "%s", masters_error());
    snprintf(line, sizeof line, "demo --fast --nodes %s,%s,%s", masters_url(masters, 0), masters_url(masters, 1),
             masters_url(masters, 2));
    tool_run_tour(&tool, line);
    tool_expect(&tool, 0);
    ck_assert_ptr_nonnull(strstr(tool.out, "are left out"));
    for (size_t i = 0; i < 3; i++)
        await_empty(masters, i);
    masters_destroy(masters);
}

TEST(tour, a_claim_that_does_not_hold_fails_the_tour)
{
    const struct masters_options options = {.count = 3};
    struct masters *masters = masters_create(&options);
    char line[1024];

    ck_assert_msg(masters != NULL, "%s", masters_error());
    ck_assert(masters_kill(masters, 2));
    snprintf(line, sizeof line, "demo --fast --nodes %s,%s,%s", masters_url(masters, 0), masters_url(masters, 1),
             masters_url(masters, 2));
    tool_expect_run(&tool, line, 1);
    ck_assert_ptr_nonnull(strstr(tool.out, "checks did not hold:"));
    masters_destroy(masters);
}

int main(int argc, char **argv)
{
    unsetenv("REDLOCK_NODES");
    setenv("LC_ALL", "C", 1);
    return tool_run_suite(argc, argv, suite_collect("demo"));
}
