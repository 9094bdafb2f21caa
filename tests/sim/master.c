#include "master_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "listener.h"
#include "simulated/resp.h"
#include "simulated/redis_commands.h"
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
    master->scripts = ALL_SCRIPTS; /* other clients have been there */
    master->index = (uint8_t)index;
    master->up = true;
    master->durability = DURABILITY_NONE;
    master->disturbed = INT64_MIN;
    master->list = 0;
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

static bool has_value(const struct box *box, struct rl_slice value)
{
    return box->token_size == value.size && memcmp(box->token, value.data, value.size) == 0;
}

/* The claim of the command with this value; BOX_NONE: it has none. */
static uint32_t find_writer(const struct redis_context *context, struct rl_slice value)
{
    const struct world *world = context->world;

    for (unsigned i = 0; i < context->n_writers; i++) {
        if (has_value(box_get(&world->boxes, context->writers[i]), value))
            return context->writers[i];
    }
    return BOX_NONE;
}

/* The value takes the place of another one, or of one whose place that one has taken. */
static bool succeeds(const struct box_pool *boxes, const struct box *later, const struct box *earlier)
{
    uint32_t wanted = box_maker(boxes, earlier->id)->id;
    uint32_t id = box_maker(boxes, later->id)->replaces;

    while (id != BOX_NONE && id != wanted)
        id = box_get(boxes, id)->replaces;
    return id == wanted;
}

/* An upgrade concerns both values of its handle: one is to take the place of the other. A master that has not heard of
 * the release of a value still has it when the value's successor is replaced in its turn. */
static bool concerns(const struct redis_context *context, const struct box *box)
{
    const struct world *world = context->world;

    for (size_t i = 0; i < context->n_writers; i++) {
        const struct box *writer = box_get(&world->boxes, context->writers[i]);

        if (succeeds(&world->boxes, writer, box) || succeeds(&world->boxes, box, writer))
            return true;
    }
    return false;
}

static void on_touch_of_set(struct redis_context *context, const struct entry *set, const char *command)
{
    uint32_t count;
    const struct member *members = keyspace_members(context->keys, set, &count);

    for (uint32_t i = 0; i < count; i++) {
        if (members[i].name[0] != '@')
            context->vote(context, &members[i], INT64_MIN, command);
    }
}

static void on_touch(struct redis_context *context, const struct entry *entry, const char *command)
{
    struct rl_slice value = {entry->value.bytes, entry->value.size};

    if (is_set_of_votes(entry) && strcmp(command, "PEXPIRE") != 0)
        on_touch_of_set(context, entry, command);
    if (entry->writer && !find_writer(context, value) &&
        !concerns(context, box_get(&((struct world *)context->world)->boxes, entry->writer)))
        foreign_on_touch(context->world, context->master, entry, context->n_writers ? context->writers[0] : BOX_NONE,
                         command);
}

/* A release or an ENQUEUE may give the key to another claim than its own. */
static uint32_t owner(struct redis_context *context, struct rl_slice value)
{
    const struct world *world = context->world;
    uint32_t writer = find_writer(context, value);
    const struct box *next = writer ? NULL : box_of_token(&world->boxes, value.data, value.size);

    return next ? next->id : writer ? writer : context->n_writers ? context->writers[0] : BOX_NONE;
}

static void given(struct redis_context *context, const struct entry *entry)
{
    struct world *world = context->world;

    wait_queue_on_hand_off(world, box_get(&world->boxes, entry->writer), context->master, entry->expire_ms);
}

/* Nobody's vote is removed or made shorter on behalf of another, unless it has ended. */
static void on_vote(struct redis_context *context, const struct member *vote, int64_t ends_ms, const char *command)
{
    struct world *world = context->world;
    const struct box *box = box_of_member(world, vote);
    struct rl_slice value = {box->token, box->token_size};

    if (find_writer(context, value) || concerns(context, box))
        return;
    if (vote->score < 0)
        wait_queue_on_hand_off(world, box, context->master, ends_ms);
    else if (vote->score >= (double)redis_now_ms(context) && (double)ends_ms < vote->score)
        foreign_on_vote(world, context->master, box, command);
}

