/* Lists that scripts answer, or publish, as one text, taken apart from the front; header only. */
#ifndef RL_KINDS_TEXT_H
#define RL_KINDS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/slice.h"

static inline void rl_text_skip(struct rl_slice *text, size_t size)
{
    text->data = (const char *)text->data + size;
    text->size -= size;
}

/* Digits, and a space behind them. */
static inline bool rl_text_take_number(struct rl_slice *text, uint64_t *ret_number)
{
    const char *bytes = text->data;
    uint64_t number = 0;
    size_t n = 0;

    for (; n < text->size && n < 18 && bytes[n] >= '0' && bytes[n] <= '9'; n++)
        number = 10 * number + (uint64_t)(bytes[n] - '0');
    if (n == 0 || n >= text->size || bytes[n] != ' ')
        return false;
    rl_text_skip(text, n + 1);
    *ret_number = number;
    return true;
}

/* "SIZE VALUE"; false also for more than `most` bytes. */
static inline bool rl_text_take_sized(struct rl_slice *text, size_t most, struct rl_slice *ret_value)
{
    uint64_t size;

    if (!rl_text_take_number(text, &size) || size > most || size > text->size)
        return false;
    *ret_value = (struct rl_slice){text->data, (size_t)size};
    rl_text_skip(text, (size_t)size);
    return true;
}

/* Takes the word in front of the next space, or all the text; false: there is none. Behind the last word *rest has no
 * data. */
static inline bool rl_text_take_word(struct rl_slice *rest, struct rl_slice *ret_word)
{
    const char *at = rest->data;
    const char *space = rest->size ? memchr(at, ' ', rest->size) : NULL;
    size_t size = space ? (size_t)(space - at) : rest->size;

    *ret_word = (struct rl_slice){at, size};
    *rest = space ? (struct rl_slice){space + 1, rest->size - size - 1} : (struct rl_slice){NULL, 0};
    return size > 0;
}

/* The number of a word that has nothing but digits. */
static inline bool rl_text_read_number(struct rl_slice word, uint64_t *ret_number)
{
    const char *digits = word.data;
    uint64_t number = 0;

    if (word.size == 0 || word.size > 18)
        return false;
    for (size_t i = 0; i < word.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(digits[i] - '0');
    }
    *ret_number = number;
    return true;
}

#endif
