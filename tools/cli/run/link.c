#include "cli/run/link.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "cli/clock.h"
#include "cli/json.h"
#include "cli/notify.h"
#include "cli/run/inherited.h"
#include "cli/run/metrics.h"
#include "cli/run/packet.h"
#include "cli/run/report.h"
#include "cli/term.h"

enum { FIRST_PAUSE_US = 1000, LONGEST_PAUSE_US = 100000 };

/* --- Orders ------------------------------------------------------------------------------------------------------ */

void keeper_order(const struct keeper *keeper, enum run_order_kind kind, int number)
{
    struct run_order order = {kind, number};

    if (keeper->link >= 0)
        run_packet_send(keeper->link, &order, sizeof order, -1);
}

/* A link that is full wakes the guard as well as another packet would. */
void keeper_order_deadline(const struct keeper *keeper)
{
    run_bound_set(keeper->bound, keeper->run->valid_until);
    keeper_order(keeper, RUN_ORDER_DEADLINE, 0);
}

/* Whoever has no guard has no command that could outlive the connection. */
bool keeper_order_agent(int fd, void *data)
{
    const struct keeper *keeper = data;
    struct run_order order = {.kind = RUN_ORDER_AGENT};

    return keeper->link < 0 || keeper->run->fate.guard_died || keeper->run->fate.ended ||
           run_packet_send(keeper->link, &order, sizeof order, fd) == sizeof order;
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
    notify_send("%sSTATUS=held %u/%zu", run->options->notifier == RUN_NOTIFIER_REDLOCK ? "READY=1\n" : "",
               locks_nodes_ok(&run->locks), locks_masters(&run->locks).n);
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
               run->options->spec.title);
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
                   run->options->spec.title, run->options->kill_after_ms);
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

    while (!keeper->run->fate.ended && (n = recv(keeper->link, &news, sizeof news, MSG_DONTWAIT)) == sizeof news)
        take_news(keeper, &news);
    if (!keeper->run->fate.ended && (n >= 0 || (errno != EAGAIN && errno != EINTR)))
        keeper_take_over(keeper, "the guard process has died");
}

void keeper_on_fallback(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    uint64_t times;
    ssize_t n = read(keeper->fallback, &times, sizeof times);

    keeper_on_link(keeper->link, 0, keeper);
    if (n == sizeof times && !keeper->run->fate.ended && !keeper->run->fate.ended_by_us) {
        keeper->run->fate.ended_by_us = true;
        keeper_take_over(keeper, "the guard process has not acted in time");
    }
}

/* --- Processes that the command has started and that have not ended with it --------------------------------------- */

/* Processes that the command has started and that have not ended with it: they keep the lock, unless told otherwise */

enum { NAMES_SIZE = 512, LONGEST_PAUSE_MS = 3600000 };

/* "gpg-agent (1234), ssh (77) and 3 more" */
static void put_names(const struct run_listing *listing, char text[NAMES_SIZE])
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < listing->n && i < RUN_MOST_LISTED; i++)
        length += (size_t)snprintf(text + length, NAMES_SIZE - length, "%s%s (%d)", i > 0 ? ", " : "",
                                   listing->items[i].name, (int)listing->items[i].pid);
    if (listing->n > RUN_MOST_LISTED)
        snprintf(text + length, NAMES_SIZE - length, " and %zu more", listing->n - RUN_MOST_LISTED);
}

