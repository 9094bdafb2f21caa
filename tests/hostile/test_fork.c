/* Clause 7: a child that lives on with what it has inherited. */
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

static void open_three(void)
{
    world_open(3);
}

static void close_world(void)
{
    world_close();
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
        ck_assert_int_eq(redlock_client_node_stats(world.client, i, &stats, sizeof(stats)), 0);
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

START_TEST(a_new_client_works_on_the_inherited_base)
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
END_TEST

/* The child has no more events than a child that never had a client: its loop ends by itself. */
START_TEST(nothing_of_the_parents_client_is_left_in_the_childs_base)
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
END_TEST

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

START_TEST(a_child_made_in_a_callback_returns_from_it)
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
END_TEST

static void fork_while_destroyed(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    outcome_record(lock, result, user_data);
    if (forked < 0)
        forked = fork();
}

START_TEST(a_child_made_while_the_client_is_destroyed_sends_nothing)
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("fork");
    TCase *three = suite_add_case(suite, "three masters", open_three, close_world);

    tcase_add_test(three, a_new_client_works_on_the_inherited_base);
    tcase_add_test(three, nothing_of_the_parents_client_is_left_in_the_childs_base);
    tcase_add_loop_test(three, a_child_made_in_a_callback_returns_from_it, 0, 2);
    tcase_add_test(three, a_child_made_while_the_client_is_destroyed_sends_nothing);
    return suite_run(suite);
}
