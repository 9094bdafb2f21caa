/* The slot of a permit, as the host chooses it: for the first attempt, after a refusal, and while it waits. The masters
 * are the test's own. */
#include "host/permits.h"

#include <stdio.h>
#include <string.h>

#include "host/effects.h"
#include "host/host.h"
#include "host/operations.h"
#include "host/semaphore.h"
#include "host_rig.h"
#include "kinds/permit.h"
#include "suite.h"

#define MASTERS 3
#define LOCKS HOST_RIG_LOCKS

static struct {
    enum rl_end ended[LOCKS]; /* how the latest operation of each has completed */
    bool over[LOCKS];
    struct rl_tag asked[LOCKS][MASTERS]; /* of the latest CLAIM or ENQUEUE */
    struct rl_tag told[LOCKS][MASTERS];  /* of the latest RELEASE */
} world;

/* --- The host's environment --------------------------------------------------------------------------------------- */

static size_t index_of(const struct rl_host_lock *lock)
{
    return (size_t)(lock - rig.locks);
}

static bool on_send(void *ctx, unsigned node, const struct rl_bytes *command, enum rl_sending how,
                    const struct rl_tag *tag)
{
    struct rl_host_lock *lock = rl_host_claim_lock(tag->owner);

    if (lock && (tag->step == RL_STEP_CLAIM || tag->step == RL_STEP_ENQUEUE))
        world.asked[index_of(lock)][node] = *tag;
    if (lock && tag->step == RL_STEP_RELEASE)
        world.told[index_of(lock)][node] = *tag;
    return true;
}

static void on_complete(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause)
{
    world.over[index_of(lock)] = true;
    world.ended[index_of(lock)] = status;
}

static void setup(void)
{
    memset(&world, 0, sizeof world);
    host_rig_init(on_send);
    rig.sink.complete = on_complete;
    host_rig_start(MASTERS, 2);
    host_rig_connect();
}

/* --- What programs and masters do --------------------------------------------------------------------------------- */

static void pass(int64_t ms)
{
    rig.now = rl_after(rig.now, rl_ms(ms));
    rl_host_read_clock(&rig.host);
}

/* A handle of the semaphore, of which there are so many permits. */
static void make(size_t i, uint32_t limit)
{
    host_rig_add_lock(i, "permit");
    ck_assert(rl_permit_attach(&rig.locks[i], limit));
}

static void acquire(size_t i, bool once)
{
    const struct rl_acquire request = {.ttl_ms = 10000, .deadline = rl_after(rig.now, rl_ms(60000)), .once = once,
                                       .kind = &rl_permit_kind, .wait = once ? RL_WAIT_SPIN : RL_WAIT_FIFO};

    world.over[i] = false;
    host_rig_acquire(i, &request);
}

/* All words of these scripts' replies are numbers. */
static void reply(const struct rl_tag *tag, unsigned node, size_t n, const int64_t *numbers)
{
    struct rl_reply reply = {.root.type = RL_REPLY_ARRAY, .n_elements = n};

    for (size_t i = 0; i < n; i++)
        reply.elements[i] = (struct rl_reply_item){.type = RL_REPLY_INTEGER, .integer = numbers[i]};
    rl_host_events.reply(&rig.host, node, tag, &reply, rig.now);
}

/* As masks say it: of the slots that this handle has asked about, those that are free. */
static int64_t mask_of(size_t i, uint64_t free)
{
    const struct rl_slot_search *search = &rl_permit_of(&rig.locks[i])->search;
    int64_t mask = 0;

    for (uint32_t at = 0; at < search->n; at++) {
        if (free & UINT64_C(1) << search->slots[at])
            mask |= INT64_C(1) << at;
    }
    return mask;
}

static void grant(size_t i, unsigned node)
{
    reply(&world.asked[i][node], node, 3, (const int64_t[]){1, 0, 0});
}

