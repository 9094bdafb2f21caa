/* redlock run: a command under a lock. */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/diagnosis.h"
#include "cli/notify.h"
#include "cli/run/inherited.h"
#include "cli/run/keep.h"
#include "cli/run/link.h"
#include "cli/run/metrics.h"
#include "cli/run/report.h"
#include "cli/run/tree.h"

/* After a signal nobody wants to wait for masters that hang. */
enum { ROLLBACK_MS = 1000, HURRIED_ROLLBACK_MS = 300, LEAST_VALIDITY_MS = 500, LOOK_MS = 1000, US_PER_MS = 1000 };

#define NS_PER_MS INT64_C(1000000)

/* So long messages and files may take at the end. Whoever does not read them in that time gets none. */
enum { LAST_WORDS_MS = 5000 };

/* --- Taking the lock --------------------------------------------------------------------------------------------- */

/* Until the command runs, signals that would end it end the attempt; the others have nobody to go to. */
static void on_signal(evutil_socket_t fd, short what, void *data)
{
    struct run *run = data;
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGTSTP)
            kill(getpid(), SIGSTOP);
        if (number != SIGHUP && number != SIGINT && number != SIGTERM && number != SIGQUIT)
            continue;
        run->session.caught = number;
        if (!run->session.last.done)
            locks_cancel(&run->locks);
    }
}

static void on_event(const struct redlock_event *event, void *data)
{
    struct run *run = data;

    if (event->type == REDLOCK_EVENT_MEMBERS)
        run_report(run, RUN_LEVEL_WARNING, "members", NULL, "%s", event->text);
    if (locks_observe(&run->locks, event))
        run->renewed = true;
}

/* How long the lock may still be waited for; 0: no more. */
static int64_t wait_left_ms(const struct run *run)
{
    int64_t wait_ms = run->options->wait_ms;
    int64_t waited_ms = (clock_now_us() - run->begun_us) / US_PER_MS;

    if (wait_ms == REDLOCK_FOREVER)
        return wait_ms;
    return wait_ms > waited_ms ? wait_ms - waited_ms : 0;
}

static void add_busy(struct cli_json *json, const void *data)
{
    busy_json(json, data);
}

static void on_waiting(const struct busy *busy, void *data)
{
    const struct run *run = data;
    const struct run_facts facts = {.numbers = RUN_NUMBERS({"elapsed_us", clock_now_us() - run->begun_us}),
                                    .add = add_busy, .data = busy};
    char text[BUSY_TEXT_SIZE];

    busy_waiting_text(busy, text);
    run_report(run, RUN_LEVEL_WARNING, "waiting", &facts, "%s %s awaited%s%s", run->options->spec.title,
               run->options->spec.verb, *text != '\0' ? ": " : "", text);
}

static struct redlock_acquire_options request_of(const struct run *run)
{
    const struct run_options *options = run->options;
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.ttl_ms = options->ttl_ms;
    request.timeout_ms = wait_left_ms(run);
    request.min_validity_ms = options->ttl_ms / 2 < LEAST_VALIDITY_MS ? options->ttl_ms / 2 : LEAST_VALIDITY_MS;
    request.fenced = options->fenced;
    request.mode = options->spec.shared ? REDLOCK_SHARED : REDLOCK_EXCLUSIVE;
    request.own_token = 1;
    if (options->no_renew)
        request.renew_ms = REDLOCK_NO_RENEWAL;
    return request;
}

/* With the files that the command may read at once. Renewals and signals are heeded while these are written. */
static int acquire(struct run *run)
{
    const struct redlock_acquire_options request = request_of(run);
    struct event *signals = event_new(run->session.base, run->signals, EV_READ | EV_PERSIST, on_signal, run);
    int status = REDLOCK_E_NOMEM;

    if (signals && event_add(signals, NULL) == 0)
        status = locks_acquire(&run->locks, &run->session, &request);
    run->acquire_us = run->session.last.elapsed_us;
    if (status == REDLOCK_OK && run->session.caught == 0) {
        run->keep_until = instant_after(instant_now(), run->options->spec.hold_ms * NS_PER_MS);
        run_report(run, RUN_LEVEL_STATUS, "acquired", RUN_HELD_FACTS(run), "%s %s held: %u/%zu masters, %lld ms left",
                   run->options->spec.title, run->options->spec.verb, locks_nodes_ok(&run->locks),
                   locks_masters(&run->locks).n, (long long)locks_remaining_ms(&run->locks));
        run->valid_until = run_read_valid_until(run);
        run->published = run_publish_first(run);
    }
    /* What has come in the same turn as the grant still finds nothing started. */
    if (signals)
        on_signal(run->signals, 0, run);
    if (signals)
        event_free(signals);
    return status;
}

#define RUN_BUSY_FACTS(run) (&(const struct run_facts){.add = add_busy, .data = &(run)->session.busy})

static bool look_is_over(const struct session *session, void *data)
{
    const struct busy *busy = data;

    return !busy->pending;
}

