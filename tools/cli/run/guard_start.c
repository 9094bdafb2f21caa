/* How the guard and the command come to be. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "cli/run/guard_inside.h"
#include "portable.h"

enum { FIRST_PAUSE_NS = 1000000, OWN_FDS = 6 };

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
    n = write(error_fd, &error, sizeof(error));
    _exit(n == sizeof(error) && error == ENOENT ? 127 : 126);
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void close_others(const struct guard *guard)
{
    int own[OWN_FDS] = {guard->link,    guard->children,    guard->timer,
                        guard->outcome, guard->hook_out[0], guard->hook_out[1]};
    int next = 3;

    qsort(own, OWN_FDS, sizeof(own[0]), ascending);
    for (int i = 0; i < OWN_FDS; i++) {
        if (own[i] > next)
            portable_close_range(next, own[i] - 1);
        next = own[i] >= next ? own[i] + 1 : next;
    }
    portable_close_range(next, INT_MAX);
}

/* Pipes of the wrapper's must not stay open for the guard's sake, but for those that a hook writes to, nor its
 * connections. With the right to do so it runs before all ordinary processes: it has little to do, but that in time.
 * Children do not inherit that. */
static void step_aside(struct guard *guard)
{
    struct sched_param first = {.sched_priority = 1};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int i = 0; guard->plan->hook != NULL && i < 2; i++)
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
                          .pause_ns = FIRST_PAUSE_NS / 2, .hook_out = {-1, -1}};
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
