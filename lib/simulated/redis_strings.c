/* Commands on keys and strings. */
#include <string.h>

#include "simulated/redis_commands.h"

#define SYNTAX "ERR syntax error"

struct set_options {
    bool nx;
    bool xx;
    int64_t px;
};

static bool key_is_lock(struct rl_slice key)
{
    return !(key.size >= sizeof OWN_NAMES - 1 && memcmp(key.data, OWN_NAMES, sizeof OWN_NAMES - 1) == 0);
}

static const char *parse_set(size_t argc, const struct rl_slice *argv, struct set_options *options)
{
    for (size_t i = 3; i < argc; i++) {
        if (redis_word_is(argv[i], "NX"))
            options->nx = true;
        else if (redis_word_is(argv[i], "XX"))
            options->xx = true;
        else if (redis_word_is(argv[i], "PX") && i + 1 < argc) {
            if (!redis_parse_integer(argv[++i], &options->px))
                return NOT_AN_INTEGER;
            if (options->px <= 0)
                return "ERR invalid expire time in 'set' command";
        } else {
            return SYNTAX;
        }
    }
    return options->nx && options->xx ? SYNTAX : NULL;
}

static bool is_writer(const struct redis_context *context, uint32_t claim)
{
    for (unsigned i = 0; i < context->n_writers; i++) {
        if (context->writers[i] == claim)
            return true;
    }
    return false;
}

void command_set(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct set_options options = {0};
    const char *error = parse_set(argc, argv, &options);
    struct entry *entry = redis_lookup(context, argv[1]);

    if (error) {
        reply_error(reply, error);
        return;
    }
    if ((options.nx && entry) || (options.xx && !entry)) {
        reply_nil(reply);
        return;
    }
    if (entry)
        redis_remove(context, entry, "SET");
    entry = keyspace_add(context->keys, argv[1].data, argv[1].size);
    if (!entry || !text_set(&entry->value, argv[2].data, argv[2].size)) {
        redis_full(reply);
        return;
    }
    entry->writer = key_is_lock(argv[1]) ? context->owner(context, argv[2]) : 0;
    if (options.px)
        entry_expire_at(entry, context->clock, redis_now_ms(context) + options.px);
    context->wrote = true;
    if (entry->writer && !is_writer(context, entry->writer))
        context->given(context, entry);
    reply_status(reply, "OK");
}

void command_get(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    const struct entry *entry = redis_lookup(context, argv[1]);

    if (!entry)
        reply_nil(reply);
    else if (entry->type != ENTRY_STRING)
        reply_error(reply, WRONGTYPE);
    else
        reply_string(reply, entry->value.bytes, entry->value.size);
}

void command_del(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    int64_t deleted = 0;

    for (size_t i = 1; i < argc; i++) {
        struct entry *entry = redis_lookup(context, argv[i]);

        if (!entry)
            continue;
        redis_remove(context, entry, "DEL");
        deleted++;
        context->wrote = true;
    }
    reply_integer(reply, deleted);
}

void command_delifeq(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
    bool equal = entry && text_is(&entry->value, argv[2].data, argv[2].size);

    reply_integer(reply, equal);
    if (!equal)
        return;
    redis_remove(context, entry, "DELIFEQ");
    context->wrote = true;
}

void command_exists(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    int64_t found = 0;

    for (size_t i = 1; i < argc; i++)
        found += redis_lookup(context, argv[i]) != NULL;
    reply_integer(reply, found);
}

void command_pexpire(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
    int64_t ms;

    if (!redis_parse_integer(argv[2], &ms)) {
        reply_error(reply, NOT_AN_INTEGER);
        return;
    }
    if (!entry) {
        reply_integer(reply, 0);
        return;
    }
    context->wrote = true;
    if (ms <= 0) {
        redis_remove(context, entry, "PEXPIRE");
    } else {
        context->touch(context, entry, "PEXPIRE");
        entry_expire_at(entry, context->clock, redis_now_ms(context) + ms);
    }
    reply_integer(reply, 1);
}

void command_pttl(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    const struct entry *entry = redis_lookup(context, argv[1]);

    if (!entry)
        reply_integer(reply, -2);
    else
        reply_integer(reply, entry->expire_ms ? entry->expire_ms - redis_now_ms(context) : -1);
}
