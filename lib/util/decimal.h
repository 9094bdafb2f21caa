/* Decimal text of an unsigned number: header only, no allocation, no locale. */
#ifndef RL_UTIL_DECIMAL_H
#define RL_UTIL_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

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

#endif
