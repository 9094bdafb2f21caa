/* The tiny worlds that are explored. */
#ifndef SIM_SETUPS_H
#define SIM_SETUPS_H

#include "tiny.h"

enum setup {
    SETUP_ONE_QUIET,
    SETUP_ONE_BREAKS,
    SETUP_ONE_SHORTER,
    SETUP_ONE_EXTENDED,
    SETUP_ONE_CRASH,
    SETUP_ONE_LATE,
    SETUP_TWO_QUIET,
    SETUP_TWO_BREAK,
    SETUP_THREE_QUIET,
    SETUP_THREE_BREAK,
    SETUP_THREE_CRASH,
    SETUP_THREE_LOSS,
    SETUP_THREE_LOSS_AT_ONCE,
    SETUP_COUNT,
};

extern const struct tiny_setup setups[SETUP_COUNT];

#endif
