/* Names of signals. */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "portable.h"

#ifdef PORTABLE_HAVE_SIGABBREV_NP

const char *portable_signal_name(int number)
{
    return sigabbrev_np(number);
}

#else

/* Linux has these on most architectures, under different numbers. */
static const char *const names[] = {
    [SIGABRT] = "ABRT", [SIGALRM] = "ALRM", [SIGBUS] = "BUS",       [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",
    [SIGFPE] = "FPE",   [SIGHUP] = "HUP",   [SIGILL] = "ILL",       [SIGINT] = "INT",   [SIGIO] = "POLL",
    [SIGKILL] = "KILL", [SIGPIPE] = "PIPE", [SIGPROF] = "PROF",     [SIGPWR] = "PWR",   [SIGQUIT] = "QUIT",
    [SIGSEGV] = "SEGV", [SIGSTOP] = "STOP", [SIGSYS] = "SYS",       [SIGTERM] = "TERM", [SIGTRAP] = "TRAP",
    [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGUSR1] = "USR1",
    [SIGUSR2] = "USR2", [SIGXCPU] = "XCPU", [SIGVTALRM] = "VTALRM", [SIGXFSZ] = "XFSZ", [SIGWINCH] = "WINCH",
#ifdef SIGSTKFLT
    [SIGSTKFLT] = "STKFLT",
#endif
};

const char *portable_signal_name(int number)
{
    return number > 0 && (size_t)number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}

#endif