static void add_processes(struct cli_json *json, const void *data)
{
    const struct run_listing *listing = data;

    cli_json_begin(json, "processes", '[');
    for (size_t i = 0; i < listing->n && i < RUN_MOST_LISTED; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_int(json, "pid", listing->items[i].pid);
        cli_json_string(json, "name", listing->items[i].name);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void report(const struct keeper *keeper, const struct run_listing *listing)
{
    static const char *const fates[] = {
        [RUN_LEFTOVERS_WAIT] = "the lock is kept until they have ended (see --leftovers)",
        [RUN_LEFTOVERS_END] = "they are ended",
        [RUN_LEFTOVERS_LEAVE] = "they go on without the lock",
    };
    const struct run *run = keeper->run;
    const struct run_facts facts = {.numbers = RUN_NUMBERS({"elapsed_us", clock_now_us() - keeper->exited_us}),
                                    .add = add_processes, .data = listing};
    char names[NAMES_SIZE];
    char ago[24];
    char when[40] = "";

    if (keeper->reminders > 0)
        snprintf(when, sizeof when, " %s ago",
                 term_time(clock_now_us() - keeper->exited_us, ago, sizeof ago));
    put_names(listing, names);
    run_report(run, RUN_LEVEL_WARNING, "leftovers", &facts,
               "'%s' has ended%s, but not all that it has started: %s: %s", run->options->argv[0], when, names,
               fates[run->options->leftovers]);
}

/* --- For those who find the lock taken --------------------------------------------------------------------------- */

bool leftovers_key(const char *key, char ret_key[LEFTOVERS_KEY_SIZE])
{
    return snprintf(ret_key, LEFTOVERS_KEY_SIZE, "%s#ended", key) < LEFTOVERS_KEY_SIZE;
}

/* Whether it succeeds or not, nothing depends on it; another attempt comes with the next reminder. */
static void on_noted(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
}

/* Once: an agent renews it, and takes it back when the connection ends. */
static void note_by_agent(const struct keeper *keeper, const char *key, uint32_t ttl_ms)
{
    struct agent_client *agent = keeper->run->session.agent;
    char name[LEFTOVERS_KEY_SIZE];

    if (keeper->reminders == 1 && leftovers_key(key, name) && agent_client_is_connected(agent))
        agent_client_ask(agent, json_pack("{s:s, s:s, s:s, s:I}", "op", "acquire", "key", name, "mode", "shared", "ttl",
                                          (json_int_t)ttl_ms), NULL, NULL);
}

/* Shared, since several holders of permits, or of a shared lock, may have left something. It is released when the
 * client ends. */
static void note(struct keeper *keeper)
{
    const struct cli_texts *keys = &keeper->run->options->spec.keys;
    struct redlock_acquire_options request;

    redlock_acquire_options_init(&request);
    request.ttl_ms = keeper->run->options->ttl_ms;
    request.mode = REDLOCK_SHARED;
    for (size_t i = 0; i < keys->n; i++) {
        char key[LEFTOVERS_KEY_SIZE];

        if (keeper->run->session.agent) {
            note_by_agent(keeper, keys->items[i], request.ttl_ms);
            continue;
        }
        if (!keeper->notes[i] && leftovers_key(keys->items[i], key) &&
            redlock_lock_create(keeper->run->client, key, strlen(key), &keeper->notes[i]) != 0)
            keeper->notes[i] = NULL;
        if (keeper->notes[i] && redlock_remaining_ns(keeper->notes[i]) <= 0 &&
            redlock_acquire(keeper->notes[i], &request, on_noted, NULL) != 0)
            continue; /* it is busy: the next time will do */
    }
}

/* --- From time to time ------------------------------------------------------------------------------------------- */

static void remind_later(struct keeper *keeper)
{
    int64_t pause_ms = (int64_t)keeper->run->options->ttl_ms << (keeper->reminders < 16 ? keeper->reminders : 16);
    struct timeval after;

    if (pause_ms > LONGEST_PAUSE_MS)
        pause_ms = LONGEST_PAUSE_MS;
    after = (struct timeval){(time_t)(pause_ms / 1000), (suseconds_t)(pause_ms % 1000 * 1000)};
    evtimer_add(keeper->on_reminder, &after);
}

void keeper_on_leftovers(struct keeper *keeper, const struct run_listing *left)
{
    const struct run *run = keeper->run;

    if (run->fate.ended_by_us)
        return;
    keeper->exited_us = clock_now_us();
    if (left->n > 0)
        report(keeper, left);
    if (run->options->leftovers == RUN_LEFTOVERS_WAIT)
        remind_later(keeper);
}

void keeper_on_reminder(evutil_socket_t fd, short what, void *data)
{
    struct keeper *keeper = data;
    struct run_listing listing = run_tree_list(keeper->guard);

    if (keeper->run->fate.ended_by_us)
        return;
    keeper->reminders++;
    if (listing.n > 0)
        report(keeper, &listing);
    note(keeper);
    remind_later(keeper);
}

/* --- How long the lock is proven to be held ----------------------------------------------------------------------- */

/* How long the lock is proven to be held: read after every turn of the loop, and told to the guard. */

enum {
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
    NOTABLE_NS = 5 * NS_PER_MS, /* less is noise of reading two clocks one after the other */
    READINGS = 4,
};

/* The clock is read first, so that a pause between the two readings can only make the end seem nearer; and again, to
 * tell such a pause from the truth. */
struct instant run_read_valid_until(const struct run *run)
{
    struct instant best = {0};

    for (int i = 0; i < READINGS; i++) {
        struct instant now = instant_now();
        struct instant until = instant_after(now, locks_remaining_ns(&run->locks));

        if (i == 0 || until.boot_ns > best.boot_ns)
            best = until;
        if (instant_now().boot_ns - now.boot_ns < NS_PER_MS)
            break;
    }
    return best;
}

void keeper_set_fallback(const struct keeper *keeper)
{
    const struct run *run = keeper->run;
    int64_t ns = run_fallback_at_ns(&run->options->limits, run->valid_until, instant_now());
    struct itimerspec at = {.it_value = {ns / NS_PER_S, ns % NS_PER_S}};

    if (!run->options->ignore_loss)
        timerfd_settime(keeper->fallback, TFD_TIMER_ABSTIME, &at, NULL);
}

static void publish_renewal(struct run *run)
{
    run_publish(run, "held");
    if (run->renewed)
        run_report(run, RUN_LEVEL_DETAIL, "renewed", RUN_HELD_FACTS(run), "%s %s renewed: %u/%zu masters, %lld ms left",
                   run->options->spec.title, run->options->spec.verb, locks_nodes_ok(&run->locks),
                   locks_masters(&run->locks).n, (long long)locks_remaining_ms(&run->locks));
    run->renewed = false;
}

/* Nothing brings the lock back. It may have ended before its time, if masters no longer have it. */
static void lose(struct keeper *keeper)
{
    struct run *run = keeper->run;
    struct instant now = instant_now();

    if (run->lost)
        return;
    run->lost = true;
    if (instant_left(now, run->valid_until) < 0)
        run->valid_until = now;
    keeper_order_deadline(keeper);
    keeper_set_fallback(keeper);
    run_publish(run, "lost");
}

void keeper_refresh(struct keeper *keeper)
{
    struct run *run = keeper->run;
    struct instant until = run_read_valid_until(run);
    int64_t moved_ns = instant_left(until, run->valid_until);

    if (run->lost || locks_remaining_ns(&run->locks) <= 0) {
        lose(keeper);
    } else if (moved_ns >= NOTABLE_NS || moved_ns <= -NOTABLE_NS) {
        run->valid_until = until;
        keeper_order_deadline(keeper);
        keeper_set_fallback(keeper);
        publish_renewal(run);
    }
}
