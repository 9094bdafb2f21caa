/* The programs of packages: where they are, and the user that theirs run as. */
#ifndef MASTERS_PROGRAM_H
#define MASTERS_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

/* In PATH, else in the first of the places (a pattern as of glob(3), NULL: nowhere else); malloc'ed, NULL if it is
 * nowhere. A name with a slash is taken as it is. */
char *program_find(const char *name, const char *places);

/* Whom a program shall run as: if this process is root, the user of that name; else, and for NULL, itself. */
struct program_user {
    bool other;
    uid_t uid;
    gid_t gid;
};
bool program_user_find(const char *name, struct program_user *ret_user);

#endif