static void refuse(size_t i, unsigned node, uint64_t free)
{
    reply(&world.asked[i][node], node, 4, (const int64_t[]){0, 1000, 0, mask_of(i, free)});
}

static void queue(size_t i, unsigned node, uint64_t free)
{
    reply(&world.asked[i][node], node, 9, (const int64_t[]){0, 1, 7, 0, 1, 1000, -1, 0, mask_of(i, free)});
}

/* The program has been told. */
static void forget(size_t i)
{
    ck_assert(world.over[i]);
    rig.locks[i].call = NULL;
}

static uint32_t slot_of(size_t i)
{
    return rl_permit_of(&rig.locks[i])->slot;
}

static uint32_t hold(size_t i)
{
    acquire(i, true);
    for (unsigned node = 0; node < MASTERS; node++)
        grant(i, node);
    ck_assert_int_eq(world.ended[i], RL_END_OK);
    forget(i);
    return slot_of(i);
}

/* The masters say that the key was deleted, or that it went to a waiter. */
static void release(size_t i, int64_t said)
{
    const struct rl_reply one = {.root = {.type = RL_REPLY_INTEGER, .integer = said}};

    world.over[i] = false;
    rl_host_release(&rig.locks[i]);
    rl_host_end_turn(&rig.host);
    for (unsigned node = 0; node < MASTERS; node++)
        rl_host_events.reply(&rig.host, node, &world.told[i][node], &one, rig.now);
    ck_assert(world.over[i]);
}

/* Of three slots, those that are not this one, and not that. */
static uint32_t third(uint32_t a, uint32_t b)
{
    return 3 - a - b;
}

/* --- The first attempt -------------------------------------------------------------------------------------------- */

GROUP(cases, "permits", setup, host_rig_end)

TEST(cases, handles_of_one_client_begin_at_different_slots)
{
    uint64_t slots = 0;

    for (size_t i = 0; i < LOCKS; i++) {
        make(i, LOCKS);
        slots |= UINT64_C(1) << hold(i);
    }
    ck_assert_uint_eq(slots, (1u << LOCKS) - 1);
}

TEST(cases, the_slot_that_was_released_last_is_the_next_one)
{
    uint32_t slots[3];

    for (size_t i = 0; i < 3; i++) {
        make(i, 40);
        slots[i] = hold(i);
    }
    make(3, 40);
    release(1, 1);
    release(0, 1);
    ck_assert_uint_eq(hold(3), slots[0]);
    ck_assert_uint_eq(hold(0), slots[1]);
}

TEST(cases, a_slot_that_went_to_a_waiter_is_not_the_next_one)
{
    uint32_t slots[2];

    for (size_t i = 0; i < 2; i++) {
        make(i, 3);
        slots[i] = hold(i);
    }
    make(2, 3);
    release(0, 1);
    release(1, 2);
    ck_assert_uint_eq(hold(2), slots[0]);
}

TEST(cases, a_released_slot_above_the_handles_number_is_not_its_own)
{
    make(0, 2);
    make(1, 2);
    make(2, 1);
    hold(0);
    hold(1);
    release(slot_of(0) == 1 ? 0 : 1, 1);
    ck_assert_uint_eq(hold(2), 0);
}

/* --- After a refusal ---------------------------------------------------------------------------------------------- */

TEST(cases, the_next_attempt_is_at_a_slot_that_most_masters_show_to_be_free)
{
    uint32_t home;

    make(0, 3);
    acquire(0, true);
    home = slot_of(0);
    refuse(0, 0, 1u << (home + 1) % 3 | 1u << (home + 2) % 3);
    refuse(0, 1, 1u << (home + 2) % 3);
    ck_assert_uint_eq(slot_of(0), (home + 2) % 3);
    for (unsigned node = 0; node < MASTERS; node++)
        grant(0, node);
    ck_assert(world.over[0]);
    ck_assert_int_eq(world.ended[0], RL_END_OK);
}

