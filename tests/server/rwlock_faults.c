/* Read-write locks while masters and clients fail: never a writer beside anybody, and who is next gets the key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child_rig.h"
#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

#define KEY "book"
#define TTL_MS 10000
#define MASKS_OF_5 32
#define N_READERS 64

#define X REDLOCK_EXCLUSIVE
#define U REDLOCK_UPGRADEABLE
#define R REDLOCK_SHARED

static struct outcome outcomes[N_READERS];

static void open_three(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open_with(&rig, 3, 0, rig_tune_for_rivals);
}

static void open_five(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open_with(&rig, 5, 0, rig_tune_for_rivals);
}

static struct redlock_acquire_options request_of(enum redlock_mode mode, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(TTL_MS, timeout_ms);

    request.mode = mode;
    return request;
}

static struct redlock_lock *hold(enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);

    return rig_hold_as(&rig, KEY, &request);
}

/* Renewed so often that a vote that was lost comes back soon. */
static struct redlock_lock *hold_renewed(enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);

    request.renew_ms = 50;
    return rig_hold_as(&rig, KEY, &request);
}

/* One attempt of a new handle, which does not keep what it gets. */
static struct outcome try_mode(enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);
    struct redlock_lock *lock = rig_new_lock(rig.client, KEY);
    struct outcome outcome = rig_acquire(&rig, lock, &request);

    if (outcome.status == REDLOCK_OK)
        (void)rig_release(&rig, lock);
    rig_wait_quiet(&rig, rig.client);
    redlock_lock_destroy(lock);
    return outcome;
}

static bool is_waiting(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_WAITING;
}

static struct redlock_lock *wait_in_queue(struct rig *of, enum redlock_mode mode, struct outcome *outcome)
{
    struct redlock_acquire_options request = request_of(mode, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(of->client, KEY);

    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, outcome), 0);
    rig_wait(of, is_waiting, lock, "a waiter");
    return lock;
}

static void upgrade(struct redlock_lock *lock, struct outcome *outcome)
{
    ck_assert_int_eq(redlock_convert(lock, X, REDLOCK_FOREVER, outcome_record, outcome), 0);
}

static struct outcome convert(struct redlock_lock *lock, enum redlock_mode mode)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_convert(lock, mode, 0, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    return outcome;
}

static void expect_got(struct outcome *outcome)
{
    rig_wait_outcome(&rig, outcome);
    outcome_expect(outcome, REDLOCK_OK);
}

static void let_go(struct redlock_lock *lock)
{
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
}

/* What is stored under the key: a vote of a reader is one member, one of an upgradeable holder two. */
static long long members_on(size_t node)
{
    char *reply = masters_command(rig.masters, node, (const char *const[]){"ZCARD", KEY, NULL});
    long long n = -1;

    if (reply)
        ck_assert_int_eq(sscanf(reply, "(integer) %lld", &n), 1);
    free(reply);
    return n;
}

static bool all_have_members(void *expected)
{
    for (size_t i = 0; i < rig.n; i++) {
        if (members_on(i) != *(const long long *)expected)
            return false;
    }
    return true;
}

