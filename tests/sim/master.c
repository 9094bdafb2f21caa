#include "master_parts.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

#define ALL_SCRIPTS UINT32_MAX

static const char *const errors_before[] = {
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "CLUSTERDOWN The cluster is down",
    "MOVED 3999 127.0.0.1:6381",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "NOAUTH Authentication required.",
    "NOPERM this user has no permissions to run the command",
    "ERR unknown command 'SET', with args beginning with: 'k' ",
};

static const char *const errors_of_writes[] = {
    "READONLY You can't write against a read only replica.",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "NOREPLICAS Not enough good replicas to write.",
};

#define ERROR_OF_MEMORY "OOM command not allowed when used memory > 'maxmemory'."
#define ERROR_WITHOUT_MEANING "ERR internal error"
#define PICK(texts, choice) ((texts)[(choice) % (sizeof(texts) / sizeof((texts)[0]))])

void master_init(struct master *master, unsigned index)
{
    keyspace_clear(&master->keys);
    keyspace_clear(&master->synced);
    master->unsynced_since = INT64_MAX;
    master->scripts = 0;
    master->index = (uint8_t)index;
    master->up = true;
    master->durability = DURABILITY_NONE;
    master->disturbed = INT64_MIN;
    master->replica = false;
    master->promoted = false;
    master->run = 1;
    master->silent_death = false;
    master->hung = 0;
    master->error = ERROR_NONE;
    master->loss = LOSS_NONE;
    master->info[0] = '\0';
}

bool master_running(const struct master *master)
{
    return master->up && !master->hung;
}

int64_t master_time(const struct world *world, const struct master *master)
{
    return clockwork_read(&master->clock, world->now);
}

const struct entry *master_peek(struct master *master, const char *key, int64_t at)
{
    const struct entry *entry = keyspace_find(&master->keys, key, strlen(key));

    return entry && entry->gone > at ? entry : NULL;
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

static void on_touch(struct redis_context *context, const struct entry *entry, const char *command)
{
    foreign_on_touch(context->world, context->master, entry, context->writer, command);
}

/* A release or an ENQUEUE may give the key to another claim than its own. */
static uint32_t owner(struct redis_context *context, struct rl_slice value)
{
    const struct world *world = context->world;
    const struct box *writer = box_get(&world->boxes, context->writer);
    const struct box *heir;

    if (writer->token_size == value.size && memcmp(writer->token, value.data, value.size) == 0)
        return context->writer;
    heir = box_of_token(&world->boxes, value.data, value.size);
    return heir ? heir->id : context->writer;
}

static void given(struct redis_context *context, const struct entry *entry)
{
    struct world *world = context->world;

    line_on_hand_over(world, box_get(&world->boxes, entry->writer), context->master, entry->expire_ms);
}

/* Each channel has one listener at most. */
static int64_t publish(struct redis_context *context, struct rl_slice channel, struct rl_slice payload)
{
    struct world *world = context->world;

    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];

        if (!client->alive || !client->listens || client->ears[context->master].conn == CONN_NONE ||
            strlen(client->channel) != channel.size || memcmp(client->channel, channel.data, channel.size) != 0)
            continue;
        network_call(world, client->ears[context->master].conn, payload);
        return 1;
    }
    return 0;
}

static const char *write_error(const struct master *master)
{
    if (master->error == ERROR_MEMORY)
        return ERROR_OF_MEMORY;
    if (master->replica)
        return errors_of_writes[0];
    return master->error == ERROR_WRITES ? PICK(errors_of_writes, master->error_choice) : NULL;
}

void master_context(struct world *world, struct master *master, uint32_t writer, struct redis_context *ret_context)
{
    ret_context->keys = &master->keys;
    ret_context->clock = &master->clock;
    ret_context->now_ns = master_time(world, master);
    ret_context->write_error = write_error(master);
    ret_context->writer = writer;
    ret_context->wrote = false;
    ret_context->out_of_memory = master->error == ERROR_MEMORY;
    ret_context->began = false;
    ret_context->touch = on_touch;
    ret_context->owner = owner;
    ret_context->given = given;
    ret_context->publish = publish;
    ret_context->world = world;
    ret_context->master = master->index;
    ret_context->info = master->info;
    ret_context->scratch = master->scratch;
}

/* The lines that JOIN looks at, and in which masters differ here; the script takes the others as empty or zero. It
 * looks through this text a dozen times. */
void master_write_info(struct master *master)
{
    if (master->info[0])
        return;
    snprintf(master->info, sizeof master->info, "#\nrun_id:m%ur%u\nrole:%s\nmaster_replid2:%c\nmaster_replid:m%u\n%s",
             master->index + 1, master->run, master->replica ? "slave" : "master", master->promoted ? 'f' : '0',
             master->index + 1, master->durability != DURABILITY_NONE ? "aof_enabled:1\n" : "");
}

