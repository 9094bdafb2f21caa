/* Read-write locks: who shares a key with whom, in which order, and how a held lock changes its mode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"
#include "watch.h"

#define KEY "book"
#define MOST 64

static struct redlock_lock *readers[MOST];
static struct outcome outcomes[MOST];

static void open_three(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open(&rig, 3);
}

static void open_five(void)
{
    memset(outcomes, 0, sizeof outcomes);
    rig_open(&rig, 5);
}

static struct redlock_acquire_options request_of(enum redlock_mode mode, int64_t timeout_ms)
{
    struct redlock_acquire_options request = rig_request(10000, timeout_ms);

    request.mode = mode;
    return request;
}

/* A handle of a client of its own tries once. */
static int try_mode(enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);

    return rig_acquire_in_time(&rig, rig_new_lock(rig_further_client(&rig), KEY), &request).status;
}

static struct redlock_lock *hold(enum redlock_mode mode)
{
    struct redlock_acquire_options request = request_of(mode, 0);

    return rig_hold_as(&rig, KEY, &request);
}

static void wait_for(struct redlock_lock *lock, enum redlock_mode mode, struct outcome *outcome)
{
    struct redlock_acquire_options request = request_of(mode, REDLOCK_FOREVER);

    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, outcome), 0);
}

static struct outcome convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_convert(lock, mode, timeout_ms, outcome_record, &outcome), 0);
    rig_wait_outcome(&rig, &outcome);
    ck_assert_int_eq(outcome.op, REDLOCK_OP_CONVERT);
    return outcome;
}

static bool is_waiting(void *lock)
{
    return redlock_state(lock) == REDLOCK_STATE_WAITING;
}

/* --- Who shares with whom --------------------------------------------------------------------------------------- */

#define X REDLOCK_EXCLUSIVE
#define U REDLOCK_UPGRADEABLE
#define R REDLOCK_SHARED

GROUP(three, "three masters", open_three, rig_end)

TESTS(three, modes_agree_as_the_table_says, 0, 9)
{
    static const int status[][3] = {
        [X] = {[X] = REDLOCK_HELD, [U] = REDLOCK_HELD, [R] = REDLOCK_HELD},
        [U] = {[X] = REDLOCK_HELD, [U] = REDLOCK_HELD, [R] = REDLOCK_OK},
        [R] = {[X] = REDLOCK_HELD, [U] = REDLOCK_OK, [R] = REDLOCK_OK},
    };
    enum redlock_mode first = (enum redlock_mode)(_i / 3), second = (enum redlock_mode)(_i % 3);
    struct redlock_lock *lock = hold(first);

    ck_assert_int_eq(redlock_lock_mode(lock), first);
    ck_assert_int_eq(try_mode(second), status[first][second]);
}

GROUP(five, "five masters", open_five, rig_end)

TEST(five, any_number_of_handles_share_a_key)
{
    for (size_t i = 0; i < MOST; i++)
        readers[i] = hold(R);
    ck_assert_int_eq(try_mode(X), REDLOCK_HELD);
    for (size_t i = 0; i < MOST; i++) {

        rig_expect_release(&rig, readers[i], REDLOCK_OK);
        ck_assert_int_eq(redlock_lock_mode(readers[i]), X);
    }
    ck_assert_int_eq(try_mode(X), REDLOCK_OK);
}

/* --- Downgrade --------------------------------------------------------------------------------------------------- */

TEST(three, a_weaker_mode_lets_others_in_and_keeps_the_lock)
{
    struct redlock_lock *lock = hold(X);
    struct outcome outcome;

    ck_assert_int_eq(try_mode(R), REDLOCK_HELD);
    outcome = convert(lock, U, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_mode(lock), U);
    ck_assert_int_eq(try_mode(U), REDLOCK_HELD);
    ck_assert_int_eq(try_mode(R), REDLOCK_OK);
    outcome = convert(lock, R, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_mode(lock), R);
    ck_assert_int_eq(try_mode(U), REDLOCK_OK);
    ck_assert_int_eq(try_mode(X), REDLOCK_HELD);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
}

