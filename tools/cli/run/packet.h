/* Packets between the wrapper and the guard, with a descriptor if need be. */
#ifndef CLI_RUN_PACKET_H
#define CLI_RUN_PACKET_H

#include <stddef.h>
#include <sys/types.h>

/* As send(2) and recv(2), without waiting. fd -1: none. One that comes is closed when a program is executed. */
ssize_t run_packet_send(int link, const void *packet, size_t size, int fd);
ssize_t run_packet_receive(int link, void *packet, size_t size, int *ret_fd);

#endif
