/* Every order of events of two clients that share a key or convert their locks, at three masters (holders.h). */
#include <string.h>

#include "holders_setups.h"

static bool is_wanted(const struct holders_setup *setup, const char *request)
{
    if (!request)
        return !setup->large;
    return strcmp(request, "--all") == 0 || strstr(setup->name, request);
}

/* explore-holders [--all | PART-OF-A-NAME]; those that take minutes only when asked for. */
int main(int argc, char **argv)
{
    struct lua_host *lua = lua_host_create();
    bool good = true;

    for (size_t i = 0; i < HOLDERS_SETUP_COUNT; i++) {
        const struct holders_setup *setup = &holders_setups[i];

        if (is_wanted(setup, argc > 1 ? argv[1] : NULL))
            good &= holders_explore(lua, setup, setup->name, false);
    }
    lua_host_destroy(lua);
    return good ? 0 : 1;
}
