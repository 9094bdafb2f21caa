/* Server processes: start, stop, and the proof that they have. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "portable.h"

#define MAX_ARGS 64
#define END_TIMEOUT_MS 10000

struct arguments {
    const char *list[MAX_ARGS + 1];
    size_t n;
    char port[8];
    char certificate[SOCKET_PATH_MAX + 16];
    char key[SOCKET_PATH_MAX + 16];
    char ca[SOCKET_PATH_MAX + 16];
};

static bool push(struct arguments *arguments, const char *word)
{
    if (arguments->n == MAX_ARGS)
        return fail("too many server arguments");
    arguments->list[arguments->n++] = word;
    return true;
}

static bool push_pair(struct arguments *arguments, const char *option, const char *value)
{
    return push(arguments, option) && push(arguments, value);
}

static bool push_tls(struct arguments *arguments, const struct launch *launch)
{
    snprintf(arguments->certificate, sizeof(arguments->certificate), "%s/server.crt", launch->dir);
    snprintf(arguments->key, sizeof(arguments->key), "%s/server.key", launch->dir);
    snprintf(arguments->ca, sizeof(arguments->ca), "%s/ca.crt", launch->dir);
    return push_pair(arguments, "--port", "0") && push_pair(arguments, "--tls-port", arguments->port) &&
           push_pair(arguments, "--tls-cert-file", arguments->certificate) &&
           push_pair(arguments, "--tls-key-file", arguments->key) &&
           push_pair(arguments, "--tls-ca-cert-file", arguments->ca) &&
           push_pair(arguments, "--tls-auth-clients", launch->tls == MASTERS_TLS_MUTUAL ? "yes" : "no");
}

static bool push_address(struct arguments *arguments, const struct launch *launch, const struct master *master)
{
    snprintf(arguments->port, sizeof(arguments->port), "%u", (unsigned)master->port);
    if (launch->tls ? !push_tls(arguments, launch) : !push_pair(arguments, "--port", arguments->port))
        return false;
    if (!push_pair(arguments, "--bind", "127.0.0.1"))
        return false;
    return !master->socket_path || (push_pair(arguments, "--unixsocket", master->socket_path) &&
                                    push_pair(arguments, "--unixsocketperm", "700"));
}

/* Eviction would remove locks silently; snapshots would bring back an old past. */
static bool build_arguments(const struct launch *launch, const struct master *master, struct arguments *ret)
{
    const struct setup *setup = &master->setup;
    bool durable = setup->persistence != MASTERS_VOLATILE;

    ret->n = 0;
    if (!push(ret, launch->server) || !push_address(ret, launch, master) || !push_pair(ret, "--dir", master->dir) ||
        !push_pair(ret, "--save", "") || !push_pair(ret, "--daemonize", "no") ||
        !push_pair(ret, "--maxmemory-policy", "noeviction") ||
        !push_pair(ret, "--appendonly", durable ? "yes" : "no"))
        return false;
    if (durable &&
        !push_pair(ret, "--appendfsync", setup->persistence == MASTERS_ALWAYS ? "always" : "everysec"))
        return false;
    for (size_t i = 0; setup->extra_args[i]; i++)
        if (!push(ret, setup->extra_args[i]))
            return false;
    ret->list[ret->n] = NULL;
    return true;
}

/* Runs in the child. The parent may have died before the death signal was armed; its pid then no longer matches. */
static void become_server(const struct arguments *arguments, char **environment, pid_t parent, int log_fd, int null_fd)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(null_fd, 0);
    dup2(log_fd, 1);
    dup2(log_fd, 2);
    portable_close_range(3, INT_MAX);
    execvpe(arguments->list[0], (char *const *)(uintptr_t)arguments->list, environment);
    _exit(127);
}

static int open_log(const struct master *master)
{
    char path[SOCKET_PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/log", master->dir);
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static pid_t spawn(const struct master *master, const struct arguments *arguments, char **environment)
{
    pid_t parent = getpid();
    int log_fd = open_log(master);
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_t pid = log_fd < 0 || null_fd < 0 ? -1 : fork();

    if (pid == 0)
        become_server(arguments, environment, parent, log_fd, null_fd);
    if (pid < 0)
        fail("cannot start a server: %s", strerror(errno));
    if (log_fd >= 0)
        close(log_fd);
    if (null_fd >= 0)
        close(null_fd);
    return pid;
}

/* The environment is put together before the fork: other threads may hold the allocator's lock at that moment. */
bool process_start(const struct launch *launch, struct master *master)
{
    struct arguments arguments;
    char **environment;
    pid_t pid;

    if (!build_arguments(launch, master, &arguments))
        return false;
    environment = setup_environment(&master->setup);
    if (!environment)
        return false;
    pid = spawn(master, &arguments, environment);
    free(environment);
    master->pid = pid > 0 ? pid : 0;
    master->hung = false;
    return pid > 0;
}

/* The letter behind the command's name in /proc/PID/stat; 0 if it cannot be read. */
static char process_state(pid_t pid)
{
    char path[64], line[512];
    FILE *file;
    const char *end;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(line, sizeof(line), file))
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')');
    return end && end[1] == ' ' ? end[2] : '\0';
}

/* waitpid() knows nothing of a server that was started before a fork(); the state of its process is seen by all. */
static bool has_ended(pid_t pid)
{
    pid_t reaped;
    char state;

    do
        reaped = waitpid(pid, NULL, WNOHANG);
    while (reaped < 0 && errno == EINTR);
    if (reaped == pid)
        return true;
    state = reaped < 0 ? process_state(pid) : 'R';
    return !state || state == 'Z' || state == 'X';
}

bool process_wait_end(pid_t pid, int timeout_ms)
{
    struct timespec pause = {.tv_nsec = 500000};

    for (int i = 0; i < 2 * timeout_ms; i++) {
        if (has_ended(pid))
            return true;
        nanosleep(&pause, NULL);
    }
    return has_ended(pid);
}

bool process_has_ended(const struct master *master)
{
    return has_ended(master->pid);
}

bool process_end(struct master *master)
{
    if (kill(master->pid, SIGKILL) < 0 && errno != ESRCH)
        return fail("kill: %s", strerror(errno));
    if (!process_wait_end(master->pid, END_TIMEOUT_MS))
        return fail("server %d does not end", (int)master->pid);
    master->pid = 0;
    master->hung = false;
    return true;
}

bool process_wait_stopped(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 500000};

    for (int i = 0; i < 2 * END_TIMEOUT_MS; i++) {
        char state = process_state(pid);

        if (state == 'T' || state == 't')
            return true;
        if (!state || state == 'Z')
            return fail("server %d has ended", (int)pid);
        nanosleep(&pause, NULL);
    }
    return fail("server %d does not stop", (int)pid);
}
