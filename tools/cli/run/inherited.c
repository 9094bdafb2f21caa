#include "cli/run/inherited.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/common.h"
#include "portable.h"

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

    for (; *environment; environment++)
        if (!is_told(*environment, variables, n) && !(env[count++] = strdup(*environment)))
            return false;
    for (size_t i = 0; i < n; i++)
        if (variables[i].value &&
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

    for (size_t i = 0; environment[i]; i++)
        room++;
    env = calloc(room, sizeof *env);
    if (env && !fill(env, environment, variables, n)) {
        run_env_free(env);
        return NULL;
    }
    return env;
}

void run_env_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}

/* --- Signals of the wrapper: those that it passes on, and how their names are written ----------------------------- */

_Static_assert(RUN_DISPOSITIONS == 1 + IGNORED_SIGNALS, "SIGCHLD and those that the command ignores");

static const int passed_on[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGTSTP};

/* Children of somebody who ignores SIGCHLD leave no status. */
static void take_dispositions(struct run_inherited *ret_inherited)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};

    ret_inherited->dispositions[0].number = SIGCHLD;
    sigaction(SIGCHLD, &plain, &ret_inherited->dispositions[0].action);
    for (size_t i = 0; i < IGNORED_SIGNALS; i++) {
        ret_inherited->dispositions[i + 1].number = ignored_signals[i].number;
        ret_inherited->dispositions[i + 1].action =
            (struct sigaction){.sa_handler = ignored_signals[i].was_ignored ? SIG_IGN : SIG_DFL};
    }
}

int run_signals_take(struct run_inherited *ret_inherited)
{
    sigset_t taken;
    sigset_t blocked;

    sigemptyset(&taken);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        if (!is_ignored_signal(passed_on[i]))
            sigaddset(&taken, passed_on[i]);
    blocked = taken;
    sigaddset(&blocked, SIGTTIN); /* the command's stop is followed, not its signal */
    sigaddset(&blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &blocked, &ret_inherited->mask);
    take_dispositions(ret_inherited);
    return signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
}

sigset_t run_signals_block_all(void)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    return before;
}

void run_signals_unblock(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

void run_signals_obey(int number)
{
    const struct rlimit no_core = {0, 0};
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction before;
    sigset_t only;
    sigset_t mask;

    setrlimit(RLIMIT_CORE, &no_core);
    sigemptyset(&only);
    sigaddset(&only, number);
    sigaction(number, &plain, &before);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(number, &before, NULL);
}

int run_signal_by_name(const char *text)
{
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    char *end;
    long number = strtol(text, &end, 10);

    if (end != text && *end == '\0')
        return number > 0 && number < NSIG ? (int)number : 0;
    for (int i = 1; i < NSIG; i++) {
        const char *known = portable_signal_name(i);

        if (known && strcmp(known, name) == 0)
            return i;
    }
    return 0;
}
