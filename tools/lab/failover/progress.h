/* While it lasts: one line that is painted over and over, on a terminal; elsewhere a line for each scenario. */
#ifndef FAILOVER_PROGRESS_H
#define FAILOVER_PROGRESS_H

#include "cli/term.h"
#include "outcome.h"

struct fo_progress {
    struct term term;
    const struct fo_options *options;
    const struct fo_run *run; /* the one that the counts below belong to */
    uint32_t read[FO_MAX_CLIENTS];
    uint64_t acquired;
    uint64_t refused;
    int64_t since_ns;         /* of the counts */
    double rate;
    uint32_t number;          /* of the scenario, from 1 */
    bool painted;
};

void fo_progress_init(struct fo_progress *progress, const struct fo_options *options);
void fo_progress_show(const struct fo_run *run, void *user_data); /* user_data: a struct fo_progress */
void fo_progress_end(struct fo_progress *progress);               /* takes the line away */
void fo_progress_outcome(struct fo_progress *progress, const struct fo_outcome *outcome);

#endif