TEST(three, the_mode_is_the_weaker_one_when_the_call_returns)
{
    struct redlock_lock *lock = hold(X);
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_convert(lock, R, 0, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_lock_mode(lock), R);
    ck_assert_int_eq(redlock_convert(lock, R, 0, outcome_record, &outcome), REDLOCK_E_BUSY);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(three, waiting_readers_get_the_key_when_the_writer_becomes_one)
{
    struct redlock_lock *writer = hold(X);

    for (size_t i = 0; i < 8; i++) {
        readers[i] = rig_new_lock(rig.client, KEY);
        wait_for(readers[i], R, &outcomes[i]);
        rig_wait(&rig, is_waiting, readers[i], "a reader waits");
    }
    (void)convert(writer, R, 0);
    for (size_t i = 0; i < 8; i++) {
        rig_wait_outcome(&rig, &outcomes[i]);
        outcome_expect(&outcomes[i], REDLOCK_OK);
    }
    ck_assert_int_gt(redlock_remaining_ms(writer), 0);
}

TEST(three, readers_cannot_become_stronger)
{
    struct redlock_lock *lock = hold(R);
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_convert(lock, U, 0, outcome_record, &outcome), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_convert(lock, X, 0, outcome_record, &outcome), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_convert(lock, X, REDLOCK_FOREVER, outcome_record, &outcome), REDLOCK_E_UPGRADE);
    ck_assert_int_eq(redlock_lock_mode(lock), R);
    outcome = convert(lock, R, 0);
    outcome_expect(&outcome, REDLOCK_OK);
}

TEST(three, inner_entries_keep_the_mode_that_they_count_on)
{
    struct redlock_lock *lock = hold(X);
    struct outcome outcome;

    ck_assert_int_eq(redlock_reenter(lock, 0), 0);
    ck_assert_int_eq(redlock_convert(lock, R, 0, outcome_record, NULL), REDLOCK_E_DEPTH);
    ck_assert_int_eq(redlock_lock_mode(lock), X);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    outcome = convert(lock, R, 0);
    outcome_expect(&outcome, REDLOCK_OK);
}

/* --- Upgrade ----------------------------------------------------------------------------------------------------- */

static void upgrade(struct redlock_lock *lock, int64_t timeout_ms, struct outcome *outcome)
{
    ck_assert_int_eq(redlock_convert(lock, X, timeout_ms, outcome_record, outcome), 0);
}

static bool keeps_readers_out(void *unused)
{
    struct redlock_client *client = rig_new_client(&rig);
    struct redlock_acquire_options request = request_of(R, 0);
    int status = rig_acquire(&rig, rig_new_lock(client, KEY), &request).status;

    redlock_client_destroy(client);
    return status == REDLOCK_HELD;
}

TESTS(three, an_upgradeable_lock_becomes_exclusive, 0, 3)
{
    static const int64_t timeouts[] = {0, 10000, REDLOCK_FOREVER};
    struct redlock_lock *lock = hold(U);
    struct outcome outcome = convert(lock, X, timeouts[_i]);
    char before[64];

    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_ge(outcome.granted, 2);
    ck_assert_int_eq(redlock_lock_mode(lock), X);
    ck_assert_int_eq(try_mode(R), REDLOCK_HELD);
    ck_assert_int_eq(try_mode(X), REDLOCK_HELD);
    snprintf(before, sizeof before, "%s", redlock_lock_token(lock));
    outcome = rig_expect_extend(&rig, lock, 20000, REDLOCK_OK);
    ck_assert_int_gt(redlock_remaining_ms(lock), 15000);
    ck_assert_str_eq(redlock_lock_token(lock), before);
    outcome = rig_expect_release(&rig, lock, REDLOCK_OK);
    rig_wait_no_claims(&rig, rig.client);
    rig_wait_absent(&rig, KEY);
    ck_assert_int_eq(try_mode(X), REDLOCK_OK);
}

