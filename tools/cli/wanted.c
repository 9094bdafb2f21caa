#include "cli/wanted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "cli/common.h"
#include "options/message.h"

_Static_assert(CLI_MOST_TEXTS == REDLOCK_MAX_SET_KEYS, "--key can be given as often as a set has keys");

bool wanted_take_key(const char *command, struct wanted *wanted, const char *operand)
{
    struct cli_texts *keys = &wanted->keys;

    if (operand != NULL && keys->n > 0) {
        cli_error(command, "two keys are given: '%s' and --key '%s'; write --key before each of several", operand,
                  keys->items[0]);
        return false;
    }
    if (operand != NULL)
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
    if (text == NULL)
        return NULL;
    strcpy(text, before);
    for (size_t i = 0; i < keys->n; i++) {
        strcat(text, i > 0 ? between : "");
        strcat(text, keys->items[i]);
    }
    return strcat(text, behind);
}

char *wanted_join_keys(const struct wanted *wanted, const char *between)
{
    return join(&wanted->keys, "", between, "");
}

size_t wanted_named(const struct cli_texts *keys)
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

    named.n = wanted_named(keys);
    if (named.n < keys->n)
        snprintf(more, sizeof(more), "' and %zu more", keys->n - named.n);
    return join(&named, "'", "', '", more);
}

bool wanted_name(struct wanted *wanted)
{
    wanted->verb = wanted->keys.n > 1 ? "are" : "is";
    wanted->title = make_title(&wanted->keys);
    return wanted->title != NULL;
}

static bool read_permits(const char *command, struct wanted *wanted)
{
    const char *word = wanted->permits_word;

    if (word == NULL)
        return true;
    if (!cli_permits_of(word, &wanted->n_permits, &wanted->permits))
        cli_error(command,
                  "--permits: '%s' is not N/K: N of the K permits of KEY, N from 1 to %d and K from N to %d", word,
                  REDLOCK_MAX_SET_KEYS, REDLOCK_MAX_PERMITS);
    else if (wanted->keys.n > 1)
        cli_error(command, "--permits takes one key: permits are not taken together with other keys");
    else if (wanted->shared)
        cli_error(command, "--permits and --shared exclude each other: a permit has one holder");
    else
        return true;
    return false;
}

bool wanted_complete(const char *command, struct wanted *wanted)
{
    if (!read_permits(command, wanted))
        return false;
    if (!wanted_name(wanted))
        cli_error(command, "out of memory");
    return wanted->title != NULL;
}

void wanted_fini(struct wanted *wanted)
{
    free(wanted->title);
    wanted->title = NULL;
}

size_t wanted_count(const struct wanted *wanted)
{
    return wanted->n_permits > 1 ? wanted->n_permits : wanted->keys.n;
}

bool wanted_has_several(const struct wanted *wanted)
{
    return wanted_count(wanted) > 1;
}
