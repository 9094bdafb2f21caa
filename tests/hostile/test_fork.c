/* Clause 7: a child that lives on with what it has inherited. */
#include <redlock/election.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

/* Where the tests are built with the address sanitizer, memory that a child has lost is found. */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void end_child(bool satisfied)
{
    bool leaks = __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check();

    _exit(satisfied && !leaks ? 0 : 1);
}

static void expect_satisfied(pid_t child)
{
    int status = 0;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was not satisfied: status %x", status);
}

/* The parent's lock and its connections are as they were. */
static void expect_unharmed(struct redlock_lock *lock)
{
    struct outcome outcome = {0};
    struct redlock_node_stats stats;

    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    for (size_t i = 0; i < world.n; i++) {
        ck_assert_int_eq(redlock_client_node_stats(world.client, i, &stats, sizeof stats), 0);
        ck_assert_uint_eq(stats.connects, 1);
        ck_assert_uint_eq(stats.disconnects, 0);
    }
}

/* The masters' side of the parent's connections is in this process, too: the child's copies are closed. */
static void take_over_the_world(void)
{
    for (size_t i = 0; i < world.n; i++)
        toy_hang_up(world.toys[i]);
    ck_assert_int_eq(event_reinit(world.base), 0);
}

static void lock_and_release_another_key(void)
{
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    world_connect();
    lock = world_hold(world.client, "the child's");
    ck_assert_int_eq(redlock_release(lock, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

GROUP(three, "three masters", world_three, world_close)

TEST(three, a_new_client_works_on_the_inherited_base)
{
    struct redlock_lock *lock;
    pid_t child;

    world_connect();
    lock = world_hold(world.client, "a");
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        redlock_client_destroy(world.client);
        take_over_the_world();
        lock_and_release_another_key();
        _exit(0);
    }
    expect_satisfied(child);
    expect_unharmed(lock);
}

/* The child has no more events than a child that never had a client: its loop ends by itself. */
TEST(three, nothing_of_the_parents_client_is_left_in_the_childs_base)
{
    pid_t child;

    world_connect();
    world_hold(world.client, "a");
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        redlock_client_destroy(world.client);
        ck_assert_int_eq(event_reinit(world.base), 0);
        _exit(event_base_dispatch(world.base) == 1 ? 0 : 1);
    }
    expect_satisfied(child);
}

static pid_t forked;
static bool destroys_lock;

static void fork_and_return(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    forked = fork();
    ck_assert_int_ge(forked, 0);
    if (forked)
        return;
    if (destroys_lock)
        redlock_lock_destroy(lock);
    redlock_client_destroy(world.client);
    world.client = NULL;
    ck_assert_uint_gt(result->n_nodes, 0);
    ck_assert_ptr_nonnull(result->nodes[0].name);
}

TESTS(three, a_child_made_in_a_callback_returns_from_it, 0, 2)
{
    struct redlock_lock *lock, *behind;
    struct outcome outcome = {0}, later = {0};
    bool is_child;

    destroys_lock = _i;
    world_connect();
    lock = world_lock(world.client, "a");
    behind = world_lock(world.client, "b");
    ck_assert_int_eq(redlock_acquire(lock, NULL, fork_and_return, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(behind, NULL, outcome_record, &later), 0);
    world_wait_outcome(&outcome);
    is_child = forked == 0;
    if (is_child) {
        take_over_the_world();
        lock_and_release_another_key();
        _exit(later.calls == 0 ? 0 : 1);
    }
    expect_satisfied(forked);
    world_wait_outcome(&later);
    world_wait_clean(world.client);
    expect_unharmed(lock);
}

static void fork_while_destroyed(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    if (forked < 0)
        forked = fork();
}

TEST(three, a_child_made_while_the_client_is_destroyed_sends_nothing)
{
    struct outcome outcome = {0};

    forked = -1;
    world_connect();
    world_hold(world.client, "held");
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "a"), NULL, fork_while_destroyed, &outcome), 0);
    ck_assert_int_eq(redlock_acquire(world_lock(world.client, "b"), NULL, fork_while_destroyed, &outcome), 0);
    redlock_client_destroy(world.client);
    world.client = NULL;
    if (!forked)
        _exit(outcome.calls == 1 ? 0 : 1);
    expect_satisfied(forked);
    ck_assert_uint_eq(outcome.calls, 2);
    world_steps(5);
    for (size_t i = 0; i < world.n; i++)
        ck_assert_uint_eq(world.toys[i]->sets, 3);
    ck_assert_uint_eq(world_count(), 0);
}

