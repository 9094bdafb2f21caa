/* Blocking set-up of the floor's connections: connect and load the script. Nothing of it is measured. */
#ifndef BENCH_FLOOR_CONNECT_H
#define BENCH_FLOOR_CONNECT_H

#define FLOOR_SHA1_SIZE 40

/* A connected, non-blocking socket to the master, which has the release script; -1: *ret_reason tells why not. */
int floor_connect(const char *url, char ret_sha1[FLOOR_SHA1_SIZE], const char **ret_reason);

#endif
