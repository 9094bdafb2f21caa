/* The private directory, and the helper process that removes it when nobody else can.
 *
 * The helper holds the read end of a pipe whose write end lives in this process (and in its forked children). End of
 * file means that all of them are gone, by whatever signal; a byte means that there is nothing left to do. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "portable.h"

/* "/31.sock" and its like must still fit behind the directory's name. */
#define ROOM_FOR_SOCKET 16

static char *try_create(const char *parent)
{
    char *path = NULL;

    if (asprintf(&path, "%s/redlock-XXXXXX", parent) < 0)
        return NULL;
    if (strlen(path) + ROOM_FOR_SOCKET <= SOCKET_PATH_MAX && mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

char *directory_create(void)
{
    const char *parent = getenv("TMPDIR");
    char *path = NULL;

    if (parent && parent[0] == '/')
        path = try_create(parent);
    if (!path)
        path = try_create("/tmp");
    if (!path)
        fail("no directory could be made under $TMPDIR or /tmp: %s", strerror(errno));
    return path;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *position)
{
    (void)status;
    (void)type;
    (void)position;
    remove(path);
    return 0;
}

void directory_remove(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Servers die with the parent; a process of theirs that was stopped would stay. All of them work in the directory. */
static void kill_inhabitants(const char *path)
{
    DIR *processes = opendir("/proc");
    size_t length = strlen(path);

    for (const struct dirent *entry; processes && (entry = readdir(processes)) != NULL;) {
        char link[64], place[PATH_MAX];
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        ssize_t n;

        if (pid <= 0)
            continue;
        snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
        n = readlink(link, place, sizeof(place) - 1);
        if (n > (ssize_t)length && strncmp(place, path, length) == 0 && place[length] == '/')
            kill(pid, SIGKILL);
    }
    if (processes)
        closedir(processes);
}

/* Runs in the helper. It keeps nothing of the parent but the pipe, so that whoever waits for the end of the parent's
 * output is not kept waiting. The servers die with the parent, but not at the same instant: one that is still
 * writing could leave a file behind, hence the second look. */
static void guard_directory(int fd, const char *path)
{
    sigset_t all;
    char byte;
    ssize_t n;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    if (fd != 0)
        dup2(fd, 0);
    portable_close_range(1, INT_MAX);
    do
        n = read(0, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        kill_inhabitants(path);
        for (int i = 0; i < 50 && access(path, F_OK) == 0; i++) {
            directory_remove(path);
            usleep(10000);
        }
    }
    _exit(0);
}

int directory_guard(const char *path, pid_t *ret_helper)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        fail("pipe: %s", strerror(errno));
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        close(ends[1]);
        guard_directory(ends[0], path);
    }
    close(ends[0]);
    if (pid < 0) {
        fail("fork: %s", strerror(errno));
        close(ends[1]);
        return -1;
    }
    *ret_helper = pid;
    return ends[1];
}

void directory_unguard(int fd, pid_t helper)
{
    /* If the helper is gone already, SIGPIPE must not end this process for it. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction previous;
    ssize_t n;

    sigaction(SIGPIPE, &ignore, &previous);
    do
        n = write(fd, "", 1);
    while (n < 0 && errno == EINTR);
    sigaction(SIGPIPE, &previous, NULL);
    close(fd);
    while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        ;
}
