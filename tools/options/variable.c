#include "options/variable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

    if (value == NULL)
        return NULL;
    value = cli_behind_mark(value);
    value += strspn(value, BLANKS);
    length = strlen(value);
    while (length > 0 && strchr(BLANKS, value[length - 1]) != NULL)
        length--;
    if (length == 0)
        return NULL;
    if (value[length] == '\0')
        return value;
    if (n == MOST_VARIABLES || (kept[n] = strndup(value, length)) == NULL)
        return NULL;
    return kept[n++];
}