/* By all of the client's connections that lead to this master. */
static int64_t call_client(struct world *world, const struct client *client, unsigned master, uint8_t channel,
                           struct rl_slice payload)
{
    int64_t n = 0;

    for (unsigned node = 0; node < client->n_places; node++) {
        uint16_t conn = client->listeners[node].conn;

        if (conn != CONN_NONE && world->conns[conn].master == master)
            n += network_call(world, conn, channel, payload);
    }
    return n;
}

static int64_t publish(struct redis_context *context, struct rl_slice channel, struct rl_slice payload)
{
    struct world *world = context->world;
    int64_t n = 0;

    permits_on_publish(world, context->master, payload);
    for (unsigned c = 0; c < world->plan.n_clients; c++) {
        const struct client *client = &world->clients[c];
        int number = listener_number(client, channel);

        if (client->alive && client->listens && number >= 0)
            n += call_client(world, client, context->master, (uint8_t)number, payload);
    }
    return n;
}

static const char *write_error(const struct master *master)
{
    if (master->error == ERROR_MEMORY)
        return ERROR_OF_MEMORY;
    if (master->replica)
        return errors_of_writes[0];
    return master->error == ERROR_WRITES ? PICK(errors_of_writes, master->error_choice) : NULL;
}

void master_context(struct world *world, struct master *master, const struct message *message,
                    struct redis_context *ret_context)
{
    ret_context->keys = &master->keys;
    ret_context->clock = &master->clock;
    ret_context->now_ns = master_time(world, master);
    ret_context->write_error = write_error(master);
    ret_context->n_writers = message ? message->n_claims : 0;
    ret_context->writers = message ? message->claims : NULL;
    ret_context->wrote = false;
    ret_context->out_of_memory = master->error == ERROR_MEMORY;
    ret_context->began = false;
    ret_context->touch = on_touch;
    ret_context->owner = owner;
    ret_context->given = given;
    ret_context->publish = publish;
    ret_context->vote = on_vote;
    ret_context->world = world;
    ret_context->master = master->index;
    ret_context->info = master->info;
    ret_context->range = NULL;
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

static bool is_digest(struct rl_slice word, enum rl_script script)
{
    return word.size == 40 && memcmp(word.data, rl_script_text(script)->sha1, 40) == 0;
}

static bool is_text(struct rl_slice word, enum rl_script script)
{
    const struct rl_script_text *text = rl_script_text(script);

    return word.size == text->size && memcmp(word.data, text->text, text->size) == 0;
}

/* Which of the library's it is: it has no others. */
static enum rl_script which_script(struct rl_slice word, bool digest)
{
    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        if (digest ? is_digest(word, (enum rl_script)script) : is_text(word, (enum rl_script)script))
            return (enum rl_script)script;
    }
    fputs("sim: a script that the library does not have\n", stderr);
    abort();
}

