/* Tiny worlds of one master that runs the shipped scripts, and bugs that are planted in the scripts. */
#ifndef SIM_SCRIPTS_H
#define SIM_SCRIPTS_H

#include <stddef.h>
#include <stdint.h>

#include "simulated/lua_host.h"
#include "search.h"

/* What every setup begins with. */
struct script_run {
    struct search_setup search;
    struct lua_host *lua;
    uint8_t last_tick;
};

/* Other words in all scripts that have these. */
struct script_bug {
    struct search_bug search;
    const char *old;
    const char *new;
};

extern const struct search_worlds modes_worlds;
extern const struct search_worlds permits_worlds;

void script_begin(void *setup, const void *bug, bool all);
void script_end(void *setup);

#endif
