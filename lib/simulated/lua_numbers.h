/* Numbers in Lua. */
#ifndef RL_SIMULATED_LUA_NUMBERS_H
#define RL_SIMULATED_LUA_NUMBERS_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

/* tonumber() and string.format(), faster for what is common. */
void lua_numbers_install(lua_State *lua);

#endif
