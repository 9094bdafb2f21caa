/* Which commands of a client a master's user may not run: part of probe.c. */
#ifndef CLI_PROBE_RIGHTS_H
#define CLI_PROBE_RIGHTS_H

#include "cli/probe.h"
#include "cli/wire.h"

/* Tries each command in a form that changes nothing, and takes the answers.
 * False: the server takes no writes, and says why. */
bool probe_rights_take(struct wire *wire, const char *prefix, struct probe_rights *rights, char *ret_why, size_t size);

#endif
