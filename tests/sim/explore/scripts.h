/* Tiny worlds of one master that runs the shipped scripts, and bugs that are planted in the scripts. */
#ifndef SIM_SCRIPTS_H
#define SIM_SCRIPTS_H

#include <stddef.h>
#include <stdint.h>

#include "lua_host.h"
#include "search.h"

/* What every setup begins with. */
struct script_run {
    struct lua_host *lua;
    uint8_t last_tick;
};

/* Other words in all scripts that have these. */
struct script_bug {
    const char *name;
    unsigned setup; /* where it must be found */
    const char *old;
    const char *new;
};

/* All worlds of one sort. */
struct script_worlds {
    const struct search_rules *rules;
    size_t n_setups;
    const char *const *names;
    const void *setups;
    size_t setup_size;
    size_t n_bugs;
    const struct script_bug *bugs;
};

extern const struct script_worlds modes_worlds;
extern const struct script_worlds permits_worlds;

#endif
