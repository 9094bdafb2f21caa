/* A command line that is put together. Whoever has added to it calls arguments_fini(), also after a failure. */
#ifndef MASTERS_ARGUMENTS_H
#define MASTERS_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#define ARGUMENTS_MAX 96

struct arguments {
    char *list[ARGUMENTS_MAX + 1]; /* ends with NULL */
    size_t n;
};

/* Copies of the words, up to NULL. */
bool arguments_add(struct arguments *arguments, const char *word, ...) __attribute__((sentinel));
bool arguments_add_list(struct arguments *arguments, const char *const *words);
/* One word. */
bool arguments_print(struct arguments *arguments, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arguments_fini(struct arguments *arguments);

#endif
