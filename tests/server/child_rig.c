#include "child_rig.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t child_start(struct rig *rig, child_fn does, void *argument)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        redlock_client_destroy(rig->client);
        event_reinit(rig->base);
        rig->client = rig_new_client(rig);
        _exit(does(rig, argument));
    }
    return pid;
}

/* The end of the pipe that a child writes to. */
static int says = -1;

pid_t child_start_ready(struct rig *rig, child_fn does, void *argument)
{
    int ends[2];
    char word;
    pid_t pid;

    ck_assert_int_eq(pipe(ends), 0);
    says = ends[1];
    pid = child_start(rig, does, argument);
    close(ends[1]);
    ck_assert_msg(read(ends[0], &word, 1) == 1, "a child has ended before it was ready");
    close(ends[0]);
    return pid;
}

int child_stay(struct rig *rig)
{
    if (write(says, "r", 1) != 1)
        return 1;
    for (;;)
        event_base_loop(rig->base, EVLOOP_ONCE);
}

void child_kill(pid_t pid)
{
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
