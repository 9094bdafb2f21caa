/* Looks at keys. */
#ifndef SIM_CLIENT_LOOKS_H
#define SIM_CLIENT_LOOKS_H

#include "client.h"

/* redlock_look(); nothing if too many are under way. */
void client_look(struct client *client, uint8_t key);
void client_deliver_looks(struct client *client);
void client_end_looks(struct client *client); /* the process is gone */

/* Of the look that asks with this tag; 0: it is of none. */
uint32_t client_look_number(const struct client *client, const struct rl_tag *tag);

#endif
