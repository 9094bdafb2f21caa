/* Many in the queue: nobody is forgotten, nobody has the lock at the same time as another one, nothing grows. */
#include <stdlib.h>
#include <string.h>

#include "portable.h"
#include "program_rig.h"
#include "queue_rig.h"
#include "watch.h"

static void open_five(void)
{
    queue_open();
    rig_open(&rig, 5);
}

/* --- In order ----------------------------------------------------------------------------------------------------- */

#define N_WAITERS 1000

static struct waiter *waiters;

static bool have_asked(void *argument)
{
    for (size_t i = 0; i < rig.n; i++) {
        if (queue_length(&rig, i, argument) != N_WAITERS)
            return false;
    }
    return true;
}

static unsigned served;

static void give_back_at_once(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct waiter *waiter = user_data;

    ck_assert_msg(result->status == REDLOCK_OK, "%s", redlock_status_name(result->status));
    ck_assert_int_gt(redlock_remaining_ns(lock), 0);
    waiter->turn = ++served;
    ck_assert_int_eq(redlock_release(lock, NULL, NULL), 0);
}

static bool all_served(void *argument)
{
    return served == *(const unsigned *)argument;
}

GROUP(five, "five masters", open_five, rig_end)

/* Each joins the queue when the one before is in the queue. */
TEST(five, a_thousand_waiters_of_one_client_are_served_in_order)
{
    struct redlock_acquire_options request = queue_request();
    struct redlock_lock *holder;
    char key[] = "thousand";
    unsigned all = N_WAITERS;

    request.ttl_ms = 60000;
    holder = rig_hold(&rig, key, 60000);
    waiters = calloc(N_WAITERS, sizeof *waiters);
    ck_assert_ptr_nonnull(waiters);
    served = 0;
    for (size_t i = 0; i < N_WAITERS; i++) {
        waiters[i].rig = &rig;
        waiters[i].lock = rig_new_lock(rig.client, key);
        ck_assert_int_eq(redlock_acquire(waiters[i].lock, &request, give_back_at_once, &waiters[i]), 0);
        if (i % 100 == 0)
            waiter_wait_in_queue(&waiters[i], 5);
    }
    rig_wait(&rig, have_asked, key, "all to be in the queue");
    ck_assert_int_eq(redlock_release(holder, NULL, NULL), 0);
    rig_wait(&rig, all_served, &all, "all to be served");
    for (unsigned i = 0; i < N_WAITERS; i++)
        ck_assert_uint_eq(waiters[i].turn, i + 1);
    queue_wait_gone(&rig, key);
    free(waiters);
}

/* --- One at a time ------------------------------------------------------------------------------------------------ */

#define N_CLIENTS 8
#define N_LOCKS 5
#define ROUNDS 10

struct rival {
    struct redlock_lock *lock;
    struct redlock_acquire_options request;
    unsigned rounds;
};

static unsigned holders, most_holders, finished, rounds_wanted;

static void on_granted(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

static void on_released(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct rival *rival = user_data;

    if (++rival->rounds == rounds_wanted)
        finished++;
    else
        ck_assert_int_eq(redlock_acquire(lock, &rival->request, on_granted, rival), 0);
}

static void give_back(evutil_socket_t fd, short events, void *argument)
{
    struct rival *rival = argument;

    holders--;
    ck_assert_int_eq(redlock_release(rival->lock, on_released, rival), 0);
}

static void on_granted(struct redlock_lock *lock, const struct redlock_result *result, void *user_data)
{
    struct timeval hold = {.tv_usec = 300};

    ck_assert_msg(result->status == REDLOCK_OK, "%s", redlock_status_name(result->status));
    if (++holders > most_holders)
        most_holders = holders;
    event_base_once(rig.base, -1, EV_TIMEOUT, give_back, user_data, &hold);
}

static bool all_finished(void *argument)
{
    return finished == *(const unsigned *)argument;
}

static void compete(struct rival *rivals, unsigned n, unsigned rounds)
{
    holders = most_holders = finished = 0;
    rounds_wanted = rounds;
    for (unsigned i = 0; i < n; i++) {
        rivals[i].rounds = 0;
        ck_assert_int_eq(redlock_acquire(rivals[i].lock, &rivals[i].request, on_granted, &rivals[i]), 0);
    }
    rig_wait(&rig, all_finished, &n, "all rivals to be served");
}

TESTS(five, many_waiters_of_many_clients_hold_one_at_a_time, 0, 3)
{
    struct redlock_client *clients[N_CLIENTS];
    struct rival rivals[N_CLIENTS * N_LOCKS] = {0};

    for (size_t i = 0; i < N_CLIENTS; i++)
        clients[i] = rig_new_client(&rig);
    for (size_t i = 0; i < N_CLIENTS * N_LOCKS; i++) {
        rivals[i].request = queue_request();
        rivals[i].request.fenced = _i == 1;
        rivals[i].request.wait = _i == 2 ? REDLOCK_WAIT_FIFO : REDLOCK_WAIT_QUEUE;
        rivals[i].lock = rig_new_lock(clients[i % N_CLIENTS], "many");
    }
    compete(rivals, N_CLIENTS * N_LOCKS, ROUNDS);
    ck_assert_uint_eq(most_holders, 1);
    queue_wait_gone(&rig, "many");
    for (size_t i = 0; i < N_CLIENTS; i++)
        redlock_client_destroy(clients[i]);
}

/* --- Nothing grows ------------------------------------------------------------------------------------------------ */

#define N_RIVALS 8
#define CYCLES 200

/* Buffers and pools grow with the largest number ever in use; what is forgotten grows with each cycle, by 32 bytes at
 * least. */
#define LEAK_BYTES 32
#define UNEVENNESS (N_RIVALS * CYCLES * LEAK_BYTES - 1)

TEST(five, a_thousand_contended_cycles_take_no_memory_and_leave_no_keys)
{
    struct rival rivals[N_RIVALS] = {0};
    uint64_t before;

    for (size_t i = 0; i < N_RIVALS; i++) {
        rivals[i].request = queue_request();
        rivals[i].lock = rig_new_lock(rig.client, "cycles");
    }
    compete(rivals, N_RIVALS, CYCLES / 4);
    rig_wait_no_claims(&rig, rig.client);
    before = portable_heap_bytes();
    compete(rivals, N_RIVALS, CYCLES);
    rig_wait_no_claims(&rig, rig.client);
    ck_assert_uint_le(portable_heap_bytes(), before + UNEVENNESS);
    queue_wait_gone(&rig, "cycles");
}

SUITE_WITH_SERVER("queue_load")