TEST(cases, where_no_slot_is_free_a_single_attempt_ends)
{
    make(0, 3);
    acquire(0, true);
    refuse(0, 0, 0);
    ck_assert(!world.over[0]);
    refuse(0, 1, 0);
    ck_assert(world.over[0]);
    ck_assert_int_eq(world.ended[0], RL_END_HELD);
}

/* Two of one client do not run after the same slot. */
TEST(cases, a_slot_that_another_handle_wants_is_not_the_next_one)
{
    uint32_t slots[3];

    make(0, 3);
    make(1, 3);
    acquire(0, true);
    acquire(1, true);
    slots[0] = slot_of(0);
    slots[1] = slot_of(1);
    slots[2] = third(slots[0], slots[1]);
    refuse(0, 0, 1u << slots[1] | 1u << slots[2]);
    refuse(0, 1, 1u << slots[1] | 1u << slots[2]);
    ck_assert_uint_eq(slot_of(0), slots[2]);
    refuse(0, 0, 1u << slots[1]);
    refuse(0, 1, 1u << slots[1]);
    ck_assert(world.over[0]);
    ck_assert_int_eq(world.ended[0], RL_END_HELD);
}

/* Of 40 slots the others are drawn at random: they would be the same by chance, once in a while. */
TEST(cases, another_handle_begins_for_a_while_where_masters_have_shown_a_free_slot)
{
    uint32_t free[2];

    make(0, 40);
    make(1, 40);
    make(2, 40);
    acquire(0, true);
    free[0] = rl_permit_of(&rig.locks[0])->search.slots[0];
    free[1] = rl_permit_of(&rig.locks[0])->search.slots[1];
    refuse(0, 0, UINT64_C(1) << free[0] | UINT64_C(1) << free[1]);
    refuse(0, 1, UINT64_C(1) << free[0] | UINT64_C(1) << free[1]);
    ck_assert(slot_of(0) == free[0] || slot_of(0) == free[1]);
    pass(99);
    acquire(1, true);
    ck_assert_uint_eq(slot_of(1), slot_of(0) == free[0] ? free[1] : free[0]);
    acquire(2, true);
    ck_assert(slot_of(2) != free[0] && slot_of(2) != free[1]);
}

TEST(cases, what_masters_have_shown_is_forgotten_after_a_tenth_of_a_second)
{
    uint32_t free[2];

    make(0, 40);
    make(1, 40);
    acquire(0, true);
    free[0] = rl_permit_of(&rig.locks[0])->search.slots[0];
    free[1] = rl_permit_of(&rig.locks[0])->search.slots[1];
    refuse(0, 0, UINT64_C(1) << free[0] | UINT64_C(1) << free[1]);
    refuse(0, 1, UINT64_C(1) << free[0] | UINT64_C(1) << free[1]);
    pass(100);
    acquire(1, true);
    ck_assert(slot_of(1) != free[0] && slot_of(1) != free[1]);
}

/* Seven slots beside its own with each attempt. */
TEST(cases, single_attempts_ask_about_every_slot_of_many)
{
    const struct rl_slot_search *search;
    uint64_t seen = 0;
    unsigned attempts = 0;

    make(0, 20);
    search = &rl_permit_of(&rig.locks[0])->search;
    acquire(0, true);
    for (; !world.over[0] && attempts < 20; attempts++) {
        ck_assert(!(seen & UINT64_C(1) << slot_of(0)));
        seen |= UINT64_C(1) << slot_of(0);
        for (uint32_t at = 0; at < search->n; at++) {
            ck_assert(!(seen & UINT64_C(1) << search->slots[at]));
            seen |= UINT64_C(1) << search->slots[at];
        }
        refuse(0, 0, 0);
        refuse(0, 1, 0);
    }
    ck_assert_uint_eq(seen, (UINT64_C(1) << 20) - 1);
    ck_assert_uint_eq(attempts, 3);
    ck_assert_int_eq(world.ended[0], RL_END_HELD);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* It waits at its home slot; `other` is one that it has asked about. */
static void wait_among(uint32_t limit, uint32_t *ret_home, uint32_t *ret_other)
{
    make(0, limit);
    acquire(0, false);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_WAITING);
    *ret_home = slot_of(0);
    *ret_other = rl_permit_of(&rig.locks[0])->search.slots[0];
    ck_assert_uint_ne(*ret_home, *ret_other);
}

