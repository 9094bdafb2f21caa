/* What the classes of redlock.hpp do, behind a C function: the rig is C. */
#ifndef TESTS_GUARDS_CPP_H
#define TESTS_GUARDS_CPP_H

#include <stdbool.h>
#include <stddef.h>

#include <redlock/options.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cpp_claim {
    CPP_ASSIGNED_GUARD,
    CPP_ASSIGNED_MUTEX,
    CPP_GUARD_IN_CALLBACK,
    CPP_ODD_TIMES,
    CPP_REFUSED,
    CPP_ENTERED_AGAIN,
    CPP_SHARED_AGAIN,
    CPP_ELECTED_IN_TURN,
    CPP_NOT_ELECTED_IN_TIME,
    CPP_WITHDRAWN,
    CPP_TERM_ENDED,
    CPP_TRIED_TWICE_AT_ONCE,
};

bool cpp_holds(enum cpp_claim claim, const char *const *masters, size_t n_masters,
               const struct redlock_options *options);

#ifdef __cplusplus
}
#endif
#endif
