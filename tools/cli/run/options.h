/* What `redlock run` is told. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/common.h"
#include "cli/lock_spec.h"
#include "cli/run/deadline.h"

enum run_exit {
    RUN_EXIT_FOREIGN = 121,
    RUN_EXIT_NO_QUORUM = 122,
    RUN_EXIT_LOST = 123,
    RUN_EXIT_BUSY = 124,
    RUN_EXIT_OWN_ERROR = 125,
    RUN_EXIT_NOT_EXECUTABLE = 126,
    RUN_EXIT_NOT_FOUND = 127,
    RUN_EXIT_SIGNAL = 128, /* plus its number */
};

/* Who tells a service manager that the service is ready, and that it is alive. */
enum run_notifier {
    RUN_NOTIFIER_REDLOCK, /* ready as soon as the command has been started */
    RUN_NOTIFIER_COMMAND, /* which gets the manager's socket */
};

struct run_options {
    struct cli_common common;
    struct lock_spec spec;
    char *lines;        /* the keys, one on each line */
    uint32_t ttl_ms;
    int64_t wait_ms;
    uint32_t busy_code; /* exit code when another has the lock */
    uint32_t kill_after_ms;
    uint32_t margin_ms;
    struct run_limits limits; /* the same, for the guard */
    uint32_t leftovers; /* enum run_leftovers */
    bool ignore_loss;
    int warning;        /* signal of the warning, 0: none */
    const char *hook;   /* shell command instead of it, NULL: none */
    bool no_renew;
    bool fenced;
    bool foreground;
    bool status;
    bool quiet;
    bool verbose;
    bool json_log;
    uint32_t notifier; /* enum run_notifier */
    const char *lock_file;
    const char *metrics_file;
    char **argv; /* the command */
};

/* -1 to go on, else the exit code, after a message or help. run_options_fini() is due in both cases. */
int run_options_parse(struct run_options *options, int argc, char **argv);
void run_options_fini(struct run_options *options);

void run_write_help(FILE *out);

#endif
