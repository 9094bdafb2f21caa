/* Sets of locks while masters die, forget and are full: the whole set or nothing of it. */
#include <redlock/semaphore.h>

#include "set_rig.h"
#include "suite.h"
#include "watch.h"

#define MASKS_OF_5 32
#define HELD_TTL_MS 60000 /* longer than a test: a master gets its vote back only while its old one lasts */

/* What the set of each kind of lock has on a master. */
#define KEYS "a b s#0"

/* A key, a key that is shared, and the only permit of a semaphore. */
static struct record *record_of_each_kind(size_t i, struct redlock_client *client)
{
    struct record *record = set_record(i, client, "a");

    ck_assert_int_eq(redlock_set_add_mode(record->set, "b", 1, REDLOCK_SHARED), 0);
    ck_assert_int_eq(redlock_set_add_permit(record->set, "s", 1, 1), 0);
    return record;
}

static void wait_absent(void)
{
    rig_wait_absent(&rig, "a");
    rig_wait_absent(&rig, "b");
    rig_wait_absent(&rig, "s#0");
}

static void hold_renewed(struct record *record)
{
    struct redlock_acquire_options request = set_renewed_often(0);

    request.ttl_ms = HELD_TTL_MS;
    set_expect(record, &request, REDLOCK_OK);
    set_wait_votes(rig.client, KEYS);
}

/* Each of these sets has one key that the set of each kind of lock excludes, and one that is free. */
static void expect_kept_out(void)
{
    static const char *const keys[] = {"az", "bz", "z"};

    for (size_t i = 0; i < 3; i++) {
        struct record *rival = set_record(1, rig.client, keys[i]);

        if (i == 2)
            ck_assert_int_eq(redlock_set_add_permit(rival->set, "s", 1, 1), 0);
        set_expect_held(rival);
        ck_assert_uint_eq(rival->result.part, 0);
        redlock_set_destroy(rival->set);
        rig_wait_absent(&rig, "z");
    }
}

GROUP(faults, "faults", set_open, set_close)

TESTS(faults, a_quorum_of_masters_is_enough_for_a_set_and_no_less, 0, MASKS_OF_5)
{
    bool enough = rig_kill_masters(&rig, (unsigned)_i) <= 2;
    struct record *record = record_of_each_kind(0, rig.client);

    if (enough) {
        set_acquire(record, 0);
        expect_kept_out();
        set_release(record, REDLOCK_OK);
    } else {
        set_start(record, 10000, 0);
        set_wait_end(record, REDLOCK_NO_QUORUM);
    }
    rig_wait_no_claims(&rig, rig.client);
    wait_absent();
}

/* Each key comes back, in its mode, before the next master forgets. Nobody else gets one of them meanwhile. */
TESTS(faults, a_held_set_survives_masters_that_forget_one_after_the_other, 0, RIG_LOSSES)
{
    struct record *record = record_of_each_kind(0, rig.client);
    struct record *rival = record_of_each_kind(1, rig.client);

    hold_renewed(record);
    for (size_t node = 0; node < rig.n; node++) {
        rig_lose_memory(&rig, node, (enum rig_loss)_i);
        set_start(rival, 10000, 0);
        rig_wait(&rig, set_has_ended, rival, "the end of a rival's attempt");
        ck_assert_int_ne(rival->result.status, REDLOCK_OK);
        set_wait_votes(rig.client, KEYS);
        ck_assert_int_eq(redlock_set_state(record->set), REDLOCK_STATE_HELD);
    }
    ck_assert_uint_eq(record->lost, 0);
    set_release(record, REDLOCK_OK);
    wait_absent();
}

static bool has_failed_again(void *before)
{
    return watch_stats(rig.client).no_quorum > *(const uint64_t *)before;
}

TEST(faults, full_masters_take_no_set_and_keep_the_one_that_is_held)
{
    struct record *record = record_of_each_kind(0, rig.client);
    struct record *waiting = set_record(1, rig.client, "xyz");
    uint64_t before;

    hold_renewed(record);
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "1", NULL);
    before = watch_stats(rig.client).no_quorum;
    set_start(waiting, 10000, REDLOCK_FOREVER);
    rig_wait(&rig, has_failed_again, &before, "an attempt at a set on full masters");
    rig_wait_absent(&rig, "x");
    record->ended = 0;
    ck_assert_int_eq(redlock_set_extend(record->set, 0, set_on_end, record), 0);
    set_wait_end(record, REDLOCK_OK);
    ck_assert_uint_eq(waiting->ended, 0);
    set_release(record, REDLOCK_OK);
    wait_absent();
    rig_do_all(&rig, "CONFIG", "SET", "maxmemory", "0", NULL);
    set_wait_end(waiting, REDLOCK_OK);
    set_release(waiting, REDLOCK_OK);
}

SUITE_WITH_SERVER("set faults")
