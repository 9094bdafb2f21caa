/* In the place of lib/driver/driver.c: the same functions, over connections in virtual time. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>
#include <redlock/status.h>

#include "driver/driver.h"
#include "net.h"
#include "simulated/resp.h"
#include "run.h"
#include "util/list.h"

enum phase {
    PHASE_WAITING, /* for the next attempt */
    PHASE_CONNECTING,
    PHASE_SETTING_UP,
    PHASE_GREETING,
    PHASE_OPEN,
};

/* A command without a reply. Those of the handshake are the driver's own. */
struct pending {
    struct rl_tag tag;
    bool own;
};

struct line {
    enum phase phase;
    enum rl_link link;
    struct net_pipe *pipe;
    int64_t due;      /* of the next attempt, or of its end */
    unsigned failures;
    bool failed;
    char why[80];
    unsigned round;
    unsigned size;    /* questions of the round ... */
    unsigned answered;
    int64_t last_byte;
    struct message_list unsent;
    struct pending *pending; /* the oldest first */
    size_t n_pending;
    size_t room;
};

/* The second connection, which listens. */
struct ear {
    enum phase phase;
    struct net_pipe *pipe;
    int64_t due;
    unsigned failures;
};

struct channel {
    char name[NET_CHANNEL_BYTES]; /* "": the place is free */
    unsigned users;
};

struct rl_driver {
    struct rl_list link;
    struct rl_driver_config config;
    struct rl_transport_sink sink;
    struct rl_master masters[NET_MASTERS];
    unsigned n;
    struct line lines[NET_MASTERS];
    struct ear ears[NET_MASTERS];
    bool listens;
    struct channel channels[NET_CHANNELS]; /* the first one is the client's own */
    struct rl_list timers;
    bool woken;
    bool reading;
    bool in_turn;
    bool closed;
    bool dead;
    int64_t stopped_until;
};

static struct rl_list drivers = {&drivers, &drivers};

static struct rl_instant now(void)
{
    return (struct rl_instant){net.now};
}

static int64_t backoff(struct rl_driver *driver, unsigned *failures)
{
    int64_t limit = driver->config.backoff_min.ns << (*failures < 10 ? *failures : 10);

    (*failures)++;
    if (limit > driver->config.backoff_max.ns)
        limit = driver->config.backoff_max.ns;
    return net.now + rng_between(&net.rng, limit / 2, limit);
}

/* --- Commands without a reply ------------------------------------------------------------------------------------- */

static void push(struct line *line, const struct rl_tag *tag, bool own)
{
    if (line->n_pending == line->room) {
        line->room = line->room ? 2 * line->room : 16;
        line->pending = realloc(line->pending, line->room * sizeof *line->pending);
        if (!line->pending)
            abort();
    }
    line->pending[line->n_pending++] = (struct pending){*tag, own};
}

static struct pending shift(struct line *line)
{
    struct pending first = line->pending[0];

    memmove(line->pending, line->pending + 1, --line->n_pending * sizeof *line->pending);
    return first;
}

static void write_command(struct line *line, enum message_kind kind, const void *bytes, size_t size)
{
    uint32_t message = message_take(&net.messages);

    message_set_bytes(&net.messages.messages[message], bytes, size);
    net.messages.messages[message].kind = (uint8_t)kind;
    message_append(&net.messages, &line->unsent, message);
}

