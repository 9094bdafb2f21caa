/* What a command is to take, as `run` and `lock` are told: one key, several keys, or permits of one. */
#ifndef CLI_LOCK_SPEC_H
#define CLI_LOCK_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "options/option.h"

struct lock_spec {
    struct cli_texts keys;
    const char *permits_word; /* "N/K"; NULL: none are wanted */
    uint32_t permits;         /* K, of the semaphore that the only key is; 0: keys are those of locks */
    uint32_t n_permits;       /* N */
    uint32_t hold_ms;         /* the least time for which they are held */
    bool shared;              /* the keys beside others that say so, too; no permit can be */
    char *title;              /* the keys in quotation marks, or the first of them, for messages ... */
    const char *verb;         /* ... and "is" or "are" */
};

#define LOCK_SPEC_OPTIONS(spec)                                                                                     \
    {.name = "key", .letter = 'k', .texts = &(spec)->keys}, {.name = "permits", .text = &(spec)->permits_word}, \
        {.name = "shared", .flag = &(spec)->shared},                                                               \
        {.name = "hold-at-least", .duration_ms = &(spec)->hold_ms}

/* The key may be an operand instead (NULL: it is none). False after a message: there is none, or there are two. */
bool lock_spec_take_key(const char *command, struct lock_spec *spec, const char *operand);

/* All but keys and the word have still to be set. False after a message. lock_spec_fini() is due in either case. */
bool lock_spec_complete(const char *command, struct lock_spec *spec);
void lock_spec_fini(struct lock_spec *spec);

/* The same when all but the title is known; false: out of memory. */
bool lock_spec_name(struct lock_spec *spec);

/* Whether it is taken as a set: all or none. */
bool lock_spec_has_several(const struct lock_spec *spec);

/* Locks: as many as keys, or as permits. */
size_t lock_spec_count(const struct lock_spec *spec);

/* Many long keys could not be read: how many of them a text names. The first one is always among them, others as long
 * as all of these have no more than MOST_NAMED_BYTES. */
enum { MOST_NAMED_BYTES = 256 };
size_t lock_spec_named(const struct cli_texts *keys);

/* A text to be freed; NULL: out of memory. */
char *lock_spec_join_keys(const struct lock_spec *spec, const char *between);

#endif
