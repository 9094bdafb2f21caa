/* The second connection of a client to each master, on which it is notified (rule 7.7). */
#ifndef SIM_LISTENER_H
#define SIM_LISTENER_H

#include "client.h"

void listener_listen(struct client *client, const char *channel); /* from the first ENQUEUE on */
void listener_subscribe(struct client *client, struct rl_slice channel);
void listener_unsubscribe(struct client *client, struct rl_slice channel);
void listener_abandon(struct client *client); /* the process is gone */

/* The number of a channel on the wire; -1: the client does not know it. */
int listener_number(const struct client *client, struct rl_slice channel);

/* One more master, and one that has been dismissed. */
void listener_add(struct client *client, unsigned node);
void listener_dismiss(struct client *client, unsigned node);

void listener_read(struct client *client, unsigned node);
void listener_on_timer(struct client *client, unsigned node);
void listener_on_connected(struct client *client, unsigned node, bool accepted);
void listener_on_closed(struct client *client, unsigned node);

#endif
