/* The Redis handshake: what is said on every new connection, all in one write, before anything else.
 *
 * Each role has its table. Each row contributes any number of commands, depending on the configuration. A row that is
 * required ends the attempt when one of its commands is answered with an error. The answer to the last, PING or
 * SUBSCRIBE, shows that everything before it has been dealt with, and that the server serves. Then the role begins. */
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "codec/script.h"
#include "driver/conn.h"
#include "util/decimal.h"

struct setup_row {
    const char *name; /* for error texts */
    bool required;
    bool patient;      /* an error will hardly go away by itself soon: try again as late as possible */
    size_t (*count)(const struct rl_conn *conn); /* of commands; may be 0 */
    bool (*write)(const struct rl_conn *conn, size_t i, struct rl_bytes *out);
    bool (*accept)(const struct rl_conn *conn, const struct rl_reply *reply); /* NULL: anything but an error */
};

struct rl_setup {
    const struct setup_row *rows;
    size_t n_rows;
};

static size_t auth_count(const struct rl_conn *conn)
{
    return conn->master->password ? 1 : 0;
}

static bool auth_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    struct rl_slice words[3];
    size_t n = 0;

    words[n++] = rl_slice_of("AUTH");
    if (conn->master->user)
        words[n++] = rl_slice_of(conn->master->user);
    words[n++] = rl_slice_of(conn->master->password);
    return rl_words_encode(words, n, out);
}

static size_t setname_count(const struct rl_conn *conn)
{
    return *conn->driver->client_name ? 1 : 0;
}

static bool setname_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    struct rl_slice words[] = {rl_slice_of("CLIENT"), rl_slice_of("SETNAME"), rl_slice_of(conn->driver->client_name)};

    return rl_words_encode(words, 3, out);
}

static size_t select_count(const struct rl_conn *conn)
{
    return conn->master->db ? 1 : 0;
}

static bool select_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    char digits[RL_DECIMAL_MAX];
    struct rl_slice words[] = {rl_slice_of("SELECT"), {digits, rl_decimal(conn->master->db, digits)}};

    return rl_words_encode(words, 2, out);
}

/* All but NONE and the last, JOIN, which is sent with its text. */
static size_t load_count(const struct rl_conn *conn)
{
    return RL_SCRIPT_JOIN - RL_SCRIPT_NONE - 1;
}

static bool load_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    const struct rl_script_text *script = rl_script_text((enum rl_script)(RL_SCRIPT_NONE + 1 + i));
    struct rl_slice words[] = {rl_slice_of("SCRIPT"), rl_slice_of("LOAD"), {script->text, script->size}};

    return rl_words_encode(words, 3, out);
}

static size_t ping_count(const struct rl_conn *conn)
{
    return 1;
}

static bool ping_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    struct rl_slice words[] = {rl_slice_of("PING")};

    return rl_words_encode(words, 1, out);
}

static bool is_pong(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return rl_reply_is_status(reply, "PONG");
}

static size_t subscribe_count(const struct rl_conn *conn)
{
    return 1;
}

static bool subscribe_write(const struct rl_conn *conn, size_t i, struct rl_bytes *out)
{
    struct rl_slice words[] = {rl_slice_of("SUBSCRIBE"), rl_slice_of(conn->driver->channel)};

    return rl_words_encode(words, 2, out);
}

static bool is_subscribed(const struct rl_conn *conn, const struct rl_reply *reply)
{
    return reply->root.type == RL_REPLY_ARRAY && reply->n_elements == 3 &&
           rl_reply_item_is(&reply->elements[0], "subscribe") &&
           rl_reply_item_is(&reply->elements[1], conn->driver->channel) &&
           reply->elements[2].type == RL_REPLY_INTEGER && reply->elements[2].integer == 1;
}

#define AUTH_ROW {"AUTH", true, false, auth_count, auth_write, NULL}
#define SETNAME_ROW {"CLIENT SETNAME", false, false, setname_count, setname_write, NULL}

/* Without a name or a loaded script the connection works as well: the name is for people, and a script that is not
 * loaded is sent with its text. */
