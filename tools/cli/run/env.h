/* The environment of a command that runs under a lock. */
#ifndef CLI_RUN_ENV_H
#define CLI_RUN_ENV_H

#include <stddef.h>

struct run_variable {
    const char *name;
    const char *value; /* NULL: the command is not to have it */
};

/* A copy of `environment` in which these variables are as told: they come from nowhere else. NULL: out of memory;
 * else for run_env_free(). */
char **run_env_create(char *const *environment, const struct run_variable *variables, size_t n);
void run_env_free(char **env);

#endif
