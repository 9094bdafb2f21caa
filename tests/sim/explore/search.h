/* Exhaustive search in tiny worlds. */
#ifndef SIM_SEARCH_H
#define SIM_SEARCH_H

#include <stdbool.h>

#include "tiny.h"

/* Goes through every state that can follow, and prints a line about it. True if the search has come to what the setup
 * says: nothing wrong, or something. An unexpected end is printed with the path to it. */
bool search_explore(const struct tiny_setup *setup);

#endif
