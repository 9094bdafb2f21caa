/* How output looks: colours on a terminal only, box and bar characters in a UTF-8 locale only. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum term_style { TERM_PLAIN, TERM_BOLD, TERM_DIM, TERM_GREEN, TERM_RED, TERM_YELLOW, TERM_CYAN };

struct term {
    FILE *out;
    bool tty;
    bool color;   /* a terminal that knows colours, and the environment has no NO_COLOR */
    bool unicode; /* the locale's characters are UTF-8 */
    int width;    /* columns, 80 if unknown */
};

/* Call setlocale(LC_CTYPE, "") once before. */
void term_init(struct term *term, FILE *out);

/* The escape sequence that starts or ends a style; "" without colours. */
const char *term_on(const struct term *term, enum term_style style);
const char *term_off(const struct term *term);

/* Prints in a style. */
void term_print(const struct term *term, enum term_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* " 'KEY'", with what a terminal might obey escaped. */
void term_key(const struct term *term, const char *key);

/* A bar of value/full of `cells` columns, and at least a sliver for anything above 0; padded with blanks. */
void term_bar(const struct term *term, enum term_style style, double value, double full, int cells);

/* A line across the screen. */
void term_rule(const struct term *term);

/* The last `columns` characters of a text, escaped as by shown(), and marked when something was left out: the end of a
 * path tells most. Writes into buffer, which it returns. */
const char *term_fit(const char *text, int columns, char *buffer, size_t size);

/* "212 us", "4.20 ms", "29.7 s": three significant digits, for people. buffer has at least 16 bytes. */
const char *term_time(int64_t us, char *buffer, size_t size);

/* Asks for the word on standard error, for standard output may be a pipe. Is it typed, and no other? */
bool term_types(const char *word);

#endif
