#include "blocking/result.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <redlock/blocking.h>
#include <redlock/latch.h>
#include <redlock/look.h>

#include "blocking/sleepers.h"
#include "util/instant.h"

enum { MAX_TEXTS = 2, MAX_ARRAYS = 3 };

/* A pointer to a text, and where its size is, unless a 0 ends it. */
struct text {
    bool is_there;
    bool has_size;
    size_t at;
    size_t size_at;
};

/* A pointer to elements, how many there are, and the texts of each. */
struct array {
    size_t at;
    size_t count_at;
    size_t element_size;
    struct text texts[MAX_TEXTS];
};

struct rl_result_form {
    size_t size;
    struct text why;
    struct array arrays[MAX_ARRAYS]; /* an element size of 0: there is none */
};

#define TEXT(type, text) {.is_there = true, .at = offsetof(type, text)}
#define BYTES(type, bytes, size) \
    {.is_there = true, .has_size = true, .at = offsetof(type, bytes), .size_at = offsetof(type, size)}
#define ARRAY(type, array, count, ...)                                   \
    {.at = offsetof(type, array), .count_at = offsetof(type, count),     \
     .element_size = sizeof *((type *)0)->array, .texts = {__VA_ARGS__}}
#define NODES(type, node) ARRAY(type, nodes, n_nodes, TEXT(node, name), TEXT(node, detail))

const struct rl_result_form rl_lock_result_form = {
    .size = sizeof(struct redlock_result),
    .why = TEXT(struct redlock_result, why),
    .arrays = {NODES(struct redlock_result, struct redlock_node_result)},
};

const struct rl_result_form rl_latch_result_form = {
    .size = sizeof(struct redlock_latch_result),
    .why = TEXT(struct redlock_latch_result, why),
    .arrays = {NODES(struct redlock_latch_result, struct redlock_latch_node),
               ARRAY(struct redlock_latch_result, arrived, n_arrived, {.is_there = true})},
};

#define VALUES(array, count) \
    ARRAY(struct redlock_look_result, array, count, BYTES(struct redlock_look_value, value, value_size))

const struct rl_result_form rl_look_result_form = {
    .size = sizeof(struct redlock_look_result),
    .why = TEXT(struct redlock_look_result, why),
    .arrays = {VALUES(values, n_values), VALUES(waiters, n_waiters),
               NODES(struct redlock_look_result, struct redlock_look_node)},
};

/* --- Copies ----------------------------------------------------------------------------------------------------- */

static const char *pointer_at(const char *structure, size_t at)
{
    const char *pointer;

    memcpy(&pointer, structure + at, sizeof pointer);
    return pointer;
}

static size_t number_at(const char *structure, size_t at)
{
    size_t number;

    memcpy(&number, structure + at, sizeof number);
    return number;
}

/* Without the 0 behind it. */
static size_t text_size(const char *structure, const struct text *text)
{
    return text->has_size ? number_at(structure, text->size_at) : strlen(pointer_at(structure, text->at));
}

static size_t texts_size(const char *structure, const struct text texts[MAX_TEXTS])
{
    size_t size = 0;

    for (size_t i = 0; i < MAX_TEXTS && texts[i].is_there; i++)
        size += text_size(structure, &texts[i]) + 1;
    return size;
}

static size_t array_size(const char *result, const struct array *array)
{
    return number_at(result, array->count_at) * array->element_size;
}

static size_t size_of(const char *result, const struct rl_result_form *form)
{
    size_t size = form->size + text_size(result, &form->why) + 1;

    for (const struct array *array = form->arrays; array < form->arrays + MAX_ARRAYS; array++) {
        const char *elements = array->element_size ? pointer_at(result, array->at) : NULL;
        size_t elements_size = array->element_size ? array_size(result, array) : 0;

        size += elements_size;
        for (size_t at = 0; at < elements_size; at += array->element_size)
            size += texts_size(elements + at, array->texts);
    }
    return size;
}

/* Copies what the pointer of a structure points to, and moves `*end` behind it. The pointer leads to the copy. */
static char *take(char *structure, size_t at, size_t size, char **end)
{
    char *copy = *end;

    if (size)
        memcpy(copy, pointer_at(structure, at), size);
    memcpy(structure + at, &copy, sizeof copy);
    *end += size;
    return copy;
}

static void take_text(char *structure, const struct text *text, char **end)
{
    take(structure, text->at, text_size(structure, text), end);
    *(*end)++ = '\0';
}

/* Arrays come before texts, which have no alignment. */
void *rl_result_copy(const struct rl_result_form *form, const void *result)
{
    char *copy = malloc(size_of(result, form));
    char *elements[MAX_ARRAYS];
    char *end;

    if (!copy)
        return NULL;
    end = memcpy(copy, result, form->size);
    end += form->size;
    for (size_t i = 0; i < MAX_ARRAYS && form->arrays[i].element_size; i++)
        elements[i] = take(copy, form->arrays[i].at, array_size(copy, &form->arrays[i]), &end);
    take_text(copy, &form->why, &end);
    for (size_t i = 0; i < MAX_ARRAYS && form->arrays[i].element_size; i++) {
        const struct array *array = &form->arrays[i];

        for (size_t at = 0; at < array_size(copy, array); at += array->element_size)
            for (size_t t = 0; t < MAX_TEXTS && array->texts[t].is_there; t++)
                take_text(elements[i] + at, &array->texts[t], &end);
    }
    return copy;
}

struct redlock_result *rl_result_too_late(enum redlock_op op, int64_t began_ns)
{
    const struct redlock_result result = {.op = op, .status = REDLOCK_DEADLINE,
                                          .elapsed_us = (rl_monotonic_ns() - began_ns) / RL_NS_PER_US,
                                          .why = redlock_strerror(REDLOCK_DEADLINE)};

    return rl_result_copy(&rl_lock_result_form, &result);
}

void redlock_result_free(struct redlock_result *result)
{
    free(result);
}

void redlock_latch_result_free(struct redlock_latch_result *result)
{
    free(result);
}

void redlock_look_result_free(struct redlock_look_result *result)
{
    free(result);
}
