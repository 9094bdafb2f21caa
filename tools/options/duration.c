#include "options/duration.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int64_t us;
} units[] = {
    {"d", INT64_C(86400000000)}, {"h", INT64_C(3600000000)}, {"m", 60000000}, {"min", 60000000},
    {"s", 1000000},              {"ms", 1000},               {"us", 1},
};

enum { UNITS = sizeof(units) / sizeof(units[0]), DECIMALS = 6 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number's two parts: the second in millionths. DURATION_OK: *text stands at the unit. */
static enum duration_fault read_number(const char **text, int64_t *ret_whole, int64_t *ret_millionths)
{
    const char *p = *text;
    int decimals = 0;

    *ret_whole = *ret_millionths = 0;
    if (!is_digit(*p))
        return DURATION_NONE;
    for (; is_digit(*p); p++)
        if (__builtin_mul_overflow(*ret_whole, 10, ret_whole) ||
            __builtin_add_overflow(*ret_whole, *p - '0', ret_whole))
            return DURATION_TOO_LONG;
    if (*p == '.') {
        if (!is_digit(*++p))
            return DURATION_NONE;
        for (; is_digit(*p); p++, decimals++)
            if (decimals < DECIMALS)
                *ret_millionths = *ret_millionths * 10 + (*p - '0');
            else if (*p != '0')
                return DURATION_TOO_FINE;
        for (; decimals < DECIMALS; decimals++)
            *ret_millionths *= 10;
    }
    *text = p;
    return DURATION_OK;
}

enum duration_fault duration_parse(const char *text, int64_t *ret_us)
{
    int64_t whole;
    int64_t millionths;
    enum duration_fault fault = read_number(&text, &whole, &millionths);
    size_t unit = 0;

    if (fault != DURATION_OK)
        return fault;
    if (*text == '\0') {
        if (whole != 0 || millionths != 0)
            return DURATION_NO_UNIT;
        *ret_us = 0;
        return DURATION_OK;
    }
    while (unit < UNITS && strcmp(text, units[unit].name) != 0)
        unit++;
    if (unit == UNITS)
        return DURATION_NONE;
    /* A day's microseconds times a million fit easily. */
    millionths *= units[unit].us;
    if (millionths % 1000000 != 0)
        return DURATION_TOO_FINE;
    if (__builtin_mul_overflow(whole, units[unit].us, &whole) ||
        __builtin_add_overflow(whole, millionths / 1000000, &whole))
        return DURATION_TOO_LONG;
    *ret_us = whole;
    return DURATION_OK;
}

const char *duration_text(int64_t us, char buffer[DURATION_TEXT_SIZE])
{
    size_t unit = 0;

    while (us == 0 || us % units[unit].us != 0)
        if (us == 0)
            return strcpy(buffer, "0");
        else
            unit++;
    snprintf(buffer, DURATION_TEXT_SIZE, "%lld%s", (long long)(us / units[unit].us), units[unit].name);
    return buffer;
}
