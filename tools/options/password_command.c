#include "options/password_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)

enum { MOST = REDLOCK_MAX_PASSWORD_BYTES + 1 };

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (1000 * NS_PER_MS) + now.tv_nsec;
}

static bool fail(char why[CLI_PASSWORD_WHY_SIZE], const char *what, const char *detail)
{
    snprintf(why, CLI_PASSWORD_WHY_SIZE, "the password command %s%s", what, detail);
    return false;
}

/* --- Its start ---------------------------------------------------------------------------------------------------- */

/* Signals as a shell expects them: this process may have blocked or ignored some. */
static int set_up(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *actions, int output)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    if (posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0)
        return ENOMEM;
    return posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
}

static int start(struct password_run *run, const char *command, int output)
{
    char *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (posix_spawnattr_init(&attributes) != 0)
        return ENOMEM;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        posix_spawnattr_destroy(&attributes);
        return ENOMEM;
    }
    error = set_up(&attributes, &actions, output);
    if (error == 0)
        error = posix_spawn(&run->pid, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool password_command_start(struct password_run *run, const char *command, char why[CLI_PASSWORD_WHY_SIZE])
{
    int ends[2] = {-1, -1};
    int error;

    *run = (struct password_run){.output = -1, .deadline_ns = now_ns() + PASSWORD_COMMAND_LIMIT_MS * NS_PER_MS};
    run->bytes = malloc(MOST);
    if (run->bytes == NULL)
        error = ENOMEM;
    else if (pipe2(ends, O_CLOEXEC) != 0)
        error = errno;
    else
        error = start(run, command, ends[1]);
    if (ends[1] >= 0)
        close(ends[1]);
    run->output = ends[0];
    if (error == 0) {
        fcntl(run->output, F_SETFL, O_NONBLOCK);
        return true;
    }
    run->pid = 0;
    password_command_kill(run);
    return fail(why, "cannot be started: ", strerror(error));
}

/* --- Its end ------------------------------------------------------------------------------------------------------ */

void password_command_kill(struct password_run *run)
{
    if (run->pid > 0) {
        kill(-run->pid, SIGKILL);
        waitpid(run->pid, NULL, 0);
    }
    if (run->output >= 0)
        close(run->output);
    if (run->bytes != NULL)
        explicit_bzero(run->bytes, MOST);
    free(run->bytes);
    *run = (struct password_run){.output = -1};
}

/* What comes behind the first line is read, and dropped, so that the command is not stopped by a full pipe. */
static void take_output(struct password_run *run)
{
    char rest[512];
    ssize_t n = 0;

    do {
        bool full = run->size == MOST;

        n = read(run->output, full ? rest : run->bytes + run->size, full ? sizeof(rest) : MOST - run->size);
        if (n > 0 && !full)
            run->size += (size_t)n;
    } while (n > 0);
    run->ended = n == 0 || (errno != EAGAIN && errno != EINTR);
    explicit_bzero(rest, sizeof(rest));
}

static bool take_line(struct password_run *run, struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    size_t length = 0;

    while (length < run->size && run->bytes[length] != '\n' && run->bytes[length] != '\r' && run->bytes[length] != '\0')
        length++;
    if (length > REDLOCK_MAX_PASSWORD_BYTES)
        return fail(why, "has printed a line that is too long", "");
    if (length == 0)
        return fail(why, "has printed no password", "");
    cli_password_keep(password, run->bytes, length);
    return true;
}

/* Its exit status is not known (-1) where its end is nobody's to see. */
static bool judge(struct password_run *run, int status, struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    char number[16];

    if (status != -1 && WIFSIGNALED(status)) {
        snprintf(number, sizeof(number), "%d", WTERMSIG(status));
        return fail(why, "was ended by signal ", number);
    }
    if (status != -1 && WEXITSTATUS(status) != 0) {
        snprintf(number, sizeof(number), "%d", WEXITSTATUS(status));
        return fail(why, "has ended with exit status ", number);
    }
    return take_line(run, password, why);
}

enum password_step password_command_step(struct password_run *run, struct cli_password *password,
                                         char why[CLI_PASSWORD_WHY_SIZE])
{
    int status = -1;
    pid_t pid = 0;
    bool ok;

    if (!run->ended)
        take_output(run);
    if (run->ended)
        pid = waitpid(run->pid, &status, WNOHANG);
    if (pid == 0 && now_ns() < run->deadline_ns)
        return PASSWORD_RUNNING;
    if (pid == 0) {
        ok = fail(why, "takes longer than 10s", "");
    } else {
        run->pid = 0;
        ok = judge(run, status, password, why);
    }
    password_command_kill(run);
    return ok ? PASSWORD_DONE : PASSWORD_FAILED;
}

bool password_command_wait(struct cli_password *password, char why[CLI_PASSWORD_WHY_SIZE])
{
    struct password_run run;
    enum password_step step;

    if (!password_command_start(&run, password->command, why))
        return false;
    while ((step = password_command_step(&run, password, why)) == PASSWORD_RUNNING) {
        struct pollfd output = {run.output, POLLIN, 0};

        poll(&output, run.ended ? 0 : 1, PASSWORD_COMMAND_LOOK_MS);
    }
    return step == PASSWORD_DONE;
}
