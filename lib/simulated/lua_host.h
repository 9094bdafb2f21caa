/* Runs the project's scripts in Lua 5.1, the version that Redis embeds, with redis.call and redis.pcall over a
 * simulated master and Redis' conversions of values both ways.
 *
 * One interpreter serves all masters of all worlds of a process: scripts keep no state between calls, and a test of
 * the build (scripts may not assign globals) makes sure of that. Scripts are compiled once. */
#ifndef RL_SIMULATED_LUA_HOST_H
#define RL_SIMULATED_LUA_HOST_H

#include "kinds/command.h"
#include "simulated/redis.h"

struct lua_host;

/* Aborts the program if a script does not compile: there is nothing to simulate then. */
struct lua_host *lua_host_create(void);
void lua_host_destroy(struct lua_host *host);

/* Puts another text in the place of a script, for planted bugs; NULL brings the real one back. */
void lua_host_replace(struct lua_host *host, enum rl_script script, const char *text);

/* argv: the keys, then the arguments. */
struct script_call {
    enum rl_script script;
    size_t n_keys;
    size_t argc;
    const struct rl_slice *argv;
};

/* The reply borrows from the host until its next run. */
void lua_host_run(struct lua_host *host, struct redis_context *context, const struct script_call *call,
                  struct rl_reply *reply);

#endif
