/* Every order of events at one master that runs the shipped scripts: votes with modes, and permits. With --all all
 * worlds last a tick longer, which takes minutes. */
#include "scripts.h"

#include "script_tools.h"

const struct search_worlds *const search_worlds[] = {&modes_worlds, &permits_worlds, NULL};

void script_begin(void *setup, const void *planted, bool all)
{
    struct script_run *run = setup;
    const struct script_bug *bug = planted;

    run->lua = lua_host_create();
    if (bug)
        script_master_plant(run->lua, bug->old, bug->new);
    else
        run->last_tick = (uint8_t)(run->last_tick + all);
}

void script_end(void *setup)
{
    struct script_run *run = setup;

    script_master_plant(run->lua, NULL, NULL);
    lua_host_destroy(run->lua);
}
