/* Commands on hashes. */
#include "redis_commands.h"

void command_hget(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
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

void command_hset(struct redis_context *context, size_t argc, const struct rl_slice *argv, struct rl_reply *reply)
{
    struct entry *entry = redis_lookup(context, argv[1]);
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