/* EVAL or EVALSHA, the script, the number of keys, keys and arguments. */
static void run_script(struct world *world, struct master *master, struct redis_context *context, size_t argc,
                       const struct rl_slice *argv, struct rl_reply *reply)
{
    bool digest = argv[0].size == 7;
    enum rl_script script = which_script(argv[1], digest);
    uint32_t bit = UINT32_C(1) << script;
    int64_t n_keys = 0;

    if (script == RL_SCRIPT_JOIN)
        master_write_info(master);
    else
        faults_on_script(world, master);
    if (!redis_parse_integer(argv[2], &n_keys) || n_keys < 0 || (size_t)n_keys > argc - 3) {
        reply_error(reply, "ERR value is not an integer or out of range");
        return;
    }
    if (digest && !(master->scripts & bit)) {
        reply_error(reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    master->scripts |= bit;
    world_count(world, COUNTER_SCRIPTS);
    lua_host_run(world->lua, context, &(struct script_call){script, (size_t)n_keys, argc - 3, argv + 3}, reply);
    if (script == RL_SCRIPT_JOIN)
        lists_note(world, master);
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

static void after_write_for(struct world *world, struct master *master, uint32_t claim, enum rl_step step, bool ghost)
{
    struct box *box = box_get(&world->boxes, claim);

    if (step == RL_STEP_CLAIM || step == RL_STEP_ENQUEUE || step == RL_STEP_EXTEND || step == RL_STEP_REPAIR)
        residue_on_write(world, box, master->index, ghost);
    if (step == RL_STEP_ENQUEUE)
        wait_queue_on_entry(world, box, master->index);
    validity_check_claim(world, claim);
}

/* A write for one value may touch the votes of others. */
static bool has_votes(const struct keyspace *keys)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (is_set_of_votes(&keys->entries[i]))
            return true;
    }
    return false;
}

static void after_write(struct world *world, struct master *master, const struct message *message, bool ghost)
{
    if (master->unsynced_since == INT64_MAX)
        master->unsynced_since = world->now;
    for (unsigned i = 0; i < message->n_claims; i++)
        after_write_for(world, master, message->claims[i], (enum rl_step)message->step, ghost);
    if (has_votes(&master->keys))
        validity_check_all(world);
}

/* CONFIG GET, for which some clients have no right. */
static void answer_config(struct world *world, const struct master *master, const struct rl_slice *argv,
                          struct rl_reply *reply)
{
    const char *value = "no";

    if (world->plan.no_config) {
        reply_error(reply, "NOPERM this user has no permissions to run the 'config|get' command");
        return;
    }
    if (rl_slice_is(argv[2], "appendonly"))
        value = master->durability == DURABILITY_NONE ? "no" : "yes";
    else if (rl_slice_is(argv[2], "appendfsync"))
        value = master->durability == DURABILITY_ALWAYS ? "always" : "everysec";
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = rl_slice_is(argv[2], "aof-load-corrupt-tail-max-size") ? 0 : 2; /* it knows no such setting */
    reply->elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = argv[2]};
    reply->elements[1] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {value, strlen(value)}};
}

static void answer_scripts(const struct master *master, struct rl_reply *reply)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = RL_SCRIPT_COUNT - 1;
    for (int i = RL_SCRIPT_NONE + 1; i < RL_SCRIPT_COUNT; i++)
        reply->elements[i - 1] =
            (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = master->scripts >> i & 1};
}

static bool is_script(size_t argc, const struct rl_slice *argv)
{
    return argc >= 3 && (rl_slice_is(argv[0], "EVALSHA") || rl_slice_is(argv[0], "EVAL"));
}

static void execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct rl_reply *reply)
{
    struct redis_context context;
    struct rl_slice argv[RESP_MAX_WORDS];
    size_t argc;

    if (resp_parse(message->bytes, message->size, argv, &argc) != message->size)
        abort();
    master_context(world, master, message, &context);
    master_before_write(world, master);
    if (message->latch)
        latch_before_command(world, master);
    if (is_script(argc, argv))
        run_script(world, master, &context, argc, argv, reply);
    else if (rl_slice_is(argv[0], "CONFIG") && argc == 3)
        answer_config(world, master, argv, reply);
    else if (rl_slice_is(argv[0], "SCRIPT"))
        answer_scripts(master, reply);
    else if (rl_slice_is(argv[0], "SUBSCRIBE") || rl_slice_is(argv[0], "UNSUBSCRIBE"))
        reply_status(reply, "subscribe");
    else
        redis_execute(&context, argc, argv, reply);
    if (context.wrote)
        after_write(world, master, message, ghost);
    if (message->look)
        look_on_read(world, master, message->look);
    if (message->latch)
        latch_on_command(world, master, message, reply);
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

void master_execute(struct world *world, struct master *master, const struct message *message, bool ghost,
                    struct message *ret_reply)
{
    struct rl_reply reply;

    if (message->kind == MESSAGE_SETUP) {
        reply_status(&reply, "PONG");
        message_pack_reply(ret_reply, &reply);
        return;
    }
    if (message->step == RL_TAG_EPOCH_MARKER) {
        faults_on_guard(world, master);
        world_count(world, COUNTER_EPOCH_CHECKS);
    }
    obey(world, master, message, ghost, &reply);
    if (message->n_claims) {
        world_count(world, COUNTER_COMMANDS);
        if (ghost)
            world_count(world, COUNTER_GHOST_COMMANDS);
    }
    if (message->n_claims || message->look || message->latch)
        trace_command(world, master, message, ghost, &reply);
    message_pack_reply(ret_reply, &reply);
}
