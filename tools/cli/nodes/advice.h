/* What is wrong with a master, or will be, and how to mend it: one sentence each, and the command where there is one.
 * It asks nobody: what the look at the masters has found out is all that it depends on. */
#ifndef CLI_NODES_ADVICE_H
#define CLI_NODES_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* What a lock user must be allowed, on the keys and channels of the prefix. */
#define ADVICE_RIGHTS                                                                                              \
    "+select +ping +client|setname +config|get +info +time +get +set +del +pexpire +exists +pttl +hget +hmget "     \
    "+hkeys +hset +hdel +zadd +zcard +zpopmin +zrange +zrank +zrem +zremrangebyscore +zscore +publish +subscribe "  \
    "+unsubscribe +eval +evalsha +script|exists"

/* ... and the connections. */
#define ADVICE_CROWD                                                                                               \
    "End some of its clients, or raise maxclients, in its redis.conf as well: a client of locks has one connection, "\
    "and a second one while it waits."

enum { ADVICE_COMMAND_SIZE = 1400 };

struct advice {
    bool serious;      /* it keeps the master from voting */
    char what[480];
    char mend[400];
    char command[ADVICE_COMMAND_SIZE]; /* for a shell, passwords left out; "" if a command cannot mend it */
};

enum { ADVICE_MOST = 12 };

struct nodes_look;

/* About master `node`; how many. What keeps it from voting comes first. */
size_t advice_on(const struct nodes_look *look, size_t node, struct advice ret_advice[ADVICE_MOST]);

#endif
