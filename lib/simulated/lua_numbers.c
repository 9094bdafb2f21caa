/* Numbers as the scripts read and write them most of the time, without the detours of the C library: whole ones
 * that a double holds. All others take Lua's own way. */
#include "simulated/lua_numbers.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "util/slice.h"

/* Doubles are exact there. */
#define MAX_DIGITS 16
#define MAX_WHOLE 9e15

static bool read_whole(const char *text, size_t size, lua_Number *ret_number)
{
    uint64_t number = 0;

    if (!size || size > MAX_DIGITS)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    *ret_number = (lua_Number)number;
    return number < (uint64_t)MAX_WHOLE;
}

/* Lua's own function is the upvalue. */
static int call_original(lua_State *lua)
{
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

static int fast_tonumber(lua_State *lua)
{
    lua_Number number;
    const char *text;
    size_t size;

    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
        return call_original(lua);
    text = lua_tolstring(lua, 1, &size);
    if (!read_whole(text, size, &number))
        return call_original(lua);
    lua_pushnumber(lua, number);
    return 1;
}

static int fast_format(lua_State *lua)
{
    const char *format = luaL_checkstring(lua, 1);
    char digits[RL_DECIMAL_MAX];
    lua_Number number;

    if (lua_gettop(lua) != 2 || lua_type(lua, 2) != LUA_TNUMBER ||
        (strcmp(format, "%.0f") != 0 && strcmp(format, "%d") != 0))
        return call_original(lua);
    number = lua_tonumber(lua, 2);
    if (!(number >= 0 && number < MAX_WHOLE) || floor(number) < number)
        return call_original(lua);
    lua_pushlstring(lua, digits, rl_decimal((uint64_t)number, digits));
    return 1;
}

static void wrap(lua_State *lua, const char *name, lua_CFunction function)
{
    lua_getfield(lua, -1, name);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, name);
}

void lua_numbers_install(lua_State *lua)
{
    lua_pushvalue(lua, LUA_GLOBALSINDEX);
    wrap(lua, "tonumber", fast_tonumber);
    lua_pop(lua, 1);
    lua_getglobal(lua, "string");
    wrap(lua, "format", fast_format);
    lua_pop(lua, 1);
}
