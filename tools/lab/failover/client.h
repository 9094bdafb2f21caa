/* What a client process does, from its first word to its last. */
#ifndef FAILOVER_CLIENT_H
#define FAILOVER_CLIENT_H

#include "worker.h"

/* The whole process, but for its exit. Returns the exit code. */
int fo_client_process(struct fo_worker *worker);

#endif
