/* From a connected socket to a connection that is READY. */
#ifndef RL_DRIVER_CONN_HANDSHAKE_H
#define RL_DRIVER_CONN_HANDSHAKE_H

#include <stdbool.h>

#include "driver/conn.h"

/* The stream can be used. false: the connection is not usable; its error is set. */
bool rl_handshake_begin(struct rl_conn *conn);

/* SETUP, GREETING: a reply has arrived; results as above. After the last one the connection is READY. */
bool rl_handshake_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

/* The Redis handshake: what is said on every new connection, all in one write, before anything else. */

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

/* The sink's part of the handshake: when the server has been found usable as such, the sink asks its own questions,
 * round by round, until it has no more. */

/* Makes the connection GREETING, unless the sink has no question. */
enum rl_handshake rl_greet_begin(struct rl_conn *conn, struct rl_instant now);

enum rl_handshake rl_greet_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
