#include "inject.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "change.h"
#include "lab/load/message.h"

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

/* What keeps its memory on disk has it again. */
static bool do_wipe_and_start(struct fo_run *run, size_t node)
{
    if (run->options->engine && engine_contestant_is_durable(run->options->engine))
        return do_start(run, node);
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

/* On a busy machine members may be choosing another one without our doing. */
static size_t find_leading_member(struct fo_run *run)
{
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;
    size_t leader;

    do
        leader = fo_cluster_leader(&run->cluster);
    while (run->scenario->leader && leader >= run->cluster.n && fo_now_ns() < give_up_ns &&
           fo_run_attend(run, fo_now_ns() + NS_PER_MS, false));
    return leader;
}

/* The leading member alone, or the first ones; where one leads, it comes after all others. */
static bool choose_targets(struct fo_run *run)
{
    struct fo_course *course = &run->course;
    size_t n = run->cluster.n, leader = find_leading_member(run);
    size_t wanted = run->scenario->masters < n ? run->scenario->masters : n;

    course->n_targets = 0;
    if (run->scenario->fault == FO_PART && run->options->engine) {
        course->n_targets = (uint32_t)fo_cluster_smaller_side(&run->cluster, course->targets);
        return true;
    }
    if (run->scenario->leader && leader >= n)
        return fo_run_fail(run, "no member says that it leads");
    for (size_t i = 0; i < n && !run->scenario->leader && course->n_targets < wanted; i++)
        if (i != leader)
            course->targets[course->n_targets++] = (uint32_t)i;
    if (leader < n && course->n_targets < wanted)
        course->targets[course->n_targets++] = (uint32_t)leader;
    return true;
}

static bool to_targets(struct fo_run *run, deed_fn deed)
{
    for (size_t i = 0; i < run->course.n_targets; i++)
        if (!deed(run, run->course.targets[i]))
            return false;
    return true;
}

static bool to_others(struct fo_run *run, deed_fn deed)
{
    for (size_t i = 0; i < run->cluster.n; i++)
        if (i != run->course.targets[0] && !deed(run, i))
            return false;
    return true;
}

/* A leader that has been in office for a moment, so that it is in the middle of its work, and not since earlier. */
static bool find_leader(struct fo_run *run, int64_t since_ns, uint32_t *ret_leader)
{
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;
    uint32_t leader;

    do {
        if (!fo_run_attend(run, fo_now_ns() + NS_PER_MS, false))
            return false;
        leader = atomic_load(&run->shared->leader);
        *ret_leader = leader;
        if (leader != FO_NOBODY && atomic_load(&run->shared->leader_since_ns) >= since_ns &&
            fo_now_ns() - atomic_load(&run->shared->leader_since_ns) > 30 * NS_PER_MS)
            return true;
    } while (fo_now_ns() < give_up_ns);
    return fo_run_fail(run, "nobody becomes leader");
}

static bool find_victim(struct fo_run *run)
{
    bool found = find_leader(run, 0, &run->course.victim);

    run->course.victim_ns = fo_now_ns();
    return found;
}

static bool anybody_contends(const struct fo_run *run)
{
    for (uint32_t i = 0; i < run->options->clients; i++)
        if (atomic_load(&run->shared->contends[i]))
            return true;
    return false;
}

/* Until all members have what the leading one has. */
static bool wait_for_replicas(struct fo_run *run)
{
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;
    int64_t offset = fo_cluster_offset(&run->cluster, run->course.targets[0]);

    if (offset < 0)
        return did(run, false);
    for (size_t i = 0; i < run->cluster.n;) {
        int64_t reached = fo_cluster_offset(&run->cluster, i);

        if (reached < 0)
            return did(run, false);
        i += reached >= offset;
        if (fo_now_ns() > give_up_ns)
            return fo_run_fail(run, "a replica does not follow its master");
        if (reached < offset && !fo_run_attend(run, fo_now_ns() + NS_PER_MS, false))
            return false;
    }
    return true;
}

/* The replicas are to know of no holder: if they kept an earlier one's key, it would keep out the second holder after
 * the promotion for almost as long as the first one's lock lasts. */
static bool leave_the_lock_free(struct fo_run *run)
{
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;

    atomic_store(&run->shared->stand_back, true);
    while (anybody_contends(run)) {
        if (fo_now_ns() > give_up_ns)
            return fo_run_fail(run, "the leader lock does not become free");
        if (!fo_run_attend(run, fo_now_ns() + NS_PER_MS, false))
            return false;
    }
    return wait_for_replicas(run);
}

/* What is on its way to a member that stands still would be read when it goes on, so the connections end, too. */
static bool do_part_replicas(struct fo_run *run, size_t node)
{
    return did(run, fo_cluster_part_replicas(&run->cluster, node));
}

/* The others hear of nothing until somebody has become leader after that, whose lock is not to end by itself soon. */
static bool kill_lagging(struct fo_run *run)
{
    uint32_t leader;

    if (!to_others(run, do_hang) || !to_targets(run, do_part_replicas))
        return false;
    atomic_store(&run->shared->stand_back, false);
    if (!find_leader(run, fo_now_ns(), &leader))
        return false;
    atomic_store(&run->shared->hold_on, true);
    return to_targets(run, do_kill) && to_others(run, do_resume);
}

/* Whose lock is in the hands of a member that fails is to be at work meanwhile. */
static bool must_hold_on(const struct fo_scenario *scenario)
{
    return (scenario->leader && !scenario->lagging) || scenario->fault == FO_EMPTY || scenario->fault == FO_STEP;
}

/* To the client, and to its engine if it has one. */
static bool signal_client(const struct fo_run *run, uint32_t client, int number)
{
    int engine = atomic_load(&run->shared->engines[client]);

    if (engine > 0)
        kill(-engine, number);
    return kill(run->pids[client], number) == 0;
}

static bool crash_leader(struct fo_run *run)
{
    struct fo_course *course = &run->course;
    int64_t ended_ns;

    if (!find_victim(run))
        return false;
    ended_ns = fo_now_ns(); /* a server may give the lock to the next one before the end has been waited for */
    signal_client(run, course->victim, SIGKILL);
    waitpid(run->pids[course->victim], NULL, 0);
    atomic_store(&run->shared->crashed_ns[course->victim], ended_ns);
    close(run->controls[course->victim]);
    run->controls[course->victim] = -1;
    run->pids[course->victim] = 0;
    atomic_store(&run->shared->leader, FO_NOBODY);
    return true;
}

/* Returns when it stands still. */
static bool stop_client(struct fo_run *run, uint32_t client)
{
    int status = 0;

    if (signal_client(run, client, SIGSTOP) && waitpid(run->pids[client], &status, WUNTRACED) > 0 && WIFSTOPPED(status))
        return true;
    return fo_run_fail(run, "the leader cannot be stopped");
}

/* Between a read and the write that follows: what has been sent to a store already would not be late. */
static bool pause_leader(struct fo_run *run)
{
    struct fo_shared *shared = run->shared;
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;

    do {
        uint32_t victim;

        if (!find_victim(run))
            return false;
        victim = run->course.victim;
        if (!stop_client(run, victim))
            return false;
        if (atomic_load(&shared->leader) == victim && atomic_load(&shared->in_step[victim]))
            return true;
        signal_client(run, victim, SIGCONT);
    } while (fo_now_ns() < give_up_ns);
    return fo_run_fail(run, "no leader begins a step");
}

static bool revive(struct fo_run *run)
{
    uint32_t victim = run->course.victim;

    if (run->scenario->fault == FO_PAUSE)
        return signal_client(run, victim, SIGCONT) || fo_run_fail(run, "the leader cannot be continued");
    return fo_run_spawn(run, victim) && fo_run_attend(run, fo_now_ns() + FO_READY_MS * NS_PER_MS, true) &&
           load_send(run->controls[victim], LOAD_START, 0);
}

/* Its lock is to be at work while it is cut off. */
static bool find_leader_of_smaller_side(struct fo_run *run)
{
    struct fo_course *course = &run->course;
    int64_t give_up_ns = fo_now_ns() + LEADER_WAIT_MS * NS_PER_MS;
    int64_t since_ns = 0;

    do {
        if (!find_leader(run, since_ns, &course->victim))
            return false;
        course->victim_ns = fo_now_ns();
        since_ns = atomic_load(&run->shared->leader_since_ns) + 1;
        if (fo_run_is_on_smaller_side(course->victim)) {
            atomic_store(&run->shared->hold_on, true);
            return true;
        }
    } while (course->victim_ns < give_up_ns);
    course->victim = FO_NOBODY;
    return fo_run_fail(run, "no client of the smaller side becomes leader");
}

static bool set_apart(struct fo_run *run, bool apart)
{
    const struct fo_course *course = &run->course;

    for (size_t i = 0; i < course->n_targets; i++) {
        touch(run, course->targets[i]);
        mark(run, course->targets[i], apart ? FO_CUT : FO_UP);
    }
    return did(run, fo_cluster_part(&run->cluster, course->targets, course->n_targets, apart));
}

static bool part(struct fo_run *run)
{
    if (run->scenario->holder && !find_leader_of_smaller_side(run))
        return false;
    return run->options->engine ? set_apart(run, true) : to_first(run, do_part, run->cluster.n);
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

/* The referee does not know which of them votes. */
static bool change_list(struct fo_run *run)
{
    for (size_t i = 0; i < run->cluster.n; i++)
        touch(run, i);
    return to_targets(run, do_kill) && fo_change(run);
}

bool fo_run_get_ready(struct fo_run *run)
{
    return choose_targets(run) && (!run->scenario->lagging || leave_the_lock_free(run));
}

bool fo_run_inject(struct fo_run *run)
{
    atomic_store(&run->shared->hold_on, must_hold_on(run->scenario));
    switch (run->scenario->fault) {
    case FO_KILL:
        return run->scenario->lagging ? kill_lagging(run) : to_targets(run, do_kill);
    case FO_HANG:
        return to_targets(run, do_hang);
    case FO_EMPTY:
        return to_targets(run, do_kill) && to_targets(run, do_wipe_and_start);
    case FO_ROLL:
        return roll(run);
    case FO_PART:
        return part(run);
    case FO_SLOW:
        return to_targets(run, do_slow);
    case FO_LOSE_REPLIES:
        return to_targets(run, do_mute);
    case FO_STEP:
        return to_targets(run, do_step);
    case FO_CHANGE:
        return change_list(run);
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
    atomic_store(&run->shared->hold_on, false);
    switch (run->scenario->fault) {
    case FO_KILL:
    case FO_CHANGE:
        return to_targets(run, do_start);
    case FO_HANG:
        return to_targets(run, do_resume);
    case FO_PART:
        return run->options->engine ? set_apart(run, false) : to_first(run, do_clean, run->cluster.n);
    case FO_SLOW:
        return to_targets(run, do_clean);
    case FO_LOSE_REPLIES:
        return to_targets(run, do_reset);
    case FO_CRASH:
    case FO_PAUSE:
        return revive(run);
    default:
        return true;
    }
}
