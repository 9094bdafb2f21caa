/* The command line of the simulator. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "run.h"

struct request {
    struct sweep sweep;
    const char *story;
    unsigned mutant;
    uint64_t budget;
    bool have_range;
    bool verbose;
    bool coverage;
    bool minimize;
    bool record;
    bool mutants;
    bool expect_violation;
};

extern const char usage[];

/* False, with a word about why, if this is not a command line. */
bool parse_options(int argc, char **argv, struct request *request);

#endif
