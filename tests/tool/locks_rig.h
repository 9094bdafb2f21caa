/* What the tests of the commands on locks share: five masters that are declared new, and the key "job". */
#ifndef TESTS_LOCKS_RIG_H
#define TESTS_LOCKS_RIG_H

#include "masters.h"
#include "tool.h"

extern struct tool tool; /* the latest run */
extern struct masters *masters;

void locks_open(void);
void locks_close(void);

/* Other masters than the five; their URLs go to the environment. */
void locks_start(size_t count, const char *const *extra_args);
void locks_start_with(const struct masters_options *options);

/* Otherwise masters that have just been started would not vote for a minute. */
void locks_declare_new(void);

/* A command to one master, and the key with this value. */
void locks_command(size_t node, const char *const *words);
void locks_store(size_t node, const char *value);

/* `redlock lock job`, which must succeed; its token. `redlock unlock job TOKEN`, whatever comes of it. */
const char *locks_lock(void);
void locks_unlock(const char *token);

/* The text has the words, behind them the number of a majority of five masters, and " of 5 masters": a command is over
 * when a majority has answered, and a late master may be without the key. */
void locks_expect_majority(const char *text, const char *words);

#endif
