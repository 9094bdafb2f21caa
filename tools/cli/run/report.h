/* Messages of `redlock run`: sentences for people or lines of JSON, on standard error only. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

struct outcome;
struct run;

enum run_level {
    RUN_LEVEL_ERROR,   /* always */
    RUN_LEVEL_WARNING, /* unless --quiet */
    RUN_LEVEL_STATUS,  /* with --status */
    RUN_LEVEL_DETAIL,  /* with --verbose */
};

/* `event` is a word for programs: "busy", "lost"... */
void run_report(const struct run *run, enum run_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same about an operation that failed, with each master's part: lines below the sentence, or members "why" and
 * "masters". */
void run_report_outcome(const struct run *run, enum run_level level, const char *event, const struct outcome *outcome,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
