/* The runner's side of the protocol in ../README.md: one engine process, on the caller's loop.
 *
 * Whatever the engine does wrong ends the runner: on_failed() says once what it was, and no other callback comes after
 * it. Callbacks come from the loop only, never from inside of a call; none of them may destroy the runner. */
#ifndef ENGINES_RUN_RUNNER_H
#define ENGINES_RUN_RUNNER_H

#include <sys/types.h>

#include "clock.h"
#include "find.h"
#include "orders.h"

struct event_base;

struct runner_hello {
    char version[96];
    char systems[160];
    unsigned can;    /* of enum runner_can */
    uint32_t ttl_ms; /* that its library uses if its user names none; 0: one must be named */
};

struct runner_callbacks {
    void (*on_hello)(struct runner *runner, const struct runner_hello *hello, void *user_data);
    void (*on_opened)(struct runner *runner, void *user_data);
    void (*on_failed)(struct runner *runner, const char *why, void *user_data);
    void (*on_ended)(struct runner *runner, void *user_data); /* after runner_bye(): it has ended in order */
};

/* The process has been started, and `hello` sent. NULL: ret_why. */
struct runner *runner_create(struct event_base *base, const struct engine_place *place,
                             const struct runner_callbacks *callbacks, void *user_data, char *ret_why, size_t size);
void runner_destroy(struct runner *runner); /* kills it; NULL is fine */

/* The end of its standard input, and nothing else: runner_status() tells when it has ended. */
void runner_close_input(struct runner *runner);
int runner_status(struct runner *runner); /* the wait status, or -1 while it runs */

pid_t runner_pid(const struct runner *runner); /* the number of its process group as well */
size_t runner_in_flight(const struct runner *runner);

/* Starts it, hears its hello, and ends it; with a loop of its own. False: ret_why. */
bool runner_ask(const struct engine_place *place, struct runner_hello *ret_hello, char *ret_why, size_t size);

#endif
