/* Processes that a coordinator forks, and the memory that it shares with them. They end when it does. */
#ifndef LOAD_PROCESS_H
#define LOAD_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/* All zero, and shared with processes that are forked later; pages that nobody writes to cost nothing. NULL without
 * memory. */
void *load_map(size_t size);
void load_unmap(void *memory, size_t size);

/* What a forked process does; its result is the exit code. `control` is its end of the socket to the coordinator. */
typedef int (*load_process_fn)(void *data, int control);

/* Forks, with a socket for the words of load/message.h between the two; its other end is *ret_control. The new process
 * closes the coordinator's ends of all sockets: this one, and the `n` in `controls`, -1 for none. -1 with errno. */
pid_t load_spawn(load_process_fn process, void *data, const int *controls, size_t n, int *ret_control);

/* ... without a socket. */
pid_t load_spawn_alone(load_process_fn process, void *data);

#endif
