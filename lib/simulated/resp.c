#include "simulated/resp.h"

#include <stdio.h>
#include <stdlib.h>

static void die(const char *what)
{
    fprintf(stderr, "sim: a command is no array of bulk strings: %s\n", what);
    abort();
}

/* A letter, digits without a zero in front, CR LF. */
static size_t take_header(const char *bytes, size_t size, size_t at, char letter, size_t *ret_number)
{
    size_t start = at + 1;
    size_t number = 0;

    if (at >= size || bytes[at] != letter)
        die("another letter");
    for (at++; at < size && bytes[at] >= '0' && bytes[at] <= '9'; at++)
        number = 10 * number + (size_t)(bytes[at] - '0');
    if (at == start || (bytes[start] == '0' && at > start + 1) || at + 2 > size || bytes[at] != '\r' ||
        bytes[at + 1] != '\n')
        die("no number");
    *ret_number = number;
    return at + 2;
}

size_t resp_parse(const void *data, size_t size, struct rl_slice *ret_words, size_t *ret_n)
{
    const char *bytes = data;
    size_t at = take_header(bytes, size, 0, '*', ret_n);

    if (*ret_n == 0 || *ret_n > RESP_MAX_WORDS)
        die("too many words");
    for (size_t i = 0; i < *ret_n; i++) {
        size_t length;

        at = take_header(bytes, size, at, '$', &length);
        if (length + 2 > size - at || bytes[at + length] != '\r' || bytes[at + length + 1] != '\n')
            die("a word is cut off");
        ret_words[i] = (struct rl_slice){bytes + at, length};
        at += length + 2;
    }
    return at;
}

size_t resp_size(const void *bytes, size_t size)
{
    struct rl_slice words[RESP_MAX_WORDS];
    size_t n;

    return resp_parse(bytes, size, words, &n);
}
