/* The rig of a program: one world for each test, opened before it and closed behind it. */
#ifndef TESTS_PROGRAM_RIG_H
#define TESTS_PROGRAM_RIG_H

#include "rig.h"
#include "suite.h"

extern struct rig rig;

/* What a GROUP() begins and ends with, unless its world is a special one. */
void rig_three(void);
void rig_five(void);
void rig_end(void);

#endif
