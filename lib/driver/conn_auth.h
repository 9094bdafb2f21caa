/* With which user and password a connection authenticates: the URL's, or what the program answers when it is asked. */
#ifndef RL_DRIVER_CONN_AUTH_H
#define RL_DRIVER_CONN_AUTH_H

#include <stdbool.h>

#include "driver/conn.h"

/* Is the program to be asked for this connection's credentials? */
bool rl_auth_asks(const struct rl_conn *conn);

/* Asks. The answer, which may be there already, is taken by the driver's next turn. false: no memory, and the error is
 * set. */
bool rl_auth_ask(struct rl_conn *conn);
bool rl_auth_is_answered(const struct rl_conn *conn);

/* Takes the answer. false: there are no credentials; the error is set. */
bool rl_auth_take(struct rl_conn *conn);

/* The request under way is not waited for any more. */
void rl_auth_cancel(struct rl_conn *conn);

/* Appends AUTH, and returns how many commands that are; -1: no memory. */
int rl_auth_write(const struct rl_conn *conn, struct rl_bytes *out);

/* The master has refused the credentials, or wants some: the program is told whenever it is asked, until it answers. */
void rl_auth_refused(struct rl_conn *conn);

/* Servers repeat the arguments of a command that they do not know, and AUTH's is the password. So does this text of a
 * server's have it? */
bool rl_auth_may_hold_password(struct rl_conn *conn, struct rl_slice text);

/* Sets the error "name: text", without the text if it may hold the password. */
void rl_auth_set_error(struct rl_conn *conn, const char *name, struct rl_slice text);

/* The master knows who this is: the password is wiped. */
void rl_auth_done(struct rl_conn *conn);

/* The connection is closed: ends the request, and wipes what may hold a password. */
void rl_auth_forget(struct rl_conn *conn);

/* A connection whose credentials end is authenticated again, in line with what else is sent on it. */

void rl_reauth_init(struct rl_conn *conn);

/* The connection has become READY: the program is asked again when three quarters of the time have passed that the
 * credentials hold. */
void rl_reauth_begin(struct rl_conn *conn, struct rl_instant now);

/* READY: the answer is there. false: the connection is not usable; its error is set. */
bool rl_reauth_take(struct rl_conn *conn, struct rl_instant now);

/* The reply to AUTH has arrived; results as above. */
bool rl_reauth_reply(struct rl_conn *conn, const struct rl_reply *reply, struct rl_instant now);

#endif
