/* The role of the first connection to a master: commands, and their replies in the same order. */
#ifndef RL_DRIVER_CONN_COMMANDS_H
#define RL_DRIVER_CONN_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/conn.h"

extern const struct rl_conn_role rl_role_commands;

/* See struct rl_transport. */
bool rl_commands_send(struct rl_conn *conn, const struct rl_bytes *command, enum rl_sending how,
                      const struct rl_tag *tag);

/* LATE, or READY again, by the age of the oldest command without a reply. */
void rl_commands_update_link(struct rl_conn *conn, struct rl_instant now);

/* The connection is closed: gives all its commands to the sink's `dropped`. */
void rl_commands_drop(struct rl_conn *conn, struct rl_instant now);

#endif
