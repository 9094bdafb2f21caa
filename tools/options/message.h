/* What a command says when something is wrong. */
#ifndef OPTIONS_MESSAGE_H
#define OPTIONS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The name that messages begin with: the running program's. */
extern const char *cli_program_name;

/* "PROGRAM: COMMAND: message" on standard error. */
void cli_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "Try 'PROGRAM COMMAND --help'." behind it. Returns CLI_USAGE. */
int cli_usage(const char *command);

/* --- Texts of others for people: keys, tokens, names, and what servers say. A terminal obeys control characters. */

/* Every byte that is no text, or that a terminal may obey (control characters, marks that turn the direction of
 * writing), as "\xNN"; all else as it is. Applying this twice changes nothing more. */
void shown_put(FILE *out, const char *text);

/* The same into a buffer, cut if that is too small. Returns buffer. */
const char *shown(const char *text, char *buffer, size_t size);

/* The first line of a text, as it is, cut behind a word with "..." if the buffer is too small. Returns buffer. */
const char *shown_whole_words(const char *text, char *buffer, size_t size);

/* A word as a shell takes it: as it stands, or in quotes, in the buffer, which needs room for four times as much. */
const char *shown_word(const char *word, char *buffer, size_t size);

bool is_utf8(const char *text, size_t size);

#endif
