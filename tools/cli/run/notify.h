/* Notes for a service manager (sd_notify(3)): one datagram to the socket that NOTIFY_SOCKET names, without its
 * library. Without that variable nothing happens; a manager that does not take the note is no error. */
#ifndef CLI_RUN_NOTIFY_H
#define CLI_RUN_NOTIFY_H

#include <stdint.h>

/* "READY=1\nSTATUS=..." */
void run_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How often the manager wants WATCHDOG=1 from this process; 0: it does not. Half of what it allows. */
int64_t run_notify_watchdog_us(void);

#endif