static const struct setup_row command_rows[] = {
    AUTH_ROW,
    SETNAME_ROW,
    {"SELECT", true, false, select_count, select_write, NULL},
    {"SCRIPT LOAD", false, false, load_count, load_write, NULL},
    {"PING", true, false, ping_count, ping_write, is_pong},
};

/* Channels belong to no database. The right to subscribe is for the operator to give. */
static const struct setup_row listener_rows[] = {
    AUTH_ROW,
    SETNAME_ROW,
    {"SUBSCRIBE", true, true, subscribe_count, subscribe_write, is_subscribed},
};

#define SETUP(rows) {rows, sizeof(rows) / sizeof(rows[0])}

const struct rl_setup rl_setup_commands = SETUP(command_rows);
const struct rl_setup rl_setup_listener = SETUP(listener_rows);

static bool write_row(const struct setup_row *row, const struct rl_conn *conn, struct rl_bytes *out)
{
    size_t n = row->count(conn);

    for (size_t i = 0; i < n; i++) {
        if (!row->write(conn, i, out))
            return false;
    }
    return true;
}

bool rl_setup_begin(struct rl_conn *conn)
{
    const struct rl_setup *setup = conn->role->setup;

    conn->setup_row = 0;
    conn->setup_answered = 0;
    conn->refusal[0] = '\0';
    for (size_t i = 0; i < setup->n_rows; i++) {
        if (!write_row(&setup->rows[i], conn, &conn->out))
            return false;
    }
    conn->queued = rl_bytes_length(&conn->out);
    return true;
}

/* Servers repeat the arguments of a command that they do not know, and AUTH's is the password. */
bool rl_setup_may_hold_password(const struct rl_conn *conn, struct rl_slice text)
{
    const char *password = conn->master->password;

    if (!password || !*password)
        return false;
    return rl_classify_error(text) == RL_DETAIL_UNKNOWN_COMMAND ||
           memmem(text.data, text.size, password, strlen(password));
}

static void blame_error(struct rl_conn *conn, const char *name, struct rl_slice text)
{
    if (rl_setup_may_hold_password(conn, text))
        rl_conn_blame(conn, "%s: refused with an error text that may hold the password", name);
    else
        rl_conn_blame(conn, "%s: %.*s", name, (int)text.size, (const char *)text.data);
}

/* A server that has too many clients, or none but local ones, says so once, as if in answer to whatever came first,
 * and hangs up: the text is kept in case that happens. */
static void note_refusal(struct rl_conn *conn, struct rl_slice text)
{
    if (!rl_setup_may_hold_password(conn, text))
        snprintf(conn->refusal, sizeof(conn->refusal), "%.*s", (int)text.size, (const char *)text.data);
}

static bool check(struct rl_conn *conn, const struct setup_row *row, const struct rl_reply *reply)
{
    if (reply->root.type == RL_REPLY_ERROR && row->required) {
        blame_error(conn, row->name, reply->root.text);
        conn->denied = row->patient;
        return false;
    }
    if (reply->root.type == RL_REPLY_ERROR) {
        note_refusal(conn, reply->root.text);
        return true;
    }
    if (row->accept && !row->accept(conn, reply)) {
        rl_conn_blame(conn, "%s: unexpected reply", row->name);
        return false;
    }
    return true;
}

static void skip_finished_rows(struct rl_conn *conn)
{
    const struct rl_setup *setup = conn->role->setup;

    while (conn->setup_row < setup->n_rows && conn->setup_answered == setup->rows[conn->setup_row].count(conn)) {
        conn->setup_row++;
        conn->setup_answered = 0;
    }
}

bool rl_setup_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now)
{
    const struct rl_setup *setup = conn->role->setup;

    skip_finished_rows(conn);
    if (!check(conn, &setup->rows[conn->setup_row], reply))
        return false;
    conn->setup_answered++;
    skip_finished_rows(conn);
    return conn->setup_row < setup->n_rows || conn->role->begin(conn, now);
}
