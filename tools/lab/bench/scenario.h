/* The scenarios: what is done, and by how many. */
#ifndef BENCH_SCENARIO_H
#define BENCH_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/options.h>

enum bench_fault {
    BENCH_NO_FAULT,
    BENCH_HANG,
    BENCH_KILL,
};

enum bench_work {
    BENCH_LOAD,    /* acquire, release, again */
    BENCH_HOLD,    /* many locks, held */
    BENCH_FENCE,   /* fencing tokens of contended keys */
    BENCH_SETS,    /* several fresh keys at once, and again */
    BENCH_READERS, /* one key: one task writes, all others read */
    BENCH_REENTER, /* a key for each task, which enters it again */
    BENCH_LATCH,   /* rounds in which all tasks arrive at a latch */
    BENCH_ELECTION, /* one key: all tasks are candidates */
};

struct bench_scenario {
    const char *name;
    enum bench_work work;
    bool contended;       /* all tasks want the same key */
    bool rounds;          /* ... once each, then again together; readers: see readers.c */
    enum redlock_mode mode; /* BENCH_LOAD: of the locks */
    bool threads;         /* compared with the blocking interface, at 1 task and at all; tasks keep their keys */
    enum bench_fault fault;
    size_t n_faulty;
    uint32_t concurrency; /* these three unless the user says otherwise */
    uint32_t procs;
    uint32_t reps;
    uint32_t set_keys;    /* sets: of each */
    const char *text;
};

#define BENCH_SCENARIOS 20
extern const struct bench_scenario bench_scenarios[BENCH_SCENARIOS];

/* NULL: there is none of this name. */
const struct bench_scenario *bench_scenario_find(const char *name);

#endif
