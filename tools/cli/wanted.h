/* What a command is to take, as `run` and `lock` are told: one key, several keys, or permits of one. */
#ifndef CLI_WANTED_H
#define CLI_WANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "options/option.h"

struct wanted {
    struct cli_texts keys;
    const char *permits_word; /* "N/K"; NULL: none are wanted */
    uint32_t permits;         /* K, of the semaphore that the only key is; 0: keys are those of locks */
    uint32_t n_permits;       /* N */
    bool shared;              /* the keys beside others that say so, too; no permit can be */
    char *title;              /* the keys in quotation marks, or the first of them, for messages ... */
    const char *verb;         /* ... and "is" or "are" */
};

#define WANTED_OPTIONS(wanted)                                                                                     \
    {.name = "key", .letter = 'k', .texts = &(wanted)->keys}, {.name = "permits", .text = &(wanted)->permits_word}, \
        {.name = "shared", .flag = &(wanted)->shared}

/* The key may be an operand instead (NULL: it is none). False after a message: there is none, or there are two. */
bool wanted_take_key(const char *command, struct wanted *wanted, const char *operand);

/* All but keys and the word have still to be set. False after a message. wanted_fini() is due in either case. */
bool wanted_complete(const char *command, struct wanted *wanted);
void wanted_fini(struct wanted *wanted);

/* The same when all but the title is known; false: out of memory. */
bool wanted_name(struct wanted *wanted);

/* Whether it is taken as a set: all or none. */
bool wanted_has_several(const struct wanted *wanted);

/* Locks: as many as keys, or as permits. */
size_t wanted_count(const struct wanted *wanted);

/* Many long keys could not be read: how many of them a text names. The first one is always among them, others as long
 * as all of these have no more than MOST_NAMED_BYTES. */
enum { MOST_NAMED_BYTES = 256 };
size_t wanted_named(const struct cli_texts *keys);

/* A text to be freed; NULL: out of memory. */
char *wanted_join_keys(const struct wanted *wanted, const char *between);

#endif
