/* Commands of a connection that have no reply yet, in the order in which they were sent. */
#ifndef SIM_WIRE_PENDING_H
#define SIM_WIRE_PENDING_H

#include "client.h"

/* At the end, and from the front. */
void pending_push(struct wire *wire, const struct pending *pending);
struct pending pending_shift(struct wire *wire);

void wire_fini(struct wire *wire);

#endif
