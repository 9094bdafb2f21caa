/* Notes for a service manager (sd_notify(3)): one datagram to the socket that NOTIFY_SOCKET names, without its library,
 * and without waiting. Without that variable nothing happens. */
#ifndef CLI_NOTIFY_H
#define CLI_NOTIFY_H

#include <stdint.h>

/* Finds the socket, which may take a while, before anything is held. A manager that cannot be told is reported, and no
 * error. */
void notify_open(const char *command);

/* "READY=1\nSTATUS=..." */
void notify_send(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* How often the manager wants WATCHDOG=1 from this process; 0: it does not. Half of what it allows. */
int64_t notify_watchdog_us(void);

#endif
