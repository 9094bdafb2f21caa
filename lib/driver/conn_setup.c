/* Each role has its table. Each row contributes any number of commands, depending on the configuration. A row that is
 * required ends the attempt when one of its commands is answered with an error. The answer to the last, PING or
 * SUBSCRIBE, shows that everything before it has been dealt with, and that the server serves. */
#include "driver/conn_setup.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codec/classify.h"
#include "codec/command.h"
#include "codec/script.h"
#include "driver/conn_auth.h"
#include "util/decimal.h"

struct setup_row {
    const char *name; /* for error texts */
    bool required;
    bool patient;     /* an error will hardly go away by itself soon: try again as late as possible */

    /* Appends the row's commands and returns how many; -1: out of memory. */
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

static int write_load(const struct rl_conn *conn, struct rl_bytes *out)
{
    const struct rl_script_text *script;
    int n = 0;

    for (; (script = rl_script_to_load((size_t)n)); n++) {
        struct rl_slice words[] = {rl_slice_of("SCRIPT"), rl_slice_of("LOAD"), {script->text, script->size}};

        if (write_command(words, 3, out) < 0)
            return -1;
    }
    return n;
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

/* Without a name or a loaded script the connection works as well: the name is for people, and a script that is not
 * loaded is sent with its text. */
static const struct setup_row command_rows[] = {
    AUTH_ROW,
    SETNAME_ROW,
    {"SELECT", true, false, write_select, NULL},
    {"SCRIPT LOAD", false, false, write_load, NULL},
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

bool rl_setup_begin(struct rl_conn *conn)
{
    const struct rl_setup *setup = conn->role->setup;

    conn->setup = (struct rl_setup_progress){0};
    for (size_t i = 0; i < setup->n_rows; i++) {
        int sent = setup->rows[i].write(conn, &conn->out);

        if (sent < 0)
            return false;
        conn->setup.sent[i] = (unsigned)sent;
    }
    conn->queued = rl_bytes_length(&conn->out);
    return true;
}

void rl_setup_note_refusal(struct rl_conn *conn, struct rl_slice text)
{
    if (!rl_auth_may_hold_password(conn, text))
        snprintf(conn->setup.refusal, sizeof(conn->setup.refusal), "%.*s", (int)text.size, (const char *)text.data);
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

static void skip_finished_rows(struct rl_setup_progress *progress, size_t n_rows)
{
    while (progress->row < n_rows && progress->answered == progress->sent[progress->row]) {
        progress->row++;
        progress->answered = 0;
    }
}

enum rl_handshake rl_setup_reply(struct rl_conn *conn, const struct rl_reply *reply)
{
    const struct rl_setup *setup = conn->role->setup;
    struct rl_setup_progress *progress = &conn->setup;

    skip_finished_rows(progress, setup->n_rows);
    assert(progress->row < setup->n_rows);
    if (!check(conn, &setup->rows[progress->row], reply))
        return RL_HANDSHAKE_FAILED;
    progress->answered++;
    skip_finished_rows(progress, setup->n_rows);
    return progress->row < setup->n_rows ? RL_HANDSHAKE_GOES_ON : RL_HANDSHAKE_DONE;
}
