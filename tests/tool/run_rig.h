/* What the tests of `redlock run` share, besides locks_rig.h: a directory for files, and readers for them. */
#ifndef TESTS_RUN_RIG_H
#define TESTS_RUN_RIG_H

#include "locks_rig.h"

/* A list of words, and a shell command as words of it. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SH(script) "sh", "-c", script

/* A shell runs its traps between two commands. */
#define WAIT "while :; do sleep 0.05; done"

/* A path in the masters' directory, which is removed with them; of the latest calls, up to 4 are valid. */
const char *rig_path(const char *name);

/* The whole file as text, valid until the next call; "" if there is none. */
const char *rig_read(const char *path);

/* Reads until standard error contains the text; the test fails if the command ends without it. */
void rig_read_error(struct tool *run, const char *text);

/* `redlock run` with these words, which must end with the exit code. */
void rig_run(int exit_code, const char *const *words);

/* Starts `redlock run --key job` with these words, and waits until its command says "ready". */
void rig_start(struct tool *run, const char *const *words);

/* Nobody has the key "job". */
void rig_expect_free(void);

#endif
