#include "script_tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/script.h"
#include "script_words.h"
#include "util/instant.h"

bool script_master_run(const struct script_master *master, struct keyspace *keys, int64_t now_ms,
                       const struct rl_command *command, struct rl_reply *reply)
{
    const struct script_call call = {
        .script = command->script,
        .n_keys = command->n_keys, .argc = command->argc, .argv = command->argv,
    };

    return script_master_call(master, keys, now_ms * RL_NS_PER_MS, &call, reply);
}

void script_master_plant(struct lua_host *lua, const char *old, const char *new)
{
    static char text[SCRIPT_WORDS_ROOM];
    bool planted = false;

    for (int script = RL_SCRIPT_NONE + 1; script < RL_SCRIPT_COUNT; script++) {
        snprintf(text, sizeof text, "%s", rl_script_text((enum rl_script)script)->text);
        if (old && script_replace_words(text, old, new)) {
            lua_host_replace(lua, (enum rl_script)script, text);
            planted = true;
        } else {
            lua_host_replace(lua, (enum rl_script)script, NULL);
        }
    }
    if (old && !planted) {
        fprintf(stderr, "explore: no script has \"%s\"\n", old);
        exit(2);
    }
}

/* --- States ------------------------------------------------------------------------------------------------------- */

uint64_t script_master_hash_more(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static uint64_t hash_pair(uint64_t start, const char *name, size_t name_size, const void *value, size_t size)
{
    return script_master_hash_more(script_master_hash_more(start, name, name_size), value, size);
}

/* The order in which a hash has its fields does not matter. */
static uint64_t hash_entry(const struct keyspace *keys, const struct entry *entry)
{
    uint64_t start = script_master_hash_more(UINT64_C(0xcbf29ce484222325), entry->key.bytes, entry->key.size);
    uint64_t sum = script_master_hash_more(start, entry->value.bytes, entry->value.size);

    sum = script_master_hash_more(sum, &entry->expire_ms, sizeof entry->expire_ms);
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        const struct field *field = &keys->fields[i];

        if (field->owner == entry->number)
            sum += hash_pair(start + 1, field->name.bytes, field->name.size, field_get(field).data,
                             field_get(field).size);
    }
    for (uint32_t i = 0; i < keys->n_members; i++) {
        const struct member *member = &keys->members[i];

        if (member->owner == entry->number)
            sum += hash_pair(start + 2, member->name, member->size, &member->score, sizeof member->score);
    }
    return script_master_hash_more(sum, &sum, sizeof sum);
}

uint64_t script_master_hash(struct keyspace *keys, int64_t now_ms)
{
    uint64_t sum = 0;

    script_master_purge(keys, now_ms);
    for (uint32_t i = 0; i < keys->count; i++)
        sum += hash_entry(keys, &keys->entries[i]);
    return sum;
}
