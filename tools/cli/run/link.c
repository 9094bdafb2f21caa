#include "cli/run/link.h"

#include <errno.h>
#include <event2/event.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/run/leftovers.h"
#include "cli/run/notify.h"
#include "cli/run/report.h"
#include "cli/run/signals.h"

enum { FIRST_PAUSE_US = 1000, LONGEST_PAUSE_US = 100000 };

/* --- Orders ------------------------------------------------------------------------------------------------------ */

void keeper_order(const struct keeper *keeper, enum run_order_kind kind, int number)
{
    struct run_order order = {kind, number};

    if (keeper->link >= 0)
        send(keeper->link, &order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A link that is full wakes the guard as well as another packet would. */
void keeper_order_deadline(const struct keeper *keeper)
{
    run_bound_set(keeper->bound, keeper->run->valid_until);
    keeper_order(keeper, RUN_ORDER_DEADLINE, 0);
}

/* --- Without the guard ------------------------------------------------------------------------------------------- */

/* Two looks in a row: a process may be born and orphaned while one goes on. */
void keeper_on_sweep(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    struct run_sweep sweep = {.root = getpid(), .strangers = &keeper->strangers, .reap = true};
    struct timeval again = {0, keeper->pause_us};

    keeper->empty_looks = run_tree_signal(&sweep, SIGKILL) == 0 ? keeper->empty_looks + 1 : 0;
    if (keeper->empty_looks >= 2)
        keeper->run->fate.ended = true;
    else
        event_add(keeper->on_sweep, &again);
    keeper->pause_us = keeper->pause_us < LONGEST_PAUSE_US / 2 ? keeper->pause_us * 2 : LONGEST_PAUSE_US;
}

/* The guard goes with all the rest; what it had in its care becomes ours. The command's group at once: its pid is not
 * free as long as nobody has told its end, which was looked for just before. From here on this process has no more to
 * do than the guard had, and the same hurry. */
void keeper_take_over(struct keeper *keeper, const char *why)
{
    struct sched_param first = {.sched_priority = 1};
    struct run *run = keeper->run;

    if (run->fate.guard_died || run->fate.ended)
        return;
    run->fate.guard_died = true;
    keeper->pause_us = FIRST_PAUSE_US;
    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
    if (run->fate.pid > 0 && !run->fate.exited && keeper->child.own_group)
        kill(-run->fate.pid, SIGKILL);
    event_del(keeper->on_link);
    keeper_on_sweep(-1, 0, keeper);
    run_report(run, RUN_LEVEL_ERROR, "guard", NULL, "%s: everything that '%s' has started is killed", why,
               run->options->argv[0]);
}

/* --- News of the guard ------------------------------------------------------------------------------------------- */

static void on_started(struct keeper *keeper, pid_t pid)
{
    struct run *run = keeper->run;

    run->fate.pid = pid;
    run_report(run, RUN_LEVEL_DETAIL, "started", RUN_FACTS({"pid", pid}), "'%s' runs as process %d",
               run->options->argv[0], (int)pid);
    run_notify("%sSTATUS=held %u/%zu", run->options->notifier == RUN_NOTIFIER_REDLOCK ? "READY=1\n" : "",
               grip_nodes_ok(&run->grip), run->options->common.masters.count);
}

static void on_exited(struct run *run, int status)
{
    run->fate.exited = true;
    run->fate.status = status;
}

/* A command in a shell's job has been stopped, by a key or since it asks in the background: this process is what the
 * shell waits for, so it stops in the same way. That stops the renewals: see proceed(). */
static void on_stopped(const struct keeper *keeper, int number)
{
    if (!keeper->child.own_group)
        run_signals_obey(number);
}

/* A warning has given the reasons already. */
static void on_killed(struct keeper *keeper)
{
    struct run *run = keeper->run;
    const struct run_facts *why = run->fate.ended_by_us ? NULL : RUN_TROUBLE_FACTS(keeper, 0);

    run->fate.ended_by_us = true;
    run_report(run, RUN_LEVEL_ERROR, "killed", why, "%s can no longer be held: the command is killed",
               run->options->wanted.title);
}

static void take_news(struct keeper *keeper, const struct run_news *news)
{
    struct run *run = keeper->run;

    switch (news->kind) {
    case RUN_NEWS_STARTED:
        on_started(keeper, news->number);
        break;
    case RUN_NEWS_NOT_STARTED:
        run->fate.error = news->number;
        break;
    case RUN_NEWS_STOPPED:
        on_stopped(keeper, news->number);
        break;
    case RUN_NEWS_WARNED:
        run->fate.ended_by_us = true;
        run_report(run, RUN_LEVEL_ERROR, "warned", RUN_TROUBLE_FACTS(keeper, run->options->kill_after_ms),
                   "%s could not be renewed: the command is warned, and killed in %u ms at the latest",
                   run->options->wanted.title, run->options->kill_after_ms);
        break;
    case RUN_NEWS_KILLED:
        on_killed(keeper);
        break;
    case RUN_NEWS_EXITED:
        on_exited(run, news->number);
        break;
    case RUN_NEWS_LEFTOVERS:
        keeper_on_leftovers(keeper, &news->left);
        break;
    case RUN_NEWS_ENDED:
    default:
        run->fate.ended = true;
        break;
    }
}

void keeper_on_link(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    struct run_news news;
    ssize_t n = 0;

    while (!keeper->run->fate.ended && (n = recv(keeper->link, &news, sizeof(news), MSG_DONTWAIT)) == sizeof(news))
        take_news(keeper, &news);
    if (!keeper->run->fate.ended && (n >= 0 || (errno != EAGAIN && errno != EINTR)))
        keeper_take_over(keeper, "the guard process has died");
}

void keeper_on_fallback(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    uint64_t times;
    ssize_t n = read(keeper->fallback, &times, sizeof(times));

    keeper_on_link(keeper->link, 0, keeper);
    if (n == sizeof(times) && !keeper->run->fate.ended && !keeper->run->fate.ended_by_us) {
        keeper->run->fate.ended_by_us = true;
        keeper_take_over(keeper, "the guard process has not acted in time");
    }
}
