#include "keyspace.h"

#include <string.h>

#include "util/instant.h"

bool text_set(struct text *text, const void *bytes, size_t size)
{
    if (size > ENTRY_TEXT)
        return false;
    memcpy(text->bytes, bytes, size);
    text->size = (uint8_t)size;
    return true;
}

bool text_is(const struct text *text, const void *bytes, size_t size)
{
    return text->size == size && memcmp(text->bytes, bytes, size) == 0;
}

struct entry *keyspace_find(struct keyspace *keys, const void *key, size_t size)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (text_is(&keys->entries[i].key, key, size))
            return &keys->entries[i];
    }
    return NULL;
}

struct entry *keyspace_lookup(struct keyspace *keys, const void *key, size_t size, int64_t now_ms)
{
    struct entry *entry = keyspace_find(keys, key, size);

    if (entry && entry->expire_ms && now_ms > entry->expire_ms) {
        keyspace_remove(keys, entry);
        return NULL;
    }
    return entry;
}

struct entry *keyspace_add(struct keyspace *keys, const void *key, size_t size)
{
    struct entry *entry;

    if (keys->count == KEYSPACE_MAX_KEYS)
        return NULL;
    entry = &keys->entries[keys->count];
    if (!text_set(&entry->key, key, size))
        return NULL;
    keys->count++;
    entry->type = ENTRY_STRING;
    entry->writer = 0;
    entry->expire_ms = 0;
    entry->gone = INT64_MAX;
    entry->value.size = 0;
    return entry;
}

void keyspace_remove(struct keyspace *keys, struct entry *entry)
{
    keys->count--;
    if (entry != &keys->entries[keys->count])
        *entry = keys->entries[keys->count];
}

void entry_expire_at(struct entry *entry, const struct clockwork *clock, int64_t expire_ms)
{
    entry->expire_ms = expire_ms;
    entry->gone = expire_ms ? clockwork_when(clock, (expire_ms + 1) * RL_NS_PER_MS) : INT64_MAX;
}

void keyspace_retime(struct keyspace *keys, const struct clockwork *clock)
{
    for (uint32_t i = 0; i < keys->count; i++)
        entry_expire_at(&keys->entries[i], clock, keys->entries[i].expire_ms);
}

struct field *keyspace_field(struct keyspace *keys, const void *name, size_t size)
{
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        if (text_is(&keys->fields[i].name, name, size))
            return &keys->fields[i];
    }
    return NULL;
}

void keyspace_copy(struct keyspace *keys, const struct keyspace *source)
{
    keys->count = source->count;
    keys->n_fields = source->n_fields;
    memcpy(keys->entries, source->entries, source->count * sizeof source->entries[0]);
    memcpy(keys->fields, source->fields, source->n_fields * sizeof source->fields[0]);
}
