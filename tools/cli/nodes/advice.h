/* What is wrong with a master, or will be, and how to mend it: one sentence each, and the command where there is one.
 * Pure functions over what the client has found out. */
#ifndef CLI_NODES_ADVICE_H
#define CLI_NODES_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/observe.h>

#include "cli/probe.h"

/* What a lock user must be allowed, on the keys and channels of the prefix. */
#define ADVICE_RIGHTS                                                                                              \
    "+select +ping +client|setname +config|get +info +time +get +set +del +pexpire +exists +pttl +hget +hmget "     \
    "+hkeys +hset +hdel +zadd +zcard +zpopmin +zrange +zrank +zrem +zremrangebyscore +zscore +publish +subscribe "  \
    "+unsubscribe +eval +evalsha +script|load"

/* ... and the connections. */
#define ADVICE_CROWD                                                                                               \
    "End some of its clients, or raise maxclients, in its redis.conf as well: a client of locks has one connection, "\
    "and a second one while it waits."

struct advice {
    bool serious;      /* it keeps the master from voting */
    char what[480];
    char mend[400];
    char command[1400]; /* for a shell, passwords left out; "" if a command cannot mend it */
};

/* All that an advice may depend on. */
struct advice_view {
    const char *const *urls; /* accepted by redlock_client_create() */
    const struct redlock_node_info *infos;
    size_t n;
    const char *prefix;
    uint32_t max_ttl_ms;
    const char *user; /* of masters whose URLs have none; NULL: none */
    const struct probe_rights *rights; /* of each master */
    const struct probe *probes;        /* likewise */
    const struct cli_tls *tls;
    uint32_t node_timeout_ms;
    bool is_slow;            /* it answers too late ... */
    int64_t slow_ms;         /* ... since a handshake takes so long; 0: not known */
    bool declaring;          /* the command declares the deployment new: that need not be advised */
};

enum { ADVICE_MOST = 12 };

/* About master `node`; how many. What keeps it from voting comes first. */
size_t advice_on(const struct advice_view *view, size_t node, struct advice ret_advice[ADVICE_MOST]);

#endif