/* The holder's command has ended long ago, and what it has started still keeps the lock. */
static bool is_left_over(struct run *run, const char *key)
{
    char name[LEFTOVERS_KEY_SIZE];
    struct redlock_lock *lock;
    static struct busy left; /* the look may outlive this call */

    if (!leftovers_key(key, name))
        return false;
    if (run->session.agent)
        busy_look_by_agent(&left, run->session.agent, name);
    else if (redlock_lock_create(run->client, name, strlen(name), &lock) == 0)
        busy_look(&left, lock);
    session_run_until(&run->session, look_is_over, &left, LOOK_MS);
    return !left.pending && left.n_holders > 0;
}

/* Where another has the lock and that is a success, a job of cron(8) must send no mail of it; but of a lock that
 * nobody works under any more it should. */
static int busy(struct run *run, const char *key)
{
    const struct lock_spec *spec = &run->options->spec;
    bool left_over = is_left_over(run, key);
    enum run_level level = run->options->busy_code == 0 && !left_over ? RUN_LEVEL_STATUS : RUN_LEVEL_WARNING;
    char who[BUSY_TEXT_SIZE];
    char by[BUSY_TEXT_SIZE + 2] = "";

    if (*busy_text(&run->session.busy, who) != '\0')
        snprintf(by, sizeof by, "; %s", who);
    run_report(run, level, "busy", RUN_BUSY_FACTS(run),
               spec->n_permits > 1 ? "too many permits of '%s' are held by others: nothing was run%s%s"
               : spec->permits     ? "all permits of '%s' are held by others: nothing was run%s%s"
                                     : "'%s' is held by another: nothing was run%s%s",
               key, by,
               left_over ? "; the command that it was taken for has ended, but not all that this has started" : "");
    return (int)run->options->busy_code;
}

static int not_acquired(struct run *run, int status)
{
    const struct outcome *last = &run->session.last;
    const char *decisive = locks_decisive_key(&run->locks, last);
    char headline[DIAGNOSIS_SIZE];
    char foreign[BUSY_TEXT_SIZE];
    int reason = status == REDLOCK_DEADLINE && last->cause != 0 ? last->cause : status;

    if (run->session.busy.hopeless) {
        run_report(run, RUN_LEVEL_ERROR, "foreign", RUN_BUSY_FACTS(run), "'%s' not acquired: %s",
                   decisive ? decisive : run->options->spec.keys.items[0],
                   busy_text(&run->session.busy, foreign));
        return RUN_EXIT_FOREIGN;
    }
    if (reason == REDLOCK_HELD)
        return busy(run, decisive ? decisive : run->options->spec.keys.items[0]);
    run_report(run, RUN_LEVEL_ERROR, "not-acquired", &(const struct run_facts){.outcome = last}, "%s not acquired: %s",
                       run->options->spec.title, reason <= REDLOCK_E_NOMEM && !last->done
                                                     ? redlock_strerror(reason) : diagnosis_headline(last, headline));
    if (reason <= REDLOCK_E_NOMEM || diagnosis_is_max_ttl(run->client, last))
        return RUN_EXIT_OWN_ERROR;
    return RUN_EXIT_NO_QUORUM;
}

/* --- Giving it up ------------------------------------------------------------------------------------------------ */

/* A guard that died may not have told that it did. */
static bool may_have_begun(const struct run_fate *fate)
{
    return fate->pid > 0 || (fate->guard_died && fate->error == 0);
}

/* False: nothing is kept. */
static bool leave_to_masters(struct run *run)
{
    int64_t keep_ms = instant_left(run->keep_until, instant_now()) / NS_PER_MS;

    if (run->options->spec.hold_ms == 0 || keep_ms <= 0 || !may_have_begun(&run->fate) || run->lost)
        return false;
    if (!locks_leave(&run->locks, &run->session, (uint32_t)keep_ms + 1))
        return false;
    run_report(run, RUN_LEVEL_STATUS, "kept", RUN_FACTS({"kept_ms", keep_ms}), "%s %s held for another %lld ms",
               run->options->spec.title, run->options->spec.verb, (long long)keep_ms);
    return true;
}

/* A loss since the latest renewal is found out by nobody else: the command has ended before the next one. */
static void report_release(const struct run *run)
{
    const struct run_facts facts = {.outcome = &run->session.last};
    unsigned masters;
    const char *gone = locks_gone_key(&run->locks, &masters);

    if (gone)
        run_report(run, RUN_LEVEL_WARNING, "gone", &facts,
                   "%u of %zu masters no longer had '%s' when it was to be released: another may have had it before "
                   "the command ended", masters, locks_masters(&run->locks).n, gone);
    else
        run_report(run, RUN_LEVEL_STATUS, "released", NULL, "%s %s released", run->options->spec.title,
                   run->options->spec.verb);
}

