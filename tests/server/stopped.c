/* A holder that is stopped beyond its deadline and goes on: it must know at once that it has lost (acceptance Z5).
 *
 * The holder is a child process with a client of its own. It says one letter for each thing that it has done; the
 * parent stops it, waits until the masters have dropped the key, which they do after the deadline, and lets it go
 * on. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_rig.h"
#include "watch.h"

#define TTL_MS 600

struct holder {
    pid_t pid;
    int hears; /* what the parent writes to, and what it reads from */
    int says;
};

static void open_three(void)
{
    rig_start_masters(&rig, 3, NULL);
    redlock_client_destroy(rig_new_client(&rig)); /* the masters are known, and the child's client only votes */
}

/* --- The child: exit status 0 is success, another one tells the line of this list that failed */

enum {
    HELD_FAILED = 1,
    REMAINS_AFTER_THE_PAUSE,
    STATE_AFTER_THE_PAUSE,
    TOLD_BEFORE_THE_LOOP,
    NOT_TOLD_IN_THE_FIRST_TURN,
    TOLD_TWICE,
    REMAINS_INSIDE,
    COULD_EXTEND,
};

struct witness {
    unsigned lost;
    int64_t remaining_ns;
    enum redlock_state state;
    enum redlock_loss loss;
};

static void on_alarm(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data)
{
    struct witness *witness = user_data;

    if (alarm->kind != REDLOCK_ALARM_LOST)
        return;
    witness->lost++;
    witness->remaining_ns = redlock_remaining_ns(lock);
    witness->state = redlock_state(lock);
    witness->loss = alarm->loss;
}

static void on_acquired(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    *(bool *)user_data = result->status == REDLOCK_OK && redlock_remaining_ns(lock) > 0;
}

static struct redlock_lock *hold_in_child(struct event_base *base, struct witness *witness)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, 20000);
    struct redlock_client *client;
    struct redlock_lock *lock;
    bool held = false;

    if (redlock_client_create(base, rig.urls, rig.n, &rig.options, &client, NULL) != 0 ||
        redlock_lock_create(client, "stopped", 7, &lock) != 0 || redlock_lock_watch(lock, on_alarm, witness) != 0 ||
        redlock_acquire(lock, &request, on_acquired, &held) != 0)
        return NULL;
    while (!held)
        event_base_loop(base, EVLOOP_ONCE);
    return lock;
}

static void say(int fd, char letter)
{
    if (write(fd, &letter, 1) != 1)
        _exit(99);
}

static int check_alarm(struct event_base *base, const struct witness *witness)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
    if (witness->lost == 0)
        return NOT_TOLD_IN_THE_FIRST_TURN;
    event_base_loop(base, EVLOOP_NONBLOCK);
    if (witness->lost != 1)
        return TOLD_TWICE;
    return witness->remaining_ns == 0 && witness->state == REDLOCK_STATE_LOST ? 0 : REMAINS_INSIDE;
}

/* Waits outside of the loop: the first thing it does afterwards is to ask. */
static int be_stopped_outside_the_loop(int hears, int says)
{
    struct event_base *base = event_base_new();
    struct witness witness = {0};
    struct redlock_lock *lock = hold_in_child(base, &witness);
    char letter;

    if (!lock)
        return HELD_FAILED;
    say(says, 'h');
    if (read(hears, &letter, 1) != 1)
        return 99;
    if (redlock_remaining_ns(lock) != 0)
        return REMAINS_AFTER_THE_PAUSE;
    if (redlock_state(lock) != REDLOCK_STATE_LOST)
        return STATE_AFTER_THE_PAUSE;
    return witness.lost ? TOLD_BEFORE_THE_LOOP : check_alarm(base, &witness);
}

/* The same, but the first thing it does is to extend. */
static int extend_after_the_stop(int hears, int says)
{
    struct event_base *base = event_base_new();
    struct witness witness = {0};
    struct redlock_lock *lock = hold_in_child(base, &witness);
    bool extended = false;
    char letter;

    if (!lock)
        return HELD_FAILED;
    say(says, 'h');
    if (read(hears, &letter, 1) != 1)
        return 99;
    if (redlock_extend(lock, 0, on_acquired, &extended) != REDLOCK_E_NOT_HELD)
        return COULD_EXTEND;
    return check_alarm(base, &witness);
}

