/* What the guard of `redlock run` tells the wrapper, packet by packet. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/guard.h"
#include "suite.h"

static struct run_inherited inherited;
static struct run_child child = {.own_group = true, .inherited = &inherited};
static const struct run_guard_plan plan = {.child = &child, .ignore_loss = true};
static pid_t guard;
static int guard_link;

/* A shell script under a guard. The guard has all signals blocked; the command has none. */
static void start(const char *script)
{
    static char *argv[] = {(char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", NULL, NULL};
    sigset_t all;

    argv[2] = (char *)(uintptr_t)script;
    child.argv = argv;
    child.envp = environ;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &inherited.mask);
    guard_link = run_guard_start(&plan, instant_now(), &guard);
    sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
    ck_assert_int_ge(guard_link, 0);
}

static void expect_news(enum run_news_kind kind)
{
    struct run_news news;

    ck_assert_int_eq(recv(guard_link, &news, sizeof(news), 0), sizeof(news));
    ck_assert_int_eq(news.kind, kind);
}

static void expect_end(void)
{
    expect_news(RUN_NEWS_ENDED);
    ck_assert_int_eq(waitpid(guard, NULL, 0), guard);
    close(guard_link);
}

START_TEST(a_command_that_leaves_nothing_behind_is_told_so)
{
    start("true; exit 3");
    expect_news(RUN_NEWS_STARTED);
    expect_news(RUN_NEWS_EXITED);
    expect_end();
}
END_TEST

/* The one that is left behind lives until this test lets it end. */
START_TEST(what_a_command_leaves_behind_is_told_once)
{
    static const struct run_order order = {.kind = RUN_ORDER_SIGNAL, .number = SIGTERM};

    start("(exec sleep 60) & (exec sleep 60) & exit 3");
    expect_news(RUN_NEWS_STARTED);
    expect_news(RUN_NEWS_EXITED);
    expect_news(RUN_NEWS_LEFTOVERS);
    ck_assert_int_eq(send(guard_link, &order, sizeof(order), 0), sizeof(order));
    expect_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("run-guard");
    TCase *news = suite_add_case(suite, "news", NULL, NULL);

    tcase_add_test(news, a_command_that_leaves_nothing_behind_is_told_so);
    tcase_add_test(news, what_a_command_leaves_behind_is_told_once);
    return suite_run(suite);
}
