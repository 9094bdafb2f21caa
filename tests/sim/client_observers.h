/* Observers of an election. */
#ifndef SIM_CLIENT_OBSERVERS_H
#define SIM_CLIENT_OBSERVERS_H

#include "client.h"

void client_observe(struct client *client, uint8_t key, struct rl_span interval);
void client_deliver_observation(struct client *client);
void client_end_observer(struct client *client); /* the process is gone */

#endif
