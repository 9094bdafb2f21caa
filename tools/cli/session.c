#include "cli/session.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>
#include <redlock/members.h>
#include <redlock/semaphore.h>

#include "cli/agent_lock.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/password.h"

enum { EXTEND_AGAIN_MS = 20, SETTLE_MS = 100, LOOK_MS = 1000, REMIND_MS = 30000, LONGEST_PAUSE_MS = 3600000 };

static void cancel(struct session *session)
{
    if (session->subject.kind && !session->last.done)
        session->subject.kind->cancel(session->subject.handle);
}

static void on_signal(evutil_socket_t number, short what, void *data)
{
    struct session *session = data;

    session->caught = (int)number;
    cancel(session);
}

/* libevent ends the process with 1 if it finds no descriptor for a base's signals. */
static bool has_descriptors_for_base(void)
{
    int fds[3]; /* epoll, and a pair */
    size_t n = 0;
    bool all;

    while (n < sizeof fds / sizeof fds[0] && (fds[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
        n++;
    all = n == sizeof fds / sizeof fds[0];
    while (n > 0)
        close(fds[--n]);
    return all;
}

bool session_open(struct session *session, const char *command)
{
    session->base = has_descriptors_for_base() ? event_base_new() : NULL;
    if (!session->base)
        cli_error(command, "the system refuses an event loop");
    return session->base != NULL;
}

bool session_catch_signals(struct session *session, const char *command)
{
    static const int numbers[SESSION_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < SESSION_SIGNALS; i++) {
        if (is_ignored_signal(numbers[i]))
            continue;
        session->signals[i] = evsignal_new(session->base, numbers[i], on_signal, session);
        if (!session->signals[i] || event_add(session->signals[i], NULL) < 0) {
            cli_error(command, "the system refuses a signal handler");
            return false;
        }
    }
    return true;
}

/* --- Recording ----------------------------------------------------------------------------------------------- */

static void set_vote(struct outcome *outcome, size_t node, enum redlock_vote vote, int64_t latency_us,
                     const char *detail)
{
    struct vote *entry = &outcome->votes[node];

    if (latency_us >= 0 && entry->order == 0)
        entry->order = ++outcome->replies;
    entry->vote = vote;
    entry->latency_us = latency_us;
    snprintf(entry->detail, sizeof entry->detail, "%s", detail ? detail : "");
}

static void clear_votes(struct outcome *outcome)
{
    memset(outcome->votes, 0, sizeof outcome->votes);
    for (size_t i = 0; i < REDLOCK_MAX_MASTERS; i++)
        outcome->votes[i].latency_us = -1;
    outcome->replies = 0;
}

/* A password from a file or a command may be another one at the next try. */
static bool is_for_ever(const struct session *session, const char *why)
{
    static const char *const words[] = {"the server's certificate", "client certificate", "WRONGPASS", "NOAUTH",
                                        "invalid password", "without any password"};
    enum { OF_CERTIFICATES = 2 };
    size_t n = session->desk ? OF_CERTIFICATES : sizeof words / sizeof words[0];

    for (size_t i = 0; i < n; i++)
        if (strstr(why, words[i]))
            return true;
    return false;
}

static void note_node(struct session *session, const struct redlock_event *event)
{
    if (event->link == REDLOCK_LINK_DOWN)
        session->in_vain[event->node] = is_for_ever(session, event->text);
    else if (event->link == REDLOCK_LINK_READY)
        session->in_vain[event->node] = false;
}

bool session_is_in_vain(const struct session *session)
{
    struct redlock_view view = {0};
    size_t count = 0;

    redlock_client_view(session->client, &view, sizeof view);
    for (size_t i = 0; i < REDLOCK_MAX_MASTERS; i++)
        count += session->in_vain[i];
    return count > 0 && view.list.n - count < view.list.quorum;
}

/* The result tells the state at the decision; the events tell the order of the replies, and what comes later. */
static void on_event(const struct redlock_event *event, void *data)
{
    struct session *session = data;

    if (session->observer)
        session->observer(event, session->observer_data);
    if (event->type == REDLOCK_EVENT_NODE)
        note_node(session, event);
    if (event->type == REDLOCK_EVENT_MEMBERS && !session->tells_members)
        cli_error(session->command, "%s", event->text);
    if (event->type == REDLOCK_EVENT_VOTE && event->op == REDLOCK_OP_ACQUIRE && event->lock &&
        (event->vote == REDLOCK_VOTE_REFUSED || event->vote == REDLOCK_VOTE_FAILED))
        session->refused = event->lock;
    if (!event->lock || event->lock != session->subject.handle)
        return;
    if (event->type == REDLOCK_EVENT_ATTEMPT)
        clear_votes(&session->last);
    if (event->type == REDLOCK_EVENT_VOTE && event->op == session->last.op && event->node >= 0 &&
        event->node < REDLOCK_MAX_MASTERS)
        set_vote(&session->last, (size_t)event->node, event->vote, event->latency_us, event->text);
}

static bool is_short_of_masters(const struct redlock_result *result)
{
    int reason = result->status == REDLOCK_DEADLINE && result->cause != 0 ? result->cause : result->status;

    return reason == REDLOCK_NO_QUORUM || reason == REDLOCK_TOO_SLOW || reason == REDLOCK_DEADLINE;
}

void outcome_record(struct outcome *last, const struct redlock_result *result)
{
    last->done = true;
    last->status = result->status;
    last->cause = result->cause;
    last->attempts = result->attempts;
    last->quorum = result->quorum;
    last->granted = result->granted;
    last->elapsed_us = result->elapsed_us;
    last->remaining_ms = result->remaining_ms;
    last->reachable = result->reachable;
    last->voting = result->voting;
    last->part = result->part;
    last->short_of_masters = result->n_nodes > 0 && is_short_of_masters(result); /* otherwise nobody has counted them */
    snprintf(last->why, sizeof last->why, "%s", result->why);
    last->n_nodes = result->n_nodes;
    last->members = 0;
    for (size_t i = 0; i < result->n_nodes; i++) {
        last->members += result->nodes[i].fault != REDLOCK_FAULT_NO_MEMBER;
        snprintf(last->votes[i].name, sizeof last->votes[i].name, "%s", result->nodes[i].name);
        set_vote(last, i, result->nodes[i].vote, result->nodes[i].latency_us, result->nodes[i].detail);
    }
}

static void on_done(const struct redlock_result *result, void *data)
{
    struct session *session = data;

    outcome_record(&session->last, result);
}

static void on_result(struct redlock_lock *lock, const struct redlock_result *result, void *data)
{
    on_done(result, data);
}

static void begin(struct session *session, struct subject subject, enum redlock_op op)
{
    memset(&session->last, 0, sizeof session->last);
    clear_votes(&session->last);
    session->last.op = op;
    session->subject = subject;
    session->sink = (struct subject_sink){.done = on_done, .data = session};
    session->refused = NULL;
    session->looked = false;
    session->reminders = 0;
    if (op == REDLOCK_OP_ACQUIRE)
        session->busy = (struct busy){.own = session->label};
}

/* --- Operations ---------------------------------------------------------------------------------------------- */

/* The first run of a password command is waited for: a connection would not wait for long. */
static bool open_desk(struct session *session, const char *command, const struct cli_common *common)
{
    const char *why = NULL;

    if (!session->desk)
        session->desk = password_desk_open(session->base, &common->masters.password);
    if (!session->desk)
        why = "out of memory";
    else
        while (!password_desk_ready(session->desk, &why) && session->caught == 0)
            if (event_base_loop(session->base, EVLOOP_ONCE) != 0)
                break;
    if (why)
        cli_error(command, "%s", why);
    return !why && session->caught == 0;
}

struct redlock_client *session_client(struct session *session, const char *command, const struct cli_common *common,
                                      int *ret_exit)
{
    struct redlock_options options;
    struct redlock_error error = {0};

    redlock_options_init(&options);
    options.max_ttl_ms = common->max_ttl_ms;
    options.node_timeout_ms = common->node_timeout_ms;
    if (options.stall_timeout_ms < options.node_timeout_ms)
        options.stall_timeout_ms = options.node_timeout_ms;
    if (options.connect_timeout_ms < options.node_timeout_ms)
        options.connect_timeout_ms = options.node_timeout_ms;
    options.quorum = common->quorum;
    options.key_prefix = common->prefix;
    options.profile = common->profile;
    options.join = common->join;
    options.may_follow = common->may_follow;
    options.declaration = common->declaration;
    options.key_classes = common->classes;
    options.n_key_classes = common->classes_given.n;
    cli_tls_apply(&common->masters.tls, &options);
    if (cli_password_changes(&common->masters.password)) {
        *ret_exit = CLI_INFRASTRUCTURE;
        if (!open_desk(session, command, common))
            return NULL;
        password_desk_apply(session->desk, &options);
    }
    memset(session->in_vain, 0, sizeof session->in_vain);
    session->command = command;
    options.client_name = "redlock-tool";
    options.label = common->label;
    session->label = common->label;
    options.on_event = on_event;
    options.event_data = session;
    if (redlock_client_create(session->base, common->masters.urls, common->masters.count, &options,
                              &session->client, &error) == 0)
        return session->client;
    cli_error(command, "%s", error.text[0] != '\0' ? error.text : redlock_strerror(error.status));
    *ret_exit = redlock_status_retryable(error.status) ? CLI_INFRASTRUCTURE : CLI_USAGE;
    return NULL;
}

bool session_agent(struct session *session, const char *command, const struct cli_common *common)
{
    session->command = command;
    session->label = common->label_given;
    session->agent = agent_client_open(session->base, common->agent);
    if (!session->agent)
        cli_error(command, "out of memory");
    return session->agent != NULL;
}

static bool look_is_over(const struct session *session, void *data)
{
    return !session->busy.pending;
}

/* That decided, or the first one. */
static const char *key_of_interest(const struct agent_lock *lock, size_t part)
{
    const struct cli_texts *keys = &lock->spec->keys;

    return keys->items[part < keys->n ? part : 0];
}

/* Masters have told of a refusal; an agent tells at the end. */
static bool look_at_refusal(struct session *session)
{
    if (session->refused)
        busy_look(&session->busy, session->refused);
    else if (session->agent && session->last.op == REDLOCK_OP_ACQUIRE)
        busy_look_by_agent(&session->busy, session->agent,
                           key_of_interest(session->subject.handle, session->last.part));
    return session->busy.pending > 0;
}

/* Who has what could not be had? */
static void look_at_the_end(struct session *session)
{
    if (session->last.status == REDLOCK_OK || session->busy.hopeless || session->caught != 0 ||
        !look_at_refusal(session))
        return;
    session_run_until(session, look_is_over, NULL, LOOK_MS);
}

/* --- Telling who has what is awaited ----------------------------------------------------------------------------- */

/* First after a moment, since most locks are not waited for longer; then more and more rarely. */
static void remind_later(struct session *session, struct event *timer)
{
    int64_t pause_ms = session->reminders == 0 ? LOOK_MS : (int64_t)REMIND_MS << (session->reminders - 1);
    struct timeval after;

    if (session->reminders > 8 || pause_ms > LONGEST_PAUSE_MS)
        pause_ms = LONGEST_PAUSE_MS;
    after = (struct timeval){(time_t)(pause_ms / 1000), (suseconds_t)(pause_ms % 1000 * 1000)};
    evtimer_add(timer, &after);
}

static void on_reminder(evutil_socket_t fd, short what, void *data)
{
    struct session *session = data;

    look_at_refusal(session);
    session->reminding = true;
}

/* When the look is over that the reminder has begun; of a parent's lock at once. */
static void remind(struct session *session, struct event *timer)
{
    bool parent = session->busy.parent && session->reminders == 0;

    if (!session->waiting || session->busy.pending || session->last.done || !(session->reminding || parent))
        return;
    if (session->refused || session->busy.n_holders > 0)
        session->waiting(&session->busy, session->waiting_data);
    session->reminders++;
    session->reminding = false;
    remind_later(session, timer);
}

/* A key of another program is not waited for, and neither are masters that refuse the password. */
static void look_around(struct session *session)
{
    if (session->refused && !session->looked && !session->last.done) {
        session->looked = true;
        busy_look(&session->busy, session->refused);
    }
    if (session->busy.hopeless || session_is_in_vain(session))
        cancel(session);
}

int session_end(struct session *session)
{
    struct event *timer = session->waiting && session->last.op == REDLOCK_OP_ACQUIRE
                              ? evtimer_new(session->base, on_reminder, session)
                              : NULL;
    bool ok = true;

    session->reminding = false;
    if (timer)
        remind_later(session, timer);
    while (ok && !session->last.done) {
        ok = event_base_loop(session->base, EVLOOP_ONCE) == 0;
        look_around(session);
        if (timer)
            remind(session, timer);
    }
    if (timer)
        event_free(timer);
    if (!ok)
        return REDLOCK_E_SYSTEM;
    if (session->last.status == REDLOCK_CANCELED && session->caught == 0 && session_is_in_vain(session)) {
        session->last.status = REDLOCK_NO_QUORUM;
        session->last.short_of_masters = true;
    }
    look_at_the_end(session);
    return session->last.status;
}

/* A call that was refused has no operation to wait for. */
static int end_of(struct session *session, int started)
{
    if (started == 0)
        return session_end(session);
    session->last.done = true;
    session->last.status = started;
    return started;
}

static struct subject subject_of(struct redlock_lock *lock)
{
    return (struct subject){&subject_lock, lock};
}

static int start_acquisition(struct session *session, struct subject subject,
                             const struct redlock_acquire_options *options)
{
    begin(session, subject, REDLOCK_OP_ACQUIRE);
    return subject.kind->acquire(subject.handle, options, &session->sink);
}

int session_acquire_begin(struct session *session, struct redlock_lock *lock,
                          const struct redlock_acquire_options *options)
{
    return start_acquisition(session, subject_of(lock), options);
}

int session_acquire(struct session *session, struct redlock_lock *lock,
                    const struct redlock_acquire_options *options)
{
    return end_of(session, session_acquire_begin(session, lock, options));
}

int session_extend_subject(struct session *session, struct subject subject, uint32_t ttl_ms)
{
    begin(session, subject, REDLOCK_OP_EXTEND);
    return end_of(session, subject.kind->extend(subject.handle, ttl_ms, &session->sink));
}

static int64_t remaining_ms(struct subject subject)
{
    return subject.kind->remaining_ns(subject.handle) / 1000000;
}

/* How much is to be left of an acquisition, or it is extended. */
static int64_t least_ms(const struct session *session, const struct redlock_acquire_options *options)
{
    int64_t most = (int64_t)options->ttl_ms * 3 / 4;

    return most > session->least_ms ? most : session->least_ms;
}

int session_acquire_whole(struct session *session, struct subject subject,
                          const struct redlock_acquire_options *options)
{
    int status = end_of(session, start_acquisition(session, subject, options));
    struct outcome acquired = session->last;

    if (status != REDLOCK_OK || session->caught != 0 || remaining_ms(subject) >= least_ms(session, options))
        return status;
    /* An extension can overtake the release on a master that the majority did not need. */
    while ((status = session_extend_subject(session, subject, options->ttl_ms)) == REDLOCK_NO_QUORUM &&
           session->caught == 0)
        session_run_until(session, NULL, NULL, EXTEND_AGAIN_MS);
    if (subject.kind->votes_follow)
        session_settle(session, SETTLE_MS); /* a lock that is left shall owe no answers */
    acquired.status = status == REDLOCK_E_NOT_HELD ? REDLOCK_LOST : status;
    acquired.remaining_ms = remaining_ms(subject);
    session->last = acquired;
    return acquired.status;
}

int session_release_subject(struct session *session, struct subject subject)
{
    begin(session, subject, REDLOCK_OP_RELEASE);
    return end_of(session, subject.kind->release(subject.handle, &session->sink));
}

int session_release(struct session *session, struct redlock_lock *lock)
{
    return session_release_subject(session, subject_of(lock));
}

int session_release_token(struct session *session, struct redlock_lock *lock, const char *token)
{
    begin(session, subject_of(lock), REDLOCK_OP_RELEASE);
    return end_of(session, redlock_release_token(lock, token, on_result, session));
}

int session_release_permit(struct session *session, struct redlock_lock *lock, uint32_t slot, const char *token)
{
    begin(session, subject_of(lock), REDLOCK_OP_RELEASE);
    return end_of(session, redlock_release_permit(lock, slot, token, on_result, session));
}
