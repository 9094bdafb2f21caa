/* A document of JSON, value by value; printed as one line, in ASCII, when its outermost container ends. The caller
 * keeps begin and end in balance. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The member "schema" of every document. The fields that the manual pages explain keep their meaning as long as it
 * is the same; there may be more of them. */
enum { JSON_SCHEMA = 1, JSON_DEPTH = 8 };

struct cli_json {
    FILE *out;
    json_t *open[JSON_DEPTH]; /* containers, the outermost first */
    size_t depth;
    bool failed;              /* no memory: the document is null */
};

/* The outermost value, which is an object, from its begin to its end: the line is printed then. */
struct cli_json cli_json_open(FILE *out);
void cli_json_close(struct cli_json *json);

/* name is NULL for elements of an array. */
void cli_json_begin(struct cli_json *json, const char *name, char bracket); /* '{' or '[' */
void cli_json_end(struct cli_json *json, char bracket);                     /* '}' or ']' */
void cli_json_int(struct cli_json *json, const char *name, int64_t value);
void cli_json_int_or_null(struct cli_json *json, const char *name, int64_t value); /* null if negative */
void cli_json_number(struct cli_json *json, const char *name, double value, int decimals); /* null if not finite */
void cli_json_bool(struct cli_json *json, const char *name, bool value);
void cli_json_null(struct cli_json *json, const char *name);

/* A text for people: bytes that are no UTF-8 are shown as "\xNN". */
void cli_json_string(struct cli_json *json, const char *name, const char *text);

/* A key, exactly: "key", or "key_hex" with two digits for each byte if it is no UTF-8. And back, from an object: false
 * if there is none that fits. */
void cli_json_key(struct cli_json *json, const char *key);
bool cli_json_read_key(const json_t *object, char *ret_key, size_t size);

/* The string, or the number, of this name. False, and "": there is none, or it does not fit; 0: there is none. */
bool cli_json_read_string(const json_t *object, const char *name, char *ret_text, size_t size);
int64_t cli_json_read_int(const json_t *object, const char *name);

#endif
