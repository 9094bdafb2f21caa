/* The guard: the process that starts the command, and ends it in time even if the wrapper cannot.
 *
 * THE PROCESS TREE
 *
 *     wrapper (redlock run)     holds the lock and renews it; subreaper
 *       guard                   knows the deadline, and nothing of masters; subreaper
 *         command               dies with the guard (PR_SET_PDEATHSIG)
 *           ...                 whatever it starts: whoever loses its parent becomes a child of the guard
 *
 * The guard stands between the two, since a process can only find what descends from it: orphans go to the nearest
 * subreaper above them, so daemons and double forks come to the guard, which thus knows by ECHILD that nothing is
 * left. It lives in a session of its own and blocks all signals. The command has a process group of its own, or, where
 * there is a controlling terminal, that of the wrapper: then it is a part of the shell's job like any other program.
 *
 * The child looks at the clock last, just before it executes the command: whatever has held it up since the lock was
 * granted, no command begins that would have to be ended at once.
 *
 * What fails, and who acts then:
 *
 *     wrapper killed      the guard sees the end of the link: SIGKILL to all, at once
 *     wrapper stopped     no deadline comes any more: the guard warns and kills by its own timer (CLOCK_BOOTTIME);
 *                         an agent renews the lock nevertheless
 *     masters silent      the same
 *     command ignores TERM, or has left its group or session: SIGKILL to all descendants, again until none is left
 *     guard killed        the command dies with it; its other descendants become the wrapper's, which kills them
 *     guard stopped       a timer of the kernel continues it in time (SIGCONT), also if the wrapper is stopped, too;
 *                         else the wrapper kills, a tenth of the margin later than the guard would have
 *     all are frozen      (cgroup freezer, a debugger) nobody acts; once thawed, the guard acts at once
 *     both killed         the command dies with the guard; what it has started goes on: nobody is left to find it
 *
 * An agent gives the lock back as soon as nobody has the connection open (tools/agent/PROTOCOL.md). So the guard keeps
 * it open, too: when the wrapper is killed, the lock is free when everything has ended, and not before.
 *
 * A process that has become another user's cannot be killed by either, and one that waits inside the kernel for a
 * device that never answers dies when that does. */
#ifndef CLI_RUN_GUARD_H
#define CLI_RUN_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/run/child.h"
#include "cli/run/deadline.h"
#include "cli/run/tree.h"

struct run_guard_plan {
    const struct run_child *child;
    struct run_bound *bound;
    struct run_limits limits;
    int warning;      /* the signal of the warning; 0: none */
    const char *hook; /* shell command to run as the warning, or beside SIGKILL if there was none; NULL: none */
    enum run_leftovers leftovers;
    bool ignore_loss; /* only an end of the wrapper ends the command */
    int agent;        /* a connection that the guard keeps open to its end; -1: none */
};

/* The hook of a loss without a warning has so long, without the lock. */
enum { RUN_HOOK_MS = 10000 };

/* From the wrapper. Each is one packet. */
enum run_order_kind {
    RUN_ORDER_DEADLINE, /* the bound has changed */
    RUN_ORDER_SIGNAL,   /* for the command's group */
    RUN_ORDER_KILL,     /* everything, now */
    RUN_ORDER_AGENT,    /* the packet has another connection to keep open */
};

struct run_order {
    enum run_order_kind kind;
    int number;
};

/* To the wrapper. */
enum run_news_kind {
    RUN_NEWS_STARTED,     /* number: its pid */
    RUN_NEWS_NOT_STARTED, /* number: errno of the attempt to execute it; negative: of what must come before that, and
                           -ETIME: too little of the lock was left */
    RUN_NEWS_STOPPED,     /* number: the signal that stopped it */
    RUN_NEWS_WARNED,      /* the warning was given; the lock's later fate changes nothing any more */
    RUN_NEWS_KILLED,      /* the deadline, or an order */
    RUN_NEWS_EXITED,      /* the command itself; number: as of waitpid() */
    RUN_NEWS_LEFTOVERS,   /* it has ended, and something that it has started has not; before they are ended or left */
    RUN_NEWS_ENDED,       /* nothing is left */
};

struct run_news {
    enum run_news_kind kind;
    int number;
    struct run_listing left; /* of RUN_NEWS_LEFTOVERS */
};

/* Forks it. Returns the wrapper's end of the link, -1 with errno if the system refuses. All signals must be blocked in
 * the calling process, and stay blocked in the guard. */
int run_guard_start(const struct run_guard_plan *plan, pid_t *ret_pid);

#endif
