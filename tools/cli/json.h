/* Writes one line of JSON, value by value, to a stream. The caller keeps begin and end in balance. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cli_json {
    FILE *out;
    bool comma; /* the next value is not the first of its container */
};

void cli_json_init(struct cli_json *json, FILE *out);

/* name is NULL for elements of an array and for the outermost value. */
void cli_json_begin(struct cli_json *json, const char *name, char bracket); /* '{' or '[' */
void cli_json_end(struct cli_json *json, char bracket);                     /* '}' or ']' */
void cli_json_int(struct cli_json *json, const char *name, int64_t value);
void cli_json_number(struct cli_json *json, const char *name, double value, int decimals); /* null if not finite */
void cli_json_bool(struct cli_json *json, const char *name, bool value);
void cli_json_null(struct cli_json *json, const char *name);

/* Any bytes: what is not valid UTF-8 becomes \u00XX, byte by byte, so that the line is always valid JSON. */
void cli_json_bytes(struct cli_json *json, const char *name, const void *bytes, size_t size);
void cli_json_string(struct cli_json *json, const char *name, const char *text);

#endif
