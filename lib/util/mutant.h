/* Planted bugs. The simulator compiles what it runs a second time with RL_MUTANTS defined and switches one bug on at a
 * time, to show that it would find it; in the library RL_MUTANT() is the constant false and leaves no trace. */
#ifndef RL_UTIL_MUTANT_H
#define RL_UTIL_MUTANT_H

#ifdef RL_MUTANTS
#include "mutants.h"
#else
#define RL_MUTANT(name) 0
#endif

#endif
