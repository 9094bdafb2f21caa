/* Pieces of text that is being parsed: slices of a string, and what URLs need of them. No locale. */
#ifndef RL_CODEC_TEXT_H
#define RL_CODEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text between two pointers. */
struct rl_text {
    const char *begin;
    const char *end;
};

static inline size_t rl_text_length(struct rl_text text)
{
    return (size_t)(text.end - text.begin);
}

/* Where the character is first; NULL: nowhere. */
const char *rl_text_find(struct rl_text text, char wanted);

/* Reads decimal digits without sign or space; false: something else is there, or the number is above the limit. */
bool rl_text_number(struct rl_text text, uint32_t limit, uint32_t *ret_number);

/* A copy with %XX decoded, allocated. NULL, or why not: a static sentence, rl_text_no_memory among them. */
const char *rl_text_decode(struct rl_text text, char **ret_copy);
extern const char rl_text_no_memory[];

/* The same for a password: the copy is for rl_secret_destroy(). */
const char *rl_text_decode_secret(struct rl_text text, char **ret_secret);

static inline char rl_text_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#endif
