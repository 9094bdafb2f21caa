/* A simulated process: how it starts with what handles, and how it ends. */
#ifndef SIM_CLIENT_PROCESS_H
#define SIM_CLIENT_PROCESS_H

#include "client.h"

/* May this key be the one of this handle's locks? */
bool client_wants(const struct client *client, const struct handle *handle, uint8_t key);

/* A handle that was destroyed is made anew. */
void client_renew_handle(struct client *client, struct handle *handle);

/* An idle handle has been given another key, or another semaphore. */
void client_rename_handle(struct client *client, struct handle *handle);

/* Frees what a process had in its memory. */
void client_stop_host(struct client *client);

void client_start(struct world *world, struct client *client);
void client_kill(struct world *world, struct client *client); /* the process dies on the spot */

/* The process is gone, whatever it was about. */
void client_vanish(struct client *client);

#endif
