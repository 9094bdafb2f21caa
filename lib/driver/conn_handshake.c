#include "driver/conn_handshake.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "driver/conn.h"
#include "driver/conn_auth.h"
#include "util/slice.h"

/* Each role has its table. Each row contributes a command, or none, depending on the configuration. A row that is
 * required ends the attempt when its command is answered with an error. The answer to the last, PING or
 * SUBSCRIBE, shows that everything before it has been dealt with, and that the server serves. */

struct setup_row {
    const char *name; /* for error texts */
    bool required;
    bool patient;     /* an error will hardly go away by itself soon: try again as late as possible */

    /* Appends the row's command. Returns 1, 0 if there is none, -1 out of memory. */
    int (*write)(const struct rl_conn *conn, struct rl_bytes *out);
    bool (*accept)(const struct rl_conn *conn, const struct rl_reply *reply); /* NULL: anything but an error */
};

struct rl_setup {
    const struct setup_row *rows;
    size_t n_rows;
};

static int write_command(const struct rl_slice *words, size_t n_words, struct rl_bytes *out)
{
    return rl_words_encode(words, n_words, out) ? 1 : -1;
}

static int write_setname(const struct rl_conn *conn, struct rl_bytes *out)
{
    const char *name = conn->shared->client_name;
    struct rl_slice words[] = {rl_slice_of("CLIENT"), rl_slice_of("SETNAME"), rl_slice_of(name)};

    return *name ? write_command(words, 3, out) : 0;
}

static int write_select(const struct rl_conn *conn, struct rl_bytes *out)
{
    char digits[RL_DECIMAL_MAX];
    struct rl_slice words[] = {rl_slice_of("SELECT"), {digits, rl_decimal(conn->master->db, digits)}};

    return conn->master->db ? write_command(words, 2, out) : 0;
}

static int write_ping(const struct rl_conn *conn, struct rl_bytes *out)
{
    const struct rl_slice word = rl_slice_of("PING");

    return write_command(&word, 1, out);
}

static bool is_pong(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return rl_reply_is_status(reply, "PONG");
}

int rl_setup_write_subscribe(const struct rl_conn *conn, struct rl_bytes *out)
{
    struct rl_slice words[] = {rl_slice_of("SUBSCRIBE"), rl_slice_of(conn->shared->channel)};

    return write_command(words, 2, out);
}

bool rl_setup_is_subscribed(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "subscribe") &&
           rl_reply_item_is(&reply->elements[1], conn->shared->channel) &&
           reply->elements[2].type == RL_REPLY_INTEGER && reply->elements[2].integer == 1;
}

#define AUTH_ROW {"AUTH", true, false, rl_auth_write, NULL}
#define SETNAME_ROW {"CLIENT SETNAME", false, false, write_setname, NULL}

/* Without a name, which is for people, the connection works as well. */
static const struct setup_row command_rows[] = {
    AUTH_ROW,
    SETNAME_ROW,
    {"SELECT", true, false, write_select, NULL},
    {"PING", true, false, write_ping, is_pong},
};

/* Channels belong to no database. The right to subscribe is for the operator to give. */
static const struct setup_row listener_rows[] = {
    AUTH_ROW,
    SETNAME_ROW,
    {"SUBSCRIBE", true, true, rl_setup_write_subscribe, rl_setup_is_subscribed},
};

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))
_Static_assert(N_ROWS(command_rows) <= RL_SETUP_ROWS_MAX, "RL_SETUP_ROWS_MAX is too small");
_Static_assert(N_ROWS(listener_rows) <= RL_SETUP_ROWS_MAX, "RL_SETUP_ROWS_MAX is too small");

const struct rl_setup rl_setup_commands = {command_rows, N_ROWS(command_rows)};
const struct rl_setup rl_setup_listener = {listener_rows, N_ROWS(listener_rows)};

static bool setup_begin(struct rl_conn *conn)
{
    const struct rl_setup *setup = conn->role->setup;

    conn->setup = (struct rl_setup_progress){0};
    for (size_t i = 0; i < setup->n_rows; i++) {
        int sent = setup->rows[i].write(conn, &conn->out);

        if (sent < 0)
            return false;
        conn->setup.sent[i] = sent;
        conn->asked += (unsigned)sent;
    }
    conn->queued = rl_bytes_length(&conn->out);
    return true;
}

void rl_setup_note_refusal(struct rl_conn *conn, struct rl_slice text)
{
    if (!rl_auth_may_hold_password(conn, text))
        snprintf(conn->setup.refusal, sizeof conn->setup.refusal, "%.*s", (int)text.size, (const char *)text.data);
}

static bool is_about_credentials(const struct setup_row *row, const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ERROR &&
           (row->write == rl_auth_write || rl_classify_error(reply->root.text) == RL_DETAIL_NOAUTH);
}

static bool check(struct rl_conn *conn, const struct setup_row *row, const struct rl_reply *reply)
{
    if (is_about_credentials(row, reply))
        rl_auth_refused(conn);
    if (reply->root.type == RL_REPLY_ERROR && row->required) {
        rl_auth_set_error(conn, row->name, reply->root.text);
        conn->denied = row->patient;
        return false;
    }
    if (reply->root.type == RL_REPLY_ERROR) {
        rl_setup_note_refusal(conn, reply->root.text);
        return true;
    }
    if (row->accept && !row->accept(conn, reply)) {
        rl_conn_set_error(conn, "%s: unexpected reply", row->name);
        return false;
    }
    return true;
}

