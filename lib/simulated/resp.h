/* Commands as a server reads them: arrays of bulk strings. Strict: the program is aborted by anything else, since the
 * library writes nothing else. */
#ifndef RL_SIMULATED_RESP_H
#define RL_SIMULATED_RESP_H

#include <stddef.h>

#include "util/slice.h"

#define RESP_MAX_WORDS 1024

/* Takes the first command apart; returns how many bytes it has. The words borrow from the bytes. */
size_t resp_parse(const void *bytes, size_t size, struct rl_slice *ret_words, size_t *ret_n);

/* How many bytes the first command has. */
size_t resp_size(const void *bytes, size_t size);

#endif
