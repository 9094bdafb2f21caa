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
    struct run_bound *bound;
    struct outcome trouble; /* what the masters have said to the latest renewal, at the latest alarm */
    int link;
    int fallback;             /* timer: the guard has failed to kill in time */
    unsigned empty_looks;     /* without the guard: sweeps in a row that found nothing ... */
    int pause_us;             /* ... and the time between two */
    struct event *on_link;
    struct event *on_signals;
    struct event *on_fallback;
    struct event *on_watchdog;
    struct event *on_sweep;
    struct event *on_reminder;
    unsigned reminders; /* of leftovers, so far */
    int64_t exited_us;  /* when the command has left them */
    struct redlock_lock *notes[CLI_MOST_TEXTS];
};

/* What a message about a renewal that has failed says besides: each master's part, if there is any. */
#define RUN_TROUBLE_FACTS(keeper, left_ms)                                                                         \
    (&(const struct run_facts){.numbers = RUN_NUMBERS({"remaining_ms", left_ms}),                                  \
                               .outcome = (keeper)->trouble.n_nodes > 0 ? &(keeper)->trouble : NULL})

#endif
