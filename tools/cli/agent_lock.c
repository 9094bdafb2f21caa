#include "cli/agent_lock.h"

#include <stdio.h>
#include <string.h>

#include "cli/agent_words.h"
#include "cli/session.h"
#include "cli/votes.h"

enum { SHORTEST_PAUSE_MS = 20, LONGEST_PAUSE_MS = 500, RELEASE_MS = 5000, US_PER_MS = 1000, NS_PER_MS = 1000000 };

static struct agent_client *client_of(const struct agent_lock *lock)
{
    return lock->session->agent;
}

static int64_t remaining_ns(const void *handle)
{
    const struct agent_lock *lock = handle;
    int64_t left_ns = lock->held ? instant_left(lock->until, instant_now()) : 0;

    return left_ns > 0 ? left_ns : 0;
}

/* Not held by a connection, and worth another one. */
static bool wants_connection(const struct agent_lock *lock)
{
    return (lock->held && lock->number == 0 && !lock->unknown) || lock->op == AGENT_LOCK_ACQUIRE ||
           lock->op == AGENT_LOCK_RELEASE;
}

/* At the next moment at which something is due. */
static void set_alarm(struct agent_lock *lock)
{
    int64_t ns = lock->held ? remaining_ns(lock) : INT64_MAX;
    int64_t give_up_us = lock->give_up_us - clock_now_us();

    if (wants_connection(lock) && !agent_client_is_connected(client_of(lock)) && ns > lock->pause_ms * NS_PER_MS)
        ns = lock->pause_ms * NS_PER_MS;
    if (lock->op != AGENT_LOCK_IDLE && give_up_us < ns / US_PER_MS)
        ns = give_up_us > 0 ? give_up_us * US_PER_MS : 0;
    if (ns != INT64_MAX)
        agent_client_wake(client_of(lock), ns);
}

/* --- What the agent says of it ------------------------------------------------------------------------------------ */

/* The user's count of a key, or n: it is none of several. */
static size_t part_of(const struct agent_lock *lock, const char *key)
{
    const struct cli_texts *keys = &lock->spec->keys;
    size_t i = 0;

    while (i < keys->n && strcmp(keys->items[i], key) != 0)
        i++;
    return keys->n > 1 && i < keys->n ? i : lock_spec_count(lock->spec);
}

static void take_part(struct agent_part *part, const json_t *words)
{
    snprintf(part->token, sizeof part->token, "%s", agent_text(words, "token"));
    part->fence = (uint64_t)agent_number(words, "fence");
    part->slot = json_object_get(words, "slot") ? (int32_t)agent_number(words, "slot") : -1;
}

static void take_validity(struct agent_lock *lock, const json_t *words)
{
    struct instant now = instant_now();

    lock->until = instant_after(now, agent_client_deadline_ns(client_of(lock), words) - now.boot_ns);
    if (json_object_get(words, "votes")) {
        lock->votes = (uint32_t)agent_number(words, "votes");
        lock->members = (uint32_t)agent_number(words, "members");
        lock->quorum = (uint32_t)agent_number(words, "quorum");
    }
    set_alarm(lock);
}

static void take_grant(struct agent_lock *lock, const json_t *grant)
{
    const json_t *parts = json_object_get(grant, "parts");
    size_t n = lock_spec_count(lock->spec);

    lock->held = true;
    lock->unknown = false;
    lock->pause_ms = SHORTEST_PAUSE_MS;
    lock->number = (uint64_t)agent_number(grant, "lock");
    if (!parts)
        take_part(&lock->parts[0], grant);
    for (size_t i = 0; i < json_array_size(parts) && i < n; i++) {
        const json_t *part = json_array_get(parts, i);
        size_t at = lock->spec->keys.n > 1 ? part_of(lock, agent_text(part, "key")) : i;

        if (at < n)
            take_part(&lock->parts[at], part);
    }
    take_validity(lock, grant);
}