TEST(cases, of_many_slots_a_waiter_asks_first_about_those_that_were_released_here)
{
    const struct rl_slot_search *search;
    uint32_t slots[3];

    for (size_t i = 0; i < 3; i++) {
        make(i, 40);
        slots[i] = hold(i);
    }
    make(3, 40);
    search = &rl_permit_of(&rig.locks[3])->search;
    for (size_t i = 0; i < 3; i++)
        release(i, 1);
    acquire(3, false);
    ck_assert_uint_eq(slot_of(3), slots[2]);
    ck_assert_uint_eq(search->n, RL_MAX_CANDIDATES);
    ck_assert_uint_eq(search->slots[0], slots[1]);
    ck_assert_uint_eq(search->slots[1], slots[0]);
    for (uint32_t at = 2; at < search->n; at++)
        ck_assert_uint_eq(rl_semaphore_claims_at(rl_permit_of(&rig.locks[3])->semaphore, search->slots[at]), 0);
}

/* By a notification. */
static void tell(struct rl_host_lock *lock, uint64_t slot)
{
    rl_hooks_of(lock)->told(lock, slot);
    rl_host_run(&rig.host);
}

TEST(cases, a_waiter_moves_to_a_slot_that_a_quorum_shows_to_be_free)
{
    uint32_t home, other;

    wait_among(3, &home, &other);
    queue(0, 0, 1u << other);
    queue(0, 1, 1u << third(home, other));
    ck_assert_uint_eq(slot_of(0), home);
    queue(0, 2, 1u << other);
    ck_assert_uint_eq(slot_of(0), other);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_WAITING);
    ck_assert_uint_eq(rig.host.engine.votes.counters.moves, 1);
}

/* The slowest of the answers here takes 10 ms. */
TEST(cases, a_waiter_that_has_just_moved_stays_for_two_round_trips)
{
    uint32_t home, other;

    wait_among(3, &home, &other);
    queue(0, 0, 1u << other);
    queue(0, 1, 1u << other);
    ck_assert_uint_eq(slot_of(0), other);
    pass(10);
    queue(0, 0, 1u << home);
    queue(0, 1, 1u << home);
    pass(9);
    tell(&rig.locks[0], home);
    ck_assert_uint_eq(slot_of(0), other);
    pass(1);
    tell(&rig.locks[0], home);
    ck_assert_uint_eq(slot_of(0), home);
}

TEST(cases, a_waiter_moves_to_the_slot_that_it_is_told_of_if_that_is_another_one)
{
    uint32_t home, other;

    wait_among(3, &home, &other);
    queue(0, 0, 0);
    queue(0, 1, 0);
    pass(1000);
    tell(&rig.locks[0], 3);
    tell(&rig.locks[0], home);
    ck_assert_uint_eq(rig.host.engine.votes.counters.moves, 0);
    tell(&rig.locks[0], other);
    ck_assert_uint_eq(slot_of(0), other);
    ck_assert_uint_eq(rig.host.engine.votes.counters.moves, 1);
}

TEST(cases, who_has_a_permit_moves_nowhere)
{
    make(0, 3);
    hold(0);
    tell(&rig.locks[0], (slot_of(0) + 1) % 3);
    ck_assert_int_eq(rig.locks[0].core.state, RL_LOCK_HELD);
    ck_assert_uint_eq(rig.host.engine.votes.counters.moves, 0);
}

SUITE("host_permits")
