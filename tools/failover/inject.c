/* The faults: done to masters or to the leader, and undone. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/message.h"
#include "run.h"

#define NS_PER_MS INT64_C(1000000)
#define CLOCK_STEP_MS 60000
#define LEADER_WAIT_MS 5000
#define SLOW_MS 50
#define SLOW_JITTER_MS 10

static void mark(struct fo_run *run, size_t node, enum fo_state state)
{
    struct fo_course *course = &run->course;

    if (course->n_marks < FO_MAX_MARKS)
        course->marks[course->n_marks++] = (struct fo_mark){fo_now_ns(), (uint32_t)node, state};
}

/* Before anything is done to it: from here on the referee does not ask it. */
static void touch(struct fo_run *run, size_t node)
{
    atomic_fetch_or(&run->shared->touched, UINT32_C(1) << node);
}

static bool did(struct fo_run *run, bool ok)
{
    return ok || fo_run_fail(run, "%s", run->cluster.why);
}

typedef bool (*deed_fn)(struct fo_run *run, size_t node);

static bool do_kill(struct fo_run *run, size_t node)
{
    touch(run, node);
    mark(run, node, FO_DOWN);
    return did(run, fo_cluster_kill(&run->cluster, node));
}

static bool do_start(struct fo_run *run, size_t node)
{
    bool ok = did(run, fo_cluster_start(&run->cluster, node));

    mark(run, node, FO_UP);
    return ok;
}

static bool do_hang(struct fo_run *run, size_t node)
{
    touch(run, node);
    mark(run, node, FO_HUNG);
    return did(run, fo_cluster_hang(&run->cluster, node));
}

static bool do_resume(struct fo_run *run, size_t node)
{
    mark(run, node, FO_UP);
    return did(run, fo_cluster_resume(&run->cluster, node));
}

static bool do_wipe_and_start(struct fo_run *run, size_t node)
{
    return did(run, fo_cluster_wipe(&run->cluster, node)) && do_start(run, node);
}

static bool do_step(struct fo_run *run, size_t node)
{
    touch(run, node);
    mark(run, node, FO_STEPPED);
    return did(run, fo_cluster_set_clock(&run->cluster, node, CLOCK_STEP_MS));
}

static bool set_both(struct fo_run *run, size_t node, unsigned side, const struct relay_toxics *toxics)
{
    return did(run, fo_cluster_toxics(&run->cluster, node, side, RELAY_UPSTREAM, toxics)) &&
           did(run, fo_cluster_toxics(&run->cluster, node, side, RELAY_DOWNSTREAM, toxics));
}

static bool do_slow(struct fo_run *run, size_t node)
{
    const struct relay_toxics toxics = {
        .latency_us = SLOW_MS * 1000, .jitter_us = SLOW_JITTER_MS * 1000, .slice_bytes = 64, .slice_delay_us = 200};

    touch(run, node);
    mark(run, node, FO_LATE);
    return did(run, fo_cluster_toxics(&run->cluster, node, 0, RELAY_DOWNSTREAM, &toxics));
}

static bool do_mute(struct fo_run *run, size_t node)
{
    touch(run, node);
    mark(run, node, FO_MUTE);
    return did(run, fo_cluster_toxics(&run->cluster, node, 0, RELAY_DOWNSTREAM,
                                      &(struct relay_toxics){.black_hole = true}));
}

/* Connections that have lost something cannot be used any more: they are reset, and new ones are clean. */
static bool do_reset(struct fo_run *run, size_t node)
{
    const struct relay_toxics reset = {.reset_peer = true};

    mark(run, node, FO_UP);
    return did(run, fo_cluster_toxics(&run->cluster, node, 0, RELAY_DOWNSTREAM, &reset)) &&
           usleep(20000) == 0 && set_both(run, node, 0, &(struct relay_toxics){0});
}

/* What is sent across the gap is not lost: it arrives later, as TCP has it. */
static bool do_part(struct fo_run *run, size_t node)
{
    touch(run, node);
    mark(run, node, FO_CUT);
    return set_both(run, node, node < run->scenario->masters ? 1 : 0, &(struct relay_toxics){.hold = true});
}

