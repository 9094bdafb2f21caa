/* Planted bugs: what the simulator must be able to find. All are in planted.txt, from which plant.py makes planted.h,
 * and copies of the sources of lib. Programs that are compiled with RL_MUTANTS have them, and one is on at a time. */
#ifndef SIM_MUTANTS_H
#define SIM_MUTANTS_H

#ifdef RL_MUTANTS

#include "planted.h"

enum mutant {
    MUTANT_NONE,
#define MUTANT_ENUM(name, where, budget, text, ...) MUTANT_##name,
    PLANTED_BUGS(MUTANT_ENUM)
#undef MUTANT_ENUM
    MUTANT_COUNT,
};

extern enum mutant mutant_active;

#define RL_MUTANT(name) (mutant_active == MUTANT_##name)

#else
#define RL_MUTANT(name) 0
#endif

#endif
