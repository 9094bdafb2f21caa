/* What the guard of `redlock run` tells the wrapper, packet by packet, and what it can do in confinement. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/guard.h"
#include "cli/run/tree.h"
#include "portable.h"
#include "suite.h"

static struct run_inherited inherited;
static struct run_child child = {.own_group = true, .inherited = &inherited};
static struct run_guard_plan plan = {.child = &child, .ignore_loss = true};
static pid_t guard;
static int guard_link;

/* A shell script under a guard, with so much of the lock left. The guard has all signals blocked; the command has
 * none. */
static void start_with(const char *script, int64_t left_ns)
{
    static char *argv[] = {(char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", NULL, NULL};
    sigset_t all;

    argv[2] = (char *)(uintptr_t)script;
    child.argv = argv;
    child.envp = environ;
    plan.bound = run_bound_create();
    ck_assert_ptr_nonnull(plan.bound);
    run_bound_set(plan.bound, instant_after(instant_now(), left_ns));
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &inherited.mask);
    guard_link = run_guard_start(&plan, &guard);
    sigprocmask(SIG_SETMASK, &inherited.mask, NULL);
    ck_assert_int_ge(guard_link, 0);
}

static void start(const char *script)
{
    start_with(script, INT64_C(3600) * 1000000000);
}

static int expect_news(enum run_news_kind kind)
{
    struct run_news news;

    ck_assert_int_eq(recv(guard_link, &news, sizeof news, 0), sizeof news);
    ck_assert_int_eq(news.kind, kind);
    return news.number;
}

static void expect_end(void)
{
    expect_news(RUN_NEWS_ENDED);
    ck_assert_int_eq(waitpid(guard, NULL, 0), guard);
    close(guard_link);
    run_bound_destroy(plan.bound);
}

GROUP(news_tests, "news", NULL, NULL)

TEST(news_tests, a_command_that_leaves_nothing_behind_is_told_so)
{
    start("true; exit 3");
    expect_news(RUN_NEWS_STARTED);
    expect_news(RUN_NEWS_EXITED);
    expect_end();
}

/* The one that is left behind lives until this test lets it end. */
TEST(news_tests, what_a_command_leaves_behind_is_told_once)
{
    static const struct run_order order = {.kind = RUN_ORDER_SIGNAL, .number = SIGTERM};

    start("(exec sleep 60) & (exec sleep 60) & exit 3");
    expect_news(RUN_NEWS_STARTED);
    expect_news(RUN_NEWS_EXITED);
    expect_news(RUN_NEWS_LEFTOVERS);
    ck_assert_int_eq(send(guard_link, &order, sizeof order, 0), sizeof order);
    expect_end();
}

/* --- The time ---------------------------------------------------------------------------------------------------- */

GROUP(time_tests, "time", NULL, NULL)

/* Whatever has held up the child since the lock was granted, such as SIGSTOP or a message that nobody reads. */
TEST(time_tests, a_command_does_not_begin_when_the_margin_is_all_that_is_left)
{
    plan.limits.margin_ns = INT64_C(1000000000);
    start_with("echo begun >&2; exit 3", plan.limits.margin_ns / 2);
    ck_assert_int_eq(expect_news(RUN_NEWS_NOT_STARTED), -ETIME);
    plan.limits.margin_ns = 0;
}

/* The bound is shared: the child need not have been told by anybody. */
TEST(time_tests, a_command_does_not_begin_under_a_lock_that_has_ended_since)
{
    start_with("echo begun >&2; exit 3", 0);
    ck_assert_int_eq(expect_news(RUN_NEWS_NOT_STARTED), -ETIME);
}

/* Nobody is left who could continue it: the wrapper, which this test is, does nothing. */
TEST(time_tests, a_guard_that_is_stopped_acts_at_the_end_of_the_lock)
{
    plan.ignore_loss = false;
    start_with("trap '' TERM; exec sleep 60", INT64_C(1500000000));
    expect_news(RUN_NEWS_STARTED);
    ck_assert_int_eq(kill(guard, SIGSTOP), 0);
    expect_news(RUN_NEWS_KILLED);
    ck_assert_int_eq(WTERMSIG(expect_news(RUN_NEWS_EXITED)), SIGKILL);
    expect_end();
    plan.ignore_loss = true;
}

/* --- In confinement ---------------------------------------------------------------------------------------------- */

/* The system calls that open a descriptor of a process, and send it a signal, as some container runtimes do with those
 * that they do not know. */
static bool refuse_process_descriptors(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

GROUP(confined, "confined", NULL, NULL)

TEST(confined, all_are_killed_where_process_descriptors_are_refused)
{
    static const struct run_order order = {.kind = RUN_ORDER_KILL};

    if (!refuse_process_descriptors())
        return;
    start("(exec sleep 3600) & exit 3");
    expect_news(RUN_NEWS_STARTED);
    expect_news(RUN_NEWS_EXITED);
    expect_news(RUN_NEWS_LEFTOVERS);
    ck_assert_int_eq(send(guard_link, &order, sizeof order, 0), sizeof order);
    expect_news(RUN_NEWS_KILLED);
    expect_end();
}

static int run_first(int (*run)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(run());
    if (pid > 0)
        waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

/* Runs it as process 1 of a new PID namespace, and succeeds where there is none to be had. Once that process has ended
 * nobody can follow it, so it is started by one that has nothing else to do. */
static int run_in_namespace(int flags, int (*run)(void))
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(unshare(flags) == 0 ? run_first(run) : EXIT_SUCCESS);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static int expect_invisible(void)
{
    return run_tree_is_visible() ? EXIT_FAILURE : EXIT_SUCCESS;
}

TEST(confined, a_proc_of_another_namespace_shows_nothing)
{
    ck_assert(run_tree_is_visible());
    ck_assert_int_eq(run_in_namespace(CLONE_NEWUSER | CLONE_NEWPID, expect_invisible), EXIT_SUCCESS);
}

/* With a /proc of its own, as systemd makes one for services (ProtectProc=invisible), and as another user than root. */
static bool hide_untraceable_processes(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 && setresgid(65534, 65534, 65534) == 0 &&
           setresuid(65534, 65534, 65534) == 0;
}

/* A process that may be executed but not read cannot be traced. */
static int kill_untraceable(void)
{
    static const struct run_order order = {.kind = RUN_ORDER_KILL};
    struct run_news news = {0};

    if (!hide_untraceable_processes())
        return EXIT_SUCCESS;
    start("(exec $UNREADABLE 3600) & exit 3");
    while (news.kind != RUN_NEWS_LEFTOVERS && recv(guard_link, &news, sizeof news, 0) == sizeof news)
        continue;
    if (send(guard_link, &order, sizeof order, 0) != sizeof order)
        return EXIT_FAILURE;
    while (news.kind != RUN_NEWS_ENDED && recv(guard_link, &news, sizeof news, 0) == sizeof news)
        continue;
    return news.kind == RUN_NEWS_ENDED ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The directory of a program that may be executed but not read; "" if that is not root's to make. */
static void make_unreadable(char *directory, size_t size)
{
    char command[160];

    snprintf(directory, size, "/tmp/redlock-guard-XXXXXX");
    if (geteuid() != 0 || !mkdtemp(directory) || chmod(directory, 0755) != 0) {
        directory[0] = '\0';
        return;
    }
    snprintf(command, sizeof command, "install -m 0711 \"$(command -v sleep)\" %s/sleep", directory);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof command, "%s/sleep", directory);
    setenv("UNREADABLE", command, 1);
}

TEST(confined, all_are_killed_that_proc_does_not_show)
{
    char directory[40];
    int status;

    make_unreadable(directory, sizeof directory);
    if (directory[0] == '\0')
        return;
    status = run_in_namespace(CLONE_NEWPID, kill_untraceable);
    unlink(getenv("UNREADABLE"));
    rmdir(directory);
    ck_assert_int_eq(status, EXIT_SUCCESS);
}

/* There is room for the two ends of the link, and so for one descriptor of the guard's. */
TEST(confined, a_guard_without_descriptors_is_no_fault_of_the_command)
{
    int next = dup(STDERR_FILENO);
    const struct rlimit limit = {(rlim_t)next + 2, (rlim_t)next + 2};

    close(next);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    start("exit 3");
    ck_assert_int_eq(expect_news(RUN_NEWS_NOT_STARTED), -EMFILE);
    expect_end();
}

SUITE("run-guard")