/* Stopped while the loop runs, with renewals and all: the alarm comes by itself. */
static int be_stopped_inside_the_loop(int hears, int says)
{
    struct event_base *base = event_base_new();
    struct witness witness = {0};

    if (!hold_in_child(base, &witness))
        return HELD_FAILED;
    say(says, 'h');
    while (!witness.lost)
        event_base_loop(base, EVLOOP_ONCE);
    say(says, 'l');
    return witness.remaining_ns == 0 && witness.state == REDLOCK_STATE_LOST ? 0 : REMAINS_INSIDE;
}

/* --- The parent */

static struct holder start(int (*child)(int hears, int says))
{
    int orders[2], answers[2];
    struct holder holder;

    ck_assert_int_eq(pipe2(orders, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(answers, O_CLOEXEC), 0);
    holder.pid = fork();
    ck_assert_int_ge(holder.pid, 0);
    if (holder.pid == 0)
        _exit(child(orders[0], answers[1]));
    close(orders[0]);
    close(answers[1]);
    holder.hears = orders[1];
    holder.says = answers[0];
    return holder;
}

static void expect_letter(const struct holder *holder, char expected)
{
    struct pollfd fd = {.fd = holder->says, .events = POLLIN};
    char letter = 0;

    ck_assert_msg(poll(&fd, 1, SUITE_PATIENCE_S * 1000) == 1, "the holder is silent");
    ck_assert_int_eq(read(holder->says, &letter, 1), 1);
    ck_assert_int_eq(letter, expected);
}

static void stop_beyond_the_deadline(const struct holder *holder)
{
    int status;

    ck_assert_int_eq(kill(holder->pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(holder->pid, &status, WUNTRACED), holder->pid);
    ck_assert(WIFSTOPPED(status));
    rig_wait_absent(&rig, "stopped");
}

static void go_on(const struct holder *holder)
{
    ck_assert_int_eq(write(holder->hears, "g", 1), 1);
    ck_assert_int_eq(kill(holder->pid, SIGCONT), 0);
}

static void expect_success(const struct holder *holder)
{
    int status;

    ck_assert_int_eq(waitpid(holder->pid, &status, 0), holder->pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    close(holder->hears);
    close(holder->says);
    rig_wait_absent(&rig, "stopped");
}

GROUP(stopped, "stopped", open_three, rig_end)

TEST(stopped, the_first_question_after_the_pause_is_answered_with_nothing)
{
    struct holder holder = start(be_stopped_outside_the_loop);

    expect_letter(&holder, 'h');
    stop_beyond_the_deadline(&holder);
    go_on(&holder);
    expect_success(&holder);
}

TEST(stopped, nothing_is_extended_after_the_pause)
{
    struct holder holder = start(extend_after_the_stop);

    expect_letter(&holder, 'h');
    stop_beyond_the_deadline(&holder);
    go_on(&holder);
    expect_success(&holder);
}

TEST(stopped, the_alarm_comes_by_itself_after_a_pause_in_the_loop)
{
    struct holder holder = start(be_stopped_inside_the_loop);

    expect_letter(&holder, 'h');
    stop_beyond_the_deadline(&holder);
    go_on(&holder);
    expect_letter(&holder, 'l');
    expect_success(&holder);
}

/* Somebody else has the lock when the holder goes on; its releases and renewals must not touch that. */
TEST(stopped, who_has_got_the_lock_meanwhile_keeps_it)
{
    struct holder holder = start(be_stopped_inside_the_loop);
    struct redlock_lock *lock;

    expect_letter(&holder, 'h');
    stop_beyond_the_deadline(&holder);
    rig_connect(&rig);
    lock = rig_hold(&rig, "stopped", 20000);
    rig_wait_count(&rig, "stopped", 3);
    go_on(&holder);
    expect_letter(&holder, 'l');
    rig_run_for(&rig, 200);
    ck_assert_uint_eq(rig_count_value(&rig, "stopped", redlock_lock_token(lock)), 3);
    redlock_lock_destroy(lock);
    expect_success(&holder);
}

SUITE_WITH_SERVER("stopped")
