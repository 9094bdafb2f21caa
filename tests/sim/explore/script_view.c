#include "script_view.h"

#include <stdlib.h>
#include <string.h>

const char *const script_names[SCRIPT_VALUES] = {"a", "A", "b", "B", "c", "C"};

unsigned script_value_named(const char *name, size_t size)
{
    unsigned value = 0;

    while (value < SCRIPT_VALUES && (size != 1 || script_names[value][0] != name[0]))
        value++;
    return value;
}

struct entry *script_find(struct keyspace *keys, int64_t now_ms, const char *key)
{
    return keyspace_lookup(keys, key, strlen(key), now_ms);
}

/* An entry: [its mode and a space,] the end of its lease, and more. */
static bool lives(const struct field *field, int64_t now_ms)
{
    char text[ENTRY_TEXT + 1] = "";
    const char *ends = text;

    memcpy(text, field->value.bytes, field->value.size);
    if (text[0] > '9')
        ends = strchr(text, ' ');
    return ends && strtoll(ends, NULL, 10) > now_ms;
}

size_t script_view_queue(struct keyspace *keys, int64_t now_ms, const char *queue, const char *waiters,
                         struct script_place ret_places[SCRIPT_VALUES])
{
    const struct entry *entries = script_find(keys, now_ms, waiters);
    const struct entry *places = script_find(keys, now_ms, queue);
    const struct member *members;
    uint32_t count = 0;
    size_t n = 0;

    members = places ? keyspace_members(keys, places, &count) : NULL;
    for (; n < count && n < SCRIPT_VALUES; n++) {
        const struct member *member = &members[n];
        const struct field *field = entries ? keyspace_field(keys, entries, member->name, member->size) : NULL;

        ret_places[n] = (struct script_place){script_value_named(member->name, member->size), member->score,
                                              field && lives(field, now_ms)};
    }
    return n;
}
