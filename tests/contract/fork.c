/* Clause 7: after fork() every call in the child fails with E_FORKED, and the locks stay the parent's. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <redlock/latch.h>
#include <redlock/look.h>
#include <redlock/set.h>

#include "program_rig.h"

/* Runs `check` in a forked child, whose exit status tells whether it was satisfied. */
static void in_child(bool (*check)(struct redlock_lock *), struct redlock_lock *lock)
{
    int status = 0;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(check(lock) ? 0 : 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child was not satisfied: status %x", status);
}

static void must_not_run(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    _exit(3);
}

static void must_not_run_either(struct redlock_client *client, int status, void *user_data)
{
    _exit(3);
}

static bool every_call_fails(struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    struct redlock_lock *another = NULL;

    return redlock_lock_create(client, "x", 1, &another) == REDLOCK_E_FORKED &&
           redlock_acquire(lock, NULL, must_not_run, NULL) == REDLOCK_E_FORKED &&
           redlock_extend(lock, 0, must_not_run, NULL) == REDLOCK_E_FORKED &&
           redlock_release(lock, must_not_run, NULL) == REDLOCK_E_FORKED &&
           redlock_cancel(lock) == REDLOCK_E_FORKED &&
           redlock_client_shutdown(client, 1000, must_not_run_either, NULL) == REDLOCK_E_FORKED &&
           redlock_remaining_ns(lock) == 0 && !another;
}

GROUP(three, "clauses", rig_three, rig_end)

TEST(three, clause_7_every_call_in_the_child_fails)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);

    in_child(every_call_fails, lock);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
}

static void set_must_not_run(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    _exit(3);
}

static struct redlock_set *the_set;

static bool every_call_of_a_set_fails(struct redlock_lock *lock)
{
    struct redlock_set *another = NULL;
    bool refused = redlock_set_create(redlock_lock_client(lock), &another) == REDLOCK_E_FORKED &&
                   redlock_set_add(the_set, "x", 1) == REDLOCK_E_FORKED &&
                   redlock_set_acquire(the_set, NULL, set_must_not_run, NULL) == REDLOCK_E_FORKED &&
                   redlock_set_release(the_set, set_must_not_run, NULL) == REDLOCK_E_FORKED &&
                   redlock_set_cancel(the_set) == REDLOCK_E_FORKED && redlock_set_remaining_ns(the_set) == 0;

    redlock_set_destroy(the_set);
    return refused && !another;
}

static void note_status(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    *(int *)user_data = result->status;
}

static bool is_held(void *argument)
{
    return *(const int *)argument == REDLOCK_OK;
}

TESTS(three, clause_7_a_set_stays_the_parents, 0, 2)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);
    int status = 1;

    ck_assert_int_eq(redlock_set_create(rig.client, &the_set), 0);
    ck_assert_int_eq(redlock_set_add(the_set, "a", 1), 0);
    ck_assert_int_eq(redlock_set_add(the_set, "b", 1), 0);
    ck_assert_int_eq(redlock_set_acquire(the_set, NULL, note_status, &status), 0);
    if (_i)
        rig_wait(&rig, is_held, &status, "the set");
    in_child(every_call_of_a_set_fails, lock);
    rig_wait(&rig, is_held, &status, "the set");
    ck_assert_int_gt(redlock_set_remaining_ms(the_set), 0);
    rig_wait_count(&rig, "a", 3);
}

static pid_t looker;
static int looked;

static void looks_in_parent(struct redlock_client *client, const struct redlock_look_result *result, void *user_data)
{
    if (getpid() != looker)
        _exit(3);
    looked = result->status == REDLOCK_OK ? 1 : -1;
}

static bool every_look_fails(struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    bool refused = redlock_look(client, "x", 1, looks_in_parent, NULL) == REDLOCK_E_FORKED;

    redlock_client_destroy(client);
    return refused;
}

static bool has_looked(void *argument)
{
    return looked != 0;
}

TEST(three, clause_7_a_look_stays_the_parents)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);

    looker = getpid();
    ck_assert_int_eq(redlock_look(rig.client, "seven", 5, looks_in_parent, NULL), 0);
    in_child(every_look_fails, lock);
    rig_wait(&rig, has_looked, NULL, "the look");
    ck_assert_int_eq(looked, 1);
}

static struct redlock_latch *the_latch;

static void opens_in_parent(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    if (getpid() != looker)
        _exit(3);
    looked = result->status == REDLOCK_OK ? 1 : -1;
}

