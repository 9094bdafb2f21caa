#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "portable.h"

static void close_pair(const int pair[2])
{
    close(pair[0]);
    close(pair[1]);
}

static bool make_pipes(int pipes[3][2])
{
    for (int i = 0; i < 3; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0) {
            while (i-- > 0)
                close_pair(pipes[i]);
            return false;
        }
    return true;
}

static void become(const char *path, int pipes[3][2], pid_t parent)
{
    char name[512];
    char *const argv[] = {name, NULL};

    snprintf(name, sizeof name, "%s", path);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    dup2(pipes[0][0], STDIN_FILENO);
    dup2(pipes[1][1], STDOUT_FILENO);
    dup2(pipes[2][1], STDERR_FILENO);
    portable_close_range(STDERR_FILENO + 1, INT_MAX);
    signal(SIGPIPE, SIG_DFL);
    execv(path, argv);
    _exit(127);
}

bool engine_process_start(struct engine_process *process, const char *path)
{
    pid_t parent = getpid();
    int pipes[3][2];
    pid_t pid;

    if (!make_pipes(pipes))
        return false;
    pid = fork();
    if (pid == 0)
        become(path, pipes, parent);
    if (pid < 0) {
        for (int i = 0; i < 3; i++)
            close_pair(pipes[i]);
        return false;
    }
    setpgid(pid, pid); /* whoever is first */
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    *process = (struct engine_process){pid, pipes[0][1], pipes[1][0], pipes[2][0]};
    for (int i = 0; i < 3; i++)
        fcntl(i == 0 ? process->in : i == 1 ? process->out : process->err, F_SETFL, O_NONBLOCK);
    return true;
}

int engine_process_status(struct engine_process *process)
{
    int status = 0;

    if (process->pid <= 0 || waitpid(process->pid, &status, WNOHANG) != process->pid)
        return -1;
    process->pid = 0;
    return status;
}

void engine_process_end(struct engine_process *process)
{
    if (process->pid > 0)
        kill(-process->pid, SIGKILL);
    while (process->pid > 0 && waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    process->pid = 0;
    close(process->in);
    close(process->out);
    close(process->err);
}
