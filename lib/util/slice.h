/* Bytes of somebody else's, and numbers as text; header only. */
#ifndef RL_UTIL_SLICE_H
#define RL_UTIL_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rl_slice {
    const void *data;
    size_t size;
};

static inline struct rl_slice rl_slice_of(const char *text)
{
    return (struct rl_slice){text, strlen(text)};
}

/* An empty slice may have no data. */
static inline bool rl_slice_equals(struct rl_slice a, struct rl_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool rl_slice_is(struct rl_slice slice, const char *word)
{
    return rl_slice_equals(slice, rl_slice_of(word));
}

static inline bool rl_same_text(const char *a, const char *b)
{
    return rl_slice_is(rl_slice_of(a), b);
}

/* Decimal text of an unsigned number, and the number of such a text: header only, no allocation, no locale. */

#define RL_DECIMAL_MAX 20 /* digits of the largest uint64_t */

/* Writes the digits, without a terminator; returns how many. */
static inline size_t rl_decimal(uint64_t value, char ret_text[RL_DECIMAL_MAX])
{
    char reversed[RL_DECIMAL_MAX];
    size_t n = 0;

    do {
        reversed[n++] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++)
        ret_text[i] = reversed[n - 1 - i];
    return n;
}

/* Reads the digits at the front; returns how many. 0: there are none, or the number is larger than a uint64_t. */
static inline size_t rl_decimal_read(const char *text, size_t size, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t n = 0;

    for (; n < size && text[n] >= '0' && text[n] <= '9'; n++) {
        uint64_t digit = (uint64_t)(text[n] - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return 0;
        value = 10 * value + digit;
    }
    *ret_value = value;
    return n;
}

#endif
