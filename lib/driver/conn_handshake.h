/* From a connected socket to a connection that is READY. */
#ifndef RL_DRIVER_CONN_HANDSHAKE_H
#define RL_DRIVER_CONN_HANDSHAKE_H

#include <stdbool.h>

#include "driver/conn.h"

/* The stream can be used: all of the setup is written at once, and the sink's first questions behind it. false: the
 * connection is not usable; its error is set. */
bool rl_handshake_begin(struct rl_conn *conn);

/* SETUP, GREETING: a reply has arrived; results as above. When the server has been found usable as such the sink asks
 * on, round by round; after the last one the connection is READY. */
bool rl_handshake_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

/* What is said on every new connection before anything else. */
extern const struct rl_setup rl_setup_commands;
extern const struct rl_setup rl_setup_listener;

/* SUBSCRIBE and its answer, for a listener: appends the command and returns how many that are, -1 without memory. */
int rl_setup_write_subscribe(const struct rl_conn *conn, struct rl_bytes *out);
bool rl_setup_is_subscribed(const struct rl_conn *conn, const struct rl_reply *reply);

/* A server that has too many clients, or none but local ones, says so once, as if in answer to whatever came first, and
 * hangs up: the text is kept in case that happens before the connection is ready. */
void rl_setup_note_refusal(struct rl_conn *conn, struct rl_slice text);

#endif
