#include "master.h"

#include <stdio.h>
#include <string.h>

#include "world.h"

#define ALL_SCRIPTS UINT32_MAX
#define FSYNC_NS (1000 * RL_NS_PER_MS)

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
    master->keys.count = 0;
    master->synced.count = 0;
    master->unsynced_since = INT64_MAX;
    master->scripts = 0;
    master->index = (uint8_t)index;
    master->up = true;
    master->durability = DURABILITY_NONE;
    master->replica = false;
    master->promoted = false;
    master->run = 1;
    master->silent_death = false;
    master->hung = 0;
    master->error = ERROR_NONE;
    master->loss = LOSS_NONE;
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

static struct redis_context make_context(struct world *world, struct master *master, uint32_t writer)
{
    struct redis_context context = {
        .keys = &master->keys,
        .clock = &master->clock,
        .now_ns = master_time(world, master),
        .writer = writer,
        .touch = on_touch,
        .world = world,
        .master = master->index,
        .info = master->info,
    };

    if (master->error == ERROR_MEMORY) {
        context.write_error = ERROR_OF_MEMORY;
        context.out_of_memory = true;
    } else if (master->replica) {
        context.write_error = errors_of_writes[0];
    } else if (master->error == ERROR_WRITES) {
        context.write_error = PICK(errors_of_writes, master->error_choice);
    }
    return context;
}

/* The lines that JOIN looks at. */
static void write_info(struct master *master)
{
    snprintf(master->info, sizeof master->info,
             "# Server\nredis_version:7.0.15\nrun_id:m%ur%u\nmaxmemory:0\nmaxmemory_policy:noeviction\n"
             "aof_enabled:%d\nrole:%s\nconnected_slaves:0\nmaster_replid:m%u\n"
             "master_replid2:%c\nsecond_repl_offset:%d\ncluster_enabled:0\n",
             master->index + 1, master->run, master->durability != DURABILITY_NONE,
             master->replica ? "slave" : "master", master->index + 1, master->promoted ? 'f' : '0',
             master->promoted ? 1 : -1);
}

