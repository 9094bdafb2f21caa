/* One master that runs the shipped scripts, without a world around it: for the tiny worlds that look at scripts, and to
 * be compared with a real server. A command is carried out at once. */
#ifndef SIM_SCRIPT_MASTER_H
#define SIM_SCRIPT_MASTER_H

#include "keyspace.h"
#include "lua_host.h"
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

/* The same for a kind's command. */
bool script_master_run(const struct script_master *master, struct keyspace *keys, int64_t now_ms,
                       const struct rl_command *command, struct rl_reply *reply);

/* Puts other words in the place of some into all scripts that have them, which must be one at least; NULL: the scripts
 * are as they ship again. */
void script_master_plant(struct lua_host *lua, const char *old, const char *new);

/* Keys that have ended are removed. */
void script_master_purge(struct keyspace *keys, int64_t now_ms);

/* Equal for keys that are the same at this time; those that have ended are removed. */
uint64_t script_master_hash(struct keyspace *keys, int64_t now_ms);

/* More bytes for a hash. */
uint64_t script_master_hash_more(uint64_t hash, const void *data, size_t size);

#endif
