#include "redis.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/instant.h"

void reply_status(struct rl_reply *reply, const char *text)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_STATUS, .text = {text, strlen(text)}};
    reply->n_elements = 0;
}

void reply_error(struct rl_reply *reply, const char *text)
{
    reply_status(reply, text);
    reply->root.type = RL_REPLY_ERROR;
}

void reply_integer(struct rl_reply *reply, int64_t value)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = value};
    reply->n_elements = 0;
}

void reply_string(struct rl_reply *reply, const void *data, size_t size)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {data, size}};
    reply->n_elements = 0;
}

void reply_nil(struct rl_reply *reply)
{
    reply->root = (struct rl_reply_item){.type = RL_REPLY_NIL};
    reply->n_elements = 0;
}

#define WRONGTYPE "WRONGTYPE Operation against a key holding the wrong kind of value"
#define NOT_AN_INTEGER "ERR value is not an integer or out of range"
#define SYNTAX "ERR syntax error"

static bool word_is(struct rl_slice slice, const char *word)
{
    return slice.size == strlen(word) && strncasecmp(slice.data, word, slice.size) == 0;
}

static bool parse_integer(struct rl_slice slice, int64_t *ret_value)
{
    const char *at = slice.data;
    int64_t value = 0;
    size_t i = slice.size > 0 && at[0] == '-' ? 1 : 0;

    if (i == slice.size || slice.size > 18)
        return false;
    for (; i < slice.size; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        value = 10 * value + (at[i] - '0');
    }
    *ret_value = at[0] == '-' ? -value : value;
    return true;
}

static int64_t now_ms(const struct redis_context *context)
{
    return context->now_ns / RL_NS_PER_MS;
}

static struct entry *lookup(struct redis_context *context, struct rl_slice key)
{
    return keyspace_lookup(context->keys, key.data, key.size, now_ms(context));
}

static void remove_entry(struct redis_context *context, struct entry *entry, const char *command)
{
    context->touch(context, entry, command);
    keyspace_remove(context->keys, entry);
}

struct set_options {
    bool nx;
    bool xx;
    int64_t px;
};

static const char *parse_set(size_t argc, const struct rl_slice *argv, struct set_options *options)
{
    for (size_t i = 3; i < argc; i++) {
        if (word_is(argv[i], "NX"))
            options->nx = true;
        else if (word_is(argv[i], "XX"))
            options->xx = true;
        else if (word_is(argv[i], "PX") && i + 1 < argc) {
            if (!parse_integer(argv[++i], &options->px))
                return NOT_AN_INTEGER;
            if (options->px <= 0)
                return "ERR invalid expire time in 'set' command";
        } else {
            return SYNTAX;
        }
    }
    return options->nx && options->xx ? SYNTAX : NULL;
}

static void command_set(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                        struct rl_reply *reply)
{
    struct set_options options = {0};
    const char *error = parse_set(argc, argv, &options);
    struct entry *entry = lookup(context, argv[1]);

    if (error) {
        reply_error(reply, error);
        return;
    }
    if ((options.nx && entry) || (options.xx && !entry)) {
        reply_nil(reply);
        return;
    }
    if (entry)
        remove_entry(context, entry, "SET");
    entry = keyspace_add(context->keys, argv[1].data, argv[1].size);
    if (!entry || !text_set(&entry->value, argv[2].data, argv[2].size)) {
        reply_error(reply, "ERR the simulated master is full");
        return;
    }
    entry->writer = context->writer;
    if (options.px)
        entry_expire_at(entry, context->clock, now_ms(context) + options.px);
    context->wrote = true;
    reply_status(reply, "OK");
}

static void command_get(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                        struct rl_reply *reply)
{
    const struct entry *entry = lookup(context, argv[1]);

    (void)argc;
    if (!entry)
        reply_nil(reply);
    else if (entry->type != ENTRY_STRING)
        reply_error(reply, WRONGTYPE);
    else
        reply_string(reply, entry->value.bytes, entry->value.size);
}

static void command_del(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                        struct rl_reply *reply)
{
    int64_t deleted = 0;

    for (size_t i = 1; i < argc; i++) {
        struct entry *entry = lookup(context, argv[i]);

        if (!entry)
            continue;
        remove_entry(context, entry, "DEL");
        deleted++;
        context->wrote = true;
    }
    reply_integer(reply, deleted);
}

static void command_exists(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                           struct rl_reply *reply)
{
    int64_t found = 0;

    for (size_t i = 1; i < argc; i++)
        found += lookup(context, argv[i]) != NULL;
    reply_integer(reply, found);
}