static void wait_members(long long n)
{
    char what[64];

    snprintf(what, sizeof what, "%lld members of the key on each master", n);
    rig_wait(&rig, all_have_members, &n, what);
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

GROUP(five, "five masters", open_five, rig_end)

/* With a quorum each mode works, and keeps out whom it is to keep out; with less nobody gets in. */
TESTS(five, a_quorum_of_masters_is_enough_for_each_mode_and_no_less, 0, MASKS_OF_5)
{
    static const enum redlock_mode keeps_out[] = {[R] = X, [U] = U, [X] = R};
    bool enough = rig_kill_masters(&rig, (unsigned)_i) <= 2;

    for (enum redlock_mode mode = X; mode <= R; mode++) {
        struct redlock_acquire_options request = request_of(mode, 0);
        struct redlock_lock *lock = rig_new_lock(rig.client, KEY);
        struct outcome outcome = rig_acquire(&rig, lock, &request);

        outcome_expect(&outcome, enough ? REDLOCK_OK : REDLOCK_NO_QUORUM);
        outcome = try_mode(keeps_out[mode]);
        outcome_expect(&outcome, enough ? REDLOCK_HELD : REDLOCK_NO_QUORUM);
        if (enough && mode != X) {
            outcome = try_mode(R);
            outcome_expect(&outcome, REDLOCK_OK);
        }
        if (enough && mode == U) {
            upgrade(lock, &outcomes[0]);
            expect_got(&outcomes[0]);
            outcome = try_mode(R);
            outcome_expect(&outcome, REDLOCK_HELD);
        }
        redlock_lock_destroy(lock);
        rig_wait_no_claims(&rig, rig.client);
    }
}

TESTS(five, a_hung_minority_stops_neither_readers_nor_writers, 0, RIG_MINORITIES_OF_5)
{
    struct redlock_lock *reader = hold(R), *upgradeable = hold(U), *other = rig_new_lock(rig.client, KEY), *writer;
    struct redlock_acquire_options request = request_of(R, 0);

    rig_hang_masters(&rig, rig_minority_of_5(_i));
    rig_expect_acquire(&rig, other, &request, REDLOCK_OK);
    let_go(other);
    writer = wait_in_queue(&rig, X, &outcomes[0]);
    upgrade(upgradeable, &outcomes[1]);
    let_go(reader);
    expect_got(&outcomes[1]);
    ck_assert_uint_eq(outcomes[0].calls, 0);
    let_go(upgradeable);
    expect_got(&outcomes[0]);
    ck_assert_int_eq(redlock_lock_mode(writer), X);
    rig_resume_masters(&rig, rig_minority_of_5(_i));
}

/* Readers, and one that may become exclusive: together they have four members of the key on each master. */
static void hold_three(struct redlock_lock *holders[3])
{
    holders[0] = hold_renewed(R);
    holders[1] = hold_renewed(R);
    holders[2] = hold_renewed(U);
    wait_members(4);
}

static void expect_held(struct redlock_lock *const holders[3])
{
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_state(holders[i]), REDLOCK_STATE_HELD);
}

/* A writer that came between a flush and the repair would find the key free there. Its vote would count for nothing,
 * but those of the others would be lost. */
static void lose(size_t node, enum rig_loss how)
{
    rig_lose_memory(&rig, node, how);
    if (how == RIG_FLUSHED)
        wait_members(4);
}

GROUP(three, "three masters", open_three, rig_end)

/* A master that has lost all votes gets each of them back from its holder, in its mode, and lets no writer in before
 * that. */
TESTS(three, shared_votes_survive_the_loss_of_a_masters_memory, 0, 3 * RIG_LOSSES)
{
    struct redlock_lock *holders[3];
    struct outcome outcome;

    hold_three(holders);
    lose((size_t)_i % 3, (enum rig_loss)(_i / 3));
    outcome = try_mode(X);
    outcome_expect(&outcome, REDLOCK_HELD);
    wait_members(4);
    outcome = try_mode(U);
    outcome_expect(&outcome, REDLOCK_HELD);
    outcome = try_mode(R);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_held(holders);
}

/* The more masters have forgotten, the fewer may vote; those who are in stay in. */
TESTS(three, shared_votes_survive_while_one_master_after_the_other_forgets, 0, RIG_LOSSES)
{
    struct redlock_lock *holders[3];

    hold_three(holders);
    for (size_t i = 0; i < 3; i++) {
        struct outcome outcome;

        lose(i, (enum rig_loss)_i);
        outcome = try_mode(X);
        outcome_expect(&outcome, i == 0 ? REDLOCK_HELD : REDLOCK_NO_QUORUM);
        wait_members(4);
    }
    expect_held(holders);
}

/* Nobody gives it its votes back meanwhile. */
TESTS(three, a_master_that_was_flushed_lets_no_writer_in, 0, 3)
{
    struct redlock_acquire_options request = rig_lease(TTL_MS, 0);
    struct redlock_lock *reader;
    struct outcome outcome;

    request.mode = R;
    reader = rig_hold_as(&rig, KEY, &request);
    rig_do(&rig, (size_t)_i, "FLUSHALL", NULL);
    outcome = try_mode(X);
    outcome_expect(&outcome, REDLOCK_HELD);
    outcome = try_mode(R);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_state(reader), REDLOCK_STATE_HELD);
}

static size_t count_full(const struct outcome *outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < outcome->n_nodes; i++)
        n += strstr(outcome->nodes[i].detail, "OOM") != NULL;
    return n;
}

