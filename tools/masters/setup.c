/* How one master is run: the words behind its command line and its environment. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static size_t count_words(const char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    return n;
}

static void free_words(char **words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}

static char **copy_words(const char *const *words)
{
    size_t n = count_words(words);
    char **copy = calloc(n + 1, sizeof(*copy));

    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = strdup(words[i]);
        if (!copy[i]) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

/* An assignment without a name would be lost in silence. */
static bool are_assignments(const char *const *environment)
{
    for (size_t i = 0; environment && environment[i]; i++) {
        const char *equals = strchr(environment[i], '=');

        if (!equals || equals == environment[i])
            return fail("\"%s\" is not of the form NAME=value", environment[i]);
    }
    return true;
}

bool setup_replace(struct setup *setup, const struct masters_setup *request)
{
    struct setup copy = {.persistence = request->persistence};

    if (!are_assignments(request->environment))
        return false;
    copy.extra_args = copy_words(request->extra_args);
    copy.environment = copy_words(request->environment);
    if (!copy.extra_args || !copy.environment) {
        setup_fini(&copy);
        return fail("out of memory");
    }
    setup_fini(setup);
    *setup = copy;
    return true;
}

void setup_fini(struct setup *setup)
{
    free_words(setup->extra_args);
    free_words(setup->environment);
    memset(setup, 0, sizeof(*setup));
}

static bool is_overridden(const char *inherited, char **own)
{
    size_t name_length = strcspn(inherited, "=");

    for (size_t i = 0; own[i]; i++)
        if (strncmp(own[i], inherited, name_length) == 0 && own[i][name_length] == '=')
            return true;
    return false;
}

char **setup_environment(const struct setup *setup)
{
    size_t room = count_words((const char *const *)environ) + count_words((const char *const *)setup->environment);
    char **merged = calloc(room + 1, sizeof(*merged));
    size_t n = 0;

    if (!merged) {
        fail("out of memory");
        return NULL;
    }
    for (size_t i = 0; environ && environ[i]; i++)
        if (!is_overridden(environ[i], setup->environment))
            merged[n++] = environ[i];
    for (size_t i = 0; setup->environment[i]; i++)
        merged[n++] = setup->environment[i];
    return merged;
}