static void command_pexpire(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                            struct rl_reply *reply)
{
    struct entry *entry = lookup(context, argv[1]);
    int64_t ms;

    (void)argc;
    if (!parse_integer(argv[2], &ms)) {
        reply_error(reply, NOT_AN_INTEGER);
        return;
    }
    if (!entry) {
        reply_integer(reply, 0);
        return;
    }
    context->wrote = true;
    if (ms <= 0) {
        remove_entry(context, entry, "PEXPIRE");
    } else {
        context->touch(context, entry, "PEXPIRE");
        entry_expire_at(entry, context->clock, now_ms(context) + ms);
    }
    reply_integer(reply, 1);
}

static void command_pttl(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    const struct entry *entry = lookup(context, argv[1]);

    (void)argc;
    if (!entry)
        reply_integer(reply, -2);
    else
        reply_integer(reply, entry->expire_ms ? entry->expire_ms - now_ms(context) : -1);
}

static void command_hget(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    struct entry *entry = lookup(context, argv[1]);
    const struct field *field;

    (void)argc;
    reply_nil(reply);
    if (!entry)
        return;
    if (entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    field = entry_field(entry, argv[2].data, argv[2].size);
    if (field)
        reply_string(reply, field->value.bytes, field->value.size);
}

/* One field and value of HSET: 1 if it is new, 0 if it was there, -1 if the model has no room. */
static int set_field(struct entry *entry, struct rl_slice name, struct rl_slice value)
{
    struct field *field = entry_field(entry, name.data, name.size);
    int added = 0;

    if (!field) {
        if (entry->n_fields == KEYSPACE_MAX_FIELDS)
            return -1;
        field = &entry->fields[entry->n_fields++];
        added = text_set(&field->name, name.data, name.size) ? 1 : -1;
    }
    return text_set(&field->value, value.data, value.size) ? added : -1;
}

static void command_hset(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    struct entry *entry = lookup(context, argv[1]);
    int64_t added = 0;

    if (entry && entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    if (!entry) {
        entry = keyspace_add(context->keys, argv[1].data, argv[1].size);
        if (entry)
            entry->type = ENTRY_HASH;
    }
    context->wrote = true;
    for (size_t i = 2; i + 1 < argc; i += 2) {
        int result = entry ? set_field(entry, argv[i], argv[i + 1]) : -1;

        if (result < 0) {
            reply_error(reply, "ERR the simulated master is full");
            return;
        }
        added += result;
    }
    reply_integer(reply, added);
}

/* Seconds and microseconds as two strings. */
static void command_time(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    int64_t us = context->now_ns / RL_NS_PER_US;
    int split = snprintf(context->scratch, sizeof context->scratch, "%lld", (long long)(us / 1000000));
    int end = split + snprintf(context->scratch + split, sizeof context->scratch - (size_t)split, "%lld",
                               (long long)(us % 1000000));

    (void)argc;
    (void)argv;
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = 2;
    reply->elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {context->scratch, (size_t)split}};
    reply->elements[1] = (struct rl_reply_item){.type = RL_REPLY_STRING,
                                                .text = {context->scratch + split, (size_t)(end - split)}};
}

enum {
    READS = 0,
    WRITES = 1,
    NEEDS_MEMORY = 2,
};

static const struct command {
    const char *name;
    size_t min_args;
    size_t max_args;
    unsigned flags;
    void (*run)(struct redis_context *, size_t, const struct rl_slice *, struct rl_reply *);
} commands[] = {
    {"GET", 2, 2, READS, command_get},
    {"SET", 3, RL_COMMAND_MAX_ARGS, WRITES | NEEDS_MEMORY, command_set},
    {"DEL", 2, RL_COMMAND_MAX_ARGS, WRITES, command_del},
    {"PEXPIRE", 3, 3, WRITES, command_pexpire},
    {"PTTL", 2, 2, READS, command_pttl},
    {"EXISTS", 2, RL_COMMAND_MAX_ARGS, READS, command_exists},
    {"HGET", 3, 3, READS, command_hget},
    {"HSET", 4, RL_COMMAND_MAX_ARGS, WRITES | NEEDS_MEMORY, command_hset},
    {"TIME", 1, 1, READS, command_time},
};

static const struct command *find_command(struct rl_slice name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (word_is(name, commands[i].name))
            return &commands[i];
    }
    return NULL;
}

static bool refused(const struct redis_context *context, const struct command *command)
{
    unsigned concerned = context->out_of_memory ? NEEDS_MEMORY : WRITES;

    return context->write_error && (command->flags & concerned);
}

void redis_execute(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    const struct command *command = argc ? find_command(argv[0]) : NULL;

    if (!command)
        reply_error(reply, "ERR unknown command");
    else if (argc < command->min_args || argc > command->max_args)
        reply_error(reply, "ERR wrong number of arguments");
    else if (refused(context, command))
        reply_error(reply, context->write_error);
    else
        command->run(context, argc, argv, reply);
}