/* `words`: of the agent's event; NULL: it has said nothing. */
static void tell(struct agent_lock *lock, enum redlock_alarm_kind kind, const char *why, const json_t *words)
{
    struct agent_result read;
    struct redlock_alarm alarm = {.kind = kind, .why = why};
    size_t part = part_of(lock, agent_text(words, "key"));

    agent_result_read(words, why, &read);
    alarm.remaining_ms = remaining_ns(lock) / NS_PER_MS;
    alarm.n_nodes = read.result.n_nodes;
    alarm.nodes = read.result.nodes;
    for (int loss = REDLOCK_LOSS_NONE + 1; words && loss <= REDLOCK_LOSS_HOLD_LIMIT; loss++)
        if (strcmp(redlock_loss_text((enum redlock_loss)loss), agent_text(words, "loss")) == 0)
            alarm.loss = (enum redlock_loss)loss;
    if (lock->alarms)
        lock->alarms->alarm(part < lock_spec_count(lock->spec) ? part : 0, &alarm, lock->alarms->data);
}

static void lose(struct agent_lock *lock, const char *why, const json_t *words)
{
    lock->held = false;
    tell(lock, REDLOCK_ALARM_LOST, why, words);
}

static void on_event(const char *name, const json_t *words, void *data)
{
    struct agent_lock *lock = data;
    struct session *session = lock->session;
    struct redlock_event event = {.type = REDLOCK_EVENT_RENEWED};

    if (lock->number == 0 || !lock->held || (uint64_t)agent_number(words, "lock") != lock->number)
        return;
    take_validity(lock, words);
    if (strcmp(name, "lost") == 0)
        lose(lock, agent_text(words, "why"), words);
    else if (strcmp(name, "at-risk") == 0)
        tell(lock, REDLOCK_ALARM_AT_RISK, agent_text(words, "why"), words);
    else if (session->observer)
        session->observer(&event, session->observer_data);
}

/* --- Operations --------------------------------------------------------------------------------------------------- */

static void begin(struct agent_lock *lock, enum agent_lock_op op, int64_t patience_ms, struct subject_sink *sink)
{
    lock->op = op;
    lock->sink = sink;
    lock->begun_us = clock_now_us();
    lock->give_up_us = patience_ms == REDLOCK_FOREVER ? INT64_MAX : lock->begun_us + patience_ms * US_PER_MS;
}

static bool is_over(const struct agent_lock *lock)
{
    return clock_now_us() >= lock->give_up_us;
}

/* `answer`: NULL: there is none; status: in place of its own, 0: none. */
static void conclude(struct agent_lock *lock, const json_t *answer, int status)
{
    struct agent_result read;

    agent_result_read(answer, agent_client_why(client_of(lock)), &read);
    if (status != 0) {
        read.result.status = status;
        read.result.why = redlock_strerror(status);
    }
    if (read.result.n_nodes > 0) {
        lock->quorum = read.result.quorum;
        lock->members = (uint32_t)read.result.n_nodes;
    }
    read.result.elapsed_us = clock_now_us() - lock->begun_us;
    read.result.remaining_ms = remaining_ns(lock) / NS_PER_MS;
    read.result.part = part_of(lock, agent_text(answer, "key"));
    lock->op = AGENT_LOCK_IDLE;
    lock->sink->done(&read.result, lock->sink->data);
}

static void on_acquired(const json_t *answer, void *data)
{
    struct agent_lock *lock = data;
    bool closing = strcmp(agent_text(answer, "status"), "REDLOCK_E_CLOSING") == 0;

    if (lock->op != AGENT_LOCK_ACQUIRE)
        return;
    if ((!answer || closing) && !is_over(lock)) {
        if (closing)
            agent_client_disconnect(client_of(lock)); /* the next one is asked */
        set_alarm(lock);
        return;
    }
    if (agent_is_ok(answer))
        take_grant(lock, answer);
    conclude(lock, answer, 0);
}

static void ask_acquire(struct agent_lock *lock)
{
    int64_t left_ms = (lock->give_up_us - clock_now_us()) / US_PER_MS;
    int64_t wait_ms = left_ms > 0 ? left_ms : 0; /* less would be forever */

    if (lock->give_up_us == INT64_MAX)
        wait_ms = REDLOCK_FOREVER;
    agent_client_ask(client_of(lock), agent_acquire(lock->spec, &lock->options, wait_ms, lock->session->label),
                     on_acquired, lock);
}

static void on_released(const json_t *answer, void *data)
{
    struct agent_lock *lock = data;

    if (lock->op != AGENT_LOCK_RELEASE)
        return;
    if (!answer && !is_over(lock)) {
        set_alarm(lock);
        return;
    }
    lock->held = false;
    conclude(lock, answer, 0);
    lock->gone = (uint32_t)votes_count(&lock->session->last, REDLOCK_VOTE_REFUSED);
}

