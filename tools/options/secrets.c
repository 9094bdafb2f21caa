#include "options/secrets.h"

#include <stdio.h>
#include <string.h>

static const char delimiters[] = " \t\r\n,'\"";

/* The end of the word that begins here, and what of it is a password: from behind the first colon behind any "://" to
 * the last "@". An unencoded slash in it makes a wrong URL, but must not show the rest. */
static const char *find_password(const char *word, const char **ret_begin, const char **ret_end)
{
    const char *end = word + strcspn(word, delimiters);
    const char *scheme = memmem(word, (size_t)(end - word), "://", 3);
    const char *start = scheme != NULL ? scheme + 3 : word;
    const char *at = memrchr(start, '@', (size_t)(end - start));
    const char *colon = at != NULL ? memchr(start, ':', (size_t)(at - start)) : NULL;

    *ret_begin = colon != NULL ? colon + 1 : end;
    *ret_end = colon != NULL ? at : end;
    return end;
}

void cli_scrub(char *text)
{
    for (char *word = text; *word != '\0'; word += *word != '\0') {
        const char *begin;
        const char *end;
        const char *next = find_password(word, &begin, &end);

        memset(word + (begin - word), '*', (size_t)(end - begin));
        word += next - word;
    }
}

const char *cli_masked(const char *text, char *buffer, size_t size)
{
    size_t n = 0;

    for (const char *word = text; *word != '\0' && n + 1 < size;) {
        const char *begin;
        const char *end;
        const char *next = find_password(word, &begin, &end);
        int length = snprintf(buffer + n, size - n, "%.*s%s%.*s%.*s", (int)(begin - word), word,
                              end > begin ? "***" : "", (int)(next - end), end, *next != '\0', next);

        n += (size_t)length;
        word = next + (*next != '\0');
    }
    buffer[n < size ? n : size - 1] = '\0';
    return buffer;
}
