#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options/message.h"

enum { DIGITS = 15 /* what a double keeps of a decimal number */ };

/* Takes the value, NULL if there was no memory for it. */
static void add(struct cli_json *json, const char *name, json_t *value)
{
    json_t *container = json->depth > 0 ? json->open[json->depth - 1] : NULL;
    int status = json_is_object(container) ? json_object_set_new(container, name, value)
                                           : json_array_append_new(container, value);

    json->failed = json->failed || status != 0;
}

static void open_container(struct cli_json *json, json_t *container)
{
    json->failed = json->failed || !container;
    json->open[json->depth++] = container;
}

struct cli_json cli_json_open(FILE *out)
{
    struct cli_json json = {.out = out};

    open_container(&json, json_object());
    cli_json_int(&json, "schema", JSON_SCHEMA);
    return json;
}

void cli_json_begin(struct cli_json *json, const char *name, char bracket)
{
    json_t *container = bracket == '{' ? json_object() : json_array();

    add(json, name, container);
    open_container(json, container);
}

void cli_json_end(struct cli_json *json, char bracket)
{
    json->depth--;
}

void cli_json_close(struct cli_json *json)
{
    static const size_t flags = JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS);

    if (json->failed || json_dumpf(json->open[0], json->out, flags) != 0)
        fputs("null", json->out);
    putc('\n', json->out);
    json_decref(json->open[0]);
}

void cli_json_int(struct cli_json *json, const char *name, int64_t value)
{
    add(json, name, json_integer(value));
}

void cli_json_int_or_null(struct cli_json *json, const char *name, int64_t value)
{
    add(json, name, value >= 0 ? json_integer(value) : json_null());
}

void cli_json_number(struct cli_json *json, const char *name, double value, int decimals)
{
    double unit = pow(10, decimals);

    add(json, name, isfinite(value) ? json_real(round(value * unit) / unit) : json_null());
}

void cli_json_bool(struct cli_json *json, const char *name, bool value)
{
    add(json, name, json_boolean(value));
}

void cli_json_null(struct cli_json *json, const char *name)
{
    add(json, name, json_null());
}

void cli_json_string(struct cli_json *json, const char *name, const char *text)
{
    size_t size = strlen(text) * 4 + 1;
    char *valid = is_utf8(text, strlen(text)) ? NULL : malloc(size);

    add(json, name, json_string(valid ? shown(text, valid, size) : text));
    free(valid);
}

/* --- Keys -------------------------------------------------------------------------------------------------------- */

static json_t *hex_of(const char *key)
{
    size_t size = strlen(key) * 2 + 1;
    char *digits = malloc(size);
    json_t *value;

    if (!digits)
        return NULL;
    for (size_t i = 0; key[i] != '\0'; i++)
        snprintf(digits + i * 2, 3, "%02x", (unsigned char)key[i]);
    value = json_string(digits);
    free(digits);
    return value;
}

void cli_json_key(struct cli_json *json, const char *key)
{
    if (is_utf8(key, strlen(key)))
        add(json, "key", json_string(key));
    else
        add(json, "key_hex", hex_of(key));
}

static bool read_hex(const char *digits, char *ret_key, size_t size)
{
    size_t length = strlen(digits);

    if (length % 2 != 0 || length / 2 >= size || strspn(digits, "0123456789abcdefABCDEF") != length)
        return false;
    for (size_t i = 0; i < length / 2; i++) {
        const char byte[] = {digits[2 * i], digits[2 * i + 1], '\0'};

        ret_key[i] = (char)strtoul(byte, NULL, 16);
    }
    ret_key[length / 2] = '\0';
    return strlen(ret_key) == length / 2; /* no key has a byte 0 */
}

bool cli_json_read_key(const json_t *object, char *ret_key, size_t size)
{
    const char *digits = json_string_value(json_object_get(object, "key_hex"));

    if (!digits)
        return cli_json_read_string(object, "key", ret_key, size);
    return read_hex(digits, ret_key, size);
}

/* --- Reading ----------------------------------------------------------------------------------------------------- */

bool cli_json_read_string(const json_t *object, const char *name, char *ret_text, size_t size)
{
    const json_t *value = json_object_get(object, name);
    bool fits = json_is_string(value) && json_string_length(value) < size;

    snprintf(ret_text, size, "%s", fits ? json_string_value(value) : "");
    return fits;
}

int64_t cli_json_read_int(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}
