/* Members that can be cut off: a relay is before each of their ports, and clients and other members know no other way
 * to them. */
#ifndef MASTERS_PARTS_H
#define MASTERS_PARTS_H

#include "internal.h"
#include "relay.h"

/* Sides 0 and 1 of the relays are the clients', and each member has one of its own. */
#define PARTS_MAX (RELAY_GROUPS - 2)

size_t parts_ports(const struct system *system); /* of each member that have a relay: the first ones */

bool parts_begin(struct masters *masters); /* once the ports are known */
/* After each start of a member: its connections to others are known by its process. */
bool parts_add_process(const struct masters *masters, const struct master *master);

#endif
