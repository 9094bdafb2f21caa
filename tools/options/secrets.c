#include "options/secrets.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of the URL that begins here, and what of it is a password: from behind the first colon behind any "://" to
 * the last "@". An unencoded slash, blank or quote in it must not show the rest. */
static const char *find_password(const char *url, const char *delimiters, const char **ret_begin, const char **ret_end)
{
    const char *end = url + strcspn(url, delimiters);
    const char *scheme = memmem(url, (size_t)(end - url), "://", 3);
    const char *start = scheme ? scheme + 3 : url;
    const char *at = memrchr(start, '@', (size_t)(end - start));
    const char *colon = at ? memchr(start, ':', (size_t)(at - start)) : NULL;

    *ret_begin = colon ? colon + 1 : end;
    *ret_end = colon ? at : end;
    return end;
}

static void scrub(char *text, const char *delimiters)
{
    for (char *url = text; *url != '\0'; url += *url != '\0') {
        const char *begin;
        const char *end;
        const char *next = find_password(url, delimiters, &begin, &end);

        memset(url + (begin - url), '*', (size_t)(end - begin));
        url += next - url;
    }
}

void cli_scrub(char *url)
{
    scrub(url, "");
}

void cli_scrub_list(char *list)
{
    scrub(list, ",");
}

const char *cli_masked(const char *text, char *buffer, size_t size)
{
    size_t n = 0;

    for (const char *url = text; *url != '\0' && n + 1 < size;) {
        const char *begin;
        const char *end;
        const char *next = find_password(url, ",", &begin, &end);
        int length = snprintf(buffer + n, size - n, "%.*s%s%.*s%.*s", (int)(begin - url), url,
                              end > begin ? "***" : "", (int)(next - end), end, *next != '\0', next);

        n += (size_t)length;
        url = next + (*next != '\0');
    }
    buffer[n < size ? n : size - 1] = '\0';
    return buffer;
}

/* --- The environment, and what files and secrets bring along with their text -------------------------------------- */

enum { MOST_VARIABLES = 64 };

#define BLANKS " \t\r\n"

const char *cli_variable_name(const char *option, char buffer[CLI_VARIABLE_SIZE])
{
    snprintf(buffer, CLI_VARIABLE_SIZE, "REDLOCK_%s", option);
    for (char *c = buffer; *c != '\0'; c++)
        *c = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
    return buffer;
}

const char *cli_behind_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
}

const char *cli_variable(const char *name)
{
    static char *kept[MOST_VARIABLES]; /* those that are not used as they are */
    static size_t n;
    const char *value = getenv(name);
    size_t length;

    if (!value)
        return NULL;
    value = cli_behind_mark(value);
    value += strspn(value, BLANKS);
    length = strlen(value);
    while (length > 0 && strchr(BLANKS, value[length - 1]))
        length--;
    if (length == 0)
        return NULL;
    if (value[length] == '\0')
        return value;
    if (n == MOST_VARIABLES || !(kept[n] = strndup(value, length)))
        return NULL;
    return kept[n++];
}