/* Only now: the command and all that it has started have ended. The keys end by themselves if this fails. */
static void release(struct run *run)
{
    char headline[DIAGNOSIS_SIZE];
    int status;

    if (leave_to_masters(run))
        return;
    status = locks_release(&run->locks, &run->session);
    if (status == REDLOCK_OK)
        report_release(run);
    else if (status != REDLOCK_LOST && status != REDLOCK_E_NOT_HELD)
        run_report(run, RUN_LEVEL_WARNING, "not-released", &(const struct run_facts){.outcome = &run->session.last},
                   "%s may stay held until the ttl ends: %s", run->options->spec.title,
                   diagnosis_headline(&run->session.last, headline));
}

static int under_lock(struct run *run)
{
    int code = run->published ? run_keep(run) : RUN_EXIT_OWN_ERROR;

    notify_send("STOPPING=1");
    release(run);
    run_unpublish(run, code);
    return code;
}

/* A run that could not begin in time is as if it had not had the lock. */
static bool begins_again(struct run *run)
{
    bool again = wait_left_ms(run) != 0;

    if (run->fate.error != -ETIME)
        return false;
    run_report(run, again ? RUN_LEVEL_WARNING : RUN_LEVEL_ERROR, "too-late", NULL,
               "too little was left of %s when '%s' was to begin: %s", run->options->spec.title,
               run->options->argv[0], again ? "asking again" : "nothing was run");
    if (!again)
        return false;
    run->fate = (struct run_fate){0};
    run->lost = false;
    run->renewed = false;
    return true;
}

static int take_and_keep(struct run *run)
{
    int status;
    int code;

    do {
        status = acquire(run);
        if (run->session.caught != 0) {
            run_unpublish(run, RUN_EXIT_SIGNAL + run->session.caught);
            return RUN_EXIT_SIGNAL + run->session.caught;
        }
        code = status == REDLOCK_OK ? under_lock(run) : not_acquired(run, status);
    } while (begins_again(run));
    return code;
}

static int with_client(struct run *run)
{
    int status = locks_create(&run->locks, &run->session, &run->options->spec);

    if (status != 0) {
        refused_call("run", status);
        return RUN_EXIT_OWN_ERROR;
    }
    run->begun_us = clock_now_us();
    run_report(run, RUN_LEVEL_DETAIL, "acquiring", NULL, "%s %s asked for", run->options->spec.title,
               run->options->spec.verb);
    notify_send("STATUS=waiting for the lock");
    return take_and_keep(run);
}

/* What the loop must not wait for is opened before it turns. */
static bool open_outputs(struct run *run)
{
    if (!run_report_open(run)) {
        cli_error("run", "the system refuses a thread: %s", strerror(errno));
        return false;
    }
    notify_open("run");
    return run_publish_open(run);
}

/* False: something is held up, and its thread uses what `run` has. */
static bool close_outputs(struct run *run)
{
    int64_t end_us = clock_now_us() + (int64_t)LAST_WORDS_MS * US_PER_MS;
    bool closed = run_publish_close(run, LAST_WORDS_MS);
    int64_t left_us = end_us - clock_now_us();

    return run_report_close(run, left_us > 0 ? (int)(left_us / US_PER_MS) : 0) && closed;
}

/* Orphans of the command come here if the guard should die. */
static int run_all(struct run *run)
{
    int code = RUN_EXIT_OWN_ERROR;
    bool ok = session_open(&run->session, "run");

    run->session.observer = on_event;
    run->session.observer_data = run;
    run->session.tells_members = true;
    run->session.least_ms = cli_hold_least_ms(run->options->spec.hold_ms);
    run->session.waiting = on_waiting;
    run->session.waiting_data = run;
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
    ok = ok && open_outputs(run);
    if (ok && !run->options->common.agent)
        run->client = session_client(&run->session, "run", &run->options->common, &code);
    if (ok && (run->client || (run->options->common.agent &&
                               session_agent(&run->session, "run", &run->options->common))))
        code = with_client(run);
    else
        code = RUN_EXIT_OWN_ERROR;
    session_finish(&run->session, run->client, run->session.caught != 0 ? HURRIED_ROLLBACK_MS : ROLLBACK_MS);
    run->ends_by = run->session.caught != 0 ? run->session.caught : run->ends_by;
    run->held_up = !close_outputs(run);
    session_close(&run->session);
    if (run->signals >= 0)
        close(run->signals);
    return code;
}

/* As the command has ended, so that a shell ends its loop or its script, too. */
static void end_like_the_command(const struct run *run, int code)
{
    fflush(stdout);
    if (run->ends_by != 0)
        run_signals_obey(run->ends_by);
    if (run->held_up)
        _exit(code);
}

int run_main(int argc, char **argv)
{
    struct run_options options;
    struct run run = {.options = &options, .signals = -1};
    int code = run_options_parse(&options, argc, argv);

    if (code < 0)
        code = run_all(&run);
    end_like_the_command(&run, code);
    run_options_fini(&options);
    return code;
}
