#include "cli/json_read.h"

#include <string.h>

struct out {
    char *text;
    size_t size;
    size_t n;
    bool fits;
};

static void put(struct out *out, char c)
{
    if (out->n + 1 < out->size)
        out->text[out->n++] = c;
    else
        out->fits = false;
    if (out->size > 0)
        out->text[out->n] = '\0';
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

    return found != NULL ? (int)(found - digits) : -1;
}

/* Behind "\u": only what stands for a byte. NULL: anything else. */
static const char *read_byte(const char *p, struct out *out)
{
    if (p[0] != '0' || p[1] != '0' || hex_digit(p[2]) < 0 || hex_digit(p[3]) < 0)
        return NULL;
    put(out, (char)(hex_digit(p[2]) * 16 + hex_digit(p[3])));
    return p + 4;
}

/* Behind a backslash. */
static const char *read_escape(const char *p, struct out *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char *found = *p != '\0' ? strchr(names, *p) : NULL;

    if (*p == 'u')
        return read_byte(p + 1, out);
    if (found == NULL)
        return NULL;
    put(out, values[found - names]);
    return p + 1;
}

/* From the opening quote to behind the closing one; NULL: there is none. */
static const char *read_string(const char *p, struct out *out)
{
    if (*p++ != '"')
        return NULL;
    while (p != NULL && *p != '"') {
        if (*p == '\0')
            return NULL;
        if (*p == '\\')
            p = read_escape(p + 1, out);
        else
            put(out, *p++);
    }
    return p != NULL ? p + 1 : NULL;
}

static const char *read_value(const char *p, struct out *out)
{
    size_t length = strcspn(p, ",} \t\r\n");

    if (*p == '"')
        return read_string(p, out);
    if (length == 0 || *p == '{' || *p == '[')
        return NULL;
    for (size_t i = 0; i < length; i++)
        put(out, p[i]);
    return p + length;
}

/* A member with its colon; what follows, NULL if it is none. */
static const char *read_member(const char *p, struct out *name, struct out *value)
{
    p = read_string(skip_blanks(p), name);
    if (p == NULL || *(p = skip_blanks(p)) != ':')
        return NULL;
    p = read_value(skip_blanks(p + 1), value);
    return p != NULL ? skip_blanks(p) : NULL;
}

bool json_read(const char *text, const char *name, char *ret_value, size_t size)
{
    const char *p = skip_blanks(text);
    bool found = false;

    ret_value[0] = '\0';
    if (*p != '{')
        return false;
    while (!found && p != NULL && (*p == '{' || *p == ',')) {
        char member[32] = "";
        struct out key = {member, sizeof(member), 0, true};
        struct out value = {ret_value, size, 0, true};

        p = read_member(p + 1, &key, &value);
        found = p != NULL && key.fits && strcmp(member, name) == 0;
        if (!found || !value.fits)
            ret_value[0] = '\0';
        if (found && !value.fits)
            return false;
    }
    return found;
}
