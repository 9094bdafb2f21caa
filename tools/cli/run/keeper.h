/* What the parts of the wrapper share while the command runs. */
#ifndef CLI_RUN_KEEPER_H
#define CLI_RUN_KEEPER_H

#include <event2/util.h>
#include <stdbool.h>

#include "cli/run/child.h"
#include "cli/run/guard.h"
#include "cli/run/run.h"
#include "cli/run/tree.h"

struct event;

struct keeper {
    struct run *run;
    struct run_child child;
    struct run_strangers strangers;
    pid_t guard;
    int link;
    int fallback;             /* timer: the guard has failed to kill in time */
    bool deadline_owed;       /* the link was full when the guard was to be told */
    unsigned empty_looks;     /* without the guard: sweeps in a row that found nothing ... */
    int pause_us;             /* ... and the time between two */
    struct event *on_link;
    struct event *on_room;
    struct event *on_signals;
    struct event *on_fallback;
    struct event *on_watchdog;
    struct event *on_sweep;
};

/* Starts guard and command; false with errno. */
bool keeper_start(struct keeper *keeper, char *const *envp);

/* The command's environment; NULL: out of memory. */
char **keeper_environment(const struct run *run);

/* Tells the guard. A deadline that does not fit into the link goes as soon as it does; the latest counts. */
void keeper_order(struct keeper *keeper, enum run_order_kind kind, int number);

/* Looks at the lock's validity, and tells everybody if that has changed. */
void keeper_refresh(struct keeper *keeper);

/* Ends the guard, and everything that it was to look after. */
void keeper_take_over(struct keeper *keeper, const char *why);

/* Callbacks of events, with a struct keeper. */
void keeper_on_link(evutil_socket_t fd, short what, void *data);
void keeper_on_room(evutil_socket_t fd, short what, void *data);
void keeper_on_fallback(evutil_socket_t fd, short what, void *data);
void keeper_on_sweep(evutil_socket_t fd, short what, void *data);
void keeper_on_signals(evutil_socket_t fd, short what, void *data);

#endif
