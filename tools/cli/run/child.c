#include "cli/run/child.h"

#include <stddef.h>

void run_child_restore_signals(const struct run_inherited *inherited)
{
    for (size_t i = 0; i < RUN_DISPOSITIONS; i++)
        sigaction(inherited->dispositions[i].number, &inherited->dispositions[i].action, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
}
