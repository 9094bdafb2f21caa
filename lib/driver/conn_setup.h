/* The Redis handshake: what is said on every new connection, all in one write, before anything else. */
#ifndef RL_DRIVER_CONN_SETUP_H
#define RL_DRIVER_CONN_SETUP_H

#include <stdbool.h>

#include "driver/conn.h"

extern const struct rl_setup rl_setup_commands;
extern const struct rl_setup rl_setup_listener;

/* Appends all of it to `out`. false: no memory. */
bool rl_setup_begin(struct rl_conn *conn);

enum rl_handshake rl_setup_reply(struct rl_conn *conn, const struct rl_reply *reply);

/* SUBSCRIBE and its answer, for a listener: appends the command and returns how many that are, -1 without memory. */
int rl_setup_write_subscribe(const struct rl_conn *conn, struct rl_bytes *out);
bool rl_setup_is_subscribed(const struct rl_conn *conn, const struct rl_reply *reply);

/* A server that has too many clients, or none but local ones, says so once, as if in answer to whatever came first, and
 * hangs up: the text is kept in case that happens before the connection is ready. */
void rl_setup_note_refusal(struct rl_conn *conn, struct rl_slice text);

#endif
