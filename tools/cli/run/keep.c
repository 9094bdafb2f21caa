/* Renewals are the library's, the command is the guard's; the wrapper stands between them, tells the guard how long the
 * lock is proven to be held, and passes signals on. See guard.h for who acts when one of them fails. */
#include "cli/run/keep.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/diagnosis.h"
#include "cli/notify.h"
#include "cli/run/inherited.h"
#include "cli/run/keeper.h"
#include "cli/run/link.h"
#include "cli/run/metrics.h"
#include "cli/run/report.h"
#include "cli/run/start.h"

/* --- What is heard of meanwhile ---------------------------------------------------------------------------------- */

/* Each master's answer, for messages about what endangers or ends the hold. */
static void note_trouble(struct keeper *keeper, const struct redlock_alarm *alarm)
{
    struct redlock_result result = {.status = REDLOCK_NO_QUORUM, .quorum = locks_masters(&keeper->run->locks).quorum,
                                    .n_nodes = alarm->n_nodes, .nodes = alarm->nodes};
    char why[DIAGNOSIS_SIZE];

    for (size_t i = 0; i < alarm->n_nodes; i++)
        result.granted += alarm->nodes[i].vote == REDLOCK_VOTE_GRANTED;
    snprintf(why, sizeof why, "%u of %zu masters have renewed it (%u needed)", result.granted,
             locks_masters(&keeper->run->locks).n, result.quorum);
    result.why = alarm->n_nodes > 0 ? why : alarm->why;
    keeper->trouble.op = REDLOCK_OP_EXTEND;
    outcome_record(&keeper->trouble, &result);
}

static void on_alarm(const char *key, const struct redlock_alarm *alarm, void *data)
{
    struct keeper *keeper = data;

    keeper_refresh(keeper); /* orders before words */
    note_trouble(keeper, alarm);
    if (alarm->kind == REDLOCK_ALARM_AT_RISK)
        run_report(keeper->run, RUN_LEVEL_STATUS, "at-risk", RUN_TROUBLE_FACTS(keeper, alarm->remaining_ms),
                   "'%s' could not be renewed yet: %lld ms left; %s", key, (long long)alarm->remaining_ms,
                   keeper->trouble.why);
    else
        run_report(keeper->run, RUN_LEVEL_ERROR, "lost", RUN_TROUBLE_FACTS(keeper, 0),
                   "'%s' is lost: %s", key,
                   alarm->loss != REDLOCK_LOSS_NONE ? redlock_loss_text(alarm->loss) : alarm->why);
}

static void on_watchdog(evutil_socket_t fd, short what, void *data)
{
    notify_send("WATCHDOG=1");
}

/* --- Signals that come while the command runs: the wrapper as a job of a shell ------------------------------------ */

/* Stopping this process stops the renewals: the guard ends the command if it takes too long. */
static void stop(struct keeper *keeper)
{
    keeper_order(keeper, RUN_ORDER_SIGNAL, SIGTSTP);
    kill(getpid(), SIGSTOP);
}

/* After a stop of unknown length the first look is at the clock. */
static void proceed(struct keeper *keeper)
{
    keeper_refresh(keeper);
    keeper_order(keeper, RUN_ORDER_SIGNAL, SIGCONT);
}

/* What a terminal sends has reached a command in the same group as well; whether it obeys a stop is its own affair. */
static void pass_on(struct keeper *keeper, const struct signalfd_siginfo *info)
{
    if (!keeper->child.own_group && info->ssi_code == SI_KERNEL)
        return;
    if (info->ssi_signo == SIGTSTP && keeper->child.own_group)
        stop(keeper);
    else if (info->ssi_signo == SIGCONT)
        proceed(keeper);
    else
        keeper_order(keeper, RUN_ORDER_SIGNAL, (int)info->ssi_signo);
}

static void on_signals(evutil_socket_t fd, short what, void *data)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof info) == sizeof info)
        pass_on(data, &info);
}

/* --- Start and end ----------------------------------------------------------------------------------------------- */

