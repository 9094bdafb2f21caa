#include "cli/run/job.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/run/link.h"
#include "cli/run/validity.h"

/* Stopping this process stops the renewals: the guard ends the command if it takes too long. */
static void stop(struct keeper *keeper)
{
    keeper_order(keeper, RUN_ORDER_SIGNAL, SIGTSTP);
    kill(getpid(), SIGSTOP);
}

/* After a stop of unknown length the first look is at the clock; then the job may have come to the foreground. */
static void proceed(struct keeper *keeper)
{
    keeper_refresh(keeper);
    if (keeper->child.take_terminal && keeper->run->fate.pid > 0 && tcgetpgrp(STDIN_FILENO) == getpgrp())
        tcsetpgrp(STDIN_FILENO, keeper->run->fate.pid);
    keeper_order(keeper, RUN_ORDER_SIGNAL, SIGCONT);
}

/* In the foreground mode what a terminal sends has reached the command as well. */
static void pass_on(struct keeper *keeper, const struct signalfd_siginfo *info)
{
    if (keeper->run->options->foreground && info->ssi_code == SI_KERNEL && info->ssi_signo != SIGTSTP)
        return;
    if (info->ssi_signo == SIGTSTP)
        stop(keeper);
    else if (info->ssi_signo == SIGCONT)
        proceed(keeper);
    else
        keeper_order(keeper, RUN_ORDER_SIGNAL, (int)info->ssi_signo);
}

void keeper_on_signals(evutil_socket_t fd, short what, void *data)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof(info)) == sizeof(info))
        pass_on(data, &info);
}
