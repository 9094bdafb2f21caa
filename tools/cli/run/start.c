#include "cli/run/start.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <redlock/semaphore.h>

#include "cli/run/inherited.h"
#include "cli/run/link.h"

enum { VARIABLES = 14, TOKENS_SIZE = (REDLOCK_MAX_TOKEN_BYTES + 1) * CLI_MOST_TEXTS, NUMBER_SIZE = 24,
       CLOCK_SIZE = sizeof(struct rl_clock_identity) + 1, HELD_SIZE = 4096 };

/* In the user's order, separated by blanks. False: not every lock has one. */
static bool join_fences(const struct run *run, char *text)
{
    for (size_t i = 0; i < run->locks.n; i++) {
        uint64_t number = locks_part(&run->locks, i).fence;

        if (number == 0)
            return false;
        text += sprintf(text, "%s%llu", i > 0 ? " " : "", (unsigned long long)number);
    }
    return true;
}

static void join_tokens(const struct run *run, char *text)
{
    for (size_t i = 0; i < run->locks.n; i++)
        text += sprintf(text, "%s%s", i > 0 ? " " : "", locks_part(&run->locks, i).token);
}

static void join_slots(const struct run *run, char *text)
{
    for (size_t i = 0; i < run->locks.n; i++)
        text += sprintf(text, "%s%d", i > 0 ? " " : "", (int)locks_part(&run->locks, i).slot);
}

/* Those of this process, and behind them those that it runs under itself: see cli/busy.c. */
static void join_held(const struct run *run, char text[HELD_SIZE])
{
    const char *outer = getenv("REDLOCK_HELD");
    int length = 0;

    for (size_t i = 0; i < run->locks.n; i++) {
        struct locks_part part = locks_part(&run->locks, i);

        length += snprintf(text + length, HELD_SIZE - (size_t)length, "%s%.*s", i > 0 ? " " : "", BUSY_TOKEN_SIZE - 1,
                           part.token);
        if (part.slot >= 0)
            length += snprintf(text + length, HELD_SIZE - (size_t)length, "#%d", (int)part.slot);
    }
    if (outer)
        snprintf(text + length, HELD_SIZE - (size_t)length, " %s", outer);
}

/* The command may change its directory. */
static const char *absolute(const char *name, char text[2 * PATH_MAX])
{
    char directory[PATH_MAX];

    if (!name || name[0] == '/' || !getcwd(directory, sizeof directory))
        return name;
    snprintf(text, 2 * PATH_MAX, "%s/%s", directory, name);
    return text;
}

/* NULL: /proc does not tell. */
static const char *name_clock(char text[CLOCK_SIZE])
{
    struct rl_clock_identity clock;

    if (!rl_clock_identify(&clock))
        return NULL;
    snprintf(text, CLOCK_SIZE, "%s %s", clock.boot, clock.name_space);
    return text;
}

char **keeper_environment(const struct run *run)
{
    char lock_file[2 * PATH_MAX];
    char ttl[16];
    char until[24];
    char clock[CLOCK_SIZE];
    char nodes[24];
    char fences[NUMBER_SIZE * CLI_MOST_TEXTS];
    char tokens[TOKENS_SIZE];
    char slots[NUMBER_SIZE * CLI_MOST_TEXTS];
    char held[HELD_SIZE];
    bool several = run->options->spec.keys.n > 1;
    bool managed = run->options->notifier == RUN_NOTIFIER_COMMAND;
    const struct run_variable variables[VARIABLES] = {
        {"REDLOCK_KEY", several ? NULL : run->options->spec.keys.items[0]},
        {"REDLOCK_KEYS", several ? run->options->lines : NULL},
        {"REDLOCK_TOKEN", tokens},
        {"REDLOCK_HELD", held},
        {"REDLOCK_FENCE", join_fences(run, fences) ? fences : NULL},
        {"REDLOCK_SLOT", run->options->spec.permits ? slots : NULL},
        {"REDLOCK_TTL_MS", ttl},
        {"REDLOCK_VALID_UNTIL", until},
        {"REDLOCK_CLOCK", name_clock(clock)},
        {"REDLOCK_NODES_OK", nodes},
        {"REDLOCK_LOCK_FILE", absolute(file_out_name(&run->lock_file.out), lock_file)},
        {"NOTIFY_SOCKET", managed ? getenv("NOTIFY_SOCKET") : NULL},
        {"WATCHDOG_USEC", managed ? getenv("WATCHDOG_USEC") : NULL},
        {"WATCHDOG_PID", NULL}, /* that is this process */
    };

    join_tokens(run, tokens);
    join_slots(run, slots);
    join_held(run, held);
    snprintf(ttl, sizeof ttl, "%u", run->options->ttl_ms);
    snprintf(until, sizeof until, "%lld", (long long)run->valid_until.boot_ns);
    snprintf(nodes, sizeof nodes, "%u/%zu", locks_nodes_ok(&run->locks), locks_masters(&run->locks).n);
    return run_env_create(environ, variables, VARIABLES);
}

/* On a terminal the command stays in the group that a shell has made for the job: it can ask there, and what is typed
 * reaches it, this process and the script around them as if there were no lock. */
static bool has_terminal(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (terminal >= 0)
        close(terminal);
    return terminal >= 0;
}

bool keeper_start(struct keeper *keeper, char *const *envp)
{
    struct run *run = keeper->run;
    const struct run_options *options = run->options;
    struct run_guard_plan plan = {.child = &keeper->child, .limits = options->limits, .warning = options->warning,
                                  .hook = options->hook, .ignore_loss = options->ignore_loss,
                                  .leftovers = (enum run_leftovers)options->leftovers,
                                  .agent = run->session.agent ? agent_client_fd(run->session.agent) : -1};
    sigset_t before;

    run->locks.agent.connected = keeper_order_agent;
    run->locks.agent.connected_data = keeper;
    keeper->bound = run_bound_create();
    if (!keeper->bound)
        return false;
    plan.bound = keeper->bound;
    keeper->child = (struct run_child){options->argv, envp, !options->foreground && !has_terminal(), &run->inherited};
    run->valid_until = run_read_valid_until(run);
    run_bound_set(keeper->bound, run->valid_until);
    before = run_signals_block_all();
    keeper->link = run_guard_start(&plan, &keeper->guard);
    run_signals_unblock(&before);
    return keeper->link >= 0;
}