static void run_script(struct world *world, struct master *master, struct redis_context *context,
                       const struct message *message, const struct rl_slice *argv, struct rl_reply *reply)
{
    uint32_t bit = UINT32_C(1) << message->script;

    if (message->script == RL_SCRIPT_JOIN)
        write_info(master);
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
static void before_write(struct world *world, struct master *master)
{
    if (master->durability != DURABILITY_EVERYSEC)
        return;
    if (master->unsynced_since != INT64_MAX && world->now - master->unsynced_since < FSYNC_NS)
        return;
    master->unsynced_since = INT64_MAX;
    master->synced.count = master->keys.count;
    memcpy(master->synced.entries, master->keys.entries, master->keys.count * sizeof master->keys.entries[0]);
}

static void after_write(struct world *world, struct master *master, const struct message *message, bool ghost)
{
    if (master->unsynced_since == INT64_MAX)
        master->unsynced_since = world->now;
    if (message->claim == BOX_NONE)
        return;
    if (message->step == RL_STEP_CLAIM || message->step == RL_STEP_EXTEND || message->step == RL_STEP_REPAIR)
        residue_on_write(world, box_get(&world->boxes, message->claim), master->index, ghost);
    validity_check_claim(world, message->claim);
}

static void execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct rl_reply *reply)
{
    struct redis_context context = make_context(world, master, message->claim);
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];

    before_write(world, master);
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
    struct rl_reply inc = {.n_elements = 0};

    faults_on_guard(world, master);
    context = make_context(world, master, BOX_NONE);
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
    struct rl_reply reply = {.n_elements = 0};

    if (message->kind == MESSAGE_GREETING) {
        master->scripts = ALL_SCRIPTS;
        reply_status(&reply, settings[master->durability]);
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

/* --- Faults ------------------------------------------------------------------------------------------------------- */

void master_crash(struct world *world, struct master *master, enum master_loss loss, bool silent)
{
    bool nothing_unsynced =
        master->unsynced_since == INT64_MAX || world->now - master->unsynced_since >= FSYNC_NS;

    TRACE(world, name_of_master(master->index), "crashes%s", silent ? " without a word" : "");
    if (loss == LOSS_LAST_SECOND && nothing_unsynced)
        loss = LOSS_NONE;
    master->up = false;
    master->silent_death = silent;
    master->loss = (uint8_t)loss;
    network_master_died(world, master->index, silent);
}

/* The oracles note what a memory held that is lost now. */
static void note_losses(struct world *world, const struct master *master)
{
    for (uint32_t i = 0; i < master->keys.count; i++) {
        const struct entry *entry = &master->keys.entries[i];

        if (entry->writer && entry->gone > world->now)
            validity_note_loss(world, entry->writer, master->index, entry->gone);
    }
}

static void lose_all(struct world *world, struct master *master)
{
    note_losses(world, master);
    master->keys.count = 0;
}

/* Keys that had been deleted or replaced come back: nobody can be blamed for those. */
static void resurrect(struct world *world, struct master *master)
{
    note_losses(world, master);
    for (uint32_t i = 0; i < master->synced.count; i++) {
        const struct entry *old = &master->synced.entries[i];
        const struct entry *now = keyspace_find(&master->keys, old->key.bytes, old->key.size);

        if (old->writer && (!now || now->writer != old->writer)) {
            residue_excuse(world, old->writer, master->index);
            world_count(world, COUNTER_RESURRECTED);
        }
    }
    master->keys.count = master->synced.count;
    memcpy(master->keys.entries, master->synced.entries, master->synced.count * sizeof master->keys.entries[0]);
    keyspace_retime(&master->keys, &master->clock);
}

void master_restart(struct world *world, struct master *master)
{
    static const char *const found[] = {"with its keys", "without the last second", "empty"};

    TRACE(world, name_of_master(master->index), "restarts %s", found[master->loss]);
    if (master->loss == LOSS_ALL)
        lose_all(world, master);
    else if (master->loss == LOSS_LAST_SECOND)
        resurrect(world, master);
    master->up = true;
    master->silent_death = false;
    master->scripts = 0;
    master->run++;
    master->promoted = false;
    master->unsynced_since = INT64_MAX;
    if (master->loss != LOSS_NONE)
        validity_check_all(world);
    master->loss = LOSS_NONE;
}

void master_flush(struct world *world, struct master *master)
{
    TRACE(world, name_of_master(master->index), "is flushed");
    before_write(world, master);
    if (master->unsynced_since == INT64_MAX)
        master->unsynced_since = world->now;
    lose_all(world, master);
    validity_check_all(world);
}

/* The copies of other masters' locks are nobody's fault. Their clocks differ by up to hours here; keys that live so much
 * longer would say nothing about the lock. */
static void take_memory(struct world *world, struct master *master, const struct master *source)
{
    int64_t ahead_ms = (master_time(world, master) - master_time(world, source)) / RL_NS_PER_MS;

    lose_all(world, master);
    master->keys.count = source->keys.count;
    memcpy(master->keys.entries, source->keys.entries, source->keys.count * sizeof source->keys.entries[0]);
    for (uint32_t i = 0; i < master->keys.count; i++) {
        if (master->keys.entries[i].expire_ms)
            master->keys.entries[i].expire_ms += ahead_ms;
        if (master->keys.entries[i].writer)
            residue_excuse(world, master->keys.entries[i].writer, master->index);
    }
    keyspace_retime(&master->keys, &master->clock);
    master->unsynced_since = INT64_MAX;
    master->synced.count = 0;
    validity_check_all(world);
}

void master_demote(struct world *world, struct master *master, const struct master *source)
{
    TRACE(world, name_of_master(master->index), "becomes a replica%s%s", source ? " of " : "",
          source ? name_of_master(source->index) : "");
    master->replica = true;
    if (source)
        take_memory(world, master, source);
}

void master_promote(struct world *world, struct master *master)
{
    TRACE(world, name_of_master(master->index), "becomes a master");
    master->replica = false;
    master->promoted = true;
}

void master_declare(struct world *world, struct master *master)
{
    char incarnation[16];
    char max_ttl[16];
    struct rl_slice argv[6] = {{MARKER_KEY, 1}, {"declare", 7}, {NULL, 0}, {RING, sizeof RING - 1}, {NULL, 0}, {NULL, 0}};
    struct redis_context context = make_context(world, master, BOX_NONE);
    struct rl_reply reply = {.n_elements = 0};

    argv[2] = (struct rl_slice){incarnation, (size_t)snprintf(incarnation, sizeof incarnation, "i%u",
                                                              ++world->incarnations)};
    argv[4] = (struct rl_slice){max_ttl, (size_t)snprintf(max_ttl, sizeof max_ttl, "%u", world->plan.max_ttl_ms)};
    argv[5] = master->durability == DURABILITY_ALWAYS ? (struct rl_slice){"always", 6} : (struct rl_slice){"none", 4};
    write_info(master);
    lua_host_run(world->lua, &context, RL_SCRIPT_JOIN, 1, 6, argv, &reply);
    before_write(world, master);
}

void master_hang(struct world *world, struct master *master)
{
    if (master->hung++ == 0)
        TRACE(world, name_of_master(master->index), "hangs");
}

void master_resume(struct world *world, struct master *master)
{
    if (--master->hung)
        return;
    TRACE(world, name_of_master(master->index), "resumes");
    network_master_resumed(world, master->index);
}

/* A step forward breaks A2 for whatever lives now; a step back only lets keys live longer. */
static void excuse_all(struct world *world, bool forward)
{
    for (uint32_t id = 1; id <= world->boxes.used; id++) {
        box_get(&world->boxes, id)->excused |= forward;
        box_get(&world->boxes, id)->timed = true;
    }
}

void master_step_clock(struct world *world, struct master *master, int64_t by)
{
    TRACE(world, name_of_master(master->index), "clock set by %lld ms", (long long)(by / RL_NS_PER_MS));
    excuse_all(world, by > 0);
    steps_on_step(world, master->index, by);
    clockwork_step(&master->clock, world->now, by);
    keyspace_retime(&master->keys, &master->clock);
}

void master_set_rate(struct world *world, struct master *master, int64_t rate)
{
    clockwork_set_rate(&master->clock, world->now, rate);
    keyspace_retime(&master->keys, &master->clock);
    validity_check_all(world);
}
