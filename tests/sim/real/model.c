#include "model.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codec/script.h"
#include "simulated/redis_commands.h"
#include "simulated/resp.h"
#include "simulated/script_master.h"
#include "util/instant.h"

/* Scripts that are not the library's take the place of this one, in an interpreter of their own. */
#define PLACE RL_SCRIPT_LOOK

/* EVAL or EVALSHA, text or digest, number of keys. */
#define SCRIPT_WORDS 3

struct model {
    struct keyspace keys;
    struct lua_host *lua[PROGRAM_RETURN + 1];
    bool loaded[RL_SCRIPT_COUNT];
    int64_t now_us;
    char *info;
    const char *write_error;
    bool out_of_memory;
};

struct model *model_open(void)
{
    struct model *model = calloc(1, sizeof *model);

    ck_assert_ptr_nonnull(model);
    for (int program = PROGRAM_SHIPPED; program <= PROGRAM_RETURN; program++)
        model->lua[program] = lua_host_create();
    lua_host_replace(model->lua[PROGRAM_SHOW], PLACE, program_show);
    lua_host_replace(model->lua[PROGRAM_RETURN], PLACE, program_return);
    return model;
}

void model_close(struct model *model)
{
    for (int program = PROGRAM_SHIPPED; program <= PROGRAM_RETURN; program++)
        lua_host_destroy(model->lua[program]);
    free(model->info);
    free(model);
}

void model_set_time(struct model *model, int64_t now_us)
{
    model->now_us = now_us;
}

void model_set_info(struct model *model, const char *info)
{
    free(model->info);
    model->info = strdup(info);
    ck_assert_ptr_nonnull(model->info);
}

void model_refuse_writes(struct model *model, const char *error, bool out_of_memory)
{
    model->write_error = error;
    model->out_of_memory = out_of_memory;
}

void model_forget_scripts(struct model *model)
{
    memset(model->loaded, 0, sizeof model->loaded);
}

/* --- Commands ----------------------------------------------------------------------------------------------------- */

static bool told(void *data, struct rl_slice channel, struct rl_slice payload)
{
    FILE *messages = data;

    return fprintf(messages, "%.*s %.*s\n", (int)channel.size, (const char *)channel.data, (int)payload.size,
                   (const char *)payload.data) > 0;
}

static void run(struct model *model, enum program program, const struct script_call *call, FILE *messages,
                struct rl_reply *ret_reply)
{
    struct script_master master = {
        .lua = model->lua[program], .told = told, .world = messages, .info = model->info,
        .write_error = model->write_error, .out_of_memory = model->out_of_memory,
    };

    ck_assert(script_master_call(&master, &model->keys, model->now_us * RL_NS_PER_US, call, ret_reply));
}

static void run_script(struct model *model, const struct drawn *command, const struct rl_slice *argv, size_t argc,
                       FILE *messages, struct rl_reply *ret_reply)
{
    bool shipped = command->program == PROGRAM_SHIPPED;
    struct script_call call = {.script = shipped ? command->script : PLACE, .argc = argc - SCRIPT_WORDS,
                               .argv = argv + SCRIPT_WORDS};
    int64_t n_keys = 0;

    ck_assert(redis_parse_integer(argv[2], &n_keys));
    call.n_keys = (size_t)n_keys;
    if (rl_slice_is(argv[0], "EVALSHA")) {
        ck_assert(rl_slice_is(argv[1], rl_script_text(command->script)->sha1));
        if (!model->loaded[command->script]) {
            reply_error(ret_reply, "NOSCRIPT No matching script. Please use EVAL.");
            return;
        }
    }
    if (shipped)
        model->loaded[command->script] = true;
    run(model, command->program, &call, messages, ret_reply);
}

void model_ask(struct model *model, const struct drawn *command, FILE *messages, struct rl_reply *ret_reply)
{
    struct rl_slice argv[RESP_MAX_WORDS];
    size_t size = rl_bytes_length(&command->bytes);
    size_t argc;

    ck_assert_uint_eq(resp_parse(rl_bytes_front(&command->bytes), size, argv, &argc), size);
    memset(ret_reply, 0, sizeof *ret_reply);
    if (command->program == PROGRAM_NONE)
        run(model, PROGRAM_SHIPPED, &(struct script_call){.argc = argc, .argv = argv}, messages, ret_reply);
    else
        run_script(model, command, argv, argc, messages, ret_reply);
}

/* --- Contents ----------------------------------------------------------------------------------------------------- */

static int64_t now_ms(const struct model *model)
{
    return model->now_us / 1000;
}

static int compare_texts(const struct text *a, const struct text *b)
{
    int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);

    return order ? order : (int)a->size - (int)b->size;
}

static int compare_entries(const void *a, const void *b)
{
    return compare_texts(&(*(const struct entry *const *)a)->key, &(*(const struct entry *const *)b)->key);
}

size_t model_list_keys(struct model *model, const struct entry *ret_entries[KEYSPACE_MAX_KEYS])
{
    size_t n = 0;

    for (uint32_t i = 0; i < model->keys.count; i++) {
        const struct entry *entry = &model->keys.entries[i];

        if (!entry->expire_ms || now_ms(model) <= entry->expire_ms)
            ret_entries[n++] = entry;
    }
    qsort(ret_entries, n, sizeof ret_entries[0], compare_entries);
    return n;
}

void model_purge(struct model *model)
{
    script_master_purge(&model->keys, now_ms(model));
}

static int compare_fields(const void *a, const void *b)
{
    return compare_texts(&(*(const struct field *const *)a)->name, &(*(const struct field *const *)b)->name);
}

static void write_text(FILE *out, const char *bytes, size_t size)
{
    fputc(' ', out);
    fwrite(bytes, 1, size, out);
}

static void write_fields(struct keyspace *keys, const struct entry *hash, FILE *out)
{
    const struct field *fields[KEYSPACE_MAX_FIELDS];
    size_t n = 0;

    for (uint32_t i = 0; i < keys->n_fields; i++) {
        if (keys->fields[i].owner == hash->number)
            fields[n++] = &keys->fields[i];
    }
    qsort(fields, n, sizeof fields[0], compare_fields);
    for (size_t i = 0; i < n; i++) {
        write_text(out, fields[i]->name.bytes, fields[i]->name.size);
        write_text(out, fields[i]->value.bytes, fields[i]->value.size);
    }
}

static void write_members(struct keyspace *keys, const struct entry *set, FILE *out)
{
    uint32_t count;
    const struct member *members = keyspace_members(keys, set, &count);

    for (uint32_t i = 0; i < count; i++) {
        write_text(out, members[i].name, members[i].size);
        fprintf(out, " %.17g", members[i].score);
    }
}

void model_write_entry(struct model *model, const struct entry *entry, FILE *out)
{
    static const char *const types[] = {[ENTRY_STRING] = "string", [ENTRY_HASH] = "hash", [ENTRY_SORTED] = "zset"};

    fprintf(out, "%.*s %s %" PRId64, (int)entry->key.size, entry->key.bytes, types[entry->type],
            entry->expire_ms ? entry->expire_ms - now_ms(model) : -1);
    if (entry->type == ENTRY_STRING)
        write_text(out, entry->value.bytes, entry->value.size);
    else if (entry->type == ENTRY_HASH)
        write_fields(&model->keys, entry, out);
    else
        write_members(&model->keys, entry, out);
    fputc('\n', out);
}
