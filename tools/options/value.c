#include "options/value.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <redlock/options.h>

#include "options/message.h"
#include "options/secrets.h"

enum { US_PER_MS = 1000, MASKED_SIZE = 128, WORDS_SIZE = 256 };

/* --- Complaints -------------------------------------------------------------------------------------------------- */

static bool bad_value(const char *command, const char *name, const char *text, const char *wanted)
{
    char masked[MASKED_SIZE];

    cli_error(command, "--%s: '%s' is not %s", name, cli_masked(text, masked, sizeof masked), wanted);
    return false;
}

static bool out_of_bounds(const char *command, const char *name, const char *text, bool less, const char *bound)
{
    cli_error(command, "--%s: %s is too %s (at %s %s)", name, text, less ? "little" : "much", less ? "least" : "most",
              bound);
    return false;
}

/* --- Durations --------------------------------------------------------------------------------------------------- */

static bool bad_duration(const char *command, const struct cli_option *option, const char *text,
                         enum duration_fault fault)
{
    bool decimal = strchr(text, '.') != NULL;

    if (fault == DURATION_NO_UNIT)
        cli_error(command, "--%s: %s what? Write %s%s or %s%s", option->name, text, text, decimal ? "s" : "ms", text,
                  decimal ? "m" : "s");
    else if (fault == DURATION_TOO_LONG)
        cli_error(command, "--%s: %s is too much", option->name, text);
    else if (fault == DURATION_TOO_FINE)
        cli_error(command, "--%s: %s is not a whole number of microseconds", option->name, text);
    else
        bad_value(command, option->name, text,
                  option->wait_ms ? "a duration (500ms, 1.5s, 2m) or 'forever'"
                                          : "a duration (500ms, 1.5s, 2m)");
    return false;
}

/* In the unit in which the option counts. */
static bool read_duration(const char *command, const struct cli_option *option, const char *text, int64_t *ret_value)
{
    int64_t unit_us = option->duration_us ? 1 : US_PER_MS;
    int64_t most = option->most != 0 ? (int64_t)option->most : REDLOCK_MAX_TIMEOUT_MS * INT64_C(1000) / unit_us;
    char bound[DURATION_TEXT_SIZE];
    int64_t us;
    enum duration_fault fault = duration_parse(text, &us);

    if (fault != DURATION_OK)
        return bad_duration(command, option, text, fault);
    if (us > most * unit_us)
        return out_of_bounds(command, option->name, text, false, duration_text(most * unit_us, bound));
    if (us < (int64_t)option->least * unit_us)
        return out_of_bounds(command, option->name, text, true, duration_text((int64_t)option->least * unit_us, bound));
    if (us % unit_us != 0)
        return bad_value(command, option->name, text, "a whole number of milliseconds");
    *ret_value = us / unit_us;
    return true;
}

static bool store_duration(const char *command, const struct cli_option *option, const char *text)
{
    int64_t value = 0;

    if (option->duration_us)
        return read_duration(command, option, text, option->duration_us);
    if (option->wait_ms && (strcmp(text, "forever") == 0 || strcmp(text, "inf") == 0))
        *option->wait_ms = REDLOCK_FOREVER;
    else if (!read_duration(command, option, text, &value))
        return false;
    else if (option->wait_ms)
        *option->wait_ms = value;
    else
        *option->duration_ms = (uint32_t)value;
    return true;
}

/* --- Numbers and words ------------------------------------------------------------------------------------------- */

static bool read_number(const char *command, const struct cli_option *option, const char *text, uint64_t most,
                        uint64_t *ret_number)
{
    char bound[DURATION_TEXT_SIZE];
    uint64_t number = 0;
    bool fits = true;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++)
        fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
               !__builtin_add_overflow(number, (uint64_t)(*p - '0'), &number);
    if (p == text || *p != '\0')
        return bad_value(command, option->name, text, "a whole number");
    if (option->most != 0)
        most = option->most;
    snprintf(bound, sizeof bound, "%" PRIu64, !fits || number > most ? most : option->least);
    if (!fits || number > most || number < option->least)
        return out_of_bounds(command, option->name, text, fits && number <= most, bound);
    *ret_number = number;
    return true;
}

static bool store_number(const char *command, const struct cli_option *option, const char *text)
{
    uint64_t number;

    if (option->count) {
        if (!read_number(command, option, text, INT64_MAX, option->count))
            return false;
        if (option->given)
            *option->given = true;
        return true;
    }
    if (!read_number(command, option, text, UINT32_MAX, &number))
        return false;
    *option->number = (uint32_t)number;
    return true;
}

static bool store_choice(const char *command, const struct cli_option *option, const char *text)
{
    char wanted[WORDS_SIZE] = "one of ";
    size_t length = strlen(wanted);

    for (uint32_t i = 0; option->words[i]; i++) {
        if (strcmp(option->words[i], text) == 0) {
            *option->choice = i;
            return true;
        }
        length += (size_t)snprintf(wanted + length, sizeof wanted - length, "%s%s", i > 0 ? ", " : "",
                                   option->words[i]);
    }
    return bad_value(command, option->name, text, wanted);
}

static bool store_masters(const char *command, const struct cli_option *option, const char *text)
{
    char where[MASKED_SIZE];

    if (*text == '\0')
        return bad_value(command, option->name, text, option->node_file ? "a file" : "a master's URL");
    if (option->node_file)
        return cli_add_file(command, option->node_file, text);
    snprintf(where, sizeof where, "--%s", option->name);
    return option->node && strchr(text, ',')
        ? cli_add_master(command, option->node, text)
        : cli_add_list(command, option->node ? option->node : option->node_list, where, text);
}

static bool add_text(const char *command, const struct cli_option *option, const char *text)
{
    struct cli_texts *texts = option->texts;

    for (size_t i = 0; i < texts->n; i++)
        if (strcmp(texts->items[i], text) == 0) {
            cli_error(command, "--%s '%s' is given twice", option->name, text);
            return false;
        }
    if (texts->n == CLI_MOST_TEXTS) {
        cli_error(command, "--%s: only %d are possible, and '%s' is one more", option->name, CLI_MOST_TEXTS, text);
        return false;
    }
    texts->items[texts->n++] = text;
    return true;
}

bool cli_store(const char *command, const struct cli_option *option, const char *text)
{
    if (option->flag)
        return *option->flag = true;
    if (option->duration_ms || option->duration_us || option->wait_ms)
        return store_duration(command, option, text);
    if (option->number || option->count)
        return store_number(command, option, text);
    if (option->choice)
        return store_choice(command, option, text);
    if (option->texts)
        return add_text(command, option, text);
    if (option->text) {
        *option->text = text;
        return true;
    }
    if (!option->file)
        return store_masters(command, option, text);
    if (*text == '\0')
        return bad_value(command, option->name, text, "a file");
    *option->file = text;
    return true;
}

/* --- Durations as people write them: 500ms, 1.5s, 2m -------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t us;
} units[] = {
    {"d", INT64_C(86400000000)}, {"h", INT64_C(3600000000)}, {"m", 60000000}, {"min", 60000000},
    {"s", 1000000},              {"ms", 1000},               {"us", 1},
};

enum { UNITS = sizeof units / sizeof units[0], DECIMALS = 6 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number's two parts: the second in millionths. DURATION_OK: *text stands at the unit. */
static enum duration_fault read_decimal(const char **text, int64_t *ret_whole, int64_t *ret_millionths)
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
    enum duration_fault fault = read_decimal(&text, &whole, &millionths);
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
