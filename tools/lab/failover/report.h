/* The outcomes of all scenarios of a run, and the forms in which they are told. */
#ifndef FAILOVER_REPORT_H
#define FAILOVER_REPORT_H

#include <stdio.h>

#include "cli/term.h"
#include "outcome.h"

struct fo_environment {
    char library[32];
    char commit[48];   /* "" if it is not known */
    char subject[240]; /* what was put to the test, with its version: the library or an engine */
    uint32_t masters;  /* that it was put on */
    char server[40];
    char fsync[16];    /* of the masters */
    char cpu[128];
    char kernel[160];
    char date[32];
    char scheduling[32];
    long processors;
    int64_t trip_ns;   /* median of the scenarios without a relay; -1: not known */
};

struct fo_report {
    const struct fo_options *options;
    struct fo_environment environment;
    struct fo_outcome *outcomes[FO_SCENARIOS];
    size_t n;
    struct fo_verdict verdict; /* sum over all */
    int64_t lasted_ns;
    bool engine_failed;        /* at least once; the outcome says how */
};

void fo_report_add(struct fo_report *report, struct fo_outcome *outcome); /* takes it */
void fo_report_complete(struct fo_report *report);                        /* the environment and what is summed up */
void fo_report_free(struct fo_report *report);

/* An enum fo_exit: FO_OK, FO_VIOLATION or FO_TOO_LONG. */
int fo_report_exit(const struct fo_report *report);
bool fo_report_too_long(const struct fo_report *report, const struct fo_outcome *outcome);

/* "pass", "too slow", "disturbed", "UNSAFE" or "not run". */
const char *fo_report_word(const struct fo_outcome *outcome);

/* What must be 0, in words; the last only where a guarded record of --resource was written to. Returns how many. */
#define FO_PROMISES 6
struct fo_broken {
    uint64_t n;
    const char *text;
};
size_t fo_report_broken(const struct fo_verdict *verdict, struct fo_broken ret_broken[FO_PROMISES]);

/* What the store of --resource did with late writes, in a sentence; "" without one. */
#define FO_STORE_TEXT 200
const char *fo_report_store(const struct fo_report *report, const struct fo_verdict *verdict,
                            char buffer[FO_STORE_TEXT]);

/* "1.9 ms", "412 ms", "3.51 s", or "-" for -1. buffer has at least 16 bytes. */
const char *fo_duration(int64_t ns, char *buffer, size_t size);

/* What the machine and the build tell. */
void fo_environment_read(struct fo_environment *environment);

#endif
