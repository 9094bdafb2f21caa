#include "simulated/keyspace.h"

#include <stdlib.h>
#include <string.h>

#include "util/instant.h"

bool text_set(struct text *text, const void *bytes, size_t size)
{
    if (size > ENTRY_TEXT)
        return false;
    memcpy(text->bytes, bytes, size);
    text->size = (uint16_t)size;
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
    entry->number = ++keys->numbers;
    entry->writer = 0;
    entry->expire_ms = 0;
    entry->gone = INT64_MAX;
    entry->value.size = 0;
    return entry;
}

static void forget_fields(struct keyspace *keys, uint32_t owner)
{
    for (uint32_t i = keys->n_fields; i-- > 0;) {
        if (keys->fields[i].owner == owner)
            keys->fields[i] = keys->fields[--keys->n_fields];
    }
}

static void forget_members(struct keyspace *keys, uint32_t owner)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < keys->n_members; i++) {
        if (keys->members[i].owner != owner)
            keys->members[kept++] = keys->members[i];
    }
    keys->n_members = kept;
}

void keyspace_remove(struct keyspace *keys, struct entry *entry)
{
    if (entry->type == ENTRY_HASH)
        forget_fields(keys, entry->number);
    else if (entry->type == ENTRY_SORTED)
        forget_members(keys, entry->number);
    keys->count--;
    if (entry != &keys->entries[keys->count])
        *entry = keys->entries[keys->count];
}

void keyspace_clear(struct keyspace *keys)
{
    keys->count = 0;
    keys->n_fields = 0;
    keys->n_members = 0;
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

/* --- Hashes ------------------------------------------------------------------------------------------------------- */

struct field *keyspace_field(struct keyspace *keys, const struct entry *hash, const void *name, size_t size)
{
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        if (keys->fields[i].owner == hash->number && text_is(&keys->fields[i].name, name, size))
            return &keys->fields[i];
    }
    return NULL;
}

struct field *keyspace_add_field(struct keyspace *keys, const struct entry *hash, const void *name, size_t size)
{
    struct field *field = &keys->fields[keys->n_fields];

    if (keys->n_fields == KEYSPACE_MAX_FIELDS || !text_set(&field->name, name, size))
        return NULL;
    keys->n_fields++;
    field->owner = hash->number;
    field->value.size = 0;
    field->long_value = NULL;
    return field;
}

void keyspace_remove_field(struct keyspace *keys, struct entry *hash, struct field *field)
{
    *field = keys->fields[--keys->n_fields];
    for (uint32_t i = 0; i < keys->n_fields; i++) {
        if (keys->fields[i].owner == hash->number)
            return;
    }
    keyspace_remove(keys, hash);
}

/* --- Sorted sets -------------------------------------------------------------------------------------------------- */

static bool is_named(const struct member *member, const void *name, size_t size)
{
    return member->size == size && memcmp(member->name, name, size) == 0;
}

static bool is_before(const struct member *a, const struct member *b)
{
    size_t common = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->name, b->name, common);

    if (a->owner != b->owner)
        return a->owner < b->owner;
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score;
    return order ? order < 0 : a->size < b->size;
}

bool is_set_of_votes(const struct entry *entry)
{
    return entry->type == ENTRY_SORTED &&
           !(entry->key.size >= sizeof OWN_NAMES - 1 && memcmp(entry->key.bytes, OWN_NAMES, sizeof OWN_NAMES - 1) == 0);
}

struct member *keyspace_members(struct keyspace *keys, const struct entry *set, uint32_t *ret_count)
{
    uint32_t first = 0;
    uint32_t end;

    while (first < keys->n_members && keys->members[first].owner != set->number)
        first++;
    end = first;
    while (end < keys->n_members && keys->members[end].owner == set->number)
        end++;
    *ret_count = end - first;
    return &keys->members[first];
}

struct member *keyspace_member(struct keyspace *keys, const struct entry *set, const void *name, size_t size)
{
    for (uint32_t i = 0; i < keys->n_members; i++) {
        if (keys->members[i].owner == set->number && is_named(&keys->members[i], name, size))
            return &keys->members[i];
    }
    return NULL;
}

bool keyspace_add_member(struct keyspace *keys, const struct entry *set, const void *name, size_t size, double score)
{
    struct member member = {.owner = set->number, .size = (uint8_t)size, .score = score};
    uint32_t at = keys->n_members;

    if (at == KEYSPACE_MAX_MEMBERS || size > MEMBER_TEXT)
        return false;
    memcpy(member.name, name, size);
    for (; at > 0 && is_before(&member, &keys->members[at - 1]); at--)
        keys->members[at] = keys->members[at - 1];
    keys->members[at] = member;
    keys->n_members++;
    return true;
}

void keyspace_remove_member(struct keyspace *keys, struct entry *set, struct member *member)
{
    uint32_t at = (uint32_t)(member - keys->members);
    uint32_t left;

    memmove(member, member + 1, (keys->n_members - at - 1) * sizeof *member);
    keys->n_members--;
    if (!set)
        return;
    keyspace_members(keys, set, &left);
    if (!left)
        keyspace_remove(keys, set);
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

void keyspace_copy(struct keyspace *keys, const struct keyspace *source)
{
    keys->count = source->count;
    keys->n_fields = source->n_fields;
    keys->n_members = source->n_members;
    if (keys->numbers < source->numbers)
        keys->numbers = source->numbers;
    memcpy(keys->entries, source->entries, source->count * sizeof source->entries[0]);
    memcpy(keys->fields, source->fields, source->n_fields * sizeof source->fields[0]);
    memcpy(keys->members, source->members, source->n_members * sizeof source->members[0]);
}

/* --- Long texts --------------------------------------------------------------------------------------------------- */

struct long_text {
    struct long_text *next;
    size_t size;
    char bytes[];
};

static struct long_text *long_texts;

static const struct long_text *keep(const void *bytes, size_t size)
{
    struct long_text *text = long_texts;

    while (text && (text->size != size || memcmp(text->bytes, bytes, size) != 0))
        text = text->next;
    if (text)
        return text;
    text = malloc(sizeof *text + size);
    if (!text)
        abort();
    text->size = size;
    memcpy(text->bytes, bytes, size);
    text->next = long_texts;
    long_texts = text;
    return text;
}

void field_set(struct field *field, const void *bytes, size_t size)
{
    field->long_value = NULL;
    if (text_set(&field->value, bytes, size))
        return;
    field->value.size = 0;
    field->long_value = keep(bytes, size);
}

struct rl_slice field_get(const struct field *field)
{
    if (field->long_value)
        return (struct rl_slice){field->long_value->bytes, field->long_value->size};
    return (struct rl_slice){field->value.bytes, field->value.size};
}