/* Full masters take no new votes. Those that are there are renewed, made weaker, and given back. */
TEST(three, full_masters_let_nobody_in_and_keep_those_who_are)
{
    struct redlock_lock *reader = hold(R), *upgradeable = hold(U);
    struct outcome outcome;

    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "1", NULL);
    outcome = try_mode(R);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_uint_ge(count_full(&outcome), 2);
    outcome = rig_expect_extend(&rig, reader, 0, REDLOCK_OK);
    outcome = rig_expect_release(&rig, reader, REDLOCK_OK);
    outcome = convert(upgradeable, X);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_int_eq(redlock_lock_mode(upgradeable), U);
    outcome = convert(upgradeable, R);
    outcome_expect(&outcome, REDLOCK_OK);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "0", NULL);
    outcome = try_mode(U);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome = try_mode(X);
    outcome_expect(&outcome, REDLOCK_HELD);
}

/* --- Other libraries ---------------------------------------------------------------------------------------------- */

/* What they do: "SET KEY VALUE NX PX", and a script that compares and deletes. */
static long long set_as_others_do(void)
{
    long long n = 0;

    for (size_t i = 0; i < rig.n; i++) {
        char *reply = masters_command(rig.masters, i, (const char *const[]){"SET", KEY, "theirs", "NX", "PX", "30000",
                                                                            NULL});

        ck_assert_msg(reply != NULL, "%s", masters_error());
        n += strcmp(reply, "OK") == 0;
        free(reply);
    }
    return n;
}

static void delete_as_others_do(void)
{
    static const char script[] =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    for (size_t i = 0; i < rig.n; i++) {
        char *reply = masters_command(rig.masters, i, (const char *const[]){"EVAL", script, "1", KEY, "theirs", NULL});

        free(reply); /* there is none where the key has shared votes: the script fails */
    }
}

TESTS(three, other_libraries_are_exclusive_owners, 0, 2)
{
    struct redlock_lock *readers[] = {hold(R), hold(_i ? U : R)}, *waiter;
    struct outcome outcome;

    ck_assert_int_eq(set_as_others_do(), 0);
    delete_as_others_do();
    wait_members(_i ? 3 : 2);
    for (size_t i = 0; i < 2; i++) {
        outcome = rig_expect_release(&rig, readers[i], REDLOCK_OK);
    }
    rig_wait_absent(&rig, KEY);
    ck_assert_int_eq(set_as_others_do(), 3);
    outcome = try_mode(_i ? U : R);
    outcome_expect(&outcome, REDLOCK_HELD);
    waiter = wait_in_queue(&rig, _i ? U : R, &outcomes[0]);
    delete_as_others_do();
    expect_got(&outcomes[0]);
    ck_assert_int_le(set_as_others_do(), 1); /* where the waiter may not have its vote yet */
    let_go(waiter);
}

/* --- Order -------------------------------------------------------------------------------------------------------- */

/* Nothing of the clients runs meanwhile. */
static void expect_members_soon(long long n)
{
    int64_t give_up = rig_now_ms() + SUITE_PATIENCE_S * 1000;

    while (!all_have_members(&n))
        ck_assert_msg(rig_now_ms() < give_up, "there are %lld members of the key on master 0", members_on(0));
}

/* All 64 get their votes from the script that releases the writer. */
TEST(three, readers_that_came_behind_a_writer_are_let_in_together)
{
    struct redlock_lock *writer = hold(X), *next, *readers[N_READERS];
    struct outcome outcome = {0};

    for (size_t i = 0; i < N_READERS; i++) {
        struct redlock_acquire_options request = request_of(R, REDLOCK_FOREVER);

        readers[i] = rig_new_lock(rig.client, KEY);
        ck_assert_int_eq(redlock_acquire(readers[i], &request, outcome_record, &outcomes[i]), 0);
    }
    for (size_t i = 0; i < N_READERS; i++)
        rig_wait(&rig, is_waiting, readers[i], "a reader waits");
    rig_wait_quiet(&rig, rig.client);
    next = wait_in_queue(&rig, X, &outcome);
    let_go(writer);
    event_base_loop(rig.base, EVLOOP_NONBLOCK);
    expect_members_soon(N_READERS);
    for (size_t i = 0; i < N_READERS; i++)
        expect_got(&outcomes[i]);
    for (size_t i = 0; i < N_READERS; i++)
        ck_assert_int_gt(redlock_remaining_ms(readers[i]), 0);
    ck_assert_uint_eq(outcome.calls, 0);
    for (size_t i = 0; i < N_READERS; i++)
        let_go(readers[i]);
    expect_got(&outcome);
    let_go(next);
}