/* --- Elections and conversions ----------------------------------------------------------------------------------- */

static struct {
    unsigned elected;
    unsigned ended;
} election_events;

static void note_election(struct redlock_election *election, const struct redlock_election_event *event,
                          void *user_data)
{
    election_events.elected += event->kind == REDLOCK_ELECTION_ELECTED;
    election_events.ended += event->kind != REDLOCK_ELECTION_ELECTED;
}

static bool is_elected(void *argument)
{
    return election_events.elected > 0;
}

static bool has_resigned(void *argument)
{
    return election_events.ended > 0;
}

static void must_not_see(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    _exit(3);
}

/* Before or after its election: what the child has is no candidate and no leader, and goes in silence. */
static bool leaves_the_election(struct redlock_election *election)
{
    bool refused = redlock_election_campaign(election, NULL, note_election, NULL) == REDLOCK_E_FORKED &&
                   redlock_election_observe(election, 10, must_not_see, NULL) == REDLOCK_E_FORKED &&
                   redlock_election_resign(election) == REDLOCK_E_FORKED &&
                   redlock_election_remaining_ns(election) == 0;

    election_events.elected = election_events.ended = 0;
    redlock_election_destroy(election);
    redlock_client_destroy(world.client);
    take_over_the_world();
    lock_and_release_another_key();
    return refused && !election_events.elected && !election_events.ended;
}

TESTS(three, an_election_stays_the_parents, 0, 2)
{
    struct redlock_election *election;
    pid_t child;

    world_connect();
    ck_assert_int_eq(redlock_election_create(world.client, "leader", 6, &election), 0);
    ck_assert_int_eq(redlock_election_campaign(election, NULL, note_election, NULL), 0);
    if (_i)
        world_wait(is_elected, NULL, "an election");
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child)
        end_child(leaves_the_election(election));
    expect_satisfied(child);
    world_wait(is_elected, NULL, "an election");
    ck_assert_int_gt(redlock_election_remaining_ns(election), 0);
    ck_assert_int_eq(redlock_election_resign(election), 0);
    world_wait(has_resigned, NULL, "a resignation");
    ck_assert_uint_eq(election_events.ended, 1);
}

static struct redlock_lock *hold_in(enum redlock_mode mode, const char *key)
{
    struct redlock_lock *lock = world_lock(world.client, key);
    struct redlock_acquire_options request;
    struct outcome outcome = {0};

    redlock_acquire_options_init(&request);
    request.mode = mode;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    return lock;
}

/* The conversion's callback is the parent's, also that of an upgrade whose lock is destroyed. */
static bool leaves_the_conversion(struct redlock_lock *lock, const struct outcome *outcome)
{
    bool refused = redlock_convert(lock, REDLOCK_SHARED, 0, outcome_record, NULL) == REDLOCK_E_FORKED &&
                   redlock_cancel(lock) == REDLOCK_E_FORKED && redlock_remaining_ns(lock) == 0;

    redlock_lock_destroy(lock);
    redlock_client_destroy(world.client);
    take_over_the_world();
    lock_and_release_another_key();
    return refused && outcome->calls == 0;
}

/* An upgrade that waits for a reader, and one round that tells the masters of a weaker mode. */
TESTS(three, a_conversion_stays_the_parents, 0, 2)
{
    enum redlock_mode mode = _i ? REDLOCK_EXCLUSIVE : REDLOCK_SHARED;
    struct redlock_lock *reader, *lock;
    struct outcome outcome = {0};
    pid_t child;

    world.options.node_timeout_ms = 5000; /* nobody answers while the child is awaited */
    world_connect();
    reader = hold_in(REDLOCK_SHARED, "a");
    lock = hold_in(REDLOCK_UPGRADEABLE, "a");
    ck_assert_int_eq(redlock_convert(lock, mode, REDLOCK_FOREVER, outcome_record, &outcome), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child)
        end_child(leaves_the_conversion(lock, &outcome));
    expect_satisfied(child);
    redlock_lock_destroy(reader);
    world_wait_outcome(&outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_mode(lock), mode);
    expect_unharmed(lock);
}

SUITE("fork")
