/* Runs the redlock command as a user does: as a process, judged by its output and its end. */
#ifndef TESTS_TOOL_H
#define TESTS_TOOL_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TOOL_STREAM_SIZE = 262144 };

struct tool {
    pid_t pid;   /* 0 once its end has been seen */
    int fds[2];  /* what it writes: standard output, standard error; -1 at their end */
    char out[TOOL_STREAM_SIZE]; /* so far, always terminated */
    char err[TOOL_STREAM_SIZE];
    size_t out_size;
    size_t err_size;
    int exit_code; /* -1 if it ended by a signal, or has not ended */
    int signal;
};

/* The command under test, from the command line of the test program. */
void tool_set_path(const char *path);
const char *tool_path(void);

/* The rest of a main() whose program needs servers, and takes the command's path as its only argument. Gives the exit
 * status. */
int tool_run_suite(int argc, char **argv, Suite *suite);

/* How long a master may take to answer the commands that are started from now on, where their words do not say it; NULL
 * leaves that to the command. The tests' default is 5s: masters of a machine that stands still for a second are not
 * missing. */
void tool_set_node_timeout(const char *duration);

/* What the commands started from now on read; -1: what the test program reads. */
void tool_set_input(int fd);

/* Starts `redlock WORD...` in a process group of its own; words up to NULL. Fails the test on errors, as all of
 * these. The calling process adopts what the command leaves behind: see tool_orphans_end(). */
void tool_start(struct tool *tool, const char *const *words);

/* Reads until standard output contains the text; the test fails if the command ends without it. */
void tool_read_until(struct tool *tool, const char *text);
void tool_read_error_until(struct tool *tool, const char *text); /* of standard error */

/* The same, and to its end, of standard output alone: nobody reads standard error. */
void tool_read_output_until(struct tool *tool, const char *text);
void tool_read_output(struct tool *tool);

/* Reads to the end of both streams and waits. */
void tool_finish(struct tool *tool);

/* tool_start() and tool_finish(), with the words in one string, separated by blanks. */
void tool_run(struct tool *tool, const char *line);

/* As tool_finish() and tool_run(), where this must be the exit code. */
void tool_expect_end(struct tool *tool, int exit_code);
void tool_expect_run(struct tool *tool, const char *line, int exit_code);

/* tool_run() for a tour of the demo, which is made again, a few times, where some of its checks do not hold: they are
 * claims about time, and not all of them are true of a machine that stands still for seconds. Then masters may take
 * longer to answer, too. */
void tool_run_tour(struct tool *tool, const char *line);

/* Fails the test, showing both streams, unless it ended with this exit code. */
void tool_expect(const struct tool *tool, int exit_code);

/* ... unless this signal has ended it. */
void tool_expect_signal(const struct tool *tool, int number);

/* Waits until every process that the command has left behind has ended: by itself, for nothing here kills it. */
void tool_orphans_end(void);

#endif
