/* What the operating system knows about this process and this machine. */
#ifndef LOAD_SYSTEM_H
#define LOAD_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

double system_cpu_s(void);         /* user and system time so far */
uint64_t system_open_files(void);  /* entries of /proc/self/fd, the one for counting left out */
uint64_t system_rss_kb(void);
uint64_t system_rss_peak_kb(void);

/* Binds the process, with all its threads, to the first processor that the caller may use, or to all others. False
 * if there is only one, or the system refuses. pid 0 is the caller. */
bool system_pin_first(pid_t pid);
bool system_pin_others(pid_t pid);

void system_cpu_model(char *ret_text, size_t size);
void system_kernel(char *ret_text, size_t size);

#endif
