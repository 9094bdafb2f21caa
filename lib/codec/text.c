#include "codec/text.h"

#include <stdlib.h>
#include <string.h>

#include "util/bytes.h"

const char rl_text_no_memory[] = "out of memory";

const char *rl_text_find(struct rl_text text, char wanted)
{
    return rl_text_length(text) ? memchr(text.begin, wanted, rl_text_length(text)) : NULL;
}

bool rl_text_number(struct rl_text text, uint32_t limit, uint32_t *ret_number)
{
    uint64_t number = 0;

    if (!rl_text_length(text))
        return false;
    for (const char *in = text.begin; in < text.end; in++) {
        if (*in < '0' || *in > '9')
            return false;
        number = number * 10 + (uint64_t)(*in - '0');
        if (number > limit)
            return false;
    }
    *ret_number = (uint32_t)number;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = rl_text_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The value of the two digits behind a %, -1 if they are not there. */
static int pair_value(const char *percent, const char *end)
{
    if (end - percent < 3 || hex_value(percent[1]) < 0 || hex_value(percent[2]) < 0)
        return -1;
    return hex_value(percent[1]) * 16 + hex_value(percent[2]);
}

/* Decodes into a buffer that is long enough. A NUL would cut the text short wherever it is used as a string. */
static const char *decode_into(struct rl_text text, char *out)
{
    for (const char *in = text.begin; in < text.end; in++) {
        int value = *in == '%' ? pair_value(in, text.end) : *in;

        if (*in == '%' && value < 0)
            return "a % is not followed by two hexadecimal digits";
        if (!value)
            return "%00 is not allowed";
        if (*in == '%')
            in += 2;
        *out++ = (char)value;
    }
    *out = '\0';
    return NULL;
}

const char *rl_text_decode(struct rl_text text, char **ret_copy)
{
    char *copy = malloc(rl_text_length(text) + 1);
    const char *why = copy ? decode_into(text, copy) : rl_text_no_memory;

    if (why)
        free(copy);
    else
        *ret_copy = copy;
    return why;
}

const char *rl_text_decode_secret(struct rl_text text, char **ret_secret)
{
    char *secret = rl_secret_create(rl_text_length(text) + 1);
    const char *why = secret ? decode_into(text, secret) : rl_text_no_memory;

    if (why)
        rl_secret_destroy(secret);
    else
        *ret_secret = secret;
    return why;
}
