/* What some C libraries for Linux do not have: calls that glibc 2.31 or musl lack. */
#ifndef PORTABLE_H
#define PORTABLE_H

#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* The numbers of both calls are the same on every architecture of Linux (on Alpha only they are larger), for headers
 * that are older than the kernel. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* Closes every descriptor from `first` to `last`; no signal handler may open any meanwhile. */
void portable_close_range(int first, int last);

/* A descriptor of the process, closed by exec; or -1 and errno, ENOSYS if the kernel is older than Linux 5.3. */
int portable_pidfd_open(pid_t pid);
/* Sends the signal to that very process: 0, or -1 and errno. */
int portable_pidfd_signal(int pidfd, int number);

/* The name of a signal without "SIG", as in "TERM"; NULL for a number that has no name of its own. */
const char *portable_signal_name(int number);

/* Bytes that malloc() has given out and that are not free again; 0 if the C library does not tell. */
uint64_t portable_heap_bytes(void);

#endif