TEST(three, an_upgrade_follows_the_last_of_the_readers)
{
    struct redlock_lock *lock = hold(U), *readers[8];

    for (size_t i = 0; i < 8; i++)
        readers[i] = hold(R);
    upgrade(lock, &outcomes[0]);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(outcomes[0].calls, 0);
        ck_assert_int_eq(redlock_lock_mode(lock), U);
        rig_expect_release(&rig, readers[i], REDLOCK_OK);
    }
    expect_got(&outcomes[0]);
    ck_assert_int_eq(redlock_lock_mode(lock), X);
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

static struct redlock_lock *hold_in(struct rig *child, enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);

    request.ttl_ms = 1000;
    return rig_hold_as(child, KEY, &request);
}

static int read_and_stay(struct rig *child, void *unused)
{
    (void)hold_in(child, R);
    return child_stay(child);
}

/* Another reader renews its vote all the time. The dead one's ends all the same, and keeps the writer no longer. */
TEST(three, a_killed_reader_delays_a_writer_by_its_own_ttl)
{
    struct redlock_lock *reader = hold_renewed(R);
    struct redlock_lock *writer;

    child_kill(child_start_ready(&rig, read_and_stay, NULL));
    writer = wait_in_queue(&rig, X, &outcomes[0]);
    wait_members(2);
    wait_members(1);
    ck_assert_int_eq(redlock_state(reader), REDLOCK_STATE_HELD);
    ck_assert_int_eq(redlock_state(writer), REDLOCK_STATE_WAITING);
    let_go(reader);
    expect_got(&outcomes[0]);
}

TEST(three, an_upgrade_waits_for_a_killed_reader_no_longer_than_its_ttl)
{
    struct redlock_lock *lock = hold(U);

    child_kill(child_start_ready(&rig, read_and_stay, NULL));
    upgrade(lock, &outcomes[0]);
    ck_assert_int_eq(redlock_lock_mode(lock), U);
    expect_got(&outcomes[0]);
}

static int wait_and_stay(struct rig *child, void *mode)
{
    struct redlock_acquire_options request = request_of(*(const enum redlock_mode *)mode, REDLOCK_FOREVER);
    struct redlock_lock *lock = rig_new_lock(child->client, KEY);
    struct outcome outcome = {0};

    request.ttl_ms = 1000;
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    rig_wait(child, is_waiting, lock, "a waiter");
    rig_wait_quiet(child, child->client);
    return child_stay(child);
}

/* It keeps those back that are behind it, until its lease has ended. The reader in front of it holds all the time. */
TEST(three, a_killed_head_of_the_line_delays_others_for_its_lease)
{
    static enum redlock_mode head = X;
    struct redlock_lock *reader = hold(R);
    struct outcome outcome;

    child_kill(child_start_ready(&rig, wait_and_stay, &head));
    outcome = try_mode(R);
    outcome_expect(&outcome, REDLOCK_HELD);
    (void)wait_in_queue(&rig, R, &outcomes[0]);
    expect_got(&outcomes[0]);
    ck_assert_int_gt(redlock_remaining_ms(reader), 0);
}

/* Readers and upgradeable holders are kept out by one that waits to be exclusive. It dies with both of its claims. */
static int upgrade_and_stay(struct rig *child, void *unused)
{
    struct outcome outcome = {0};

    upgrade(hold_in(child, U), &outcome);
    while (queue_length(child, 0, KEY) + queue_length(child, 1, KEY) + queue_length(child, 2, KEY) < 3)
        event_base_loop(child->base, EVLOOP_ONCE);
    return child_stay(child);
}

TESTS(three, a_process_that_is_killed_while_it_upgrades_keeps_nobody_out_for_ever, 0, 2)
{
    struct redlock_lock *reader = hold(R);

    child_kill(child_start_ready(&rig, upgrade_and_stay, NULL));
    (void)wait_in_queue(&rig, _i ? U : R, &outcomes[0]);
    expect_got(&outcomes[0]);
    ck_assert_int_gt(redlock_remaining_ms(reader), 0);
}

SUITE_WITH_SERVER("rwlock_faults")
