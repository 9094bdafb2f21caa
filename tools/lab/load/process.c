#include "process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

void *load_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

void load_unmap(void *memory, size_t size)
{
    munmap(memory, size);
}

/* The parent may have ended before the first call: then nobody would ever tell. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

pid_t load_spawn(load_process_fn process, void *data, const int *controls, size_t n, int *ret_control)
{
    pid_t parent = getpid();
    int pair[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        end_with(parent);
        for (size_t i = 0; i < n; i++)
            if (controls[i] >= 0)
                close(controls[i]);
        close(pair[0]);
        _exit(process(data, pair[1]));
    }
    close(pair[1]);
    *ret_control = pair[0];
    return pid;
}

pid_t load_spawn_alone(load_process_fn process, void *data)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid == 0) {
        end_with(parent);
        _exit(process(data, -1));
    }
    return pid;
}
