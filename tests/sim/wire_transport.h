/* The transport that the host of a client is given. */
#ifndef SIM_WIRE_TRANSPORT_H
#define SIM_WIRE_TRANSPORT_H

#include "client.h"

struct rl_transport client_transport(struct client *client);

#endif
