/* The second, independent check beside the simulator. That one goes deep by chance; this one leaves nothing out, as
 * far as its setups reach: two clients, up to three masters, few ticks, few faults. */
#include <string.h>

#include "search.h"
#include "setups.h"

static bool explore_all(bool large_too)
{
    bool good = true;

    for (size_t i = 0; i < SETUP_COUNT; i++) {
        if (large_too || !setups[i].large)
            good &= search_explore(&setups[i]);
    }
    return good;
}

int main(int argc, char **argv)
{
    return explore_all(argc > 1 && strcmp(argv[1], "--all") == 0) ? 0 : 1;
}