static void ask_release(struct agent_lock *lock)
{
    agent_client_ask(client_of(lock), json_pack("{s:s, s:I, s:b}", "op", "release", "lock", (json_int_t)lock->number,
                                                "keep", (int)lock->keeps), on_released, lock);
}

static void on_token_released(const json_t *answer, void *data)
{
    struct agent_lock *lock = data;

    if (lock->op == AGENT_LOCK_RELEASE && --lock->unanswered == 0)
        on_released(answer, lock);
}

/* Of an agent that does not know the lock. */
static void ask_release_tokens(struct agent_lock *lock)
{
    size_t n = lock_spec_count(lock->spec);

    lock->unanswered = n;
    for (size_t i = 0; i < n; i++) {
        const char *key = lock->spec->keys.items[lock->spec->keys.n > 1 ? i : 0];

        agent_client_ask(client_of(lock), agent_release_token(key, lock->parts[i].token, lock->parts[i].slot),
                         on_token_released, lock);
    }
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

static void on_adopted(const json_t *answer, void *data)
{
    struct agent_lock *lock = data;

    if (answer && lock->held && agent_is_ok(answer)) {
        take_grant(lock, answer);
        if (lock->op == AGENT_LOCK_RELEASE)
            ask_release(lock);
    } else if (answer && lock->held) {
        lock->unknown = true;
        tell(lock, REDLOCK_ALARM_AT_RISK, "the agent has been started anew, and does not know it", NULL);
        if (lock->op == AGENT_LOCK_RELEASE)
            ask_release_tokens(lock);
    }
}

static void reach(struct agent_lock *lock)
{
    struct agent_client *client = client_of(lock);

    lock->pause_ms = lock->pause_ms < LONGEST_PAUSE_MS / 2 ? lock->pause_ms * 2 : LONGEST_PAUSE_MS;
    if (!agent_client_connect(client)) {
        if (lock->op != AGENT_LOCK_IDLE && is_over(lock))
            conclude(lock, NULL, 0);
        else
            set_alarm(lock);
    } else if (lock->op == AGENT_LOCK_ACQUIRE) {
        ask_acquire(lock);
    } else if (lock->unknown && lock->op == AGENT_LOCK_RELEASE) {
        ask_release_tokens(lock);
    } else if (lock->held && !lock->unknown) {
        agent_client_ask_patiently(client, json_pack("{s:s, s:s}", "op", "adopt", "token", lock->parts[0].token),
                                   on_adopted, lock);
    }
}

static bool on_connected(int fd, void *data)
{
    const struct agent_lock *lock = data;

    return !lock->connected || lock->connected(fd, lock->connected_data);
}

static void on_disconnected(void *data)
{
    struct agent_lock *lock = data;

    lock->number = 0;
    if (lock->held && lock->op != AGENT_LOCK_RELEASE)
        tell(lock, REDLOCK_ALARM_AT_RISK, agent_client_why(client_of(lock)), NULL);
    set_alarm(lock);
}

static void on_wake(void *data)
{
    struct agent_lock *lock = data;

    if (lock->held && remaining_ns(lock) == 0)
        lose(lock, "its time ran out, and the agent has not renewed it", NULL);
    if (lock->op != AGENT_LOCK_IDLE && is_over(lock) && lock->op != AGENT_LOCK_ACQUIRE)
        conclude(lock, NULL, 0);
    else if (wants_connection(lock) && !agent_client_is_connected(client_of(lock)))
        reach(lock);
    else if (lock->held)
        set_alarm(lock);
}

/* --- The handle --------------------------------------------------------------------------------------------------- */

static int acquire(void *handle, const struct redlock_acquire_options *options, struct subject_sink *sink)
{
    struct agent_lock *lock = handle;

    lock->options = *options;
    begin(lock, AGENT_LOCK_ACQUIRE, options->timeout_ms, sink);
    reach(lock);
    return REDLOCK_OK;
}

static void on_extended(const json_t *answer, void *data)
{
    struct agent_lock *lock = data;

    if (lock->op != AGENT_LOCK_EXTEND)
        return;
    if (agent_is_ok(answer))
        take_validity(lock, answer);
    conclude(lock, answer, 0);
}

static int extend(void *handle, uint32_t ttl_ms, struct subject_sink *sink)
{
    struct agent_lock *lock = handle;
    json_t *request;

    if (!lock->held || lock->number == 0)
        return REDLOCK_E_NOT_HELD;
    begin(lock, AGENT_LOCK_EXTEND, REDLOCK_FOREVER, sink);
    request = json_pack("{s:s, s:I}", "op", "extend", "lock", (json_int_t)lock->number);
    if (ttl_ms != 0)
        json_object_set_new(request, "ttl", json_integer(ttl_ms));
    agent_client_ask(client_of(lock), request, on_extended, lock);
    return REDLOCK_OK;
}

static int release(void *handle, struct subject_sink *sink)
{
    struct agent_lock *lock = handle;
    int64_t left_ms = remaining_ns(lock) / NS_PER_MS;

    if (left_ms == 0)
        return REDLOCK_E_NOT_HELD;
    begin(lock, AGENT_LOCK_RELEASE, left_ms < RELEASE_MS ? left_ms : RELEASE_MS, sink);
    if (lock->number != 0)
        ask_release(lock);
    else if (!agent_client_is_connected(client_of(lock)) || lock->unknown)
        reach(lock);
    set_alarm(lock);
    return REDLOCK_OK;
}

static int watch(void *handle, struct subject_sink *sink)
{
    struct agent_lock *lock = handle;

    lock->alarms = sink;
    return REDLOCK_OK;
}

/* An agent takes back what it may have granted when its connection ends. */
static int cancel(void *handle)
{
    struct agent_lock *lock = handle;

    if (lock->op != AGENT_LOCK_ACQUIRE)
        return REDLOCK_E_NOTHING_TO_CANCEL;
    agent_client_disconnect(client_of(lock));
    conclude(lock, NULL, REDLOCK_CANCELED);
    return REDLOCK_OK;
}

/* An answer that refuses is told as that of an operation. */
static int status_of(struct agent_lock *lock, const json_t *answer)
{
    struct agent_result read;

    agent_result_read(answer, agent_client_why(client_of(lock)), &read);
    if (read.result.status != REDLOCK_OK)
        outcome_record(&lock->session->last, &read.result);
    return read.result.status;
}

/* NULL: nobody wants the text. A failure comes after a message. */
static int export(void *handle, char *ret_text, size_t size)
{
    struct agent_lock *lock = handle;
    json_t *answer;
    int status;

    if (!lock->held || lock->number == 0)
        return REDLOCK_E_NOT_HELD;
    answer = agent_client_get(lock->session, json_pack("{s:s, s:I}", "op", "export", "lock", (json_int_t)lock->number));
    status = status_of(lock, answer);
    lock->held = status != REDLOCK_OK;
    if (lock->held && lock->session->caught == 0)
        cli_error(lock->session->command, "%s", lock->session->last.why);
    if (status == REDLOCK_OK && ret_text &&
        (size_t)snprintf(ret_text, size, "%s", agent_text(answer, "text")) >= size)
        status = REDLOCK_E_LIMIT;
    json_decref(answer);
    return status;
}

static int detach(void *handle)
{
    return export(handle, NULL, 0);
}

static int adopt(void *handle, const struct redlock_acquire_options *options, const char *text)
{
    struct agent_lock *lock = handle;
    json_t *answer = agent_client_get(lock->session, agent_adopt(lock->spec, options, text));
    int status = status_of(lock, answer);

    if (status == REDLOCK_OK)
        take_grant(lock, answer);
    json_decref(answer);
    return status;
}

const struct subject_kind subject_agent = {
    .acquire = acquire,
    .extend = extend,
    .release = release,
    .watch = watch,
    .cancel = cancel,
    .detach = detach,
    .export = export,
    .adopt = adopt,
    .remaining_ns = remaining_ns,
};

void agent_lock_init(struct agent_lock *lock, struct session *session, const struct lock_spec *spec)
{
    *lock = (struct agent_lock){.session = session, .spec = spec, .pause_ms = SHORTEST_PAUSE_MS};
    lock->listener = (struct agent_listener){.connected = on_connected, .event = on_event,
                                             .disconnected = on_disconnected, .wake = on_wake, .data = lock};
    agent_client_listen(client_of(lock), &lock->listener);
}
