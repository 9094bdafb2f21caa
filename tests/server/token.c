/* Locks that outlive their handle: detached, and released by whoever has the token. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "program_rig.h"

/* The kernel's random numbers, in place of the C library's function: for a while there are none. */
static bool refuses;

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    errno = ENOSYS;
    return refuses ? -1 : syscall(SYS_getrandom, bytes, size, flags);
}

static struct outcome release_token(struct redlock_lock *lock, const char *token)
{
    struct outcome outcome = {0};

    ck_assert_int_eq(redlock_release_token(lock, token, outcome_record, &outcome), 0);
    ck_assert_uint_eq(outcome.calls, 0);
    rig_wait_outcome(&rig, &outcome);
    ck_assert_int_eq(outcome.op, REDLOCK_OP_RELEASE);
    return outcome;
}

/* Takes the lock, lets go of the handle, keeps the keys. */
static void take_and_detach(const char *key, char token[64])
{
    struct redlock_lock *lock = rig_hold(&rig, key, 60000);

    snprintf(token, 64, "%s", redlock_lock_token(lock));
    ck_assert_int_eq(redlock_lock_detach(lock), 0);
    ck_assert_int_eq(redlock_state(lock), REDLOCK_STATE_IDLE);
    ck_assert_int_eq(redlock_remaining_ns(lock), 0);
    redlock_lock_destroy(lock);
}

GROUP(five, "five masters", rig_five, rig_end)

TEST(five, a_detached_lock_stays_on_the_masters)
{
    char token[64];

    take_and_detach("detached", token);
    redlock_client_destroy(rig.client);
    rig.client = NULL;
    rig_run_for(&rig, 50);
    ck_assert_uint_eq(rig_count_value(&rig, "detached", token), 5);
}

TEST(five, another_client_releases_it_by_its_token)
{
    struct redlock_client *other = rig_further_client(&rig);
    struct outcome outcome;
    char token[64];

    take_and_detach("d8", token);
    outcome = release_token(rig_new_lock(other, "d8"), token);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 5);
    ck_assert_uint_eq(masters_count_key(rig.masters, "d8"), 0);
}

TEST(five, a_wrong_token_releases_nothing)
{
    struct outcome outcome;
    char token[64];

    take_and_detach("d9", token);
    outcome = release_token(rig_new_lock(rig.client, "d9"), "another token");
    outcome_expect(&outcome, REDLOCK_OK); /* no master holds that value */
    for (size_t i = 0; i < 5; i++)
        outcome_expect_vote(&outcome, i, REDLOCK_VOTE_REFUSED, "foreign");
    ck_assert_uint_eq(rig_count_value(&rig, "d9", token), 5);
}

TEST(five, a_second_release_by_token_finds_nothing)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "twice");
    struct outcome outcome;
    char token[64];

    take_and_detach("twice", token);
    outcome = release_token(lock, token);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome = release_token(lock, token);
    outcome_expect(&outcome, REDLOCK_OK);
    for (size_t i = 0; i < 5; i++)
        outcome_expect_vote(&outcome, i, REDLOCK_VOTE_REFUSED, "missing");
}

TEST(five, a_handle_that_released_by_token_can_acquire)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "then");
    struct outcome outcome;
    char token[64];

    take_and_detach("then", token);
    outcome = release_token(lock, token);
    outcome_expect(&outcome, REDLOCK_OK);
    outcome = rig_expect_acquire(&rig, lock, NULL, REDLOCK_OK);
    ck_assert_str_ne(redlock_lock_token(lock), token);
    ck_assert_int_eq(redlock_release_token(lock, token, NULL, NULL), REDLOCK_E_ALREADY_HELD);
}

TEST(five, a_token_of_the_longest_size_is_accepted_a_longer_one_not)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "size");
    char token[REDLOCK_MAX_TOKEN_BYTES + 2];
    struct outcome outcome;

    memset(token, 't', sizeof token);
    token[REDLOCK_MAX_TOKEN_BYTES + 1] = '\0';
    ck_assert_int_eq(redlock_release_token(lock, token, NULL, NULL), REDLOCK_E_TOKEN);
    token[REDLOCK_MAX_TOKEN_BYTES] = '\0';
    rig_do_all(&rig, "SET", "size", token, NULL);
    outcome = release_token(lock, token);
    outcome_expect(&outcome, REDLOCK_OK);
    ck_assert_uint_eq(outcome.granted, 5);
}

TEST(five, release_by_token_is_repeated_until_the_masters_are_back)
{
    struct outcome outcome;
    char token[64];

    take_and_detach("pending", token);
    rig_hang_masters(&rig, 0x7);
    outcome = release_token(rig_new_lock(rig.client, "pending"), token);
    outcome_expect(&outcome, REDLOCK_NO_QUORUM);
    rig_resume_masters(&rig, 0x7);
    rig_wait_absent(&rig, "pending");
    rig_wait_no_claims(&rig, rig.client);
}

TEST(five, without_random_numbers_there_is_no_client)
{
    struct redlock_client *client = NULL;
    struct redlock_error error = {0};

    refuses = true;
    ck_assert_int_eq(redlock_client_create(rig.base, rig.urls, rig.n, NULL, &client, &error), REDLOCK_E_SYSTEM);
    refuses = false;
    ck_assert_ptr_nonnull(strstr(error.text, "random"));
}

/* As under a filter of system calls that came later. More values than one key makes. */
TEST(five, values_stay_fresh_when_there_are_no_more_random_numbers)
{
    struct redlock_lock *lock = rig_new_lock(rig.client, "key");
    static char tokens[300][REDLOCK_MAX_TOKEN_BYTES + 1];
    struct redlock_acquire_options request = rig_request(10000, 0);

    refuses = true;
    for (size_t i = 0; i < 300; i++) {

        rig_expect_acquire(&rig, lock, &request, REDLOCK_OK);
        snprintf(tokens[i], sizeof tokens[i], "%s", redlock_lock_token(lock));
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(tokens[i], tokens[j]);
        rig_release(&rig, lock);
    }
    refuses = false;
}

SUITE_WITH_SERVER("token")
