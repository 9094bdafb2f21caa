/* Several permits of one semaphore while processes are killed and masters hang or forget: all or none for each owner,
 * and only the owner of the gate waits with a part of them. */
#include <redlock/semaphore.h>

#include "child_rig.h"
#include "set_rig.h"
#include "suite.h"

#define LIMIT 3
#define CHILD_TTL_MS 1000
#define HELD_TTL_MS 60000 /* longer than a test: a master gets its vote back only while its old one lasts */

/* Permits of one each, and their slots. */
static struct redlock_lock *singles[LIMIT];

static void hold_singles(size_t n)
{
    struct redlock_acquire_options request = rig_request(HELD_TTL_MS, 0);

    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(redlock_permit_create(rig.client, "s", 1, LIMIT, &singles[i]), 0);
        rig_hold_lock(&rig, singles[i], &request);
    }
}

static uint32_t slot_of(const struct redlock_lock *permit)
{
    return UINT32_C(1) << redlock_lock_slot(permit);
}

/* --- Other processes ---------------------------------------------------------------------------------------------- */

static bool is_on_a_majority(void *key)
{
    return masters_count_key(rig.masters, key) >= 3;
}

static void wait_key(struct rig *child, const char *key)
{
    rig_wait(child, is_on_a_majority, (void *)(uintptr_t)key, key);
}

static bool one_waits(void *unused)
{
    static const char *const queues[LIMIT] = {"redlock:queue:s#0", "redlock:queue:s#1", "redlock:queue:s#2"};

    for (size_t i = 0; i < LIMIT; i++) {
        if (masters_count_key(rig.masters, queues[i]) >= 3)
            return true;
    }
    return false;
}

static struct record *start_in(struct rig *child, uint32_t n)
{
    struct record *record = set_record_of_permits(0, child->client, n, LIMIT);

    set_start(record, CHILD_TTL_MS, REDLOCK_FOREVER);
    return record;
}

static int hold_and_stay(struct rig *child, void *unused)
{
    set_wait_end(start_in(child, 2), REDLOCK_OK);
    return child_stay(child);
}

/* It has the gate, the permits that are free, and a place in the queue of another. */
static int own_the_gate_and_stay(struct rig *child, void *unused)
{
    static const char *const slots[LIMIT] = {"s#0", "s#1", "s#2"};

    start_in(child, LIMIT);
    wait_key(child, "s#gate");
    for (size_t i = 0; i < LIMIT; i++)
        wait_key(child, slots[i]);
    rig_wait(child, one_waits, NULL, "the owner of the gate to wait for a permit");
    return child_stay(child);
}

static int wait_for_the_gate_and_stay(struct rig *child, void *unused)
{
    start_in(child, LIMIT);
    wait_key(child, "redlock:queue:s#gate");
    return child_stay(child);
}

GROUP(processes, "processes", set_open, set_close)

TEST(processes, the_permits_of_a_killed_holder_come_back_together)
{
    struct record *all = set_record_of_permits(1, rig.client, LIMIT, LIMIT);

    child_kill(child_start_ready(&rig, hold_and_stay, NULL));
    set_acquire(all, REDLOCK_FOREVER);
    ck_assert_uint_eq(set_slots(all), 7);
}

/* Whoever waits with some permits, or with none, is the owner of the gate. When it is killed the next one is not kept
 * out for ever, and does not get the permits of those who live. */
TESTS(processes, a_killed_owner_of_the_gate_delays_others_for_its_ttl, 1, LIMIT + 1)
{
    struct record *two = set_record_of_permits(1, rig.client, 2, LIMIT);

    hold_singles((size_t)_i);
    child_kill(child_start_ready(&rig, own_the_gate_and_stay, NULL));
    for (size_t i = 1; i < (size_t)_i; i++)
        ck_assert_int_eq(redlock_release(singles[i], NULL, NULL), 0);
    set_acquire(two, REDLOCK_FOREVER);
    ck_assert_uint_eq(set_slots(two) | slot_of(singles[0]), 7);
    ck_assert_int_eq(redlock_state(singles[0]), REDLOCK_STATE_HELD);
    rig_wait_absent(&rig, "s#gate");
}

