/* The diagram of engine/states.c: what it draws happens, what it does not draw is stopped by an assertion. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/states.h"
#include "core_harness.h"
#include "suite.h"

/* --- How each transition comes about -------------------------------------------------------------------------- */

static void acquire(struct core *core)
{
    struct rl_acquire request = core_request();

    core_acquire(core, &request);
}

static void acquire_once_and_fail(struct core *core)
{
    struct rl_acquire request = core_request_once();

    core_acquire(core, &request);
    core_answers(core, "rr");
}

static void win(struct core *core)
{
    acquire(core);
    core_answers(core, "ggg");
}

static void back_off(struct core *core)
{
    acquire(core);
    core_answers(core, "rr");
}

static void back_off_and_retry(struct core *core)
{
    back_off(core);
    core_run_to(core, 100);
}

static void back_off_and_cancel(struct core *core)
{
    back_off(core);
    core_cancel(core);
}

static void extend(struct core *core)
{
    win(core);
    core_extend(core, 0);
    core_answers(core, "gg");
}

static void lose(struct core *core)
{
    win(core);
    core_run_to(core, 988);
}

static void lose_extending(struct core *core)
{
    win(core);
    core_extend(core, 0);
    core_answers(core, "rr");
}

static void release(struct core *core)
{
    win(core);
    core_release(core);
    core_answers(core, "ggg");
}

static void release_extending(struct core *core)
{
    win(core);
    core_extend(core, 0);
    core_release(core);
}

static void release_lost(struct core *core)
{
    lose(core);
    core_release(core);
}

static void acquire_lost(struct core *core)
{
    lose(core);
    acquire(core);
}

static void detach(struct core *core)
{
    win(core);
    core_detach(core);
}

static void release_value(struct core *core)
{
    core_release_value(core, 1000);
}

static void import(struct core *core)
{
    struct rl_acquire request = core_request();

    ck_assert(core_import(core, &request, 5000, 0));
}

static void adopt_lost(struct core *core)
{
    lose(core);
    import(core);
}

static void get_in_the_queue(struct core *core)
{
    struct rl_acquire request = core_request_to_queue();

    core_acquire(core, &request);
    core_answers(core, "rr");
}

static void win_in_the_queue(struct core *core)
{
    get_in_the_queue(core);
    core_answers(core, "--q");
    core_answers(core, "gg");
}

static void get_out_of_line(struct core *core)
{
    get_in_the_queue(core);
    core_cancel(core);
}

static void fall_out_of_line(struct core *core)
{
    get_in_the_queue(core);
    core_drop(core, 0);
    core_drop(core, 1);
    core_run_to(core, 500);
}

static void get_in_the_queue_again(struct core *core)
{
    fall_out_of_line(core);
    core_link(core, 0, RL_LINK_READY);
    core_run_to(core, 1500);
}

static const struct {
    enum rl_lock_state from, to;
    void (*play)(struct core *core);
} diagram[] = {
    {RL_LOCK_IDLE, RL_LOCK_ACQUIRING, acquire},
    {RL_LOCK_IDLE, RL_LOCK_RELEASING, release_value},
    {RL_LOCK_IDLE, RL_LOCK_HELD, import},
    {RL_LOCK_ACQUIRING, RL_LOCK_HELD, win},
    {RL_LOCK_ACQUIRING, RL_LOCK_WAITING, get_in_the_queue},
    {RL_LOCK_ACQUIRING, RL_LOCK_BACKING_OFF, back_off},
    {RL_LOCK_ACQUIRING, RL_LOCK_IDLE, acquire_once_and_fail},
    {RL_LOCK_WAITING, RL_LOCK_HELD, win_in_the_queue},
    {RL_LOCK_WAITING, RL_LOCK_BACKING_OFF, fall_out_of_line},
    {RL_LOCK_WAITING, RL_LOCK_IDLE, get_out_of_line},
    {RL_LOCK_BACKING_OFF, RL_LOCK_ACQUIRING, back_off_and_retry},
    {RL_LOCK_BACKING_OFF, RL_LOCK_WAITING, get_in_the_queue_again},
    {RL_LOCK_BACKING_OFF, RL_LOCK_IDLE, back_off_and_cancel},
    {RL_LOCK_HELD, RL_LOCK_EXTENDING, extend},
    {RL_LOCK_HELD, RL_LOCK_RELEASING, release},
    {RL_LOCK_HELD, RL_LOCK_LOST, lose},
    {RL_LOCK_HELD, RL_LOCK_IDLE, detach},
    {RL_LOCK_EXTENDING, RL_LOCK_HELD, extend},
    {RL_LOCK_EXTENDING, RL_LOCK_RELEASING, release_extending},
    {RL_LOCK_EXTENDING, RL_LOCK_LOST, lose_extending},
    {RL_LOCK_RELEASING, RL_LOCK_IDLE, release},
    {RL_LOCK_LOST, RL_LOCK_ACQUIRING, acquire_lost},
    {RL_LOCK_LOST, RL_LOCK_RELEASING, release_lost},
    {RL_LOCK_LOST, RL_LOCK_HELD, adopt_lost},
};

