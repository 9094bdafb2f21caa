/* Every order of events at one master that runs the shipped scripts: votes with modes, and permits. */
#include "scripts.h"

#include <assert.h>
#include <string.h>

#include "script_master.h"

#define SETUP_ROOM 64

struct request {
    struct lua_host *lua;
    const char *wanted; /* part of a name */
    uint8_t more_ticks;
};

static bool explore(const struct request *request, const struct script_worlds *worlds, unsigned setup,
                    const char *name, bool violated)
{
    _Alignas(max_align_t) unsigned char room[SETUP_ROOM];
    struct script_run *run = (struct script_run *)(void *)room;

    if (!strstr(name, request->wanted))
        return true;
    assert(worlds->setup_size <= sizeof room);
    memcpy(room, (const unsigned char *)worlds->setups + setup * worlds->setup_size, worlds->setup_size);
    run->lua = request->lua;
    if (!violated)
        run->last_tick = (uint8_t)(run->last_tick + request->more_ticks);
    return search_explore(worlds->rules, room, name, violated);
}

static bool explore_all(const struct request *request, const struct script_worlds *worlds)
{
    bool good = true;

    for (unsigned i = 0; i < worlds->n_setups; i++)
        good &= explore(request, worlds, i, worlds->names[i], false);
    for (size_t i = 0; i < worlds->n_bugs; i++) {
        const struct script_bug *bug = &worlds->bugs[i];

        script_master_plant(request->lua, bug->old, bug->new);
        good &= explore(request, worlds, bug->setup, bug->name, true);
    }
    script_master_plant(request->lua, NULL, NULL);
    return good;
}

/* explore-scripts [--all | PART-OF-A-NAME]: with --all all worlds last a tick longer, which takes minutes. */
int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    struct request request = {lua_host_create(), argc > 1 && !all ? argv[1] : "", all};
    bool good = explore_all(&request, &modes_worlds);

    good &= explore_all(&request, &permits_worlds);
    lua_host_destroy(request.lua);
    return good ? 0 : 1;
}
