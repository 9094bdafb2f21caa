/* The keys of one simulated master, with expiry on the master's own clock, as Redis does it: a command works with the
 * time at which it started, in whole milliseconds, and a key is gone when that time is past its expiry. */
#ifndef SIM_KEYSPACE_H
#define SIM_KEYSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clockwork.h"
#include "core/recipe.h"

#define ENTRY_TEXT 40
#define KEYSPACE_MAX_FIELDS 7
#define KEYSPACE_MAX_KEYS 8

/* Names of what is no lock end with this: the marker, and the counters of the fencing tokens. */
#define NO_LOCK '#'
#define MARKER_KEY "#"

struct text {
    uint8_t size;
    char bytes[ENTRY_TEXT];
};

struct field {
    struct text name;
    struct text value;
};

enum entry_type {
    ENTRY_STRING,
    ENTRY_HASH,
};

struct entry {
    struct text key;
    enum entry_type type;
    uint32_t writer;   /* the claim that set it, for the oracles; 0: it is no lock */
    int64_t expire_ms; /* master's time; 0: never */
    int64_t gone;      /* true instant at which it is gone, if the clock goes on as now; INT64_MAX: never */
    struct text value; /* of a string */
};

struct keyspace {
    uint32_t count;
    uint32_t n_fields;
    struct entry entries[KEYSPACE_MAX_KEYS];
    struct field fields[KEYSPACE_MAX_FIELDS]; /* of the only hash that there is room for */
};

bool text_set(struct text *text, const void *bytes, size_t size);
bool text_is(const struct text *text, const void *bytes, size_t size);

/* The entry, expired or not; NULL if there is none. */
struct entry *keyspace_find(struct keyspace *keys, const void *key, size_t size);

/* The entry if it is alive at the master's time now_ms; an expired one is removed. */
struct entry *keyspace_lookup(struct keyspace *keys, const void *key, size_t size, int64_t now_ms);

/* A new entry for a key that has none; NULL if the model is full. */
struct entry *keyspace_add(struct keyspace *keys, const void *key, size_t size);
void keyspace_remove(struct keyspace *keys, struct entry *entry);

void entry_expire_at(struct entry *entry, const struct clockwork *clock, int64_t expire_ms);

/* The clock has been set or its rate has changed: when each key will be gone must be computed anew. */
void keyspace_retime(struct keyspace *keys, const struct clockwork *clock);

/* The field of the hash; NULL if it has none of that name. */
struct field *keyspace_field(struct keyspace *keys, const void *name, size_t size);

/* As it was: only what is there is copied. */
void keyspace_copy(struct keyspace *keys, const struct keyspace *source);

#endif
