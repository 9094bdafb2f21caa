/* Server processes: start, stop, and the proof that they have. */
#ifndef MASTERS_PROCESS_H
#define MASTERS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* --- A command line that is put together. Whoever has added to it calls arguments_fini(), also after a failure. */

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

/* --- The programs of packages: where they are, and the user that theirs run as. */

/* In PATH, else in the first of the places (a pattern as of glob(3), NULL: nowhere else); malloc'ed, NULL if it is
 * nowhere. A name with a slash is taken as it is. */
char *program_find(const char *name, const char *places);

/* The directory of this process's own program, with the final slash. */
bool program_directory(char *ret_path, size_t size);

/* Whom a program shall run as: if this process is root, the user of that name; else, and for NULL, itself. */
struct program_user {
    bool other;
    uid_t uid;
    gid_t gid;
};
bool program_user_find(const char *name, struct program_user *ret_user);

#endif
