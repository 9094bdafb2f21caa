/* redlock run: a command under a lock. */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/hindrance.h"
#include "cli/run/keep.h"
#include "cli/run/notify.h"
#include "cli/run/publish.h"
#include "cli/run/report.h"
#include "cli/run/signals.h"
#include "cli/run/tree.h"

/* After a signal nobody wants to wait for masters that hang. */
enum { ROLLBACK_MS = 1000, HURRIED_ROLLBACK_MS = 300, LEAST_VALIDITY_MS = 500 };

/* --- Taking the lock --------------------------------------------------------------------------------------------- */

/* Until the command runs, signals that would end it end the attempt; the others have nobody to go to. */
static void on_signal(evutil_socket_t fd, short what, void *data)
{
    struct run *run = data;
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof(info)) == sizeof(info)) {
        int number = (int)info.ssi_signo;

        if (number == SIGTSTP)
            kill(getpid(), SIGSTOP);
        if (number != SIGHUP && number != SIGINT && number != SIGTERM && number != SIGQUIT)
            continue;
        run->session.caught = number;
        if (!run->session.last.done)
            grip_cancel(&run->grip);
    }
}

static void on_event(const struct redlock_event *event, void *data)
{
    struct run *run = data;

    if (grip_observe(&run->grip, event))
        run->renewed = true;
}

static struct redlock_acquire_options request_of(const struct run_options *options)
{
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.ttl_ms = options->ttl_ms;
    request.timeout_ms = options->wait_ms;
    request.min_validity_ms = options->ttl_ms / 2 < LEAST_VALIDITY_MS ? options->ttl_ms / 2 : LEAST_VALIDITY_MS;
    request.fenced = options->fenced;
    request.mode = options->wanted.shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    request.own_token = 1;
    if (options->no_renew)
        request.renew_ms = REDLOCK_NO_RENEWAL;
    return request;
}

static int acquire(struct run *run)
{
    const struct redlock_acquire_options request = request_of(run->options);
    struct event *signals = event_new(run->session.base, run->signals, EV_READ | EV_PERSIST, on_signal, run);
    int status = REDLOCK_E_NOMEM;

    if (signals != NULL && event_add(signals, NULL) == 0)
        status = grip_acquire(&run->grip, &run->session, &request);
    run->acquire_us = run->session.last.elapsed_us;
    /* What has come in the same turn as the grant still finds nothing started. */
    if (signals != NULL)
        on_signal(run->signals, 0, run);
    if (signals != NULL)
        event_free(signals);
    return status;
}

static int not_acquired(const struct run *run, int status)
{
    const struct outcome *last = &run->session.last;
    const char *decisive = grip_decisive_key(&run->grip, last);
    char headline[HINDRANCE_SIZE];
    char foreign[BUSY_TEXT_SIZE];
    int reason = status == REDLOCK_DEADLINE && last->cause != 0 ? last->cause : status;

    if (run->session.busy.hopeless) {
        run_report(run, RUN_LEVEL_ERROR, "foreign", "'%s' not acquired: %s",
                   decisive != NULL ? decisive : run->options->wanted.keys.items[0],
                   busy_text(&run->session.busy, foreign));
        return RUN_EXIT_FOREIGN;
    }
    if (reason == REDLOCK_HELD) {
        /* Where that is a success, a job of cron(8) must send no mail of it. */
        run_report(run, run->options->busy_code == 0 ? RUN_LEVEL_STATUS : RUN_LEVEL_WARNING, "busy",
                   run->options->wanted.n_permits > 1 ? "too many permits of '%s' are held by others: nothing was run"
                   : run->options->wanted.permits     ? "all permits of '%s' are held by others: nothing was run"
                                               : "'%s' is held by another: nothing was run",
                   decisive != NULL ? decisive : run->options->wanted.keys.items[0]);
        return (int)run->options->busy_code;
    }
    run_report_outcome(run, RUN_LEVEL_ERROR, "not-acquired", last, "%s not acquired: %s",
                       run->options->wanted.title, reason <= REDLOCK_E_NOMEM ? redlock_strerror(reason)
                                                                    : hindrance_headline(last, headline));
    if (reason <= REDLOCK_E_NOMEM || hindrance_is_max_ttl(run->client, last))
        return RUN_EXIT_OWN_ERROR;
    return RUN_EXIT_NO_QUORUM;
}

