/* One master that runs the shipped scripts, without a world around it: for the tiny worlds that look at scripts, and to
 * be compared with a real server. A command is carried out at once. */
#ifndef RL_SIMULATED_SCRIPT_MASTER_H
#define RL_SIMULATED_SCRIPT_MASTER_H

#include "simulated/keyspace.h"
#include "simulated/lua_host.h"
#include "kinds/command.h"

/* A message that is published, which one listener hears; false: it cannot be read. */
typedef bool (*script_master_told_fn)(void *world, struct rl_slice channel, struct rl_slice payload);

struct script_master {
    struct lua_host *lua;
    script_master_told_fn told;
    void *world;             /* handed to `told` */
    const char *info;        /* what INFO says; NULL: nothing */
    const char *write_error; /* every write is refused with this; NULL: none */
    bool out_of_memory;      /* ... but only those that may need memory */
};

/* RL_SCRIPT_NONE: argv is a command. now_ns: the master's clock. The reply borrows from the host until its next run.
 * false: `told` could not read what was published. */
bool script_master_call(const struct script_master *master, struct keyspace *keys, int64_t now_ns,
                        const struct script_call *call, struct rl_reply *reply);

/* Keys that have ended are removed. */
void script_master_purge(struct keyspace *keys, int64_t now_ms);

#endif
