#include "agent/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/options.h>

#include "options/message.h"
#include "options/value.h"

static const char *const type_names[] = {
    [FIELD_TEXT] = "a string",
    [FIELD_DURATION] = "a duration: \"10s\", or a number of milliseconds",
    [FIELD_WAIT] = "a duration or \"forever\"",
    [FIELD_NUMBER] = "a whole number, or its digits as a string",
    [FIELD_FLAG] = "true or false",
    [FIELD_ANY] = "anything",
};

/* --- Values ------------------------------------------------------------------------------------------------------- */

static bool read_text(const json_t *value, void *at)
{
    *(const char **)at = json_string_value(value);
    return json_is_string(value);
}

static bool read_ms(const json_t *value, int64_t *ret_ms)
{
    int64_t us;

    if (json_is_integer(value))
        *ret_ms = json_integer_value(value);
    else if (json_is_string(value) && duration_parse(json_string_value(value), &us) == DURATION_OK && us % 1000 == 0)
        *ret_ms = us / 1000;
    else
        return false;
    return *ret_ms >= 0;
}

static bool read_duration(const json_t *value, void *at)
{
    int64_t ms;

    if (!read_ms(value, &ms) || ms > UINT32_MAX)
        return false;
    *(uint32_t *)at = (uint32_t)ms;
    return true;
}

static bool read_wait(const json_t *value, void *at)
{
    int64_t ms = REDLOCK_FOREVER;

    if (!(json_is_string(value) && strcmp(json_string_value(value), "forever") == 0) && !read_ms(value, &ms))
        return false;
    *(int64_t *)at = ms;
    return true;
}

static bool read_digits(const char *text, uint64_t *ret)
{
    size_t length = strlen(text);

    errno = 0;
    *ret = strtoull(text, NULL, 10);
    return length > 0 && strspn(text, "0123456789") == length && errno == 0;
}

static bool read_number(const json_t *value, void *at)
{
    if (json_is_string(value))
        return read_digits(json_string_value(value), at);
    *(uint64_t *)at = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool read_flag(const json_t *value, void *at)
{
    *(bool *)at = json_is_true(value);
    return json_is_boolean(value);
}

static bool read_any(const json_t *value, void *at)
{
    *(const json_t **)at = value;
    return true;
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

static const struct field *find(const struct field *fields, const char *name)
{
    while (fields->name && strcmp(fields->name, name) != 0)
        fields++;
    return fields->name ? fields : NULL;
}

static bool refuse_unknown(const struct field *fields, const char *name, char *why)
{
    char safe[48];
    size_t size = (size_t)snprintf(why, FIELDS_WHY_SIZE, "no member '%s' is known here; there are id, op",
                                   shown(name, safe, sizeof safe));

    for (; fields->name && size < FIELDS_WHY_SIZE; fields++)
        size += (size_t)snprintf(why + size, FIELDS_WHY_SIZE - size, ", %s", fields->name);
    return false;
}

bool fields_read(json_t *request, const struct field *fields, char why[FIELDS_WHY_SIZE])
{
    static bool (*const readers[])(const json_t *, void *) = {
        [FIELD_TEXT] = read_text,     [FIELD_DURATION] = read_duration, [FIELD_WAIT] = read_wait,
        [FIELD_NUMBER] = read_number, [FIELD_FLAG] = read_flag,         [FIELD_ANY] = read_any,
    };
    const char *name;
    json_t *value;

    json_object_foreach(request, name, value) {
        const struct field *field = find(fields, name);

        if (strcmp(name, "id") == 0 || strcmp(name, "op") == 0)
            continue;
        if (!field)
            return refuse_unknown(fields, name, why);
        if (!readers[field->type](value, field->at)) {
            snprintf(why, FIELDS_WHY_SIZE, "'%s' must be %s", name, type_names[field->type]);
            return false;
        }
    }
    for (; fields->name; fields++) {
        if (fields->needed && !json_object_get(request, fields->name)) {
            snprintf(why, FIELDS_WHY_SIZE, "'%s' is missing: %s", fields->name, type_names[fields->type]);
            return false;
        }
    }
    return true;
}
