/* The second, independent check beside the simulator. That one goes deep by chance; this one leaves nothing out, as
 * far as its setups reach: two clients, up to three masters, few ticks, few faults, a memory or two that are lost. */
#include <string.h>

#include "search.h"
#include "setups.h"

static bool is_wanted(const struct tiny_setup *setup, const char *request)
{
    if (!request)
        return !setup->large;
    return strcmp(request, "--all") == 0 || strstr(setup->name, request);
}

/* explore [--all | PART-OF-A-NAME]; those that take minutes only when asked for. */
int main(int argc, char **argv)
{
    bool good = true;

    for (size_t i = 0; i < SETUP_COUNT; i++) {
        if (is_wanted(&setups[i], argc > 1 ? argv[1] : NULL))
            good &= search_explore(&tiny_rules, &setups[i], setups[i].name, setups[i].violated);
    }
    return good ? 0 : 1;
}
