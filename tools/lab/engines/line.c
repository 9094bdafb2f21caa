#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t line_split(char *line, char *ret_words[LINE_WORDS_MAX])
{
    size_t n = 0;

    for (char *word = line; word; n++) {
        char *space = strchr(word, ' ');

        if (n == LINE_WORDS_MAX || *word == '\0' || space == word)
            return 0;
        if (space)
            *space++ = '\0';
        ret_words[n] = word;
        word = space;
    }
    return n;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool line_decode(char *word)
{
    char *to = word;

    for (const char *from = word; *from; from++) {
        int high = *from == '%' ? digit(from[1]) : 0;
        int low = *from == '%' && high >= 0 ? digit(from[2]) : 0;

        if (high < 0 || low < 0 || (*from == '%' && high == 0 && low == 0))
            return false;
        if (*from == '%') {
            *to++ = (char)(high * 16 + low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return true;
}

bool line_number(const char *word, int64_t *ret_number)
{
    char *end;
    long long number;

    if (!isdigit((unsigned char)word[0]))
        return false;
    errno = 0;
    number = strtoll(word, &end, 10);
    if (errno || *end)
        return false;
    *ret_number = number;
    return true;
}

void line_encode(const char *text, char *ret_word, size_t size)
{
    size_t n = 0;

    for (const char *from = *text ? text : "-"; *from && n + 4 < size; from++) {
        if (isgraph((unsigned char)*from) && *from != '%')
            ret_word[n++] = *from;
        else
            n += (size_t)sprintf(ret_word + n, "%%%02X", (unsigned char)*from);
    }
    ret_word[n] = '\0';
}

/* A write to a pipe of at most PIPE_BUF bytes is never mixed with another one. */
void line_print(const char *format, ...)
{
    char line[2048];
    va_list values;
    int length;

    va_start(values, format);
    length = vsnprintf(line, sizeof line - 1, format, values);
    va_end(values);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(1);
}
