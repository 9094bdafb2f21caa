/* The words of a line of a story. */
#include "story_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

void words_split(struct words *words, const char *text)
{
    words->count = 0;
    while (words->count < MAX_WORDS) {
        size_t length;

        text += strspn(text, " ");
        length = strcspn(text, " ");
        if (!length)
            return;
        snprintf(words->text[words->count++], MAX_WORD, "%.*s", (int)length, text);
        text += length;
    }
}

void words_drop(struct words *words, unsigned n)
{
    words->count -= n;
    memmove(words->text, words->text + n, words->count * sizeof words->text[0]);
}

bool word_is(const struct words *words, unsigned index, const char *text)
{
    return index < words->count && strcmp(words->text[index], text) == 0;
}

uint32_t word_number(const struct words *words, unsigned index)
{
    return (uint32_t)strtoul(words->text[index], NULL, 10);
}

/* Milliseconds, to the nearest nanosecond: a product is less exact on one processor than on another. */
int64_t word_ns(const struct words *words, unsigned index)
{
    return llround(strtod(words->text[index], NULL) * 1e6);
}

bool word_client(const struct words *words, unsigned index, unsigned *ret_client)
{
    for (unsigned c = 0; c < MAX_CLIENTS; c++) {
        if (word_is(words, index, name_of_client(c))) {
            *ret_client = c;
            return true;
        }
    }
    return false;
}

bool word_master(const struct words *words, unsigned index, unsigned *ret_master)
{
    for (unsigned m = 0; m < MAX_MASTERS; m++) {
        if (word_is(words, index, name_of_master(m))) {
            *ret_master = m;
            return true;
        }
    }
    return false;
}

bool word_key(const struct words *words, unsigned index, uint8_t *ret_key)
{
    for (uint8_t key = 0; key < MAX_KEYS; key++) {
        if (word_is(words, index, name_of_key(key))) {
            *ret_key = key;
            return true;
        }
    }
    return false;
}

uint32_t word_value(const struct words *words, const char *name, uint32_t missing)
{
    size_t length = strlen(name);

    for (unsigned i = 0; i < words->count; i++) {
        if (strncmp(words->text[i], name, length) == 0 && words->text[i][length] == '=')
            return (uint32_t)strtoul(words->text[i] + length + 1, NULL, 10);
    }
    return missing;
}

bool word_pair(const struct words *words, const char *name, const char *value)
{
    size_t length = strlen(name);

    for (unsigned i = 0; i < words->count; i++) {
        const char *word = words->text[i];

        if (strncmp(word, name, length) == 0 && word[length] == '=' && strcmp(word + length + 1, value) == 0)
            return true;
    }
    return false;
}

bool word_present(const struct words *words, const char *text)
{
    for (unsigned i = 0; i < words->count; i++) {
        if (word_is(words, i, text))
            return true;
    }
    return false;
}

/* --- Differences -------------------------------------------------------------------------------------------------- */

#define MAX_DIFFERENCE_LINES 500

struct text_lines {
    unsigned count;
    const char *start[MAX_DIFFERENCE_LINES];
    int length[MAX_DIFFERENCE_LINES];
};

static void split_lines(struct text_lines *lines, const char *text)
{
    for (lines->count = 0; *text && lines->count < MAX_DIFFERENCE_LINES; lines->count++) {
        size_t length = strcspn(text, "\n");

        lines->start[lines->count] = text;
        lines->length[lines->count] = (int)length;
        text += length + (text[length] == '\n');
    }
}

static bool same_line(const struct text_lines *a, unsigned i, const struct text_lines *b, unsigned j)
{
    return a->length[i] == b->length[j] && memcmp(a->start[i], b->start[j], (size_t)a->length[i]) == 0;
}

/* The longest common subsequence, by the table of its lengths from each pair of positions on. */
void text_difference(const char *expected, const char *actual)
{
    static uint16_t common[MAX_DIFFERENCE_LINES + 1][MAX_DIFFERENCE_LINES + 1];
    static struct text_lines a;
    static struct text_lines b;
    unsigned i = 0;
    unsigned j = 0;

    split_lines(&a, expected);
    split_lines(&b, actual);
    for (unsigned m = a.count; m-- > 0;) {
        for (unsigned n = b.count; n-- > 0;) {
            uint16_t longer = common[m + 1][n] > common[m][n + 1] ? common[m + 1][n] : common[m][n + 1];

            common[m][n] = same_line(&a, m, &b, n) ? (uint16_t)(common[m + 1][n + 1] + 1) : longer;
        }
    }
    while (i < a.count || j < b.count) {
        if (i < a.count && j < b.count && same_line(&a, i, &b, j)) {
            printf("  %.*s\n", a.length[i++], b.start[j]);
            j++;
        } else if (j == b.count || (i < a.count && common[i + 1][j] >= common[i][j + 1])) {
            printf("- %.*s\n", a.length[i], a.start[i]);
            i++;
        } else {
            printf("+ %.*s\n", b.length[j], b.start[j]);
            j++;
        }
    }
}
