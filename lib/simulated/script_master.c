#include "simulated/script_master.h"

struct listener {
    const struct script_master *master;
    bool failed;
};

static int64_t publish(struct redis_context *context, struct rl_slice channel, struct rl_slice payload)
{
    struct listener *listener = context->world;

    if (!listener->master->told(listener->master->world, channel, payload))
        listener->failed = true;
    return 1;
}

static void nothing_touched(struct redis_context *context, const struct entry *entry, const char *command)
{
    (void)context, (void)entry, (void)command;
}

static uint32_t no_owner(struct redis_context *context, struct rl_slice value)
{
    (void)context, (void)value;
    return 0;
}

static void nothing_given(struct redis_context *context, const struct entry *entry)
{
    (void)context, (void)entry;
}

static void nothing_voted(struct redis_context *context, const struct member *vote, int64_t ends_ms,
                          const char *command)
{
    (void)context, (void)vote, (void)ends_ms, (void)command;
}

bool script_master_call(const struct script_master *master, struct keyspace *keys, int64_t now_ns,
                        const struct script_call *call, struct rl_reply *reply)
{
    static const struct clockwork clock = {.rate = CLOCKWORK_PAR};
    static char scratch[REDIS_SCRATCH];
    struct listener listener = {.master = master};
    struct redis_context context = {
        .keys = keys, .clock = &clock, .now_ns = now_ns, .touch = nothing_touched, .owner = no_owner,
        .given = nothing_given, .vote = nothing_voted, .publish = publish, .world = &listener,
        .info = master->info ? master->info : "", .write_error = master->write_error,
        .out_of_memory = master->out_of_memory, .scratch = scratch,
    };

    if (call->script == RL_SCRIPT_NONE)
        redis_execute(&context, call->argc, call->argv, reply);
    else
        lua_host_run(master->lua, &context, call, reply);
    return !listener.failed;
}

void script_master_purge(struct keyspace *keys, int64_t now_ms)
{
    for (uint32_t i = keys->count; i-- > 0;) {
        if (keys->entries[i].expire_ms && now_ms > keys->entries[i].expire_ms)
            keyspace_remove(keys, &keys->entries[i]);
    }
}
