/* A person at a terminal, for commands that have to do with one. */
#ifndef TESTS_TERMINAL_H
#define TESTS_TERMINAL_H

#include <stddef.h>
#include <sys/types.h>

struct terminal {
    int fd; /* the side of the person */
    pid_t shell;
    char text[65536]; /* what was written there and has not been passed over, always terminated */
    size_t n;
};

/* A shell with job control on a terminal of its own, which runs one job and tells how it ended. */
void terminal_open(struct terminal *terminal, const char *script);

/* Waits until there is this text. */
void terminal_read(struct terminal *terminal, const char *text);

/* Forgets what was written so far. */
void terminal_forget(struct terminal *terminal);

void terminal_type(const struct terminal *terminal, const char *text);

/* The shell must end by itself. */
void terminal_close(struct terminal *terminal);

#endif
