#include "arguments.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Takes the word over. */
static bool push(struct arguments *arguments, char *word)
{
    if (word && arguments->n < ARGUMENTS_MAX) {
        arguments->list[arguments->n++] = word;
        return true;
    }
    free(word);
    return fail(word ? "too many server arguments" : "out of memory");
}

bool arguments_add(struct arguments *arguments, const char *word, ...)
{
    va_list words;
    bool added = true;

    va_start(words, word);
    for (; word && added; word = va_arg(words, const char *))
        added = push(arguments, strdup(word));
    va_end(words);
    return added;
}

bool arguments_add_list(struct arguments *arguments, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (!push(arguments, strdup(words[i])))
            return false;
    return true;
}

bool arguments_print(struct arguments *arguments, const char *format, ...)
{
    char *word = NULL;
    va_list values;
    int length;

    va_start(values, format);
    length = vasprintf(&word, format, values);
    va_end(values);
    return push(arguments, length < 0 ? NULL : word);
}

void arguments_fini(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->n; i++)
        free(arguments->list[i]);
    memset(arguments, 0, sizeof(*arguments));
}