static bool listen_to_all(struct keeper *keeper)
{
    struct run *run = keeper->run;
    struct event_base *base = run->session.base;
    int64_t watchdog_us = run->options->notifier == RUN_NOTIFIER_REDLOCK ? notify_watchdog_us() : 0;
    struct timeval every = {(time_t)(watchdog_us / 1000000), (suseconds_t)(watchdog_us % 1000000)};

    keeper->on_link = event_new(base, keeper->link, EV_READ | EV_PERSIST, keeper_on_link, keeper);
    keeper->on_signals = event_new(base, run->signals, EV_READ | EV_PERSIST, on_signals, keeper);
    keeper->on_fallback = event_new(base, keeper->fallback, EV_READ | EV_PERSIST, keeper_on_fallback, keeper);
    keeper->on_watchdog = event_new(base, -1, EV_PERSIST, on_watchdog, keeper);
    keeper->on_sweep = evtimer_new(base, keeper_on_sweep, keeper);
    keeper->on_reminder = evtimer_new(base, keeper_on_reminder, keeper);
    return keeper->on_link && keeper->on_signals && keeper->on_fallback &&
           keeper->on_watchdog && keeper->on_sweep && keeper->on_reminder &&
           event_add(keeper->on_link, NULL) == 0 && event_add(keeper->on_signals, NULL) == 0 &&
           event_add(keeper->on_fallback, NULL) == 0 &&
           (watchdog_us <= 0 || event_add(keeper->on_watchdog, &every) == 0);
}

static void keep(struct keeper *keeper)
{
    locks_watch(&keeper->run->locks, on_alarm, keeper);
    keeper_set_fallback(keeper);
    while (!keeper->run->fate.ended) {
        if (event_base_loop(keeper->run->session.base, EVLOOP_ONCE) != 0)
            keeper_take_over(keeper, "the event loop has failed");
        keeper_refresh(keeper);
    }
    locks_watch(&keeper->run->locks, NULL, NULL);
}

static void close_all(struct keeper *keeper)
{
    struct event *const events[] = {keeper->on_link, keeper->on_signals, keeper->on_fallback, keeper->on_watchdog,
                                    keeper->on_sweep, keeper->on_reminder};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i])
            event_free(events[i]);
    keeper->run->locks.agent.connected = NULL;
    if (keeper->link >= 0)
        close(keeper->link);
    if (keeper->fallback >= 0)
        close(keeper->fallback);
    if (keeper->guard > 0 && !keeper->run->fate.guard_died)
        waitpid(keeper->guard, NULL, 0);
    run_bound_destroy(keeper->bound);
    run_strangers_free(&keeper->strangers);
}

static int not_started(const struct run *run)
{
    int error = run->fate.error;

    if (error == -ETIME)
        return RUN_EXIT_LOST;
    run_report(run, RUN_LEVEL_ERROR, "not-started", NULL, "cannot run '%s': %s", run->options->argv[0],
               strerror(error < 0 ? -error : error));
    if (error < 0)
        return RUN_EXIT_OWN_ERROR;
    return error == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_NOT_EXECUTABLE;
}

/* A command that was ended by a signal is followed by this process, so that a script around it ends as well. */
static int exit_code(struct run *run)
{
    const struct run_fate *fate = &run->fate;

    if (fate->error != 0)
        return not_started(run);
    if (fate->ended_by_us)
        return RUN_EXIT_LOST;
    if (fate->guard_died || !fate->exited)
        return RUN_EXIT_OWN_ERROR;
    if (!WIFSIGNALED(fate->status))
        return WEXITSTATUS(fate->status);
    run->ends_by = WTERMSIG(fate->status);
    return RUN_EXIT_SIGNAL + run->ends_by;
}

int run_keep(struct run *run)
{
    struct keeper keeper = {.run = run, .link = -1};
    char **envp;
    bool ok;

    envp = keeper_environment(run);
    keeper.fallback = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    ok = envp && keeper.fallback >= 0 && run_strangers_note(&keeper.strangers) && keeper_start(&keeper, envp);
    if (ok && listen_to_all(&keeper))
        keep(&keeper);
    else
        run_report(run, RUN_LEVEL_ERROR, "system", NULL, "the system refuses a process, memory or descriptors: %s",
                   strerror(errno));
    close_all(&keeper);
    run_env_free(envp);
    return exit_code(run);
}