static void run_script(struct world *world, struct master *master, struct redis_context *context,
                       const struct message *message, const struct rl_slice *argv, struct rl_reply *reply)
{
    uint32_t bit = UINT32_C(1) << message->script;

    if (message->script == RL_SCRIPT_JOIN)
        master_write_info(master);
    else
        faults_on_script(world, master);
    if (message->send_as == RL_SEND_EVALSHA && !(master->scripts & bit)) {
        reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    master->scripts |= bit;
    world_count(world, COUNTER_SCRIPTS);
    lua_host_run(world->lua, context, (enum rl_script)message->script, message->n_keys, message->count, argv, reply);
}

/* The state before the first write since the last fsync is what a crash may leave. */
void master_before_write(struct world *world, struct master *master)
{
    if (master->durability != DURABILITY_EVERYSEC)
        return;
    if (master->unsynced_since != INT64_MAX && world->now - master->unsynced_since < MASTER_FSYNC_NS)
        return;
    master->unsynced_since = INT64_MAX;
    keyspace_copy(&master->synced, &master->keys);
}

static void after_write(struct world *world, struct master *master, const struct message *message, bool ghost)
{
    if (master->unsynced_since == INT64_MAX)
        master->unsynced_since = world->now;
    if (message->claim == BOX_NONE)
        return;
    if (message->step == RL_STEP_CLAIM || message->step == RL_STEP_ENQUEUE || message->step == RL_STEP_EXTEND ||
        message->step == RL_STEP_REPAIR)
        residue_on_write(world, box_get(&world->boxes, message->claim), master->index, ghost);
    if (message->step == RL_STEP_ENQUEUE)
        line_on_place(world, box_get(&world->boxes, message->claim), master->index);
    validity_check_claim(world, message->claim);
}

static void execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct rl_reply *reply)
{
    struct redis_context context;
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];

    master_context(world, master, message->claim, &context);
    master_before_write(world, master);
    message_unpack_command(message, argv);
    if (message->send_as == RL_SEND_PLAIN)
        redis_execute(&context, message->count, argv, reply);
    else
        run_script(world, master, &context, message, argv, reply);
    if (context.wrote)
        after_write(world, master, message, ghost);
}

static void obey(struct world *world, struct master *master, const struct message *message, bool ghost,
                 struct rl_reply *reply)
{
    if (master->error == ERROR_BEFORE) {
        reply_error(reply, PICK(errors_before, master->error_choice));
        return;
    }
    if (master->error != ERROR_OBSCURE || rng_chance(&world->fate, 500))
        execute(world, master, message, ghost, reply);
    if (master->error == ERROR_OBSCURE)
        reply_error(reply, ERROR_WITHOUT_MEANING);
}

/* HGET marker inc, then TIME: incarnation, seconds, microseconds; nil where there is none to be seen. */
static void answer_guard(struct world *world, struct master *master, struct rl_reply *reply)
{
    const struct rl_slice hget[] = {{"HGET", 4}, {MARKER_KEY, 1}, {"inc", 3}};
    const struct rl_slice time = {"TIME", 4};
    struct redis_context context;
    struct rl_reply inc;

    faults_on_guard(world, master);
    master_context(world, master, BOX_NONE, &context);
    reply_nil(&inc);
    if (master->error != ERROR_BEFORE && master->error != ERROR_OBSCURE)
        redis_execute(&context, 3, hget, &inc);
    redis_execute(&context, 1, &time, reply);
    reply->elements[2] = reply->elements[1];
    reply->elements[1] = reply->elements[0];
    reply->elements[0] = inc.root;
    reply->n_elements = 3;
    world_count(world, COUNTER_GUARDS);
}

/* What CONFIG GET shows, in one word. */
static const char *const settings[] = {"none", "everysec", "always"};

void master_execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct message *ret_reply)
{
    struct rl_reply reply;

    if (message->kind == MESSAGE_GREETING) {
        master->scripts = ALL_SCRIPTS;
        reply_status(&reply, settings[master->durability]);
    } else if (message->kind == MESSAGE_SUBSCRIBE) {
        reply_status(&reply, "subscribe");
        if (master->error == ERROR_BEFORE)
            reply_error(&reply, PICK(errors_before, master->error_choice));
    } else if (message->kind == MESSAGE_GUARD) {
        answer_guard(world, master, &reply);
    } else {
        obey(world, master, message, ghost, &reply);
        world_count(world, COUNTER_COMMANDS);
        if (ghost)
            world_count(world, COUNTER_GHOST_COMMANDS);
        trace_command(world, master, message, ghost, &reply);
    }
    message_pack_reply(ret_reply, &reply);
}
