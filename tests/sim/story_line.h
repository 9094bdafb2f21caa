/* The lines of stories: their words, and what they do to a world. */
#ifndef SIM_STORY_LINE_H
#define SIM_STORY_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct world;

#define MAX_WORDS 12
#define MAX_WORD 32

struct words {
    unsigned count;
    char text[MAX_WORDS][MAX_WORD];
};

/* Longer words and further words are cut off. */
void words_split(struct words *words, const char *text);

/* Takes the first n words away. */
void words_drop(struct words *words, unsigned n);

bool word_is(const struct words *words, unsigned index, const char *text);
uint32_t word_number(const struct words *words, unsigned index);
int64_t word_ns(const struct words *words, unsigned index); /* from milliseconds */
bool word_client(const struct words *words, unsigned index, unsigned *ret_client);
bool word_master(const struct words *words, unsigned index, unsigned *ret_master);
bool word_key(const struct words *words, unsigned index, uint8_t *ret_key);

/* The value of NAME=NUMBER among the words; `missing` if there is none. */
uint32_t word_value(const struct words *words, const char *name, uint32_t missing);
bool word_present(const struct words *words, const char *text);
bool word_pair(const struct words *words, const char *name, const char *value); /* NAME=VALUE is among the words */

/* Does what the line says. 0: done; positive: try again at that true time, its client is stopped; negative: not
 * understood or not possible. */
int64_t line_perform(struct world *world, const struct words *words);

/* Prints what must be removed (-) and added (+) to make `expected` into `actual`. */
void text_difference(const char *expected, const char *actual);

#endif
