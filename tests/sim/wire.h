/* The connections of a client to its masters, on which it sends commands and reads replies. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include "client.h"

void wire_start(struct client *client, unsigned node);

/* One more master; it is connected from the next turn on. */
void wire_add(struct client *client, unsigned node, unsigned machine);

/* The pause before a master is connected again, by this connection or by one that listens. */
struct rl_span wire_backoff(struct client *client, uint8_t *failures);

/* A command that is to be sent; the message is without its bytes. */
struct message *wire_append(struct client *client, unsigned node, enum message_kind kind, uint8_t step,
                            const struct pending *pending);

bool client_has_failed(const struct client *client);

/* Is some first connection on its way? That may take any time. */
bool client_is_joining(const struct client *client);

/* ... and for how long, at most. */
int64_t wire_longest_joining(const struct client *client);

/* Closes what the host has given up. */
void wire_close_failed(struct client *client);

/* What has been written goes to the kernel. */
void wire_flush(struct client *client, unsigned node);

/* Everything that has arrived by now. */
void wire_read(struct client *client, unsigned node);

/* The process is gone: its kernel closes the connection. */
void wire_abandon(struct client *client, unsigned node);

void wire_on_timer(struct client *client, unsigned node);
void wire_on_connected(struct client *client, unsigned node, bool accepted);
void wire_on_closed(struct client *client, unsigned node);

#endif
