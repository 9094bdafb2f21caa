/* Signals that the command ignores. A reader that goes away (head, less) is an error to handle, and so is a file that
 * must not grow (ulimit -f): a lock must be given back, servers be ended. */
#ifndef CLI_IGNORED_H
#define CLI_IGNORED_H

#include <stdbool.h>

/* `was_ignored`: this process was started so. */
struct ignored_signal {
    int number;
    bool was_ignored;
};

enum { IGNORED_SIGNALS = 2 };

extern struct ignored_signal ignored_signals[IGNORED_SIGNALS];

/* Once, at the start of the process. */
void ignore_signals(void);

/* What nohup(1) and shells have this process ignore stays ignored. */
bool is_ignored_signal(int number);

#endif
