#include "cli/lock_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "cli/common.h"
#include "options/message.h"

_Static_assert(CLI_MOST_TEXTS == REDLOCK_MAX_SET_KEYS, "--key can be given as often as a set has keys");

bool lock_spec_take_key(const char *command, struct lock_spec *spec, const char *operand)
{
    struct cli_texts *keys = &spec->keys;

    if (operand && keys->n > 0) {
        cli_error(command, "two keys are given: '%s' and --key '%s'; write --key before each of several", operand,
                  keys->items[0]);
        return false;
    }
    if (operand)
        keys->items[keys->n++] = operand;
    if (keys->n == 0)
        cli_error(command, "KEY is missing: the lock that is to be held");
    return keys->n > 0;
}

/* NULL: out of memory. */
static char *join(const struct cli_texts *keys, const char *before, const char *between, const char *behind)
{
    size_t size = strlen(before) + strlen(behind) + 1;
    char *text;

    for (size_t i = 0; i < keys->n; i++)
        size += strlen(keys->items[i]) + strlen(between);
    text = malloc(size);
    if (!text)
        return NULL;
    strcpy(text, before);
    for (size_t i = 0; i < keys->n; i++) {
        strcat(text, i > 0 ? between : "");
        strcat(text, keys->items[i]);
    }
    return strcat(text, behind);
}

char *lock_spec_join_keys(const struct lock_spec *spec, const char *between)
{
    return join(&spec->keys, "", between, "");
}

size_t lock_spec_named(const struct cli_texts *keys)
{
    size_t size = strlen(keys->items[0]), n = 1;

    while (n < keys->n && (size += strlen(keys->items[n])) <= MOST_NAMED_BYTES)
        n++;
    return n;
}

/* NULL: out of memory. */
static char *make_title(const struct cli_texts *keys)
{
    struct cli_texts named = *keys;
    char more[32] = "'";

    named.n = lock_spec_named(keys);
    if (named.n < keys->n)
        snprintf(more, sizeof more, "' and %zu more", keys->n - named.n);
    return join(&named, "'", "', '", more);
}

bool lock_spec_name(struct lock_spec *spec)
{
    spec->verb = spec->keys.n > 1 ? "are" : "is";
    spec->title = make_title(&spec->keys);
    return spec->title != NULL;
}

static bool read_permits(const char *command, struct lock_spec *spec)
{
    const char *word = spec->permits_word;

    if (!word)
        return true;
    if (!cli_permits_of(word, &spec->n_permits, &spec->permits))
        cli_error(command,
                  "--permits: '%s' is not N/K: N of the K permits of KEY, N from 1 to %d and K from N to %d", word,
                  REDLOCK_MAX_SET_KEYS, REDLOCK_MAX_PERMITS);
    else if (spec->keys.n > 1)
        cli_error(command, "--permits takes one key: permits are not taken together with other keys");
    else if (spec->shared)
        cli_error(command, "--permits and --shared exclude each other: a permit has one holder");
    else
        return true;
    return false;
}

bool lock_spec_complete(const char *command, struct lock_spec *spec)
{
    if (!read_permits(command, spec))
        return false;
    if (!lock_spec_name(spec))
        cli_error(command, "out of memory");
    return spec->title != NULL;
}

void lock_spec_fini(struct lock_spec *spec)
{
    free(spec->title);
    spec->title = NULL;
}

size_t lock_spec_count(const struct lock_spec *spec)
{
    return spec->n_permits > 1 ? spec->n_permits : spec->keys.n;
}

bool lock_spec_has_several(const struct lock_spec *spec)
{
    return lock_spec_count(spec) > 1;
}
