/* Acts about a holder that stands still, and about what protects the resource from it: fencing tokens. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/demo/demo.h"

enum { TTL_MS = 1500, WAIT_MS = 20000, ALARM_MS = 5000 };

/* --- The holder: a process of its own, which stops itself ---------------------------------------------------- */

/* What it tells the tour, once before it stops and once after. */
struct report {
    int status;
    uint64_t fence;
    int64_t remaining_ns; /* at its first look */
    enum redlock_state state;
    int alarms;           /* LOST */
    enum redlock_loss loss;
};

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *data)
{
    struct report *report = data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    report->alarms++;
    report->loss = alarm->loss;
}

static bool alarmed(const struct session *session, void *data)
{
    return ((const struct report *)data)->alarms > 0;
}

static bool tell(int fd, const struct report *report)
{
    return write(fd, report, sizeof *report) == (ssize_t)sizeof *report;
}

static int take_fenced(struct session *session, struct redlock_lock *lock)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.ttl_ms = TTL_MS;
    options.timeout_ms = WAIT_MS;
    options.fenced = 1;
    return lock ? session_acquire(session, lock, &options) : REDLOCK_E_NOMEM;
}

static void hold_and_stop(struct session *session, struct redlock_client *client, int fd)
{
    struct redlock_lock *lock = demo_lock(client, "paused");
    struct report report = {.status = take_fenced(session, lock)};

    if (report.status == REDLOCK_OK) {
        report.fence = redlock_lock_fence(lock);
        redlock_lock_watch(lock, on_alarm, &report);
    }
    if (!tell(fd, &report) || report.status != REDLOCK_OK)
        return;
    raise(SIGSTOP);
    report.remaining_ns = redlock_remaining_ns(lock);
    report.state = redlock_state(lock);
    session_run_until(session, alarmed, &report, ALARM_MS);
    tell(fd, &report);
}

/* In the child. It touches nothing of the parent's clients, and ends with the parent. */
static void be_holder(const struct demo *demo, pid_t parent, int fd)
{
    struct session session = {0};
    struct redlock_client *client = NULL;
    int code;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (session_open(&session, "demo"))
        client = session_client(&session, "demo", &demo->common, &code);
    if (client)
        hold_and_stop(&session, client, fd);
    _exit(0);
}

struct holder {
    pid_t pid;
    int fd;
    struct report before, after;
};

static bool hear(const struct holder *holder, struct report *ret_report)
{
    ssize_t n;

    do
        n = read(holder->fd, ret_report, sizeof *ret_report);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *ret_report;
}

static bool start_holder(struct demo *demo, struct holder *holder)
{
    pid_t parent = getpid();
    int fds[2];

    fflush(demo->term.out);
    if (pipe(fds) < 0)
        return false;
    holder->fd = fds[0];
    holder->pid = fork();
    if (holder->pid == 0)
        be_holder(demo, parent, fds[1]);
    close(fds[1]);
    return holder->pid > 0 && hear(holder, &holder->before) && holder->before.status == REDLOCK_OK &&
           waitpid(holder->pid, NULL, WUNTRACED) == holder->pid;
}

static void end_holder(struct holder *holder)
{
    if (holder->pid > 0) {
        kill(holder->pid, SIGKILL);
        while (waitpid(holder->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (holder->fd >= 0)
        close(holder->fd);
}

/* --- Act: stopped -------------------------------------------------------------------------------------------- */

static void wake_holder(struct demo *demo, struct holder *holder)
{
    bool heard;

    kill(holder->pid, SIGCONT);
    heard = hear(holder, &holder->after);
    demo_say(demo, "Carol is woken (SIGCONT), and has not had the time to hear from anybody.");
    demo_check(demo, heard && holder->after.remaining_ns == 0 && holder->after.state == REDLOCK_STATE_LOST,
               "her first look at her lock says \"%s\", with %" PRId64 " ns left",
               redlock_state_name(holder->after.state), holder->after.remaining_ns);
    demo_check(demo, heard && holder->after.alarms == 1, "and her alarm goes off, once: %s",
               redlock_loss_text(holder->after.loss));
}

static void stop_and_wake(struct demo *demo, struct holder *holder)
{
    struct redlock_lock *lock = demo_lock(demo->bob, "paused");
    int status = take_fenced(&demo->session, lock);
    char took[16];

    demo->fences[0] = holder->before.fence;
    demo_say(demo, "Bob wants it, and waits.");
    demo_check(demo, status == REDLOCK_OK, "he has it after %s: nobody renewed hers",
               term_time(demo->session.last.elapsed_us, took, sizeof took));
    if (status == REDLOCK_OK)
        demo->fences[1] = redlock_lock_fence(lock);
    wake_holder(demo, holder);
    demo_check(demo, status == REDLOCK_OK && redlock_remaining_ns(lock) > 0, "meanwhile it is still Bob's");
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
}

bool demo_act_stopped(struct demo *demo)
{
    struct holder holder = {.fd = -1};
    bool started;

    demo_say(demo, "Carol, a process of her own, takes a lock for %.1f s, renews it, and is stopped",
             (double)TTL_MS / 1000);
    demo_say(demo, "(SIGSTOP), as by a debugger, a paused machine, or the end of a laptop's day.");
    demo_gap(demo);
    started = start_holder(demo, &holder);
    if (started)
        stop_and_wake(demo, &holder);
    end_holder(&holder);
    return (started && demo->session.caught == 0) || demo_stop(demo, "no holder could be started and stopped", "");
}

/* --- Act: fencing -------------------------------------------------------------------------------------------- */

/* What a resource has to do: to remember the largest token it has seen. */
struct resource {
    uint64_t largest;
};

static bool resource_write(struct resource *resource, uint64_t fence)
{
    if (fence < resource->largest)
        return false;
    resource->largest = fence;
    return true;
}

static bool show_write(struct demo *demo, struct resource *resource, const char *who, uint64_t fence)
{
    bool accepted = resource_write(resource, fence);

    fprintf(demo->term.out, "  %-28s token %-18" PRIu64 "  ", who, fence);
    term_print(&demo->term, accepted ? TERM_GREEN : TERM_YELLOW, "%s\n", accepted ? "accepted" : "refused");
    return accepted;
}

bool demo_act_fencing(struct demo *demo)
{
    struct redlock_lock *lock = demo_lock(demo->alice, "paused");
    int status = take_fenced(&demo->session, lock);
    uint64_t third = status == REDLOCK_OK ? redlock_lock_fence(lock) : 0;
    struct resource resource = {0};
    bool in_time, next, late;

    demo_say(demo, "A write that Carol sent before she stopped may arrive after Bob's: no lock can");
    demo_say(demo, "call it back. So each hold has a number, larger than that of all earlier ones,");
    demo_say(demo, "and the resource refuses what is smaller than the largest it has seen.");
    demo_gap(demo);
    in_time = show_write(demo, &resource, "Carol, while she held it", demo->fences[0]);
    next = show_write(demo, &resource, "Bob", demo->fences[1]);
    late = show_write(demo, &resource, "Carol's write that was late", demo->fences[0]);
    next = show_write(demo, &resource, "Alice, who is next", third) && next;
    demo_gap(demo);
    demo_check(demo, in_time && next && demo->fences[0] > 0 && demo->fences[0] < demo->fences[1] &&
                         demo->fences[1] < third, "the tokens are in the order of the holds");
    demo_check(demo, !late, "and the late write is stopped");
    if (status == REDLOCK_OK)
        session_release(&demo->session, lock);
    redlock_lock_destroy(lock);
    return demo->session.caught == 0;
}