static void skip_unsent_rows(struct rl_setup_progress *progress, size_t n_rows)
{
    while (progress->row < n_rows && !progress->sent[progress->row])
        progress->row++;
}

static enum rl_handshake setup_reply(struct rl_conn *conn, const struct rl_reply *reply)
{
    const struct rl_setup *setup = conn->role->setup;
    struct rl_setup_progress *progress = &conn->setup;

    skip_unsent_rows(progress, setup->n_rows);
    assert(progress->row < setup->n_rows);
    if (!check(conn, &setup->rows[progress->row], reply))
        return RL_HANDSHAKE_FAILED;
    progress->row++;
    skip_unsent_rows(progress, setup->n_rows);
    return progress->row < setup->n_rows ? RL_HANDSHAKE_GOES_ON : RL_HANDSHAKE_DONE;
}

static enum rl_handshake begin_round(struct rl_conn *conn, unsigned round, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    size_t before = rl_bytes_length(&conn->out);
    int size = sink->greet ? sink->greet(sink->ctx, conn->node, round, &conn->out) : 0;

    if (size < 0) {
        rl_conn_set_error(conn, "handshake: no memory");
        return RL_HANDSHAKE_FAILED;
    }
    if (size == 0)
        return RL_HANDSHAKE_DONE;
    conn->greeting = (struct rl_greeting){
        .round = round, .size = (unsigned)size, .answered = 0, .start = conn->queued, .sent = now};
    conn->asked += (unsigned)size;
    conn->queued += rl_bytes_length(&conn->out) - before;
    rl_conn_mark_dirty(conn);
    return RL_HANDSHAKE_GOES_ON;
}

static void set_refused(struct rl_conn *conn, const char *why)
{
    if (rl_auth_may_hold_password(conn, rl_slice_of(why)))
        rl_conn_set_error(conn, "handshake: refused with an error text that may hold the password");
    else
        rl_conn_set_error(conn, "%s", why);
}

static bool greeted(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_transport_sink *sink = &conn->shared->sink;
    const struct rl_greeting *greeting = &conn->greeting;
    const struct rl_greeting_answer answer = {
        .node = conn->node, .round = greeting->round, .index = greeting->answered, .reply = reply,
        .sent = greeting->sent, .now = now};
    const char *why = "handshake: refused";

    conn->stats.last_latency_ns = rl_until(greeting->sent, now).ns;
    if (!sink->greeted || sink->greeted(sink->ctx, &answer, &why))
        return true;
    set_refused(conn, why);
    return false;
}

static enum rl_handshake greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    struct rl_greeting *greeting = &conn->greeting;

    assert(conn->state == RL_CONN_GREETING && greeting->answered < greeting->size);
    if (conn->written <= greeting->start) {
        rl_conn_set_error(conn, "a reply that belongs to no command");
        return RL_HANDSHAKE_FAILED;
    }
    if (reply->root.type == RL_REPLY_ERROR)
        rl_setup_note_refusal(conn, reply->root.text);
    if (!greeted(conn, reply, now))
        return RL_HANDSHAKE_FAILED;
    greeting->answered++;
    return greeting->answered < greeting->size ? RL_HANDSHAKE_GOES_ON : begin_round(conn, greeting->round + 1, now);
}

bool rl_handshake_begin(struct rl_conn *conn)
{
    conn->queued = 0;
    conn->written = 0;
    conn->asked = 0;
    conn->answered = 0;
    conn->last_received = RL_LONG_AGO;
    conn->reader = rl_reply_reader_create();
    conn->greeting = (struct rl_greeting){0};
    if (!conn->reader || !setup_begin(conn) || !rl_conn_want_read(conn)) {
        rl_conn_set_error(conn, "handshake: no memory or event");
        return false;
    }
    if (conn->role->greets && begin_round(conn, 0, rl_shared_now(conn->shared)) == RL_HANDSHAKE_FAILED)
        return false;
    rl_conn_enter(conn, RL_CONN_SETUP);
    rl_conn_mark_dirty(conn);
    return true;
}

static void become_ready(struct rl_conn *conn, struct rl_instant now)
{
    rl_timers_disarm(&conn->shared->timers, &conn->attempt);
    rl_conn_enter(conn, RL_CONN_READY);
    conn->ready_since = now;
    conn->proved = false;
    conn->stats.connects++;
    rl_reauth_begin(conn, now);
    if (conn->role->begin)
        conn->role->begin(conn);
    conn->role->set_link(conn, RL_LINK_READY, "", now);
}

bool rl_handshake_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    enum rl_handshake result;

    assert(conn->state == RL_CONN_SETUP || conn->state == RL_CONN_GREETING);
    conn->answered++;
    if (conn->state == RL_CONN_GREETING)
        result = greet_reply(conn, reply, now);
    else
        result = setup_reply(conn, reply);
    if (result == RL_HANDSHAKE_DONE && conn->state == RL_CONN_SETUP && conn->greeting.size)
        rl_conn_enter(conn, RL_CONN_GREETING);
    else if (result == RL_HANDSHAKE_DONE)
        become_ready(conn, now);
    return result != RL_HANDSHAKE_FAILED;
}
