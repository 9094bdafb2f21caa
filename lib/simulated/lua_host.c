#include "simulated/lua_host.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "simulated/lua_memory.h"
#include "simulated/lua_numbers.h"
#include "simulated/lua_values.h"

struct lua_host {
    lua_State *lua;
    struct lua_memory memory;
    struct redis_context *context; /* of the script that is running */
    struct redis_range range;
    int chunks[RL_SCRIPT_COUNT];
    int replaced[RL_SCRIPT_COUNT];
    int keys; /* references of the tables KEYS and ARGV */
    int args;
    size_t n_keys; /* how many elements the tables have now */
    size_t n_args;
    char error[128];
};

/* --- redis.call and redis.pcall ----------------------------------------------------------------------------------- */

static struct lua_host *host_of(lua_State *lua)
{
    return lua_touserdata(lua, lua_upvalueindex(1));
}

static size_t collect_arguments(lua_State *lua, struct rl_slice *argv)
{
    int argc = lua_gettop(lua);

    if (argc == 0)
        luaL_error(lua, "ERR Please specify at least one argument for this redis.call()");
    if (argc > REDIS_MAX_WORDS)
        luaL_error(lua, "ERR too many arguments for the simulated master");
    for (int i = 0; i < argc; i++) {
        argv[i].data = lua_tolstring(lua, i + 1, &argv[i].size);
        if (!argv[i].data)
            luaL_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
    }
    return (size_t)argc;
}

static void run_command(lua_State *lua, struct rl_reply *reply)
{
    struct rl_slice argv[REDIS_MAX_WORDS];
    size_t argc = collect_arguments(lua, argv);

    host_of(lua)->range.n = 0;
    host_of(lua)->range.scored = false;
    redis_execute(host_of(lua)->context, argc, argv, reply);
}

static void push_reply(lua_State *lua, const struct rl_reply *reply)
{
    const struct redis_range *range = &host_of(lua)->range;

    if (range->n)
        lua_push_range(lua, range);
    else
        lua_push_reply(lua, reply);
}

static int redis_call(lua_State *lua)
{
    struct rl_reply reply;

    run_command(lua, &reply);
    push_reply(lua, &reply);
    return reply.root.type == RL_REPLY_ERROR ? lua_error(lua) : 1;
}

static int redis_pcall(lua_State *lua)
{
    struct rl_reply reply;

    run_command(lua, &reply);
    push_reply(lua, &reply);
    return 1;
}

static int redis_table(lua_State *lua, const char *field)
{
    lua_createtable(lua, 0, 1);
    lua_pushvalue(lua, 1);
    lua_setfield(lua, -2, field);
    return 1;
}

static int redis_error_reply(lua_State *lua)
{
    return redis_table(lua, "err");
}

static int redis_status_reply(lua_State *lua)
{
    return redis_table(lua, "ok");
}

/* --- The host ----------------------------------------------------------------------------------------------------- */

static void die(const char *what, const char *why)
{
    fprintf(stderr, "sim: %s: %s\n", what, why);
    abort();
}

static int compile(lua_State *lua, const char *name, const char *text, size_t size)
{
    if (luaL_loadbuffer(lua, text, size, name) != 0)
        die(name, lua_tostring(lua, -1));
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

static void register_function(lua_State *lua, struct lua_host *host, const char *name, lua_CFunction function)
{
    lua_pushlightuserdata(lua, host);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, name);
}

static int global_table(lua_State *lua, const char *name)
{
    lua_newtable(lua);
    lua_pushvalue(lua, -1);
    lua_setglobal(lua, name);
    return luaL_ref(lua, LUA_REGISTRYINDEX);
}

struct lua_host *lua_host_create(void)
{
    struct lua_host *host = calloc(1, sizeof *host);
    lua_State *lua = host ? lua_newstate(lua_memory_alloc, &host->memory) : NULL;

    if (!lua)
        die("lua", "out of memory");
    host->lua = lua;
    luaL_openlibs(lua);
    lua_numbers_install(lua);
    lua_newtable(lua);
    register_function(lua, host, "call", redis_call);
    register_function(lua, host, "pcall", redis_pcall);
    register_function(lua, host, "error_reply", redis_error_reply);
    register_function(lua, host, "status_reply", redis_status_reply);
    lua_setglobal(lua, "redis");
    host->keys = global_table(lua, "KEYS");
    host->args = global_table(lua, "ARGV");
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++) {
        const struct rl_script_text *script = rl_script_text((enum rl_script)i);

        host->chunks[i] = compile(lua, script->name, script->text, script->size);
        host->replaced[i] = LUA_NOREF;
    }
    return host;
}

void lua_host_destroy(struct lua_host *host)
{
    if (!host)
        return;
    lua_close(host->lua);
    lua_memory_fini(&host->memory);
    free(host);
}

void lua_host_replace(struct lua_host *host, enum rl_script script, const char *text)
{
    luaL_unref(host->lua, LUA_REGISTRYINDEX, host->replaced[script]);
    host->replaced[script] = text ? compile(host->lua, "planted bug", text, strlen(text)) : LUA_NOREF;
}

static size_t fill_table(lua_State *lua, int reference, const struct rl_slice *values, size_t count, size_t before)
{
    lua_rawgeti(lua, LUA_REGISTRYINDEX, reference);
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(lua, values[i].data, values[i].size);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    for (size_t i = count; i < before; i++) {
        lua_pushnil(lua);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_pop(lua, 1);
    return count;
}

/* An error inside a script keeps its first word when it came from a command, as Redis 7 does. */
static void take_error(struct lua_host *host, struct rl_reply *reply)
{
    const char *text = "ERR unknown error";

    if (lua_istable(host->lua, -1)) {
        lua_getfield(host->lua, -1, "err");
        snprintf(host->error, sizeof host->error, "%s script: f00d, on @user_script:1.",
                 lua_isstring(host->lua, -1) ? lua_tostring(host->lua, -1) : text);
        lua_pop(host->lua, 1);
    } else {
        snprintf(host->error, sizeof host->error, "ERR %s", lua_isstring(host->lua, -1) ? lua_tostring(host->lua, -1)
                                                                                         : text);
    }
    reply_error(reply, host->error);
}

void lua_host_run(struct lua_host *host, struct redis_context *context, const struct script_call *call,
                  struct rl_reply *reply)
{
    lua_State *lua = host->lua;
    int replaced = host->replaced[call->script];
    const struct rl_slice *args = call->argv + call->n_keys;

    lua_settop(lua, 0);
    host->context = context;
    context->range = &host->range;
    host->n_keys = fill_table(lua, host->keys, call->argv, call->n_keys, host->n_keys);
    host->n_args = fill_table(lua, host->args, args, call->argc - call->n_keys, host->n_args);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, replaced != LUA_NOREF ? replaced : host->chunks[call->script]);
    if (lua_pcall(lua, 0, 1, 0) != 0)
        take_error(host, reply);
    else
        lua_take_reply(lua, reply);
    host->context = NULL;
}
