/* Answers the library's requests for credentials by what --password-file or --password-command gives. */
#ifndef CLI_PASSWORD_H
#define CLI_PASSWORD_H

#include <stdbool.h>

#include <redlock/redlock.h>

#include "options/password.h"

struct event_base;
struct password_desk;

/* Runs the command for the first time; password_desk_ready() tells when it has ended. The password is not the desk's.
 * NULL: out of memory. */
struct password_desk *password_desk_open(struct event_base *base, const struct cli_password *password);
void password_desk_close(struct password_desk *desk); /* after the clients; NULL is fine */

/* Has the first run ended? *ret_why is then NULL, or why there is no password. */
bool password_desk_ready(const struct password_desk *desk, const char **ret_why);

void password_desk_apply(struct password_desk *desk, struct redlock_options *options);

#endif
