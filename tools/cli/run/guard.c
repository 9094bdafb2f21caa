/* What the guard does while the command lives. */
#include "cli/run/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/run/guard_inside.h"
#include "cli/run/packet.h"
#include "cli/run/tree.h"
#include "portable.h"

enum { LONGEST_PAUSE_NS = 100000000, NS_PER_S = 1000000000 };

#define NS_PER_MS INT64_C(1000000)

void guard_restore_signals(const struct run_inherited *inherited)
{
    for (size_t i = 0; i < RUN_DISPOSITIONS; i++)
        sigaction(inherited->dispositions[i].number, &inherited->dispositions[i].action, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}

/* --- The command of --on-lost exec=CMD ----------------------------------------------------------------------- */

static _Noreturn void become_hook(const struct guard *guard, pid_t pid)
{
    const struct run_child *child = guard->plan->child;
    char *argv[] = {(char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", (char *)(uintptr_t)guard->plan->hook, NULL};
    char number[32];
    size_t n = 0;
    char **envp;

    while (child->envp[n])
        n++;
    envp = calloc(n + 2, sizeof *envp);
    if (!envp)
        _exit(127);
    for (size_t i = 0; i < n; i++)
        envp[i] = child->envp[i];
    snprintf(number, sizeof number, "REDLOCK_PID=%d", (int)pid);
    if (pid > 0)
        envp[n] = number;
    for (int i = 0; i < 2; i++)
        if (guard->hook_out[i] >= 0)
            dup2(guard->hook_out[i], STDOUT_FILENO + i);
    guard_restore_signals(child->inherited);
    execve("/bin/sh", argv, envp);
    _exit(127);
}

/* Runs it by /bin/sh in the environment of the command, plus REDLOCK_PID if that still runs (0: not any more), and does
 * not wait. Returns its pid, which is its group's; -1 if the system refuses. */
static pid_t start_hook(const struct guard *guard, pid_t pid)
{
    pid_t self = fork();

    if (self == 0) {
        setpgid(0, 0);
        become_hook(guard, pid);
    }
    if (self > 0)
        setpgid(self, self);
    return self;
}

/* --- The link ------------------------------------------------------------------------------------------------ */

/* The wrapper may be stopped: only the last word is worth waiting for, and that is never behind more than a few. */
void guard_tell(const struct guard *guard, enum run_news_kind kind, int number)
{
    struct run_news news = {.kind = kind, .number = number};

    if (kind == RUN_NEWS_LEFTOVERS)
        news.left = run_tree_list(getpid());
    if (guard->link >= 0)
        send(guard->link, &news, sizeof news, MSG_NOSIGNAL | (kind == RUN_NEWS_ENDED ? 0 : MSG_DONTWAIT));
}

/* To everything. While the command has not been reaped its pid is its group's, and nobody can slip through. */
static void signal_all(const struct guard *guard, int number)
{
    struct run_sweep sweep = {.root = getpid()};

    if (!guard->exited && guard->plan->child->own_group) {
        kill(-guard->group, number);
        sweep.but_group = guard->group;
    }
    run_tree_signal(&sweep, number);
}

/* What the wrapper passes on is for the group, as it would be without a wrapper; of one that others share, for those of
 * the command; for all that is left, when the command itself has ended. */
static void signal_command(const struct guard *guard, int number)
{
    const struct run_sweep sweep = {.root = getpid(), .only_group = guard->group};

    if (guard->exited)
        signal_all(guard, number);
    else if (guard->plan->child->own_group)
        kill(-guard->group, number);
    else
        run_tree_signal(&sweep, number);
}

/* A command that is stopped would keep the lock for ever: it sees no signal that is to end it before SIGCONT. */
static void pass_on(const struct guard *guard, int number)
{
    signal_command(guard, number);
    if (number == SIGHUP || number == SIGINT || number == SIGTERM || number == SIGQUIT)
        signal_command(guard, SIGCONT);
}

/* A hook that was not run as the warning runs now, beside the killing, and without a process to name. */
static void begin_killing(struct guard *guard)
{
    if (guard->killing)
        return;
    guard->killing = true;
    if (guard->plan->hook && !guard->warned) {
        signal_all(guard, SIGKILL);
        guard->hook = start_hook(guard, 0);
        guard->hook_end = instant_after(instant_now(), RUN_HOOK_MS * NS_PER_MS);
    }
    guard_tell(guard, RUN_NEWS_KILLED, 0);
}

static void sweep(struct guard *guard)
{
    const struct run_sweep all_but_hook = {.root = getpid(), .but_group = guard->hook};

    if (guard->hook > 0 && instant_left(guard->hook_end, instant_now()) > 0)
        run_tree_signal(&all_but_hook, SIGKILL);
    else
        signal_all(guard, SIGKILL);
}

/* The command itself has ended, and what is left is not to keep the lock. */
static void begin_ending(struct guard *guard)
{
    if (guard->plan->leftovers == RUN_LEFTOVERS_LEAVE)
        guard->leaves = !guard->warned && !guard->killing;
    if (guard->plan->leftovers != RUN_LEFTOVERS_END)
        return;
    guard->ending = true;
    guard->end_at = instant_after(instant_now(), guard->plan->limits.kill_after_ns);
    signal_all(guard, SIGTERM);
    signal_all(guard, SIGCONT);
}

/* After the warning only an earlier end counts: the command has been told to go. */
static void set_deadline(struct guard *guard, struct instant valid_until)
{
    if (!guard->warned || instant_left(valid_until, guard->valid_until) < 0)
        guard->valid_until = valid_until;
}

static void obey(struct guard *guard, const struct run_order *order)
{
    if (order->kind == RUN_ORDER_SIGNAL)
        pass_on(guard, order->number);
    else if (order->kind == RUN_ORDER_KILL)
        begin_killing(guard);
}

/* The next packet, and the connection that comes with it, which takes the place of the one before. */
static ssize_t receive(struct guard *guard, struct run_order *order)
{
    int agent;
    ssize_t n = run_packet_receive(guard->link, order, sizeof *order, &agent);

    if (agent >= 0 && guard->agent >= 0)
        close(guard->agent);
    guard->agent = agent >= 0 ? agent : guard->agent;
    return n;
}

/* All of them before the clock is looked at: if this process could not run for a while, a later deadline may wait. */
static void take_orders(struct guard *guard)
{
    struct run_order order;
    ssize_t n = 0;

    while (guard->link >= 0 && (n = receive(guard, &order)) == sizeof order)
        obey(guard, &order);
    if (guard->link >= 0 && (n >= 0 || (errno != EAGAIN && errno != EINTR))) {
        close(guard->link);
        guard->link = -1;
        begin_killing(guard);
    }
}

/* --- The command --------------------------------------------------------------------------------------------- */

static void learn_outcome(struct guard *guard)
{
    int error = 0;
    ssize_t n = guard->outcome >= 0 ? read(guard->outcome, &error, sizeof error) : -1;

    if (guard->outcome < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    if (n == sizeof error)
        guard_tell(guard, RUN_NEWS_NOT_STARTED, error);
    else
        guard_tell(guard, RUN_NEWS_STARTED, guard->child);
    close(guard->outcome);
    guard->outcome = -1;
}

/* Ended children first; the command's own end is told, and what it was to the kernel is forgotten with it. Whether that
 * leaves anything behind is told by this process, for the other one cannot know how much time has passed between two
 * packets. */
static void collect(struct guard *guard)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != guard->child || guard->exited)
            continue;
        learn_outcome(guard);
        if (WIFSTOPPED(status)) {
            guard_tell(guard, RUN_NEWS_STOPPED, WSTOPSIG(status));
        } else {
            guard->exited = true;
            guard_tell(guard, RUN_NEWS_EXITED, status);
        }
    }
    guard->empty = pid < 0 && errno == ECHILD;
    if (guard->exited && !guard->empty && !guard->told_leftovers) {
        guard->told_leftovers = true;
        guard_tell(guard, RUN_NEWS_LEFTOVERS, 0);
        begin_ending(guard);
    }
}

/* SIGCONT behind it: a stopped process would not see it before it is too late. */
static void warn(struct guard *guard)
{
    guard->warned = true;
    if (guard->plan->hook) {
        start_hook(guard, guard->child);
    } else if (guard->plan->warning != 0) {
        signal_all(guard, guard->plan->warning);
        signal_all(guard, SIGCONT);
    }
    guard_tell(guard, RUN_NEWS_WARNED, 0);
}

/* Does what is due, and says how long nothing will be. */
static int64_t act(struct guard *guard)
{
    struct run_due due = {RUN_STEP_WAIT, INT64_MAX};
    int64_t patience_ns;

    set_deadline(guard, run_bound_get(guard->plan->bound));
    if (!guard->plan->ignore_loss)
        due = run_due_at(&guard->plan->limits, guard->valid_until, instant_now(), guard->warned);
    if (due.step == RUN_STEP_WARN && !guard->killing)
        warn(guard);
    if (due.step == RUN_STEP_KILL)
        begin_killing(guard);
    patience_ns = guard->ending ? instant_left(guard->end_at, instant_now()) : INT64_MAX;
    if (!guard->killing && patience_ns > 0)
        return patience_ns < due.wait_ns ? patience_ns : due.wait_ns;
    sweep(guard);
    guard->pause_ns = guard->pause_ns < LONGEST_PAUSE_NS / 2 ? guard->pause_ns * 2 : LONGEST_PAUSE_NS;
    return guard->pause_ns;
}

/* --- The loop ------------------------------------------------------------------------------------------------ */

static void sleep_until_something(struct guard *guard, int64_t wait_ns)
{
    struct pollfd fds[] = {{guard->link, POLLIN, 0}, {guard->children, POLLIN, 0}, {guard->timer, POLLIN, 0},
                           {guard->outcome, POLLIN, 0}};
    struct itimerspec after = {.it_value = {wait_ns / NS_PER_S, wait_ns % NS_PER_S}};
    struct signalfd_siginfo info;

    if (wait_ns <= 0)
        after.it_value.tv_nsec = 1;
    if (wait_ns == INT64_MAX)
        memset(&after, 0, sizeof after);
    timerfd_settime(guard->timer, 0, &after, NULL);
    timer_settime(guard->alarm, 0, &after, NULL);
    poll(fds, 4, -1);
    while (read(guard->children, &info, sizeof info) == sizeof info)
        continue;
}

void guard_watch_over(struct guard *guard)
{
    for (;;) {
        take_orders(guard);
        learn_outcome(guard);
        collect(guard);
        if (guard->empty || guard->leaves)
            break;
        sleep_until_something(guard, act(guard));
    }
    guard_tell(guard, RUN_NEWS_ENDED, 0);
}

/* --- How the guard and the command come to be --------------------------------------------------------------------- */

enum { FIRST_PAUSE_NS = 1000000, OWN_FDS = 7 };

/* --- The command ------------------------------------------------------------------------------------------------- */

static bool is_too_late(const struct run_guard_plan *plan)
{
    return run_due_at(&plan->limits, run_bound_get(plan->bound), instant_now(), false).step != RUN_STEP_WAIT;
}

/* Executes the command, and does not return: if it cannot be executed, errno is written to error_fd, which is closed
 * by success. The process is killed when its parent, `guard`, ends. The clock is looked at last. */
static _Noreturn void become(const struct run_guard_plan *plan, pid_t guard, int error_fd)
{
    const struct run_child *child = plan->child;
    int error = -ETIME;
    ssize_t n;

    /* The parent may have ended before the first call: then nobody would ever be told. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != guard)
        _exit(127);
    if (child->own_group)
        setpgid(0, 0);
    guard_restore_signals(child->inherited);
    if (!is_too_late(plan)) {
        execvpe(child->argv[0], child->argv, child->envp);
        error = errno;
    }
    n = write(error_fd, &error, sizeof error);
    _exit(n == sizeof error && error == ENOENT ? 127 : 126);
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void close_others(const struct guard *guard)
{
    int own[OWN_FDS] = {guard->link,    guard->children,    guard->timer,
                        guard->outcome, guard->hook_out[0], guard->hook_out[1], guard->agent};
    int next = 3;

    qsort(own, OWN_FDS, sizeof own[0], ascending);
    for (int i = 0; i < OWN_FDS; i++) {
        if (own[i] > next)
            portable_close_range(next, own[i] - 1);
        next = own[i] >= next ? own[i] + 1 : next;
    }
    portable_close_range(next, INT_MAX);
}

/* Pipes of the wrapper's must not stay open for the guard's sake, but for those that a hook writes to, nor its
 * connections with masters. With the right to do so it runs before all ordinary processes: it has little to do, but
 * that in time. Children do not inherit that. */
static void step_aside(struct guard *guard)
{
    struct sched_param first = {.sched_priority = 1};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int i = 0; guard->plan->hook && i < 2; i++)
        guard->hook_out[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    close_others(guard);
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static bool prepare(struct guard *guard, int outcome[2])
{
    struct sigevent go_on = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    sigset_t ended;

    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    guard->children = signalfd(-1, &ended, SFD_NONBLOCK | SFD_CLOEXEC);
    guard->timer = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (guard->children < 0 || guard->timer < 0 || timer_create(CLOCK_BOOTTIME, &go_on, &guard->alarm) != 0 ||
        pipe2(outcome, O_NONBLOCK | O_CLOEXEC) != 0)
        return false;
    guard->outcome = outcome[0];
    return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
}

static _Noreturn void be_guard(const struct run_guard_plan *plan, int link)
{
    struct guard guard = {.plan = plan, .valid_until = run_bound_get(plan->bound), .link = link,
                          .agent = plan->agent, .pause_ns = FIRST_PAUSE_NS / 2, .hook_out = {-1, -1}};
    pid_t self = getpid();
    int outcome[2];

    guard.child = prepare(&guard, outcome) ? fork() : -1;
    if (guard.child < 0) {
        guard_tell(&guard, RUN_NEWS_NOT_STARTED, -errno);
        guard_tell(&guard, RUN_NEWS_ENDED, 0);
        _exit(0);
    }
    if (guard.child == 0)
        become(plan, self, outcome[1]);
    if (plan->child->own_group)
        setpgid(guard.child, guard.child);
    guard.group = plan->child->own_group ? guard.child : getpgrp();
    close(outcome[1]);
    step_aside(&guard);
    guard_watch_over(&guard);
    _exit(0);
}

int run_guard_start(const struct run_guard_plan *plan, pid_t *ret_pid)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_guard(plan, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return -1;
    }
    *ret_pid = pid;
    return ends[0];
}
