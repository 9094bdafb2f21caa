/* Lines of the protocol: words with a space between, values percent-encoded. */
#ifndef ENGINES_LINE_H
#define ENGINES_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_SIZE_MAX 65536
#define LINE_WORDS_MAX 64

/* Cuts the line at its spaces; 0 for an empty word or too many. */
size_t line_split(char *line, char *ret_words[LINE_WORDS_MAX]);
/* In place; false if a percent sign is not followed by two digits, or is a NUL. */
bool line_decode(char *word);
/* Digits alone. */
bool line_number(const char *word, int64_t *ret_number);
/* Cut if it does not fit; an empty text is "-". */
void line_encode(const char *text, char *ret_word, size_t size);
/* One whole line, from any thread; ends the process if nobody reads. */
void line_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
