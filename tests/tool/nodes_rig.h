/* Three masters on unix sockets, and the command on them; for the tests of `redlock nodes`. */
#ifndef TESTS_NODES_RIG_H
#define TESTS_NODES_RIG_H

#include "ask.h"
#include "suite.h"
#include "tool.h"

enum { N = 3 };

extern struct tool tool;
extern struct masters *masters;

void setup(void);
void setup_with(const struct masters_options *options);
void teardown(void);

/* Names the masters as the command is to find them in the environment; the first by this URL. */
void use(const char *first);

/* The command with the words of the line, which must end like this. */
void run(const char *line, int exit_code);

/* All masters are declared new, and vote. */
void declared(void);

/* Standard output contains this, be it broken into several lines. */
void expect_out(const char *text);

/* `redlock nodes` shows the first master with this standing and sentence; the others vote. */
void expect_first(const char *standing, const char *text);

#endif