TEST(three, an_upgrade_waits_for_the_readers_and_keeps_others_out)
{
    struct redlock_lock *lock = hold(U);
    struct redlock_lock *reader = hold(R);
    struct outcome outcome = {0};

    upgrade(lock, REDLOCK_FOREVER, &outcome);
    rig_wait(&rig, keeps_readers_out, NULL, "readers are kept out");
    ck_assert_int_eq(redlock_lock_mode(lock), U);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_HELD);
    ck_assert_uint_eq(outcome.calls, 0);
    ck_assert_int_eq(redlock_extend(lock, 0, outcome_record, NULL), REDLOCK_E_BUSY);
    ck_assert_int_eq(redlock_release(reader, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(redlock_lock_mode(lock), X);
}

/* Whoever waits in front of it would wait for the very lock that waits behind him. */
TEST(three, an_upgrade_comes_before_writers_that_wait)
{
    struct redlock_lock *lock = hold(U);
    struct redlock_lock *reader = hold(R);
    struct redlock_lock *writer = rig_new_lock(rig_further_client(&rig), KEY);

    wait_for(writer, X, &outcomes[0]);
    rig_wait(&rig, is_waiting, writer, "the writer waits");
    upgrade(lock, REDLOCK_FOREVER, &outcomes[1]);
    ck_assert_int_eq(redlock_release(reader, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[1]);
    outcome_expect(&outcomes[1], REDLOCK_OK);
    ck_assert_uint_eq(outcomes[0].calls, 0);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    outcome_expect(&outcomes[0], REDLOCK_OK);
}

/* The lock is as before, and nothing of the upgrade is left. */
static void expect_as_before(struct redlock_lock *lock, const char *token)
{
    ck_assert_int_eq(redlock_lock_mode(lock), U);
    ck_assert_str_eq(redlock_lock_token(lock), token);
    ck_assert_int_eq(try_mode(U), REDLOCK_HELD);
    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_expect_release(&rig, lock, REDLOCK_OK);
}

TESTS(three, an_upgrade_that_ends_badly_leaves_the_lock_as_it_was, 0, 3)
{
    static const struct {
        int64_t timeout_ms;
        bool canceled;
        int status;
    } cases[] = {{0, false, REDLOCK_HELD}, {100, false, REDLOCK_DEADLINE}, {REDLOCK_FOREVER, true, REDLOCK_CANCELED}};
    struct redlock_lock *lock = hold(U);
    struct redlock_lock *reader = hold(R);
    struct outcome outcome = {0};
    char token[64];

    snprintf(token, sizeof token, "%s", redlock_lock_token(lock));
    upgrade(lock, cases[_i].timeout_ms, &outcome);
    if (cases[_i].canceled)
        ck_assert_int_eq(redlock_cancel(lock), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, cases[_i].status);
    expect_as_before(lock, token);
    (void)rig_release(&rig, reader);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_int_eq(try_mode(X), REDLOCK_OK);
}

/* A majority has refused the attempt, which ends it; and none of these votes is one for the lock that is held. */
static void expect_refusals(const struct outcome *outcome)
{
    outcome_expect(outcome, REDLOCK_HELD);
    ck_assert_uint_ge(outcome_count_votes(outcome, REDLOCK_VOTE_REFUSED), 2);
    for (size_t i = 0; i < outcome->n_nodes; i++) {
        if (outcome->nodes[i].vote == REDLOCK_VOTE_REFUSED)
            outcome_expect_vote(outcome, i, REDLOCK_VOTE_REFUSED, "held");
        ck_assert_int_eq(outcome->nodes[i].valid_for_ms, 0);
    }
}

TEST(three, an_upgrade_that_is_refused_says_what_each_master_has_answered)
{
    struct redlock_lock *lock = hold(U);
    struct outcome outcome;

    (void)hold(R);
    outcome = convert(lock, X, 0);
    expect_refusals(&outcome);
    outcome = rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    ck_assert_uint_ge(outcome.granted, 2);
    ck_assert_int_gt(outcome.nodes[0].valid_for_ms, 0);
    outcome = convert(lock, X, 0);
    expect_refusals(&outcome);
}

TEST(three, an_upgrade_without_masters_says_what_each_has_answered)
{
    struct redlock_lock *lock = hold(U);
    struct outcome outcome;

    for (size_t i = 0; i < 2; i++) {
        rig_kill_master(&rig, i);
        rig_wait_link(&rig, rig.client, i, REDLOCK_LINK_DOWN);
    }
    outcome = convert(lock, X, 0);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    ck_assert_int_eq(outcome.nodes[0].vote, REDLOCK_VOTE_FAILED);
    ck_assert_int_eq(outcome.nodes[1].vote, REDLOCK_VOTE_FAILED);
    ck_assert_int_ne(outcome.nodes[2].vote, REDLOCK_VOTE_NONE);
    ck_assert_int_eq(redlock_lock_mode(lock), U);
}

TEST(three, a_release_cancels_an_upgrade)
{
    struct redlock_lock *lock = hold(U);
    struct redlock_lock *reader = hold(R);
    struct outcome converted = {0}, released = {0};

    upgrade(lock, REDLOCK_FOREVER, &converted);
    ck_assert_int_eq(redlock_release(lock, outcome_record, &released), 0);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    rig_wait_outcome(&rig, &released);
    outcome_expect(&converted, REDLOCK_CANCELED);
    outcome_expect(&released, REDLOCK_OK);
    ck_assert_int_eq(try_mode(R), REDLOCK_OK);
    (void)reader;
}

/* Destroying the handle, or the whole client, takes the second claim along. */
TESTS(three, what_is_destroyed_upgrades_no_more, 0, 2)
{
    struct redlock_client *client = _i == 0 ? rig_new_client(&rig) : rig_further_client(&rig);
    struct redlock_acquire_options request = request_of(U, 0);
    struct redlock_lock *lock = rig_new_lock(client, KEY);
    struct redlock_lock *reader = hold(R);
    struct outcome outcome = rig_acquire(&rig, lock, &request);

    outcome_expect(&outcome, REDLOCK_OK);
    outcome.calls = 0;
    upgrade(lock, REDLOCK_FOREVER, &outcome);
    rig_wait(&rig, keeps_readers_out, NULL, "readers are kept out");
    if (_i == 0)
        redlock_client_destroy(client);
    else
        redlock_lock_destroy(lock);
    ck_assert_uint_eq(outcome.calls, 1);
    ck_assert_int_eq(outcome.status, REDLOCK_CANCELED);
    (void)rig_release(&rig, reader);
    rig_wait_absent(&rig, KEY);
    ck_assert_int_eq(try_mode(X), REDLOCK_OK);
}

static void note_shutdown(struct redlock_client *client, int status, void *user_data)
{
    *(int *)user_data = status;
}

static bool has_ended(void *status)
{
    return *(int *)status != 1;
}

TEST(three, a_client_shuts_down_with_an_upgrade_pending)
{
    struct redlock_lock *lock = hold(U);
    struct redlock_lock *reader = rig_new_lock(rig_further_client(&rig), KEY);
    struct redlock_acquire_options request = request_of(R, 0);
    struct outcome outcome = rig_acquire(&rig, reader, &request);
    int status = 1;

    outcome_expect(&outcome, REDLOCK_OK);
    outcome.calls = 0;
    upgrade(lock, REDLOCK_FOREVER, &outcome);
    ck_assert_int_eq(redlock_client_shutdown(rig.client, 30000, note_shutdown, &status), 0);
    rig_wait(&rig, has_ended, &status, "the client has shut down");
    ck_assert_int_eq(status, REDLOCK_OK);
    outcome_expect(&outcome, REDLOCK_CANCELED);
    ck_assert_int_eq(try_mode(U), REDLOCK_OK);
}

TEST(three, an_upgrade_brings_a_larger_token_and_can_be_undone)
{
    struct redlock_acquire_options request = request_of(U, 0);
    char text[REDLOCK_MAX_EXPORT_BYTES];
    struct redlock_lock *importer = rig_new_lock(rig_further_client(&rig), KEY);
    struct redlock_lock *lock;
    struct outcome outcome;
    uint64_t token;

    request.fenced = 1;
    lock = rig_hold_as(&rig, KEY, &request);
    token = redlock_lock_fence(lock);
    outcome = convert(lock, X, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_gt(redlock_lock_fence(lock), token);
    ck_assert_uint_eq(outcome.fence, redlock_lock_fence(lock));
    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, NULL, text), 0);
    ck_assert_int_eq(redlock_lock_mode(importer), X);
    ck_assert_int_eq(try_mode(R), REDLOCK_HELD);
    outcome = convert(importer, U, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_int_eq(try_mode(R), REDLOCK_OK);
    outcome = rig_expect_release(&rig, importer, REDLOCK_OK);
}

/* The first claim is renewed while the second one waits. */
TEST(three, an_upgradeable_lock_is_renewed_while_its_upgrade_waits)
{
    struct redlock_acquire_options request = request_of(U, 0);
    struct redlock_lock *reader = hold(R);
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    request.renew_ms = 100;
    lock = rig_hold_as(&rig, KEY, &request);
    upgrade(lock, REDLOCK_FOREVER, &outcome);
    watch_wait_renewed(&rig);
    ck_assert_int_gt(redlock_remaining_ms(lock), 0);
    ck_assert_uint_eq(outcome.calls, 0);
    ck_assert_int_eq(redlock_release(reader, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
}

/* No renewal: the first claim ends while the second one waits for a reader. */
TEST(three, an_upgrade_is_lost_with_the_lock)
{
    struct redlock_acquire_options request = request_of(U, 0);
    struct redlock_lock *reader = hold(R);
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    request.ttl_ms = 2500;
    request.renew_ms = REDLOCK_NO_RENEWAL;
    lock = rig_hold_as(&rig, KEY, &request);
    upgrade(lock, REDLOCK_FOREVER, &outcome);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_LOST);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_LOST);
    (void)rig_release(&rig, reader);
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_int_eq(try_mode(X), REDLOCK_OK);
}

/* --- Order ------------------------------------------------------------------------------------------------------- */

TEST(three, a_waiting_writer_keeps_later_readers_back)
{
    struct redlock_lock *reader = hold(R);
    struct redlock_lock *writer = rig_new_lock(rig_further_client(&rig), KEY);
    struct redlock_lock *later = rig_new_lock(rig_further_client(&rig), KEY);

    wait_for(writer, X, &outcomes[0]);
    rig_wait(&rig, is_waiting, writer, "the writer waits");
    ck_assert_int_eq(try_mode(R), REDLOCK_HELD);
    wait_for(later, R, &outcomes[1]);
    rig_wait(&rig, is_waiting, later, "the later reader waits");
    ck_assert_int_eq(redlock_release(reader, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[0]);
    ck_assert_int_eq(redlock_state(later), REDLOCK_STATE_WAITING);
    ck_assert_int_eq(redlock_release(writer, NULL, NULL), 0);
    rig_wait_outcome(&rig, &outcomes[1]);
    outcome_expect(&outcomes[1], REDLOCK_OK);
}

/* --- Tokens and transfer ----------------------------------------------------------------------------------------- */

TEST(three, tokens_of_writers_grow_and_those_of_readers_do_not_fall)
{
    static const enum redlock_mode modes[] = {R, R, X, R, U, X, X, R};
    uint64_t latest = 0;

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct redlock_acquire_options request = request_of(modes[i], 0);
        struct redlock_lock *lock;

        request.fenced = 1;
        lock = rig_hold_as(&rig, KEY, &request);
        ck_assert_uint_ge(redlock_lock_fence(lock), latest + (modes[i] == X && latest));
        latest = redlock_lock_fence(lock);
        (void)rig_release(&rig, lock);
    }
}

TESTS(three, a_transfer_keeps_the_mode, 0, 3)
{
    static const enum redlock_mode modes[] = {X, U, R};
    struct redlock_lock *importer = rig_new_lock(rig_further_client(&rig), KEY);
    char text[REDLOCK_MAX_EXPORT_BYTES];
    struct redlock_lock *lock = hold(modes[_i]);

    ck_assert_int_eq(redlock_lock_export(lock, text, sizeof text), 0);
    ck_assert_int_eq(redlock_lock_adopt(importer, NULL, text), 0);
    ck_assert_int_eq(redlock_lock_mode(importer), modes[_i]);
    rig_expect_extend(&rig, importer, 0, REDLOCK_OK);
    ck_assert_int_eq(try_mode(R), modes[_i] == X ? REDLOCK_HELD : REDLOCK_OK);
    rig_expect_release(&rig, importer, REDLOCK_OK);
    rig_wait_no_claims(&rig, redlock_lock_client(importer));
}

/* --- Masters fail ------------------------------------------------------------------------------------------------- */

/* The vote comes back as a shared one: others still get in, also with this master. */
TESTS(three, a_master_that_was_emptied_gets_the_vote_back_in_its_mode, 0, 2)
{
    struct redlock_lock *lock = hold(_i ? U : R);

    rig_do(&rig, 0, "DEL", KEY, NULL);
    rig_expect_extend(&rig, lock, 0, REDLOCK_OK);
    rig_wait_count(&rig, KEY, 3);
    rig_kill_master(&rig, 1);
    ck_assert_int_eq(try_mode(X), REDLOCK_HELD);
    ck_assert_int_eq(try_mode(_i ? U : R), _i ? REDLOCK_HELD : REDLOCK_OK);
    ck_assert_int_eq(try_mode(R), REDLOCK_OK);
}

/* Clients that know nothing of modes are exclusive owners, and are kept out by those who share. */
TEST(three, other_clients_exclude_readers_and_are_excluded)
{
    static const char *const keys[] = {"theirs", KEY};
    struct redlock_acquire_options request = request_of(R, 0);

    for (size_t node = 0; node < 2; node++)
        rig_occupy(&rig, node, keys[0]);
    rig_expect_acquire(&rig, rig_new_lock(rig.client, keys[0]), &request, REDLOCK_HELD);
    (void)hold(R);
    for (size_t node = 0; node < 3; node++) {
        rig_do(&rig, node, "SET", KEY, "theirs", "NX", "PX", "30000", NULL);
        ck_assert_uint_eq(rig_count_value(&rig, KEY, "theirs"), 0);
    }
}

/* --- Events and statistics ---------------------------------------------------------------------------------------- */

static struct {
    unsigned n;
    struct redlock_event latest; /* without what it points to */
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
} told;

static void note_conversion(const struct redlock_event *event, void *user_data)
{
    if (event->type != REDLOCK_EVENT_CONVERTED)
        return;
    told.n++;
    told.latest = *event;
    snprintf(told.token, sizeof told.token, "%s", event->token);
}

static void with_conversions(struct redlock_options *options)
{
    told.n = 0;
    options->on_event = note_conversion;
}

static void expect_counted(uint64_t begun, unsigned succeeded)
{
    struct redlock_stats stats = watch_stats(rig.client);

    ck_assert_uint_eq(stats.converts, begun);
    ck_assert_uint_eq(stats.converted, succeeded);
    ck_assert_uint_eq(told.n, succeeded);
}

static void expect_told(struct redlock_lock *lock, enum redlock_mode mode)
{
    ck_assert_ptr_eq(told.latest.lock, lock);
    ck_assert_int_eq(told.latest.op, REDLOCK_OP_CONVERT);
    ck_assert_int_eq(told.latest.status, REDLOCK_OK);
    ck_assert_int_eq(told.latest.mode, mode);
    ck_assert_str_eq(told.token, redlock_lock_token(lock));
    ck_assert_int_gt(told.latest.remaining_us, 0);
    ck_assert_uint_eq(told.latest.n_nodes, 3);
}

GROUP(observed, "observed", NULL, NULL)

/* One that is refused by masters has begun, and one that the call refuses has not. */
TEST(observed, conversions_are_told_and_counted)
{
    struct redlock_lock *lock, *reader;
    struct outcome outcome;

    rig_open_with(&rig, 3, 0, with_conversions);
    lock = hold(U);
    reader = hold(R);
    outcome = convert(lock, X, 0);
    outcome_expect(&outcome, REDLOCK_HELD);
    expect_counted(1, 0);
    (void)rig_release(&rig, reader);
    outcome = convert(lock, X, REDLOCK_FOREVER);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_counted(2, 1);
    expect_told(lock, X);
    outcome = convert(lock, R, 0);
    outcome_expect(&outcome, REDLOCK_OK);
    expect_counted(3, 2);
    expect_told(lock, R);
    ck_assert_int_eq(redlock_convert(lock, X, 0, outcome_record, &outcome), REDLOCK_E_UPGRADE);
    expect_counted(3, 2);
    rig_close(&rig);
}

static struct {
    unsigned n;
    enum redlock_mode mode; /* of the latest attempt */
} attempts;

static void note_attempt(const struct redlock_event *event, void *user_data)
{
    if (event->type != REDLOCK_EVENT_ATTEMPT)
        return;
    attempts.n++;
    attempts.mode = event->mode;
}

static void with_attempts(struct redlock_options *options)
{
    attempts.n = 0;
    options->on_event = note_attempt;
}

/* The first acquisition of a client that was just made waits for the connections. */
TEST(observed, an_acquisition_has_its_mode_from_the_call_on)
{
    struct redlock_acquire_options request = request_of(R, 0);
    struct redlock_client *client;
    struct redlock_lock *lock;
    struct outcome outcome = {0};

    rig_open_with(&rig, 3, 0, with_attempts);
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, &rig.options, &client, NULL), 0);
    lock = rig_new_lock(client, KEY);
    ck_assert_int_eq(redlock_acquire(lock, &request, outcome_record, &outcome), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_ACQUIRING);
    ck_assert_int_eq(redlock_lock_mode(lock), R);
    rig_wait_outcome(&rig, &outcome);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(attempts.n, 1);
    ck_assert_int_eq(attempts.mode, R);
    redlock_client_destroy(client);
    rig_close(&rig);
}

SUITE_WITH_SERVER("rwlock")