static bool do_clean(struct fo_run *run, size_t node)
{
    mark(run, node, FO_UP);
    return set_both(run, node, 0, &(struct relay_toxics){0}) &&
           (run->scenario->fault != FO_PART || set_both(run, node, 1, &(struct relay_toxics){0}));
}

static bool to_first(struct fo_run *run, deed_fn deed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!deed(run, i))
            return false;
    return true;
}

/* A leader that has been in office for a moment, so that it is in the middle of its work. */
static bool find_victim(struct fo_run *run)
{
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;
    uint32_t leader;

    do {
        if (!fo_run_attend(run, fo_now_ns() + NS_PER_MS, false))
            return false;
        leader = atomic_load(&run->shared->leader);
        if (leader != FO_NOBODY &&
            fo_now_ns() - atomic_load(&run->shared->leader_since_ns) > 30 * NS_PER_MS) {
            run->course.victim = leader;
            run->course.victim_ns = fo_now_ns();
            return true;
        }
    } while (fo_now_ns() < give_up_ns);
    return fo_run_fail(run, "nobody becomes leader");
}

static bool crash_leader(struct fo_run *run)
{
    struct fo_course *course = &run->course;

    if (!find_victim(run))
        return false;
    kill(run->pids[course->victim], SIGKILL);
    waitpid(run->pids[course->victim], NULL, 0);
    atomic_store(&run->shared->crashed_ns[course->victim], fo_now_ns());
    close(run->controls[course->victim]);
    run->controls[course->victim] = -1;
    run->pids[course->victim] = 0;
    atomic_store(&run->shared->leader, FO_NOBODY);
    return true;
}

static bool pause_leader(struct fo_run *run)
{
    if (!find_victim(run))
        return false;
    return kill(run->pids[run->course.victim], SIGSTOP) == 0 || fo_run_fail(run, "the leader cannot be stopped");
}

static bool revive(struct fo_run *run)
{
    uint32_t victim = run->course.victim;

    if (run->scenario->fault == FO_PAUSE)
        return kill(run->pids[victim], SIGCONT) == 0 || fo_run_fail(run, "the leader cannot be continued");
    return fo_run_spawn(run, victim) && fo_run_attend(run, fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS, true) &&
           load_send(run->controls[victim], LOAD_START, 0);
}

static bool roll(struct fo_run *run)
{
    uint32_t pause_ms = fo_options_quarantine_ms(run->options, FO_ROLL) + FO_ROLL_SETTLE_MS;

    for (size_t i = 0; i < run->cluster.n; i++)
        if (!do_kill(run, i) || !fo_run_attend(run, fo_now_ns() + FO_ROLL_DOWN_MS * NS_PER_MS, false) ||
            !do_start(run, i) || !fo_run_attend(run, fo_now_ns() + pause_ms * NS_PER_MS, false))
            return false;
    return true;
}

bool fo_run_inject(struct fo_run *run)
{
    uint32_t n = run->scenario->masters;

    switch (run->scenario->fault) {
    case FO_KILL:
        return to_first(run, do_kill, n);
    case FO_HANG:
        return to_first(run, do_hang, n);
    case FO_EMPTY:
        return to_first(run, do_kill, n) && to_first(run, do_wipe_and_start, n);
    case FO_ROLL:
        return roll(run);
    case FO_PART:
        return to_first(run, do_part, run->cluster.n);
    case FO_SLOW:
        return to_first(run, do_slow, n);
    case FO_LOSE_REPLIES:
        return to_first(run, do_mute, n);
    case FO_STEP:
        return to_first(run, do_step, n);
    case FO_CRASH:
        return crash_leader(run);
    case FO_PAUSE:
        return pause_leader(run);
    case FO_NO_FAULT:
        break;
    }
    return true;
}

bool fo_run_heal(struct fo_run *run)
{
    uint32_t n = run->scenario->masters;

    switch (run->scenario->fault) {
    case FO_KILL:
        return to_first(run, do_start, n);
    case FO_HANG:
        return to_first(run, do_resume, n);
    case FO_PART:
        return to_first(run, do_clean, run->cluster.n);
    case FO_SLOW:
        return to_first(run, do_clean, n);
    case FO_LOSE_REPLIES:
        return to_first(run, do_reset, n);
    case FO_CRASH:
    case FO_PAUSE:
        return revive(run);
    default:
        return true;
    }
}
