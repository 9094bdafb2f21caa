/* Commands on hashes. */
#include "simulated/redis_commands.h"

void command_hget(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
    const struct field *field;

    reply_nil(reply);
    if (!entry)
        return;
    if (entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    field = keyspace_field(context->keys, entry, argv[2].data, argv[2].size);
    if (field)
        reply_string(reply, field_get(field).data, field_get(field).size);
}

static void take_field(struct redis_context *context, const struct entry *hash, struct rl_slice name,
                       struct rl_reply_item *item)
{
    const struct field *field = keyspace_field(context->keys, hash, name.data, name.size);

    *item = (struct rl_reply_item){.type = RL_REPLY_NIL};
    if (field)
        *item = (struct rl_reply_item){.type = RL_REPLY_STRING, .text = field_get(field)};
}

void command_hmget(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);

    if (entry && entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = argc - 2;
    for (size_t i = 0; i < argc - 2; i++) {
        if (entry)
            take_field(context, entry, argv[i + 2], &reply->elements[i]);
        else
            reply->elements[i] = (struct rl_reply_item){.type = RL_REPLY_NIL};
    }
}

/* For scripts only. */
void command_hkeys(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);

    if (entry && entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    reply->root = (struct rl_reply_item){.type = RL_REPLY_ARRAY};
    reply->n_elements = 0;
    for (uint32_t i = 0; entry && i < context->keys->n_fields; i++) {
        const struct field *field = &context->keys->fields[i];

        if (field->owner != entry->number)
            continue;
        if (context->range->n == KEYSPACE_MAX_MEMBERS) {
            redis_full(reply);
            return;
        }
        context->range->members[context->range->n++] = (struct rl_slice){field->name.bytes, field->name.size};
    }
}

/* One field and value of HSET: 1 if it is new, 0 if it was there, -1 if the model has no room. */
static int set_field(struct keyspace *keys, const struct entry *hash, struct rl_slice name, struct rl_slice value)
{
    struct field *field = keyspace_field(keys, hash, name.data, name.size);
    int added = field ? 0 : 1;

    if (!field)
        field = keyspace_add_field(keys, hash, name.data, name.size);
    if (!field)
        return -1;
    field_set(field, value.data, value.size);
    return added;
}

static struct entry *add_hash(struct keyspace *keys, struct rl_slice key)
{
    struct entry *entry = keyspace_add(keys, key.data, key.size);

    if (entry)
        entry->type = ENTRY_HASH;
    return entry;
}

void command_hset(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
    int64_t added = 0;

    if (argc % 2) {
        reply_error(reply, "ERR wrong number of arguments");
        return;
    }
    if (entry && entry->type != ENTRY_HASH) {
        reply_error(reply, WRONGTYPE);
        return;
    }
    if (!entry)
        entry = add_hash(context->keys, argv[1]);
    context->wrote = true;
    for (size_t i = 2; i < argc; i += 2) {
        int result = entry ? set_field(context->keys, entry, argv[i], argv[i + 1]) : -1;

        if (result < 0) {
            redis_full(reply);
            return;
        }
        added += result;
    }
    reply_integer(reply, added);
}

void command_hdel(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    int64_t deleted = 0;

    for (size_t i = 2; i < argc; i++) {
        struct entry *entry = redis_lookup(context, argv[1]);
        struct field *field;

        if (entry && entry->type != ENTRY_HASH) {
            reply_error(reply, WRONGTYPE);
            return;
        }
        field = entry ? keyspace_field(context->keys, entry, argv[i].data, argv[i].size) : NULL;
        if (!field)
            continue;
        deleted++;
        context->wrote = true;
        keyspace_remove_field(context->keys, entry, field);
    }
    reply_integer(reply, deleted);
}
