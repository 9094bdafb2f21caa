/* The orderly end of a client, and its destruction. */
#ifndef SIM_CLIENT_SHUTDOWN_H
#define SIM_CLIENT_SHUTDOWN_H

#include "client.h"

/* redlock_client_shutdown(); and what is looked at in each turn while it is under way. */
void client_shutdown(struct client *client, struct rl_span timeout);
void client_check_shutdown(struct client *client);

/* redlock_client_destroy(): the process ends with this turn, by client_leave(). */
void client_quit(struct client *client);
void client_leave(struct client *client);

#endif
