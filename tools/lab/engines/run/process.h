/* An engine's process with its three pipes. */
#ifndef ENGINES_RUN_PROCESS_H
#define ENGINES_RUN_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct engine_process {
    pid_t pid; /* also the number of its group; 0: it has been waited for */
    int in, out, err; /* its standard input, output and error: our ends, which do not block */
};

/* It is killed when this process ends. False with errno; a program that cannot be run ends with status 127. */
bool engine_process_start(struct engine_process *process, const char *path);

/* Its wait status, once it has ended; -1 as long as it runs. */
int engine_process_status(struct engine_process *process);

/* Kills it and what it has started, if it runs; waits, and closes the pipes. */
void engine_process_end(struct engine_process *process);

#endif
