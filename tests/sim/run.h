/* Runs worlds by their seeds, in one process or several. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coverage.h"
#include "plan.h"

struct lua_host;

#define MOST_JOBS 64

/* Worlds, and how they are run. */
struct sweep {
    uint64_t first; /* seeds */
    uint64_t last;
    struct plan_options worlds;
    unsigned jobs;      /* processes, 1 to MOST_JOBS */
    bool stop_at_first; /* violation */
    bool quiet;         /* violations are not printed */
    FILE *trace;        /* where everything that happens is written; NULL: nowhere */
};

/* What they have shown. */
struct tally {
    struct coverage coverage;
    uint64_t violations;
    uint64_t worlds;     /* until the first violation, if it stops there */
    uint64_t first_seed; /* of a violation */
    double cpu_seconds;
    char first_violation[400];
};

/* Runs them all, or until the first violation. Each violation is printed with the command that replays it. */
void run_sweep(struct lua_host *lua, const struct sweep *sweep, struct tally *ret_tally);

/* The options of the command line that make the same worlds. */
const char *run_options_text(const struct plan_options *options);

/* Finds a simpler world that violates the same oracle, and prints how to replay it. */
void minimize(struct lua_host *lua, uint64_t seed, struct plan_options options);

/* Plants the bug, in the scripts too; MUTANT_NONE takes it out. */
void mutant_plant(struct lua_host *lua, unsigned mutant);

/* Plants one bug after the other, looks for each, prints the table; false if one is not found within its budget. Those
 * with a budget above max_budget are left out. */
bool mutants_hunt(struct lua_host *lua, uint64_t first_seed, uint64_t max_budget, unsigned jobs);
unsigned mutant_by_name(const char *name); /* 0: none of that name */

#endif
