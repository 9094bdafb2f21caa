#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <math.h>
#include <string.h>

/* Length of the UTF-8 sequence at p, 0 if there is none; no overlong forms, no surrogates, nothing above U+10FFFF. */
static size_t utf8_length(const unsigned char *p, size_t size)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        if (forms[i].length > size)
            return 0;
        if (forms[i].length > 1 && (p[1] < forms[i].second_first || p[1] > forms[i].second_last))
            return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if ((p[j] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}

static void quote(FILE *out, const unsigned char *p, size_t size)
{
    putc('"', out);
    while (size > 0) {
        size_t length = utf8_length(p, size);

        if (length == 0 || *p < 0x20 || *p == 0x7f)
            fprintf(out, "\\u%04x", *p);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else
            fwrite(p, 1, length, out);
        p += length > 0 ? length : 1;
        size -= length > 0 ? length : 1;
    }
    putc('"', out);
}

/* What stands before every value. */
static void lead(struct cli_json *json, const char *name)
{
    if (json->comma)
        putc(',', json->out);
    json->comma = true;
    if (name == NULL)
        return;
    quote(json->out, (const unsigned char *)name, strlen(name));
    putc(':', json->out);
}

void cli_json_init(struct cli_json *json, FILE *out)
{
    json->out = out;
    json->comma = false;
}

void cli_json_begin(struct cli_json *json, const char *name, char bracket)
{
    lead(json, name);
    putc(bracket, json->out);
    json->comma = false;
}

void cli_json_end(struct cli_json *json, char bracket)
{
    putc(bracket, json->out);
    json->comma = true;
}

void cli_json_int(struct cli_json *json, const char *name, int64_t value)
{
    lead(json, name);
    fprintf(json->out, "%" PRId64, value);
}

void cli_json_number(struct cli_json *json, const char *name, double value, int decimals)
{
    lead(json, name);
    if (isfinite(value))
        fprintf(json->out, "%.*f", decimals, value);
    else
        fputs("null", json->out);
}

void cli_json_bool(struct cli_json *json, const char *name, bool value)
{
    lead(json, name);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_null(struct cli_json *json, const char *name)
{
    lead(json, name);
    fputs("null", json->out);
}

void cli_json_bytes(struct cli_json *json, const char *name, const void *bytes, size_t size)
{
    lead(json, name);
    quote(json->out, bytes, size);
}

void cli_json_string(struct cli_json *json, const char *name, const char *text)
{
    cli_json_bytes(json, name, text, strlen(text));
}