static void flush(struct rl_driver *driver)
{
    for (unsigned node = 0; node < driver->n; node++) {
        struct line *line = &driver->lines[node];

        while (line->pipe && line->unsent.count && line->pipe->stuck_until <= net.now)
            net_send(line->pipe, message_shift(&net.messages, &line->unsent));
    }
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */

static void set_link(struct rl_driver *driver, unsigned node, enum rl_link link, const char *why)
{
    run_note("master %u: link %d %s", node, (int)link, why);
    driver->lines[node].link = link;
    driver->sink.link(driver->sink.ctx, node, link, why, now());
}

static void drop_pending(struct rl_driver *driver, unsigned node)
{
    struct line *line = &driver->lines[node];
    uint32_t unsent = line->unsent.count;

    message_truncate(&net.messages, &line->unsent, 0);
    while (line->n_pending) {
        bool surely_unsent = line->n_pending <= unsent;
        struct pending pending = shift(line);

        if (!pending.own)
            driver->sink.dropped(driver->sink.ctx, node, &pending.tag, surely_unsent, now());
    }
}

static void fail(struct rl_driver *driver, unsigned node, const char *why)
{
    struct line *line = &driver->lines[node];

    if (line->pipe)
        net_close(line->pipe);
    line->pipe = NULL;
    line->failed = false;
    line->phase = PHASE_WAITING;
    line->due = backoff(driver, &line->failures);
    drop_pending(driver, node);
    if (line->link != RL_LINK_DOWN)
        set_link(driver, node, RL_LINK_DOWN, why);
}

/* --- The handshake ------------------------------------------------------------------------------------------------ */

static void connect_line(struct rl_driver *driver, unsigned node)
{
    struct line *line = &driver->lines[node];

    line->pipe = net_connect(driver, node);
    if (!line->pipe) {
        fail(driver, node, "connection refused");
        return;
    }
    line->phase = PHASE_CONNECTING;
    line->due = line->pipe->open_at;
}

static void set_up(struct rl_driver *driver, unsigned node)
{
    const struct rl_tag tag = {.sent = now()};

    driver->lines[node].phase = PHASE_SETTING_UP;
    driver->lines[node].due = net.now + driver->config.connect_timeout.ns;
    write_command(&driver->lines[node], MESSAGE_SETUP, "", 0);
    push(&driver->lines[node], &tag, true);
}

static void open_line(struct rl_driver *driver, unsigned node)
{
    driver->lines[node].phase = PHASE_OPEN;
    driver->lines[node].failures = 0;
    set_link(driver, node, RL_LINK_READY, "");
}

static void ask_round(struct rl_driver *driver, unsigned node, unsigned round)
{
    struct line *line = &driver->lines[node];
    const struct rl_tag tag = {.sent = now()};
    struct rl_bytes out = {0};
    int n = driver->sink.greet(driver->sink.ctx, node, round, &out);

    line->phase = PHASE_GREETING;
    line->round = round;
    line->size = (unsigned)n;
    line->answered = 0;
    for (int i = 0; i < n; i++) {
        size_t size = resp_size(rl_bytes_front(&out), rl_bytes_length(&out));

        write_command(line, MESSAGE_COMMAND, rl_bytes_front(&out), size);
        push(line, &tag, true);
        rl_bytes_consume(&out, size);
    }
    rl_bytes_fini(&out);
    if (n == 0)
        open_line(driver, node);
}

static void take_greeting(struct rl_driver *driver, unsigned node, const struct pending *pending,
                          const struct rl_reply *reply)
{
    struct line *line = &driver->lines[node];
    const struct rl_greeting_answer answer = {.node = node, .round = line->round, .index = line->answered,
                                              .reply = reply, .sent = pending->tag.sent, .now = net_read_clock()};
    const char *why = "";

    if (!driver->sink.greeted(driver->sink.ctx, &answer, &why))
        fail(driver, node, why);
    else if (++line->answered == line->size)
        ask_round(driver, node, line->round + 1);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void take_reply(struct rl_driver *driver, unsigned node, const struct message *message)
{
    struct line *line = &driver->lines[node];
    struct pending pending = shift(line);
    struct rl_reply reply;

    message_unpack_reply(message, &reply);
    line->last_byte = net.now;
    if (line->phase == PHASE_SETTING_UP)
        ask_round(driver, node, 0);
    else if (line->phase == PHASE_GREETING)
        take_greeting(driver, node, &pending, &reply);
    else
        driver->sink.reply(driver->sink.ctx, node, &pending.tag, &reply, net_read_clock());
}

/* A message is copied, since the pool may move while its reply is taken. */
static void read_line(struct rl_driver *driver, unsigned node)
{
    struct line *line = &driver->lines[node];
    uint32_t index;

    while (line->pipe && !line->failed && line->phase > PHASE_CONNECTING &&
           (index = net_receive(line->pipe)) != MESSAGE_NONE) {
        struct message message = net.messages.messages[index];

        take_reply(driver, node, &message);
        message_give(&net.messages, index);
    }
    if (line->pipe && line->pipe->closed_at <= net.now)
        fail(driver, node, "connection lost");
}

static void begin_listening(struct rl_driver *driver, unsigned node)
{
    driver->ears[node].phase = PHASE_OPEN;
    driver->ears[node].failures = 0;
    driver->sink.listening(driver->sink.ctx, node, true, "", now());
}

static void take_news(struct rl_driver *driver, unsigned node, const struct message *message)
{
    struct rl_reply reply;

    message_unpack_reply(message, &reply);
    if (message->kind == MESSAGE_PUBLISHED)
        driver->sink.message(driver->sink.ctx, node, reply.root.text, reply.elements[0].text, net_read_clock());
    else if (rl_slice_is(reply.root.text, driver->channels[0].name))
        begin_listening(driver, node);
    else if (reply.root.integer)
        driver->sink.subscribed(driver->sink.ctx, node, reply.root.text, true, "", now());
}

static void fail_ear(struct rl_driver *driver, unsigned node)
{
    struct ear *ear = &driver->ears[node];
    bool listened = ear->phase == PHASE_OPEN;

    if (ear->pipe)
        net_close(ear->pipe);
    ear->pipe = NULL;
    ear->phase = PHASE_WAITING;
    ear->due = backoff(driver, &ear->failures);
    if (listened)
        driver->sink.listening(driver->sink.ctx, node, false, "connection lost", now());
}

static void read_ear(struct rl_driver *driver, unsigned node)
{
    struct ear *ear = &driver->ears[node];
    uint32_t index;

    while (ear->pipe && (index = net_receive(ear->pipe)) != MESSAGE_NONE) {
        struct message message = net.messages.messages[index];

        take_news(driver, node, &message);
        message_give(&net.messages, index);
    }
    if (ear->pipe && ear->pipe->closed_at <= net.now)
        fail_ear(driver, node);
}

/* From inside a delivery nothing: what has arrived is being delivered already. */
static void read_all(struct rl_driver *driver)
{
    if (driver->reading)
        return;
    driver->reading = true;
    for (unsigned node = 0; node < driver->n; node++) {
        read_line(driver, node);
        read_ear(driver, node);
    }
    driver->reading = false;
}

/* --- Listening ---------------------------------------------------------------------------------------------------- */

static void subscribe(struct rl_driver *driver, unsigned node, const char *word, const char *channel)
{
    struct ear *ear = &driver->ears[node];
    char command[2 * NET_CHANNEL_BYTES];
    uint32_t message = message_take(&net.messages);
    int size = snprintf(command, sizeof command, "*2\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(word), word,
                        strlen(channel), channel);

    message_set_bytes(&net.messages.messages[message], command, (size_t)size);
    net.messages.messages[message].kind = MESSAGE_COMMAND;
    net_send(ear->pipe, message);
}

static void connect_ear(struct rl_driver *driver, unsigned node)
{
    struct ear *ear = &driver->ears[node];

    ear->pipe = net_connect(driver, node);
    if (!ear->pipe) {
        fail_ear(driver, node);
        return;
    }
    ear->phase = PHASE_CONNECTING;
    ear->due = ear->pipe->open_at;
}

static void open_ear(struct rl_driver *driver, unsigned node)
{
    driver->ears[node].phase = PHASE_SETTING_UP;
    for (unsigned i = 0; i < NET_CHANNELS; i++) {
        if (driver->channels[i].name[0])
            subscribe(driver, node, "SUBSCRIBE", driver->channels[i].name);
    }
}

/* --- What is due -------------------------------------------------------------------------------------------------- */

static int64_t late_at(const struct rl_driver *driver, const struct line *line)
{
    return line->pending[0].tag.sent.ns + driver->config.node_timeout.ns;
}

static int64_t stalled_at(const struct rl_driver *driver, const struct line *line)
{
    int64_t since = line->pending[0].tag.sent.ns > line->last_byte ? line->pending[0].tag.sent.ns : line->last_byte;

    return since + driver->config.stall_timeout.ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t line_due(const struct rl_driver *driver, const struct line *line)
{
    int64_t due = INT64_MAX;

    if (line->phase < PHASE_OPEN)
        due = line->due;
    else if (line->n_pending)
        due = line->link == RL_LINK_LATE ? stalled_at(driver, line)
                                         : earlier(late_at(driver, line), stalled_at(driver, line));
    if (line->pipe && line->phase > PHASE_CONNECTING)
        due = earlier(due, net_readable_at(line->pipe));
    if (line->pipe && line->unsent.count)
        due = earlier(due, line->pipe->stuck_until);
    return due;
}

static int64_t ear_due(const struct ear *ear)
{
    int64_t due = ear->phase == PHASE_WAITING || ear->phase == PHASE_CONNECTING ? ear->due : INT64_MAX;

    return ear->pipe && ear->phase > PHASE_CONNECTING ? earlier(due, net_readable_at(ear->pipe)) : due;
}

static int64_t driver_due(const struct rl_driver *driver)
{
    int64_t due = driver->woken ? net.now : INT64_MAX;

    if (driver->closed)
        return INT64_MAX;
    for (struct rl_list *at = driver->timers.next; at != &driver->timers; at = at->next)
        due = earlier(due, RL_CONTAINER_OF(at, struct rl_timer, link)->at.ns);
    for (unsigned node = 0; node < driver->n; node++) {
        due = earlier(due, line_due(driver, &driver->lines[node]));
        if (driver->listens)
            due = earlier(due, ear_due(&driver->ears[node]));
    }
    return due < driver->stopped_until ? driver->stopped_until : due;
}

static void look_for_silence(struct rl_driver *driver, unsigned node)
{
    struct line *line = &driver->lines[node];

    if (line->link == RL_LINK_LATE && (!line->n_pending || net.now < late_at(driver, line)))
        set_link(driver, node, RL_LINK_READY, "");
    if (!line->n_pending || net.now < late_at(driver, line))
        return;
    if (line->link == RL_LINK_READY)
        set_link(driver, node, RL_LINK_LATE, "no answer in time");
    if (line->n_pending && net.now >= stalled_at(driver, line))
        fail(driver, node, "silent for too long");
}

static void advance_line(struct rl_driver *driver, unsigned node)
{
    struct line *line = &driver->lines[node];

    if (line->failed)
        fail(driver, node, line->why);
    else if (line->phase == PHASE_OPEN)
        look_for_silence(driver, node);
    else if (net.now < line->due)
        return;
    else if (line->phase == PHASE_WAITING)
        connect_line(driver, node);
    else if (line->phase == PHASE_CONNECTING)
        set_up(driver, node);
    else
        fail(driver, node, "no connection in time");
}

static void advance_ear(struct rl_driver *driver, unsigned node)
{
    struct ear *ear = &driver->ears[node];

    if (!driver->listens || net.now < ear->due)
        return;
    if (ear->phase == PHASE_WAITING)
        connect_ear(driver, node);
    else if (ear->phase == PHASE_CONNECTING)
        open_ear(driver, node);
}

/* Each timer that is due fires once. One that is armed for the past by another fires in the next turn. */
static void fire_timers(struct rl_driver *driver)
{
    struct rl_list waiting, due;
    const struct rl_instant at = now();

    rl_list_init(&waiting);
    rl_list_init(&due);
    rl_list_move_all(&waiting, &driver->timers);
    while (!rl_list_empty(&waiting)) {
        struct rl_timer *timer = RL_CONTAINER_OF(waiting.next, struct rl_timer, link);

        rl_list_remove(&timer->link);
        rl_list_append(timer->at.ns <= at.ns ? &due : &driver->timers, &timer->link);
    }
    while (!rl_list_empty(&due)) {
        struct rl_timer *timer = RL_CONTAINER_OF(due.next, struct rl_timer, link);

        rl_list_remove(&timer->link);
        timer->fire(timer, at);
    }
}

static void end(struct rl_driver *driver)
{
    rl_list_remove(&driver->link);
    for (unsigned node = 0; node < driver->n; node++) {
        rl_master_fini(&driver->masters[node]);
        free(driver->lines[node].pending);
    }
    free(driver);
}

static void take_turn(struct rl_driver *driver)
{
    bool timers_first = rng_chance(&net.rng, 500);

    driver->woken = false;
    if (timers_first)
        fire_timers(driver);
    read_all(driver);
    if (!timers_first)
        fire_timers(driver);
    for (unsigned node = 0; node < driver->n; node++) {
        advance_line(driver, node);
        advance_ear(driver, node);
    }
    driver->in_turn = true;
    driver->sink.turn(driver->sink.ctx);
    driver->in_turn = false;
    if (driver->dead)
        end(driver);
    else if (!driver->closed)
        flush(driver);
}

/* --- For the loop ------------------------------------------------------------------------------------------------- */

static struct rl_driver *first_due(void)
{
    struct rl_driver *first = NULL;

    for (struct rl_list *at = drivers.next; at != &drivers; at = at->next) {
        struct rl_driver *driver = RL_CONTAINER_OF(at, struct rl_driver, link);

        if (!first || driver_due(driver) < driver_due(first))
            first = driver;
    }
    return first;
}

int64_t drivers_due(void)
{
    const struct rl_driver *first = first_due();

    return first ? driver_due(first) : INT64_MAX;
}

void drivers_run_due(void)
{
    struct rl_driver *first = first_due();

    if (first && driver_due(first) <= net.now)
        take_turn(first);
}

void drivers_stop(unsigned choice, int64_t until)
{
    unsigned n = 0;

    for (struct rl_list *at = drivers.next; at != &drivers; at = at->next)
        n++;
    choice = n ? choice % n : 0;
    for (struct rl_list *at = drivers.next; at != &drivers; at = at->next) {
        if (choice-- == 0)
            RL_CONTAINER_OF(at, struct rl_driver, link)->stopped_until = until;
    }
}

void drivers_heal(void)
{
    for (struct rl_list *at = drivers.next; at != &drivers; at = at->next) {
        struct rl_driver *driver = RL_CONTAINER_OF(at, struct rl_driver, link);

        if (driver->stopped_until > net.now)
            driver->stopped_until = net.now;
    }
}

bool drivers_all_ended(void)
{
    return rl_list_empty(&drivers);
}

int64_t drivers_stopped_until(void)
{
    int64_t until = INT64_MIN;

    for (struct rl_list *at = drivers.next; at != &drivers; at = at->next) {
        const struct rl_driver *driver = RL_CONTAINER_OF(at, struct rl_driver, link);

        if (driver->stopped_until > until)
            until = driver->stopped_until;
    }
    return until;
}

/* --- The transport ------------------------------------------------------------------------------------------------ */

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct rl_driver *driver = ctx;
    struct line *line = &driver->lines[node];

    if (driver->closed || line->phase != PHASE_OPEN || line->failed ||
        (how == RL_SENDING_CLAIM && line->unsent.count >= 64))
        return false;
    write_command(line, MESSAGE_COMMAND, rl_bytes_front(command), rl_bytes_length(command));
    push(line, tag, false);
    driver->woken = true;
    return true;
}

static int on_listen(void *ctx, const char *channel)
{
    struct rl_driver *driver = ctx;

    if (driver->listens)
        return 0;
    driver->listens = true;
    snprintf(driver->channels[0].name, NET_CHANNEL_BYTES, "%s", channel);
    driver->channels[0].users = 1;
    for (unsigned node = 0; node < driver->n; node++)
        driver->ears[node] = (struct ear){.phase = PHASE_WAITING, .due = net.now};
    return 0;
}

static struct channel *find_channel(struct rl_driver *driver, struct rl_slice name)
{
    for (int i = 0; i < NET_CHANNELS; i++) {
        if (driver->channels[i].name[0] && rl_slice_is(name, driver->channels[i].name))
            return &driver->channels[i];
    }
    return NULL;
}

static void tell_ears(struct rl_driver *driver, const char *word, const char *channel)
{
    for (unsigned node = 0; node < driver->n; node++) {
        if (driver->ears[node].pipe && driver->ears[node].phase > PHASE_CONNECTING)
            subscribe(driver, node, word, channel);
    }
}

static int on_subscribe(void *ctx, struct rl_slice name)
{
    struct rl_driver *driver = ctx;
    struct channel *channel = find_channel(driver, name);

    for (int i = 0; i < NET_CHANNELS && !channel; i++) {
        if (driver->channels[i].name[0])
            continue;
        channel = &driver->channels[i];
        snprintf(channel->name, sizeof channel->name, "%.*s", (int)name.size, (const char *)name.data);
        channel->users = 0;
        tell_ears(driver, "SUBSCRIBE", channel->name);
    }
    if (!channel)
        return REDLOCK_E_LIMIT;
    channel->users++;
    return 0;
}

static void on_unsubscribe(void *ctx, struct rl_slice name)
{
    struct rl_driver *driver = ctx;
    struct channel *channel = find_channel(driver, name);

    if (driver->closed || !channel || --channel->users)
        return;
    tell_ears(driver, "UNSUBSCRIBE", channel->name);
    channel->name[0] = '\0';
}

static void on_fail(void *ctx, unsigned node, const char *why)
{
    struct rl_driver *driver = ctx;
    struct line *line = &driver->lines[node];

    if (driver->closed || line->phase != PHASE_OPEN)
        return;
    line->failed = true;
    snprintf(line->why, sizeof line->why, "%s", why);
    driver->woken = true;
}

static void on_read_now(void *ctx)
{
    read_all(ctx);
}

static void on_wake(void *ctx)
{
    struct rl_driver *driver = ctx;

    driver->woken = true;
}

static void on_arm(void *ctx, struct rl_timer *timer, struct rl_instant at)
{
    struct rl_driver *driver = ctx;

    rl_list_remove(&timer->link);
    timer->at = at;
    if (at.ns != RL_NEVER.ns && !driver->closed)
        rl_list_append(&driver->timers, &timer->link);
}

static void on_disarm(void *ctx, struct rl_timer *timer)
{
    rl_list_remove(&timer->link);
}

/* No program calls for a change of the masters, and nobody else writes views into markers: no list ever changes. */
static void on_dismiss(void *ctx, unsigned node)
{
    (void)ctx;
    (void)node;
    abort();
}

int rl_driver_add(struct rl_driver *driver, unsigned node, struct rl_master *master, const char *why_not)
{
    (void)driver;
    (void)node;
    (void)master;
    (void)why_not;
    abort();
}

void rl_driver_rename(struct rl_driver *driver, unsigned node, struct rl_master *master)
{
    (void)driver;
    (void)node;
    (void)master;
    abort();
}

const struct rl_master *rl_driver_master(const struct rl_driver *driver, unsigned node)
{
    return &driver->masters[node];
}

const struct rl_master *rl_driver_first_master(const struct rl_driver *driver, unsigned node)
{
    return &driver->masters[node];
}

struct rl_transport rl_driver_transport(struct rl_driver *driver)
{
    return (struct rl_transport){driver,  on_send,    on_listen,   on_subscribe, on_unsubscribe,
                                 on_fail, on_dismiss, on_read_now, on_wake,      on_arm, on_disarm};
}

/* --- Life --------------------------------------------------------------------------------------------------------- */

int rl_driver_create(const struct rl_driver_config *config, struct rl_master *masters, size_t n_masters,
                     const struct rl_transport_sink *sink, struct rl_driver **ret_driver)
{
    struct rl_driver *driver = calloc(1, sizeof *driver);

    if (!driver || n_masters > NET_MASTERS)
        abort();
    driver->config = *config;
    driver->sink = *sink;
    driver->n = (unsigned)n_masters;
    rl_list_init(&driver->timers);
    for (size_t i = 0; i < n_masters; i++) {
        driver->masters[i] = masters[i];
        masters[i] = (struct rl_master){0};
        driver->lines[i] = (struct line){.link = RL_LINK_JOINING, .unsent = MESSAGE_LIST_EMPTY, .due = net.now};
    }
    rl_list_append(&drivers, &driver->link);
    *ret_driver = driver;
    return 0;
}

/* What could not be handed to the kernel never leaves: the rest of its connection does not, either. */
void rl_driver_close(struct rl_driver *driver, bool in_child)
{
    if (driver->closed)
        return;
    driver->closed = true;
    flush(driver);
    for (unsigned node = 0; node < driver->n; node++) {
        struct line *line = &driver->lines[node];

        message_truncate(&net.messages, &line->unsent, 0);
        if (line->pipe)
            net_close(line->pipe);
        if (driver->ears[node].pipe)
            net_close(driver->ears[node].pipe);
        line->pipe = driver->ears[node].pipe = NULL;
    }
    while (!rl_list_empty(&driver->timers))
        rl_list_remove(driver->timers.next);
}

void rl_driver_destroy(struct rl_driver *driver, bool in_child)
{
    if (!driver)
        return;
    rl_driver_close(driver, in_child);
    driver->dead = true;
    if (!driver->in_turn)
        end(driver);
}

const char *rl_driver_node_name(const struct rl_driver *driver, unsigned node)
{
    return driver->masters[node].name;
}

void rl_driver_node_stats(const struct rl_driver *driver, unsigned node, struct rl_conn_stats *ret_stats)
{
    *ret_stats = (struct rl_conn_stats){.pending = driver->lines[node].n_pending, .last_latency_ns = -1,
                                        .last_error = driver->lines[node].why};
}
