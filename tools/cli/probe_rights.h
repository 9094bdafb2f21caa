/* Which commands of a client a master's user may not run: part of probe.c. */
#ifndef CLI_PROBE_RIGHTS_H
#define CLI_PROBE_RIGHTS_H

#include "cli/probe.h"
#include "cli/wire.h"

/* Tries each command in a form that changes nothing, and takes the answers. `name` begins with the prefix of the locks,
 * and there is neither a key nor a channel with it. The connection is of no more use then. */
void probe_rights_take(struct wire *wire, const char *name, struct probe_rights *rights);

#endif
