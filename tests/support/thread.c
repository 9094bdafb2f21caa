#include "thread.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

long thread_self(void)
{
    return syscall(SYS_gettid);
}

static struct thread_switches look(long thread, char *ret_state)
{
    struct thread_switches switches = {0};
    unsigned long forced = 0;
    char path[64], line[256];
    FILE *status;

    snprintf(path, sizeof path, "/proc/self/task/%ld/status", thread);
    status = fopen(path, "r");
    ck_assert_msg(status != NULL, "%s", path);
    while (fgets(line, sizeof line, status)) {
        sscanf(line, "State: %c", ret_state);
        sscanf(line, "voluntary_ctxt_switches: %lu", &switches.own);
        sscanf(line, "nonvoluntary_ctxt_switches: %lu", &forced);
    }
    fclose(status);
    switches.all = switches.own + forced;
    return switches;
}

struct thread_switches thread_switches(long thread)
{
    char state;

    return look(thread, &state);
}

unsigned long thread_await_sleep(long thread)
{
    char state = '?';
    struct thread_switches switches = look(thread, &state);

    while (state != 'S') {
        sched_yield();
        switches = look(thread, &state);
    }
    return switches.own;
}
