#include "request.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* "*3" or "$5" and the end of the line, at *pos; false if it is not complete yet. */
static bool take_number(const char *bytes, size_t size, size_t *pos, char kind, size_t *ret_number)
{
    const char *end = *pos < size ? memchr(bytes + *pos, '\n', size - *pos) : NULL;

    if (!end)
        return false;
    ck_assert_int_eq(bytes[*pos], kind);
    *ret_number = (size_t)strtoul(bytes + *pos + 1, NULL, 10);
    *pos = (size_t)(end + 1 - bytes);
    return true;
}

size_t request_parse(const char *bytes, size_t size, struct request *request)
{
    size_t pos = 0;

    if (!take_number(bytes, size, &pos, '*', &request->n_words))
        return 0;
    ck_assert_uint_le(request->n_words, REQUEST_WORDS_MAX);
    for (size_t i = 0; i < request->n_words; i++) {
        size_t length = 0;

        if (!take_number(bytes, size, &pos, '$', &length) || size - pos < length + 2)
            return 0;
        snprintf(request->words[i], REQUEST_WORD_MAX, "%.*s", (int)length, bytes + pos);
        pos += length + 2;
    }
    return pos;
}
