/* Masters without a client: one question to one of them, written as one would type it. Everything here fails the test
 * if it does not work or there is no proper answer. */
#ifndef TESTS_ASK_H
#define TESTS_ASK_H

#include <stddef.h>

#include "masters.h"

/* Started, and removed also if the test ends early. */
struct masters *ask_open(const struct masters_options *options);

/* The words of the line are separated by single spaces, at most 15. The reply as of masters_command(), to free(). */
char *ask(struct masters *masters, size_t i, const char *line);
/* The reply is exactly this. */
void ask_expect(struct masters *masters, size_t i, const char *line, const char *reply);
/* The reply is an integer, which is returned. */
long long ask_integer(struct masters *masters, size_t i, const char *line);
/* The reply is an error that begins like this. */
void ask_refused(struct masters *masters, size_t i, const char *line, const char *error);
/* The reply contains this. */
void ask_contains(struct masters *masters, size_t i, const char *line, const char *part);
/* A node of a Redis Cluster is to serve all 16384 slots alone. */
void ask_serve_slots(struct masters *masters, size_t i);

#endif
