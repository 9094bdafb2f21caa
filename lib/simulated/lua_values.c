#include "simulated/lua_values.h"

#include <stdbool.h>

#include "simulated/redis.h"
#include "util/slice.h"

/* --- Values from Redis to Lua ------------------------------------------------------------------------------------- */

static void push_item(lua_State *lua, const struct rl_reply_item *item)
{
    switch (item->type) {
    case RL_REPLY_INTEGER:
        lua_pushnumber(lua, (lua_Number)item->integer);
        break;
    case RL_REPLY_STRING:
        lua_pushlstring(lua, item->text.data, item->text.size);
        break;
    case RL_REPLY_STATUS:
    case RL_REPLY_ERROR:
        lua_createtable(lua, 0, 1);
        lua_pushlstring(lua, item->text.data, item->text.size);
        lua_setfield(lua, -2, item->type == RL_REPLY_STATUS ? "ok" : "err");
        break;
    case RL_REPLY_NIL:
    case RL_REPLY_ARRAY:
    default:
        lua_pushboolean(lua, 0);
        break;
    }
}

void lua_push_reply(lua_State *lua, const struct rl_reply *reply)
{
    if (reply->root.type != RL_REPLY_ARRAY) {
        push_item(lua, &reply->root);
        return;
    }
    lua_createtable(lua, (int)reply->n_elements, 0);
    for (size_t i = 0; i < reply->n_elements; i++) {
        push_item(lua, &reply->elements[i]);
        lua_rawseti(lua, -2, (int)i + 1);
    }
}

/* Scores are whole numbers here: tickets and times. */
void lua_push_range(lua_State *lua, const struct redis_range *range)
{
    char text[RL_DECIMAL_MAX];
    int at = 0;

    lua_createtable(lua, (range->scored ? 2 : 1) * (int)range->n, 0);
    for (size_t i = 0; i < range->n; i++) {
        lua_pushlstring(lua, range->members[i].data, range->members[i].size);
        lua_rawseti(lua, -2, ++at);
        if (!range->scored)
            continue;
        lua_pushlstring(lua, text, rl_decimal((uint64_t)range->scores[i], text));
        lua_rawseti(lua, -2, ++at);
    }
}

/* --- Values from Lua to Redis ------------------------------------------------------------------------------------- */

static bool take_field(lua_State *lua, const char *name, enum rl_reply_type type, struct rl_reply_item *item)
{
    bool found;

    lua_getfield(lua, -1, name);
    found = lua_isstring(lua, -1);
    if (found) {
        item->type = type;
        item->text.data = lua_tolstring(lua, -1, &item->text.size);
    }
    lua_pop(lua, 1); /* the table keeps the string alive */
    return found;
}

/* A scalar on top of the stack; numbers lose their fraction, false is nil, true is 1. */
static void take_item(lua_State *lua, struct rl_reply_item *item)
{
    *item = (struct rl_reply_item){.type = RL_REPLY_NIL};
    switch (lua_type(lua, -1)) {
    case LUA_TNUMBER:
        item->type = RL_REPLY_INTEGER;
        item->integer = (int64_t)lua_tonumber(lua, -1);
        break;
    case LUA_TSTRING:
        item->type = RL_REPLY_STRING;
        item->text.data = lua_tolstring(lua, -1, &item->text.size);
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            *item = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = 1};
        break;
    default:
        break;
    }
}

static void take_array(lua_State *lua, struct rl_reply *reply)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    for (int i = 1; i <= RL_REPLY_MAX_ELEMENTS; i++) {
        bool end;

        lua_rawgeti(lua, -1, i);
        end = lua_isnil(lua, -1);
        if (!end)
            take_item(lua, &reply->elements[reply->n_elements++]);
        lua_pop(lua, 1); /* the array keeps it alive */
        if (end)
            return;
    }
}

/* No script's array has an "err" or "ok" as well. */
void lua_take_reply(lua_State *lua, struct rl_reply *reply)
{
    reply->n_elements = 0;
    if (!lua_istable(lua, -1))
        take_item(lua, &reply->root);
    else if (lua_objlen(lua, -1))
        take_array(lua, reply);
    else if (!take_field(lua, "err", RL_REPLY_ERROR, &reply->root) &&
             !take_field(lua, "ok", RL_REPLY_STATUS, &reply->root))
        take_array(lua, reply);
}
