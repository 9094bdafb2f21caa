/* One command: which it is, whether it may run. */
#include "simulated/redis.h"

#include <string.h>

#include "simulated/redis_commands.h"
#include "util/slice.h"
#include "util/instant.h"

/* Seconds and microseconds as two strings. */
static void command_time(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    uint64_t us = (uint64_t)(context->now_ns / RL_NS_PER_US);
    size_t split = rl_decimal(us / 1000000, context->scratch);
    size_t end = split + rl_decimal(us % 1000000, context->scratch + split);

    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = 2;
    reply->elements[0] = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = {context->scratch, split}};
    reply->elements[1] = (struct rl_reply_item){.type = RL_REPLY_STRING,
                                                .text = {context->scratch + split, end - split}};
}

static void command_info(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                         struct rl_reply *reply)
{
    reply_string(reply, context->info, strlen(context->info));
}

static void command_publish(struct redis_context *context, size_t argc, const struct rl_slice *argv,
                            struct rl_reply *reply)
{
    reply_integer(reply, context->publish(context, argv[1], argv[2]));
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
    {"SET", 3, REDIS_MAX_WORDS, WRITES | NEEDS_MEMORY, command_set},
    {"DEL", 2, REDIS_MAX_WORDS, WRITES, command_del},
    {"DELIFEQ", 3, 3, WRITES, command_delifeq},
    {"PEXPIRE", 3, 3, WRITES, command_pexpire},
    {"PTTL", 2, 2, READS, command_pttl},
    {"EXISTS", 2, REDIS_MAX_WORDS, READS, command_exists},
    {"HGET", 3, 3, READS, command_hget},
    {"HMGET", 3, REDIS_MAX_WORDS, READS, command_hmget},
    {"HKEYS", 2, 2, READS, command_hkeys},
    {"HSET", 4, REDIS_MAX_WORDS, WRITES | NEEDS_MEMORY, command_hset},
    {"HDEL", 3, REDIS_MAX_WORDS, WRITES, command_hdel},
    {"ZADD", 4, REDIS_MAX_WORDS, WRITES | NEEDS_MEMORY, command_zadd},
    {"ZREM", 3, REDIS_MAX_WORDS, WRITES, command_zrem},
    {"ZREMRANGEBYSCORE", 4, 4, WRITES, command_zremrangebyscore},
    {"ZCARD", 2, 2, READS, command_zcard},
    {"ZRANK", 3, 3, READS, command_zrank},
    {"ZSCORE", 3, 3, READS, command_zscore},
    {"ZRANGE", 4, 5, READS, command_zrange},
    {"ZPOPMIN", 2, 2, WRITES, command_zpopmin},
    {"PUBLISH", 3, 3, READS, command_publish},
    {"TIME", 1, 1, READS, command_time},
    {"INFO", 1, 1, READS, command_info},
};

static const struct command *find_command(struct rl_slice name)
{
    char first = name.size ? (char)(*(const char *)name.data & ~0x20) : '\0';

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (commands[i].name[0] == first && redis_word_is(name, commands[i].name))
            return &commands[i];
    }
    return NULL;
}

/* A script that has begun to write is not stopped for want of memory. */
static bool refused(const struct redis_context *context, const struct command *command)
{
    unsigned concerned = context->out_of_memory ? NEEDS_MEMORY : WRITES;

    return context->write_error && (command->flags & concerned) && !(context->out_of_memory && context->began);
}

static void run(struct redis_context *context, const struct command *command, size_t argc, const struct rl_slice *argv,
                struct rl_reply *reply)
{
    context->began |= command->flags & WRITES;
    command->run(context, argc, argv, reply);
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
        run(context, command, argc, argv, reply);
}
