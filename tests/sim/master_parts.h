/* What the files of the master share. */
#ifndef SIM_MASTER_PARTS_H
#define SIM_MASTER_PARTS_H

#include "master.h"
#include "simulated/redis.h"
#include "util/instant.h"

/* An everysec master's disk is at most so far behind. */
#define MASTER_FSYNC_NS (1000 * RL_NS_PER_MS)

/* For a command; NULL: somebody else's. */
void master_context(struct world *world, struct master *master, const struct message *message,
                    struct redis_context *ret_context);

/* The lines of INFO that JOIN looks at, if they are not there already; what changes them clears the text. */
void master_write_info(struct master *master);

/* The state before the first write since the last fsync is what a crash may leave. */
void master_before_write(struct world *world, struct master *master);

#endif
