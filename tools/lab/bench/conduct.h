/* Leading the client processes of a run through warm-up and phases, with the faults that belong to them. */
#ifndef BENCH_CONDUCT_H
#define BENCH_CONDUCT_H

#include <poll.h>
#include <sys/types.h>

#include "run.h"

/* Longest silence of a client process where it has something to say. Generous: only a bug or an overloaded machine
 * can be that slow. */
#define BENCH_WATCHDOG_MS 60000

struct bench_conduct {
    const struct bench_options *options;
    struct bench_servers *servers;
    struct bench_shared *shared;
    uint32_t n;               /* processes */
    pid_t *pids;
    int *controls;            /* our ends */
    int *wake;
    struct pollfd *polls;
    char *reason;
    int64_t sent[BENCH_PHASES]; /* commands of agents in this phase; negative: there is no agent */
    uint32_t restarts;        /* of masters, so far */
    bool limit_reached;       /* in this phase: LIMIT has been said */
    const char *stage;        /* what is waited for, in words */
    bool watched;             /* ... by somebody at a terminal */
};

/* Leaves the sentence for the caller. Returns false. */
__attribute__((format(printf, 2, 3))) bool bench_run_fail(struct bench_conduct *run, const char *format, ...);

/* From READY of all processes to QUIT. */
bool bench_conduct(struct bench_conduct *run, uint32_t phases);

#endif
