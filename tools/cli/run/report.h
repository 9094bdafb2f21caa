/* Messages of `redlock run`: sentences for people or lines of JSON, on standard error only. A thread writes them, so
 * nothing here waits for a reader; what has had no room is counted, and the number is told when there is some. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct cli_json;
struct outcome;
struct run;

enum run_level {
    RUN_LEVEL_ERROR,   /* always */
    RUN_LEVEL_WARNING, /* unless --quiet */
    RUN_LEVEL_STATUS,  /* with --status */
    RUN_LEVEL_DETAIL,  /* with --verbose */
};

struct run_number {
    const char *name;
    int64_t value;
};

/* What a sentence says, for programs; members that are all zero are left out. */
struct run_facts {
    const struct run_number *numbers; /* up to one without a name */
    const struct outcome *outcome;    /* lines below the sentence, or members "why" and "masters" */
    void (*add)(struct cli_json *json, const void *data); /* other members */
    const void *data;
};

#define RUN_NUMBERS(...) ((const struct run_number[]){__VA_ARGS__, {0}})
#define RUN_FACTS(...) (&(const struct run_facts){.numbers = RUN_NUMBERS(__VA_ARGS__)})

#define RUN_HELD_FACTS(run)                                                                                        \
    RUN_FACTS({"granted", locks_nodes_ok(&(run)->locks)}, {"quorum", locks_masters(&(run)->locks).quorum},          \
              {"remaining_ms", locks_remaining_ms(&(run)->locks)})

/* All signals that the process takes must be blocked. Before it and without success messages are written at once. */
bool run_report_open(struct run *run);

/* `event` is a word for programs: "busy", "lost"... `facts` may be NULL. */
void run_report(const struct run *run, enum run_level level, const char *event, const struct run_facts *facts,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Waits at most so long until all has been written. False if it has not: the thread is left where it is. */
bool run_report_close(struct run *run, int patience_ms);

#endif