/* --- Giving it up ------------------------------------------------------------------------------------------------ */

/* Only now: the command and all that it has started have ended. The keys end by themselves if this fails. */
static void release(struct run *run)
{
    int status = grip_release(&run->grip, &run->session);
    char headline[HINDRANCE_SIZE];

    if (status == REDLOCK_OK)
        run_report(run, RUN_LEVEL_STATUS, "released", "%s %s given up", run->options->wanted.title,
                   run->options->wanted.verb);
    else if (status != REDLOCK_LOST && status != REDLOCK_E_NOT_HELD)
        run_report_outcome(run, RUN_LEVEL_WARNING, "not-released", &run->session.last,
                           "%s may stay held until the ttl ends: %s", run->options->wanted.title,
                           status <= REDLOCK_E_NOMEM ? redlock_strerror(status)
                                                     : hindrance_headline(&run->session.last, headline));
}

static int under_lock(struct run *run)
{
    int code;

    run_report(run, RUN_LEVEL_STATUS, "acquired", "%s %s held: %u/%zu masters, %lld ms left",
               run->options->wanted.title, run->options->wanted.verb, grip_nodes_ok(&run->grip),
               run->options->common.masters.count, (long long)grip_remaining_ms(&run->grip));
    code = run_keep(run);
    run_notify("STOPPING=1");
    release(run);
    run_unpublish(run);
    return code;
}

static int with_client(struct run *run)
{
    int status = grip_create(&run->grip, run->client, &run->options->wanted);

    if (status != 0) {
        refused_call("run", status);
        return RUN_EXIT_OWN_ERROR;
    }
    run_report(run, RUN_LEVEL_DETAIL, "acquiring", "%s %s asked for", run->options->wanted.title,
               run->options->wanted.verb);
    run_notify("STATUS=waiting for the lock");
    status = acquire(run);
    if (run->session.caught != 0)
        return RUN_EXIT_SIGNAL + run->session.caught;
    return status == REDLOCK_OK ? under_lock(run) : not_acquired(run, status);
}

/* Orphans of the command come here if the guard should die. */
static int run_all(struct run *run)
{
    int code = RUN_EXIT_OWN_ERROR;
    bool ok = session_open(&run->session, "run");

    run->session.observer = on_event;
    run->session.observer_data = run;
    run->signals = run_signals_take(&run->inherited);
    if (run->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        cli_error("run", "the system refuses a signal descriptor");
        ok = false;
    }
    if (!run_tree_is_visible()) {
        cli_error("run", "/proc does not show the processes of this PID namespace: what the command starts could "
                         "outlive the lock");
        ok = false;
    }
    ok = ok && run_publish_open(run);
    if (ok)
        run->client = session_client(&run->session, "run", &run->options->common, &code);
    if (run->client != NULL)
        code = with_client(run);
    else
        code = RUN_EXIT_OWN_ERROR;
    session_finish(&run->session, run->client, run->session.caught != 0 ? HURRIED_ROLLBACK_MS : ROLLBACK_MS);
    session_close(&run->session);
    run_publish_close(run);
    if (run->signals >= 0)
        close(run->signals);
    return code;
}

int run_main(int argc, char **argv)
{
    struct run_options options;
    struct run run = {.options = &options, .signals = -1};
    int code = run_options_parse(&options, argc, argv);

    if (code < 0)
        code = run_all(&run);
    run_options_fini(&options);
    return code;
}
