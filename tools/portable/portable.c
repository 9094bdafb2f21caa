/* Closing descriptors: by one call where the C library and the kernel have it, otherwise one by one. */
#include "portable.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In /proc are the descriptors that are open; without it every number that the process may use is tried. */
static void close_numbers(int first, int last)
{
    long limit = sysconf(_SC_OPEN_MAX);

    if (limit >= 0 && limit <= last)
        last = (int)limit - 1;
    for (int fd = first; fd <= last && fd >= first; fd++)
        close(fd);
}

/* Closing changes the listing that is being read, so it is read again until nothing is found. */
static bool close_listed(DIR *listing, int first, int last)
{
    const struct dirent *entry;
    bool found = false;

    rewinddir(listing);
    while ((entry = readdir(listing))) {
        long fd = isdigit((unsigned char)entry->d_name[0]) ? strtol(entry->d_name, NULL, 10) : -1;

        if (fd < first || fd > last || fd == dirfd(listing))
            continue;
        found = close((int)fd) == 0 || found;
    }
    return found;
}

static void close_one_by_one(int first, int last)
{
    DIR *listing = opendir("/proc/self/fd");

    if (!listing) {
        close_numbers(first, last);
        return;
    }
    while (close_listed(listing, first, last))
        continue;
    closedir(listing);
}

void portable_close_range(int first, int last)
{
#ifdef PORTABLE_HAVE_CLOSE_RANGE
    if (close_range((unsigned)first, (unsigned)last, 0) == 0)
        return;
#endif
    close_one_by_one(first, last);
}

/* --- What malloc() has given out ---------------------------------------------------------------------------------- */

#ifdef PORTABLE_HAVE_MALLINFO2
#include <malloc.h>
#endif

#include "portable.h"

uint64_t portable_heap_bytes(void)
{
#ifdef PORTABLE_HAVE_MALLINFO2
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* --- Processes by descriptor -------------------------------------------------------------------------------------- */

int portable_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int portable_pidfd_signal(int pidfd, int number)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

/* --- Names of signals --------------------------------------------------------------------------------------------- */

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
    return number > 0 && (size_t)number < sizeof names / sizeof names[0] ? names[number] : NULL;
}

#endif
