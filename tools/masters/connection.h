/* A blocking connection to one member, with a deadline for all that is done on it. Descriptors do not block by
 * themselves, and a server that dies raises no signal here: servers die all the time. */
#ifndef MASTERS_CONNECTION_H
#define MASTERS_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t connection_now_ms(void);

/* To the unix socket, or to the port of 127.0.0.1 where there is none (NULL). -1 on failure. */
int connection_open(const char *socket_path, uint16_t port, int64_t deadline_ms);
bool connection_wait(int fd, short events, int64_t deadline_ms); /* for POLLIN or POLLOUT */
bool connection_send(int fd, const void *bytes, size_t size, int64_t deadline_ms);

/* Sends the text, if there is one, and reads until the server closes the connection, `enough` bytes have come, or the
 * time is up: malloc'ed, NULL if nothing has come. */
char *connection_exchange(uint16_t port, const char *text, size_t enough, int timeout_ms);

#endif
