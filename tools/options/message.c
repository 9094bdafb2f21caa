#include "options/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/exit.h"

const char *cli_program_name = "redlock";

void cli_error(const char *command, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    fprintf(stderr, "%s: %s: ", cli_program_name, command);
    shown_put(stderr, text ? text : "out of memory");
    putc('\n', stderr);
    free(text);
}

int cli_usage(const char *command)
{
    fprintf(stderr, "Try '%s %s --help'.\n", cli_program_name, command);
    return CLI_USAGE;
}

/* --- Texts of others for people: keys, tokens, names, and what servers say ---------------------------------------- */

enum { MOST_SEQUENCE = 4, PIECE_SIZE = MOST_SEQUENCE * 4 + 1 };

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

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
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

bool is_utf8(const char *text, size_t size)
{
    while (size > 0) {
        size_t length = utf8_length((const unsigned char *)text, size);

        if (length == 0)
            return false;
        text += length;
        size -= length;
    }
    return true;
}

/* U+0000 to U+001F and U+007F to U+009F; U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069. */
static bool is_obeyed(const unsigned char *p, size_t length)
{
    if (length == 1)
        return p[0] < 0x20 || p[0] == 0x7f;
    if (length == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (length != 3 || p[0] != 0xe2)
        return false;
    return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
           (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* One character as it is to be shown; how many bytes of the text it takes. */
static size_t take_piece(const char *text, char *ret_piece)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t length = utf8_length(p, strnlen(text, MOST_SEQUENCE));

    if (length > 0 && !is_obeyed(p, length)) {
        memcpy(ret_piece, text, length);
        ret_piece[length] = '\0';
        return length;
    }
    if (length == 0)
        length = 1;
    for (size_t i = 0; i < length; i++)
        snprintf(ret_piece + i * 4, 5, "\\x%02x", p[i]);
    return length;
}

void shown_put(FILE *out, const char *text)
{
    char piece[PIECE_SIZE];

    while (*text != '\0') {
        text += take_piece(text, piece);
        fputs(piece, out);
    }
}

const char *shown(const char *text, char *buffer, size_t size)
{
    char piece[PIECE_SIZE];
    size_t n = 0;

    while (*text != '\0') {
        text += take_piece(text, piece);
        if (n + strlen(piece) >= size)
            break;
        memcpy(buffer + n, piece, strlen(piece));
        n += strlen(piece);
    }
    buffer[n] = '\0';
    return buffer;
}

const char *shown_whole_words(const char *text, char *buffer, size_t size)
{
    size_t length = strcspn(text, "\r\n");
    size_t most = size - sizeof "...";

    if (length < size) {
        snprintf(buffer, size, "%.*s", (int)length, text);
        return buffer;
    }
    for (length = most; length > most / 2 && text[length] != ' '; length--)
        continue;
    snprintf(buffer, size, "%.*s...", (int)(text[length] == ' ' ? length : most), text);
    return buffer;
}

const char *shown_word(const char *word, char *buffer, size_t size)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+=,-";
    size_t n = 0;

    if (*word != '\0' && word[strspn(word, plain)] == '\0')
        return word;
    buffer[n++] = '\'';
    for (; *word != '\0' && n < size - 8; word++)
        n += (size_t)snprintf(buffer + n, size - n, *word == '\'' ? "'\\''" : "%c", *word);
    strcpy(buffer + n, "'");
    return buffer;
}
