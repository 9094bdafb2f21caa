/* What the user asked for: scenario, load, masters, output. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <redlock/options.h>

#include "masters/masters.h"
#include "options/masters.h"
#include "scenario.h"

#define BENCH_MAX_CONCURRENCY 100000
#define BENCH_MAX_PROCS 255

/* The hold scenario. The locks are renewed as the library does by default: after a third of their ttl. */
#define BENCH_MAX_HELD 1000000
#define BENCH_HOLD_LOCKS 100000  /* unless the user says otherwise */
#define BENCH_HOLD_PERIODS 2     /* renewals of each lock that are measured, at least */

struct engine_contestant;

struct bench_options {
    const struct bench_scenario *scenario;
    bool scenario_given;
    uint32_t local;                     /* masters of our own to start; 0: the list below */
    struct cli_masters masters;
    enum masters_persistence persistence;
    bool persistence_given;
    bool mixed;                         /* instead: every other one persistent */
    bool unix_sockets;
    bool tls;                           /* to masters of our own; others say so by their URLs */
    uint32_t delay_us;                  /* of whatever goes to a master of our own, or comes from it */
    uint32_t concurrency;
    uint32_t procs;
    bool own_clients;                   /* for each task one; else one for each process */
    double seconds;                     /* 0: until `locks` */
    uint64_t locks;                     /* 0: until `seconds` */
    double warmup_s;
    uint32_t ttl_ms;
    double hold_ms;
    int64_t timeout_ms;
    uint32_t retry_delay_ms;
    uint32_t retry_jitter_ms;
    uint32_t node_timeout_ms;
    uint32_t keys;                      /* fence: contended ones */
    uint32_t permits;                   /* of each key, which is a semaphore then; 0: a lock */
    double pause_ms;                    /* mixed: between turns of the writer */
    uint32_t restarts_ms;               /* between kills of masters; 0: none */
    double idle_s;                      /* hold: for which the idle client is watched */
    enum redlock_wait acquire;          /* what a task does that finds its key taken */
    enum redlock_profile profile;
    bool both;                          /* profiles: guarded, compared with classic */
    uint32_t reps;                      /* slices, where two things are compared */
    bool floor;
    bool pin;
    bool json;
    const char *html;                   /* file for a page; NULL: not wanted */
    bool table;
    bool compare;
    const char *engines;                    /* as the user named them; NULL: none, or all that are found */
    const struct engine_contestant *engine; /* the one that is measured; NULL: the library */
};

/* Returns -1 to go on, else the exit code: help has been printed, or what is wrong. bench_options_free() in both
 * cases. */
int bench_options_parse(struct bench_options *options, int argc, char **argv);
void bench_options_free(struct bench_options *options);

static inline double bench_hold_renewal_s(const struct bench_options *options)
{
    return options->ttl_ms / 3000.0;
}

/* "guarded" or "classic": of what is measured first and foremost. */
static inline const char *bench_profile_name(const struct bench_options *options)
{
    return options->profile == REDLOCK_PROFILE_CLASSIC ? "classic" : "guarded";
}

/* The scenario's own defaults, for what is open: numbers that are 0, retry_*_ms UINT32_MAX, and timeout_ms -1. */
void bench_defaults(struct bench_options *options);

#endif
