/* One master that runs the shipped scripts, for the tiny worlds that look at them. A command is carried out at once. */
#ifndef SIM_SCRIPT_MASTER_H
#define SIM_SCRIPT_MASTER_H

#include "keyspace.h"
#include "lua_host.h"
#include "votes/kind.h"

/* A message that is published; false: it cannot be read. */
typedef bool (*script_master_told_fn)(void *world, struct rl_slice payload);

struct script_master {
    struct lua_host *lua;
    script_master_told_fn told;
    void *world; /* handed to `told` */
};

/* now_ms: the master's clock. The reply borrows from the host until its next run. false: `told` could not read what was
 * published. */
bool script_master_run(const struct script_master *master, struct keyspace *keys, int64_t now_ms,
                       const struct rl_command *command, struct rl_reply *reply);

/* Puts other words in the place of some into all scripts that have them, which must be one at least; NULL: the scripts
 * are as they ship again. */
void script_master_plant(struct lua_host *lua, const char *old, const char *new);

/* Equal for keys that are the same at this time; those that have ended are removed. */
uint64_t script_master_hash(struct keyspace *keys, int64_t now_ms);

/* More bytes for a hash. */
uint64_t script_master_hash_more(uint64_t hash, const void *data, size_t size);

#endif
