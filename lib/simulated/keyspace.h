/* The keys of one simulated master, with expiry on the master's own clock, as Redis does it: a command works with the
 * time at which it started, in whole milliseconds, and a key is gone when that time is past its expiry. */
#ifndef RL_SIMULATED_KEYSPACE_H
#define RL_SIMULATED_KEYSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulated/clockwork.h"
#include "kinds/names.h"
#include "util/slice.h"
#include "votes/kind.h"

/* Masters of the shipped library have room for any key and label, those of tests/sim are small. */
#ifdef RL_SIMULATED_ROOMY
#define ENTRY_TEXT 1100
#define MEMBER_TEXT 255
#define KEYSPACE_MAX_FIELDS 2000
#define KEYSPACE_MAX_MEMBERS 2000
#define KEYSPACE_MAX_KEYS 1000
#else
#define ENTRY_TEXT 160
#define MEMBER_TEXT 24
#define KEYSPACE_MAX_FIELDS 280
#define KEYSPACE_MAX_MEMBERS 160
#define KEYSPACE_MAX_KEYS 33
#endif

/* Names of what is no lock begin with this: the marker, the counters of the fencing tokens, the queues. */
#define OWN_NAMES "redlock:"
#define MARKER_KEY RL_MARKER_NAME

struct text {
    uint16_t size;
    char bytes[ENTRY_TEXT];
};

/* Views are longer: such texts are kept for ever, once each. */
struct long_text;

/* Of the hash whose entry has this number. */
struct field {
    uint32_t owner;
    struct text name;
    struct text value;
    const struct long_text *long_value; /* NULL: `value` has it */
};

/* Of the sorted set whose entry has this number. */
struct member {
    uint32_t owner;
    uint8_t size;
    char name[MEMBER_TEXT];
    double score;
};

enum entry_type {
    ENTRY_STRING,
    ENTRY_HASH,
    ENTRY_SORTED,
};

struct entry {
    struct text key;
    enum entry_type type;
    uint32_t number;   /* no other entry of this master has ever had it */
    uint32_t writer;   /* the claim that set it, for the oracles; 0: it is no lock */
    int64_t expire_ms; /* master's time; 0: never */
    int64_t gone;      /* true instant at which it is gone, if the clock goes on as now; INT64_MAX: never */
    struct text value; /* of a string */
};

struct keyspace {
    uint32_t count;
    uint32_t n_fields;
    uint32_t n_members;
    uint32_t numbers; /* given so far */
    struct entry entries[KEYSPACE_MAX_KEYS];
    struct field fields[KEYSPACE_MAX_FIELDS];
    struct member members[KEYSPACE_MAX_MEMBERS]; /* by owner, score and name */
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

/* Nothing is left. */
void keyspace_clear(struct keyspace *keys);

void entry_expire_at(struct entry *entry, const struct clockwork *clock, int64_t expire_ms);

/* The clock has been set or its rate has changed: when each key will be gone must be computed anew. */
void keyspace_retime(struct keyspace *keys, const struct clockwork *clock);

/* Its value. */
void field_set(struct field *field, const void *bytes, size_t size);
struct rl_slice field_get(const struct field *field);

/* The field of a hash; NULL if it has none of that name. */
struct field *keyspace_field(struct keyspace *keys, const struct entry *hash, const void *name, size_t size);

/* A new field, its value empty; NULL if the model is full. */
struct field *keyspace_add_field(struct keyspace *keys, const struct entry *hash, const void *name, size_t size);

/* ... is gone; and the hash itself with the last one. */
void keyspace_remove_field(struct keyspace *keys, struct entry *hash, struct field *field);

/* Is this the key of a lock whose votes are shared? */
bool is_set_of_votes(const struct entry *entry);

/* The members of a sorted set, in their order; and the one of that name, or NULL. */
struct member *keyspace_members(struct keyspace *keys, const struct entry *set, uint32_t *ret_count);
struct member *keyspace_member(struct keyspace *keys, const struct entry *set, const void *name, size_t size);

/* false: the model is full. */
bool keyspace_add_member(struct keyspace *keys, const struct entry *set, const void *name, size_t size, double score);

/* ... is gone; and, with the last one of its set, `set` itself, which may be NULL if that is to stay. */
void keyspace_remove_member(struct keyspace *keys, struct entry *set, struct member *member);

/* As it was: only what is there is copied. */
void keyspace_copy(struct keyspace *keys, const struct keyspace *source);

#endif
