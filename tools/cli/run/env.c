#include "cli/run/env.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_told(const char *entry, const struct run_variable *variables, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(variables[i].name);

        if (strncmp(entry, variables[i].name, length) == 0 && entry[length] == '=')
            return true;
    }
    return false;
}

static bool fill(char **env, char *const *environment, const struct run_variable *variables, size_t n)
{
    size_t count = 0;

    for (; *environment != NULL; environment++)
        if (!is_told(*environment, variables, n) && (env[count++] = strdup(*environment)) == NULL)
            return false;
    for (size_t i = 0; i < n; i++)
        if (variables[i].value != NULL &&
            asprintf(&env[count++], "%s=%s", variables[i].name, variables[i].value) < 0) {
            env[count - 1] = NULL;
            return false;
        }
    return true;
}

char **run_env_create(char *const *environment, const struct run_variable *variables, size_t n)
{
    size_t room = n + 1;
    char **env;

    for (size_t i = 0; environment[i] != NULL; i++)
        room++;
    env = calloc(room, sizeof(*env));
    if (env != NULL && !fill(env, environment, variables, n)) {
        run_env_free(env);
        return NULL;
    }
    return env;
}

void run_env_free(char **env)
{
    for (size_t i = 0; env != NULL && env[i] != NULL; i++)
        free(env[i]);
    free(env);
}