static bool every_call_of_a_latch_fails(struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);
    struct redlock_latch *another = NULL;
    bool refused = redlock_latch_create(client, "l", 1, 1, 1, "a", NULL, &another) == REDLOCK_E_FORKED &&
                   redlock_latch_arrive(the_latch, 0, opens_in_parent, NULL) == REDLOCK_E_FORKED &&
                   redlock_latch_await(the_latch, 0, opens_in_parent, NULL) == REDLOCK_E_FORKED &&
                   redlock_latch_cancel(the_latch) == REDLOCK_E_FORKED;

    redlock_latch_destroy(the_latch);
    redlock_client_destroy(client);
    return refused && !another;
}

TEST(three, clause_7_a_latch_stays_the_parents)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);

    looker = getpid();
    ck_assert_int_eq(redlock_latch_create(rig.client, "l", 1, 1, 1, "a", NULL, &the_latch), 0);
    ck_assert_int_eq(redlock_latch_await(the_latch, REDLOCK_FOREVER, opens_in_parent, NULL), 0);
    in_child(every_call_of_a_latch_fails, lock);
    ck_assert_int_eq(looked, 0);
    ck_assert_int_eq(redlock_latch_arrive(the_latch, 10000, opens_in_parent, NULL), 0);
    rig_wait(&rig, has_looked, NULL, "the latch");
    ck_assert_int_eq(looked, 1);
}

static bool destroy_both(struct redlock_lock *lock)
{
    struct redlock_client *client = redlock_lock_client(lock);

    redlock_lock_destroy(lock);
    redlock_client_destroy(client);
    return true;
}

static bool destroy_client_only(struct redlock_lock *lock)
{
    redlock_client_destroy(redlock_lock_client(lock));
    return true;
}

/* The child's destroying must have reached neither the masters nor the parent's connections. */
static void expect_unharmed(struct redlock_lock *lock, const char *key)
{
    struct redlock_node_stats stats;
    struct outcome outcome;

    ck_assert_uint_eq(rig_count_value(&rig, key, redlock_lock_token(lock)), 3);
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(redlock_client_node_stats(rig.client, i, &stats, sizeof stats), 0);
        ck_assert_uint_eq(stats.connects, 1);
        ck_assert_uint_eq(stats.disconnects, 0);
    }
}

TEST(three, clause_7_destroying_in_the_child_leaves_the_parents_lock_alone)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);

    in_child(destroy_both, lock);
    expect_unharmed(lock, "seven");
    lock = rig_hold(&rig, "seven", 30000);
    in_child(destroy_client_only, lock);
    expect_unharmed(lock, "seven");
}

TEST(three, clause_7_nothing_is_sent_twice_when_the_fork_comes_before_the_sending)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "seven");
    struct outcome outcome = {0};
    struct redlock_stats stats;

    ck_assert_int_eq(redlock_acquire(lock, NULL, outcome_record, &outcome), 0);
    in_child(destroy_both, lock);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    rig_wait_quiet(&rig, rig.client);
    expect_unharmed(lock, "seven");
    ck_assert_int_eq(redlock_client_stats(rig.client, &stats, sizeof stats), 0);
    ck_assert_uint_eq(stats.attempts, 1);
}

static bool pending_callback_stays_silent(struct redlock_lock *lock)
{
    redlock_lock_destroy(lock);
    return true;
}

static void only_in_parent(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct outcome *outcome = user_data;

    if (getpid() != (pid_t)outcome->elapsed_us)
        _exit(3);
    outcome_record(lock, result, user_data);
}

TEST(three, clause_7_pending_work_is_not_completed_in_the_child)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "seven");
    struct outcome outcome = {.elapsed_us = getpid()};

    ck_assert_int_eq(redlock_acquire(lock, NULL, only_in_parent, &outcome), 0);
    in_child(pending_callback_stays_silent, lock);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

/* A child that wants locks makes a base and a client of its own. */
static bool a_client_of_its_own_works(struct redlock_lock *lock)
{
    struct rig own = rig;
    struct outcome outcome;

    own.base = event_base_new();
    rig_connect(&own);
    outcome = rig_release(&own, rig_hold(&own, "child", 30000));
    redlock_client_destroy(own.client);
    event_base_free(own.base);
    return outcome.status == REDLOCK_OK;
}

TEST(three, a_client_created_in_the_child_works)
{
    struct redlock_lock *lock = rig_hold(&rig, "seven", 30000);

    in_child(a_client_of_its_own_works, lock);
    expect_unharmed(lock, "seven");
}

SUITE_WITH_SERVER("fork")