/* It is the first in the queue of the gate when the owner leaves that. */
TEST(processes, a_killed_waiter_for_the_gate_delays_others_for_its_lease)
{
    struct record *owner = set_record_of_permits(1, rig.client, LIMIT, LIMIT);
    struct record *next;

    hold_singles(1);
    set_start(owner, HELD_TTL_MS, REDLOCK_FOREVER);
    rig_wait_count(&rig, "s#gate", 5);
    child_kill(child_start_ready(&rig, wait_for_the_gate_and_stay, NULL));
    next = set_record_of_permits(2, rig_further_client(&rig), LIMIT, LIMIT);
    set_start(next, HELD_TTL_MS, REDLOCK_FOREVER);
    ck_assert_int_eq(redlock_release(singles[0], NULL, NULL), 0);
    set_wait_end(owner, REDLOCK_OK);
    ck_assert_uint_eq(next->ended, 0);
    set_release(owner, REDLOCK_OK);
    set_wait_end(next, REDLOCK_OK);
    ck_assert_uint_eq(set_slots(next), 7);
}

/* --- Masters ------------------------------------------------------------------------------------------------------ */

GROUP(of_masters, "masters", set_open, set_close)

TEST(of_masters, a_hung_minority_stops_nobody)
{
    struct record *holder = set_record_of_permits(0, rig.client, 2, LIMIT);
    struct record *waiter = set_record_of_permits(1, rig_further_client(&rig), LIMIT, LIMIT);

    ck_assert(masters_hang(rig.masters, 0));
    ck_assert(masters_hang(rig.masters, 4));
    set_acquire(holder, REDLOCK_FOREVER);
    set_start(waiter, HELD_TTL_MS, REDLOCK_FOREVER);
    rig_wait_count(&rig, "s#gate", 3);
    rig_wait(&rig, one_waits, NULL, "the owner of the gate to wait for a permit");
    ck_assert_uint_eq(waiter->ended, 0);
    set_release(holder, REDLOCK_OK);
    set_wait_end(waiter, REDLOCK_OK);
    ck_assert_uint_eq(set_slots(waiter), 7);
    ck_assert(masters_resume(rig.masters, 0));
    ck_assert(masters_resume(rig.masters, 4));
    set_release(waiter, REDLOCK_OK);
    rig_wait_absent(&rig, "s#gate");
}

/* Two permits are held. A further set has the third one, and the gate, and waits for another. It gets that from the
 * masters that have not forgotten: the others vote for nobody new for a minute. */
TESTS(of_masters, what_is_held_and_what_is_waited_with_survives_masters_that_forget, 0, RIG_LOSSES)
{
    struct redlock_acquire_options request = set_renewed_often(REDLOCK_FOREVER);
    struct record *holder = set_record_of_permits(0, rig.client, 2, LIMIT);
    struct record *waiter = set_record_of_permits(1, rig_further_client(&rig), 2, LIMIT);

    request.ttl_ms = HELD_TTL_MS;
    set_expect(holder, &request, REDLOCK_OK);
    set_start_with(waiter, &request);
    set_wait_votes(rig.client, "s#0 s#1 s#2 s#gate");
    rig_wait_quiet(&rig, rig.further[0]);
    for (size_t node = 0; node < 2; node++) {
        rig_lose_memory(&rig, node, (enum rig_loss)_i);
        set_wait_votes(rig.client, "s#0 s#1 s#2 s#gate");
        rig_wait_quiet(&rig, rig.further[0]);
        ck_assert_int_eq(redlock_set_state(holder->set), REDLOCK_STATE_HELD);
        ck_assert_uint_eq(waiter->ended, 0);
    }
    ck_assert_uint_eq(holder->lost, 0);
    set_release(holder, REDLOCK_OK);
    set_wait_end(waiter, REDLOCK_OK);
    rig_wait_absent(&rig, "s#gate");
}

SUITE_WITH_SERVER("set permits faults")
