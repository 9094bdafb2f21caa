/* One run: programs, faults, and what must hold at every instant. */
#ifndef SIM_PUBLIC_RUN_H
#define SIM_PUBLIC_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rng.h"

enum run_phase {
    RUN_FAULTS,   /* anything happens */
    RUN_WINDING,  /* all has healed: nobody begins anything, and whoever gets something gives it back */
    RUN_CLOSING,  /* clients end */
    RUN_OVER,
};

struct run {
    uint64_t seed;
    struct rng rng;      /* of programs and faults */
    enum run_phase phase;
    bool forgets;        /* masters may lose their memory */
    int64_t next_fault;
    int64_t next_act;
    bool told;           /* what happens is written down */
    bool violated;
    char violation[300];
};

/* What has happened in all runs: a kind of thing that never does is not looked at. */
#define RUN_COUNTS_MAP(X) \
    X(CALLS, "calls") \
    X(CALLBACKS, "callbacks") \
    X(ACQUIRED, "locks acquired") \
    X(REFUSED, "locks refused") \
    X(EXTENDED, "locks extended") \
    X(RELEASED, "locks released") \
    X(CONVERTED, "locks converted") \
    X(CANCELED, "operations canceled") \
    X(AT_RISK, "locks at risk") \
    X(LOST, "locks lost") \
    X(ENTERED, "locks entered again") \
    X(ADOPTED, "locks adopted") \
    X(VALUES_RELEASED, "values released") \
    X(SETS_ACQUIRED, "sets acquired") \
    X(SETS_REFUSED, "sets refused") \
    X(SETS_EXTENDED, "sets extended") \
    X(SETS_RELEASED, "sets released") \
    X(SETS_AT_RISK, "sets at risk") \
    X(SETS_LOST, "sets lost") \
    X(SETS_ADOPTED, "sets adopted") \
    X(ELECTED, "leaders elected") \
    X(LEADERS_AT_RISK, "leaders at risk") \
    X(LEADERS_LOST, "leaderships lost") \
    X(RESIGNED, "candidates that resigned") \
    X(CANDIDATES_FAILED, "candidates that failed") \
    X(OBSERVED, "leaders observed") \
    X(ARRIVED, "parties arrived") \
    X(OPENED, "latches opened") \
    X(LOOKS, "looks") \
    X(SHUTDOWNS, "shutdowns") \
    X(SHUTDOWNS_LATE, "shutdowns whose time was up") \
    X(DESTROYED_INSIDE, "clients destroyed in a callback")

enum run_count {
#define COUNT(count, name) COUNT_##count,
    RUN_COUNTS_MAP(COUNT)
#undef COUNT
    RUN_COUNTS,
};

extern struct run run;
extern uint64_t run_counts[RUN_COUNTS];

static inline void run_count(enum run_count count)
{
    run_counts[count]++;
}

/* false: something did not hold; run.violation says what. */
bool run_seed(uint64_t seed, bool told);

void run_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
void run_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
