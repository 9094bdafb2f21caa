/* The parts of the test of all caller errors. */
#ifndef TESTS_ERRORS_H
#define TESTS_ERRORS_H

#include <check.h>

#include "rig.h"

/* Fails the test unless both are equal; notes the code as seen. */
void errors_expect(int actual, int expected, const char *what);

void errors_of_options(struct rig *rig);
void errors_of_masters(struct rig *rig);
void errors_of_credentials(struct rig *rig);

#endif
