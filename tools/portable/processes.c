/* Processes by descriptor. The numbers of both calls are the same on every architecture of Linux (on Alpha only they
 * are larger), for headers that are older than the kernel. */
#include <sys/syscall.h>
#include <unistd.h>

#include "portable.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int portable_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

int portable_pidfd_signal(int pidfd, int number)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}
