/* Values between Redis and Lua, by the rules of Redis' scripting. */
#ifndef RL_SIMULATED_LUA_VALUES_H
#define RL_SIMULATED_LUA_VALUES_H

#include <lua.h>

#include "votes/kind.h"

/* Pushes the value that redis.call() returns for this reply. */
void lua_push_reply(lua_State *lua, const struct rl_reply *reply);

/* ... for names, or for members of a sorted set with their scores, one behind the other. */
struct redis_range;
void lua_push_range(lua_State *lua, const struct redis_range *range);

/* The reply that the value on top of the stack makes. Its texts live as long as the value. */
void lua_take_reply(lua_State *lua, struct rl_reply *reply);

#endif
