/* A command for `redlock run` to run in tests: says "begun" and then writes the time, until its own is over.
 *
 *   run-work FILE HOW MS
 *
 * HOW is "work"; "stubborn", which ignores SIGTERM; "daemon", whose work is done by a grandchild in a session of its
 * own, while the command waits; or "leave", where the command does not wait. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_work.h"

enum { BEAT_NS = 1000000 };

static struct work_log *map_log(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *log = fd >= 0 ? mmap(NULL, sizeof(struct work_log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (log == MAP_FAILED) {
        perror(path);
        exit(99);
    }
    return log;
}

static void work(struct work_log *log, int64_t ms)
{
    struct work_slot *slot = &log->slots[atomic_fetch_add(&log->used, 1) % WORK_SLOTS];
    const char *valid_until = getenv("REDLOCK_VALID_UNTIL");
    int64_t end = work_now_ns() + ms * 1000000;
    struct timespec beat = {0, BEAT_NS};

    atomic_store(&slot->pid, getpid());
    atomic_store(&slot->parent, getppid());
    atomic_store(&slot->valid_until, valid_until ? atoll(valid_until) : 0);
    atomic_store(&slot->latest, work_now_ns());
    atomic_store(&slot->first, atomic_load(&slot->latest));
    if (write(STDOUT_FILENO, "begun\n", 6) != 6)
        exit(99);
    while (work_now_ns() < end) {
        atomic_store(&slot->latest, work_now_ns());
        nanosleep(&beat, NULL);
    }
}

/* Away from group, session and parent. */
static void become_daemon(bool command_stays)
{
    pid_t child = fork();

    if (child > 0) {
        while (command_stays)
            pause();
        _exit(0);
    }
    setsid();
    if (fork() != 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    struct work_log *log;

    if (argc != 4)
        return 99;
    log = map_log(argv[1]);
    if (strcmp(argv[2], "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    if (strcmp(argv[2], "daemon") == 0 || strcmp(argv[2], "leave") == 0)
        become_daemon(strcmp(argv[2], "daemon") == 0);
    work(log, atoll(argv[3]));
    return 0;
}
