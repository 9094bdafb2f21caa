/* What explorers do with a master that runs the shipped scripts. */
#ifndef SIM_SCRIPT_TOOLS_H
#define SIM_SCRIPT_TOOLS_H

#include "simulated/script_master.h"

/* The same for a kind's command. */
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
