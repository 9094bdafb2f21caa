#include "cli/ignored.h"

#include <signal.h>
#include <stddef.h>

struct ignored_signal ignored_signals[IGNORED_SIGNALS] = {{.number = SIGPIPE}, {.number = SIGXFSZ}};

void ignore_signals(void)
{
    for (size_t i = 0; i < IGNORED_SIGNALS; i++)
        ignored_signals[i].was_ignored = signal(ignored_signals[i].number, SIG_IGN) == SIG_IGN;
}

bool is_ignored_signal(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}
