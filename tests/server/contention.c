/* Several clients want the same lock at the same time. */
#include <stdlib.h>
#include <string.h>

#include "program_rig.h"

#define MAX_CONTENDERS 10

static struct redlock_client *clients[MAX_CONTENDERS];
static struct redlock_lock *locks[MAX_CONTENDERS];
static struct outcome outcomes[MAX_CONTENDERS];

static void close_rig(void)
{
    for (size_t i = 0; i < MAX_CONTENDERS; i++)
        redlock_client_destroy(clients[i]);
    memset(clients, 0, sizeof clients);
    rig_close(&rig);
}

static void make_contenders(size_t n, const char *key)
{
    memset(outcomes, 0, sizeof outcomes);
    for (size_t i = 0; i < n; i++) {
        clients[i] = rig_new_client(&rig);
        locks[i] = rig_new_lock(clients[i], key);
    }
}

/* The masters' view: how many have a value that is not the winner's (all of them, if there is no winner). */
struct residue {
    const char *key;
    const char *winner;
};

static bool is_clean(void *argument)
{
    const struct residue *residue = argument;
    size_t own = residue->winner ? rig_count_value(&rig, residue->key, residue->winner) : 0;

    return masters_count_key(rig.masters, residue->key) == own;
}

GROUP(five, "five masters", rig_five, close_rig)

TESTS(five, of_several_contenders_at_most_one_wins_and_no_loser_leaves_a_key, 1, MAX_CONTENDERS + 1)
{
    struct residue residue = {"b13", NULL};
    struct redlock_acquire_options request = rig_request(30000, 0);
    size_t contenders = (size_t)_i, winners = 0;

    make_contenders(contenders, "b13");
    for (size_t i = 0; i < contenders; i++)
        ck_assert_int_eq(redlock_acquire(locks[i], &request, outcome_record, &outcomes[i]), 0);
    for (size_t i = 0; i < contenders; i++)
        rig_wait_outcome(&rig, &outcomes[i]);
    for (size_t i = 0; i < contenders; i++) {
        ck_assert(outcomes[i].status == REDLOCK_OK || outcomes[i].status == REDLOCK_HELD);
        if (outcomes[i].status == REDLOCK_OK) {
            winners++;
            residue.winner = redlock_lock_token(locks[i]);
        }
    }
    ck_assert_uint_le(winners, 1);
    if (contenders == 1)
        ck_assert_uint_eq(winners, 1);
    rig_wait(&rig, is_clean, &residue, "the losers' values to be gone");
}

static size_t holders, most_holders, served;

static void give_back(evutil_socket_t fd, short events, void *argument)
{
    holders--;
    ck_assert_int_eq(redlock_release(argument, NULL, NULL), 0);
}

static void on_granted(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct timeval hold = {.tv_usec = 3000};

    ck_assert_msg(result->status == REDLOCK_OK, "%s", redlock_status_name(result->status));
    served++;
    holders++;
    if (holders > most_holders)
        most_holders = holders;
    event_base_once(rig.base, -1, EV_TIMEOUT, give_back, lock, &hold);
}

static bool all_served(void *argument)
{
    return served == *(size_t *)argument && holders == 0;
}

TESTS(five, all_waiters_get_the_lock_in_the_end_one_at_a_time, REDLOCK_WAIT_QUEUE, REDLOCK_WAIT_SPIN + 1)
{
    struct redlock_acquire_options request = rig_request(30000, REDLOCK_FOREVER);
    size_t contenders = 6;

    request.wait = (enum redlock_wait)_i;
    request.retry_delay_ms = 2;
    request.retry_jitter_ms = 15;
    make_contenders(contenders, "b14");
    holders = most_holders = served = 0;
    for (size_t i = 0; i < contenders; i++)
        ck_assert_int_eq(redlock_acquire(locks[i], &request, on_granted, NULL), 0);
    rig_wait(&rig, all_served, &contenders, "all contenders to be served");
    ck_assert_uint_eq(most_holders, 1);
    rig_wait_absent(&rig, "b14");
}

TESTS(five, nobody_else_gets_a_held_lock_whichever_master_is_down, 0, 5)
{
    struct redlock_acquire_options request = rig_request(30000, 0);
    size_t down = (size_t)_i;
    struct outcome outcome;

    make_contenders(2, "f1");
    outcome = rig_expect_acquire(&rig, locks[0], &request, REDLOCK_OK);
    rig_wait_count(&rig, "f1", 5);
    ck_assert(masters_kill(rig.masters, down));
    rig_wait_link(&rig, clients[1], down, REDLOCK_LINK_DOWN);
    outcome = rig_expect_acquire(&rig, locks[1], &request, REDLOCK_HELD);
    ck_assert_int_gt(redlock_remaining_ms(locks[0]), 0);
    outcome = rig_expect_extend(&rig, locks[0], 30000, REDLOCK_OK);
    ck_assert_uint_ge(outcome.granted, 3);
}

SUITE_WITH_SERVER("contention")
