/* Threads for calls that block: each job gets an idle one, or a new one. */
#ifndef ENGINES_POOL_H
#define ENGINES_POOL_H

#include <stdbool.h>

/* False without memory or when too many are busy: then the job will not run. */
bool pool_run(void (*job)(void *user_data), void *user_data);

#endif