#define N_DRAWN (sizeof(diagram) / sizeof(*diagram))

/* --- What belongs to a state ---------------------------------------------------------------------------------- */

/* Without assertions there is nothing to stop a wrong transition. */
#ifdef NDEBUG
#define ASSERTING false
#else
#define ASSERTING true
#endif

GROUP(cases, "diagram", NULL, core_stop_all)

/* Each play ends in some state: nothing of the states before is left. */
TESTS(cases, what_belonged_to_a_state_ends_with_it, 0, (int)N_DRAWN)
{
    static const struct rl_lock_hold nothing;
    struct core *core = core_start(3);
    const struct rl_lock *lock = &core->locks[0];

    diagram[_i].play(core);
    if (lock->state == RL_LOCK_IDLE)
        ck_assert_mem_eq(&lock->hold, &nothing, sizeof nothing);
    if (lock->state == RL_LOCK_HELD || lock->state == RL_LOCK_EXTENDING)
        ck_assert(lock->hold.end.ns == RL_NEVER.ns && !lock->hold.renewing);
}

static void extend_while_it_is_renewed(struct core *core)
{
    struct rl_acquire request = core_request();

    request.renew_ms = 300;
    core_acquire(core, &request);
    core_answers(core, "ggg");
    core_run_to(core, 300);
    ck_assert(core->locks[0].hold.renewing);
    core_extend(core, 0);
}

TEST(cases, a_renewal_ends_when_its_lock_is_extended)
{
    struct core *core = core_start(3);

    extend_while_it_is_renewed(core);
    ck_assert_int_eq(core_state(core), RL_LOCK_EXTENDING);
    ck_assert(!core->locks[0].hold.renewing);
}

TESTS(cases, every_transition_of_the_diagram_happens, 0, (int)N_DRAWN)
{
    struct core *core = core_start(3);

    diagram[_i].play(core);
    ck_assert_msg(core->seen[diagram[_i].from] & (1u << diagram[_i].to), "%s never became %s",
                  rl_lock_state_name(diagram[_i].from), rl_lock_state_name(diagram[_i].to));
}

/* --- And no other --------------------------------------------------------------------------------------------- */

static bool is_drawn(enum rl_lock_state from, enum rl_lock_state to)
{
    for (size_t i = 0; i < N_DRAWN; i++) {
        if (diagram[i].from == from && diagram[i].to == to)
            return true;
    }
    return false;
}

TESTS(cases, the_table_allows_what_the_diagram_draws_and_nothing_else, 0, RL_LOCK_STATE_COUNT)
{
    enum rl_lock_state from = (enum rl_lock_state)_i;

    for (int to = 0; to < RL_LOCK_STATE_COUNT; to++)
        ck_assert_msg(rl_lock_may_move(from, (enum rl_lock_state)to) == is_drawn(from, (enum rl_lock_state)to),
                      "from %s to %s", rl_lock_state_name(from), rl_lock_state_name((enum rl_lock_state)to));
}

/* In a process of its own, with or without Check's forking. */
static void expect_stopped(void (*move)(struct core *core))
{
    struct core *core = core_start(3);
    pid_t child = fork();
    int status = 0;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct rlimit no_core = {0, 0};

        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        move(core);
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    core_stop(core);
}

static void lose_what_is_not_held(struct core *core)
{
    rl_lock_follow(&core->engine, &core->locks[0], core->now, rl_go(RL_LOCK_LOST, RL_END_NONE, RL_END_NONE));
}

TEST_IF(ASSERTING, cases, a_move_that_the_table_does_not_allow_is_stopped)
{
    expect_stopped(lose_what_is_not_held);
}

static void release_the_claim_of_another(struct core *core)
{
    win(core);
    core->locks[1].claim = core->locks[0].claim;
    rl_lock_follow(&core->engine, &core->locks[1], core->now, rl_go(RL_LOCK_RELEASING, RL_END_NONE, RL_END_NONE));
}

TEST_IF(ASSERTING, cases, a_move_that_breaks_an_invariant_is_stopped)
{
    expect_stopped(release_the_claim_of_another);
}

TEST(cases, every_state_has_a_name_of_its_own)
{
    for (int a = 0; a < RL_LOCK_STATE_COUNT; a++) {
        ck_assert_ptr_nonnull(rl_lock_state_name((enum rl_lock_state)a));
        for (int b = 0; b < a; b++)
            ck_assert_str_ne(rl_lock_state_name((enum rl_lock_state)a), rl_lock_state_name((enum rl_lock_state)b));
    }
}

SUITE("lock_states")
