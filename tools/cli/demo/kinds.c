/* Acts about other kinds of lock: read-write locks, reentrancy, semaphores. */
#include <stdio.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "cli/demo/demo.h"
#include "cli/demo/stage.h"

/* In the order in which they come. */
struct cast {
    struct demo_handle alice_reads, bob_reads, alice_writes, bob_reads_later;
};

static bool read_together(struct demo *demo, struct cast *cast)
{
    int status = demo_handle_acquire(demo, &cast->alice_reads, REDLOCK_SHARED, DEMO_PATIENCE_MS);

    demo_say(demo, "Alice reads a table: her lock is shared. Bob reads it, too, and may have to write:");
    demo_say(demo, "his is upgradeable.");
    if (!demo_check(demo, status == REDLOCK_OK, "Alice has the key"))
        return false;
    status = demo_handle_acquire(demo, &cast->bob_reads, REDLOCK_UPGRADEABLE, DEMO_PATIENCE_MS);
    demo_check(demo, status == REDLOCK_OK && redlock_remaining_ms(cast->alice_reads.lock) > 0,
               "Bob has it at the same time");
    return status == REDLOCK_OK;
}

/* It waits until the end of the act. */
static void come_to_write(struct demo *demo, struct cast *cast, int *ret_started)
{
    int status;

    demo_gap(demo);
    demo_say(demo, "Another task of Alice's wants to write, and waits. A reader comes behind it.");
    *ret_started = demo_handle_start(&cast->alice_writes, REDLOCK_EXCLUSIVE, DEMO_PATIENCE_MS);
    demo_check(demo, *ret_started == REDLOCK_OK && demo_handle_is_queued(demo, &cast->alice_writes, demo->alice),
               "the writer is in the queue");
    status = demo_handle_acquire(demo, &cast->bob_reads_later, REDLOCK_SHARED, 0);
    demo_check(demo, status == REDLOCK_HELD, "the reader is refused: nobody passes a writer that waits");
}

static void upgrade(struct demo *demo, struct cast *cast)
{
    struct demo_handle *bob = &cast->bob_reads;
    char took[16];
    int started, status;

    demo_gap(demo);
    demo_say(demo, "Bob must write after all. He keeps what he has until the other readers have gone,");
    demo_say(demo, "and comes before all who wait: they would wait for him, and he for them.");
    started = demo_handle_convert(bob, REDLOCK_EXCLUSIVE);
    status = demo_handle_release(demo, &cast->alice_reads);
    demo_check(demo, status == REDLOCK_OK, "Alice has read, and releases");
    status = demo_handle_await(demo, bob, started);
    demo_check(demo, status == REDLOCK_OK && redlock_lock_mode(bob->lock) == REDLOCK_EXCLUSIVE &&
               !cast->alice_writes.ended, "Bob is the writer, %s after he asked; Alice's waits",
               term_time(bob->elapsed_us, took, sizeof took));
}

static void write_in_turn(struct demo *demo, struct cast *cast, int started)
{
    char took[16];
    int status = demo_handle_release(demo, &cast->bob_reads);

    demo_gap(demo);
    demo_say(demo, "Bob releases.");
    demo_check(demo, status == REDLOCK_OK, "released in %s", term_time(cast->bob_reads.elapsed_us, took, sizeof took));
    status = demo_handle_await(demo, &cast->alice_writes, started);
    demo_check(demo, status == REDLOCK_OK, "the writer that waited has the key");
    if (status == REDLOCK_OK)
        status = demo_handle_release(demo, &cast->alice_writes);
    demo_check(demo, status == REDLOCK_OK && demo_wait_quiet(demo, demo->alice, demo->n) &&
               demo_wait_quiet(demo, demo->bob, demo->n) && demo_count(demo, "table", NULL, demo->n) == 0,
               "released, and nothing is left behind");
}

bool demo_act_rwlock(struct demo *demo)
{
    struct cast cast = {
        .alice_reads = {.lock = demo_lock(demo->alice, "table")},
        .bob_reads = {.lock = demo_lock(demo->bob, "table")},
        .alice_writes = {.lock = demo_lock(demo->alice, "table")},
        .bob_reads_later = {.lock = demo_lock(demo->bob, "table")},
    };
    bool made = cast.alice_reads.lock && cast.bob_reads.lock && cast.alice_writes.lock && cast.bob_reads_later.lock;
    int started;

    if (made && read_together(demo, &cast)) {
        come_to_write(demo, &cast, &started);
        upgrade(demo, &cast);
        write_in_turn(demo, &cast, started);
    }
    redlock_lock_destroy(cast.alice_reads.lock);
    redlock_lock_destroy(cast.bob_reads.lock);
    redlock_lock_destroy(cast.alice_writes.lock);
    redlock_lock_destroy(cast.bob_reads_later.lock);
    return made || demo_stop(demo, "a lock", redlock_strerror(REDLOCK_E_NOMEM));
}

/* --- The act of reentrancy ---------------------------------------------------------------------------------------- */

/* The act of reentrancy: one handle is one owner, who may enter again what it holds. */

static uint64_t count_commands(const struct demo *demo)
{
    struct redlock_stats stats = {0};

    redlock_client_stats(demo->alice, &stats, sizeof stats);
    return stats.commands;
}

/* Alice enters again what she holds, and Bob comes to wait. */
static void enter_again(struct demo *demo, struct demo_handle *alice)
{
    uint64_t before;
    int status;

    demo_wait_quiet(demo, demo->alice, demo->n);
    before = count_commands(demo);
    demo_say(demo, "She calls a function that locks it as well, with the same handle: she is its owner.");
    status = redlock_reenter(alice->lock, 0);
    demo_check(demo, status == REDLOCK_OK && redlock_lock_depth(alice->lock) == 2,
               "she has entered again, to depth 2");
    demo_check(demo, count_commands(demo) == before, "no master was asked: the handle counts, they do not");
    demo_gap(demo);
}

static void leave_the_inner(struct demo *demo, struct demo_handle *alice, const struct demo_handle *bob)
{
    uint64_t before = count_commands(demo);
    int status = demo_handle_release(demo, alice);

    demo_say(demo, "The function ends, and releases.");
    demo_check(demo, status == REDLOCK_OK && redlock_lock_depth(alice->lock) == 1 && count_commands(demo) == before,
               "back to depth 1, and nothing was sent");
    demo_check(demo, demo_count(demo, "order", redlock_lock_token(alice->lock), demo->n) == demo->n && !bob->ended,
               "all %zu masters still store Alice's token, and Bob waits", demo->n);
    demo_gap(demo);
}

static void leave_the_outer(struct demo *demo, struct demo_handle *alice, struct demo_handle *bob, int started)
{
    char took[16];
    int status = demo_handle_release(demo, alice);

    demo_say(demo, "Alice releases what she has acquired.");
    demo_check(demo, status == REDLOCK_OK && redlock_lock_depth(alice->lock) == 0, "released in %s",
               term_time(alice->elapsed_us, took, sizeof took));
    status = demo_handle_await(demo, bob, started);
    demo_check(demo, status == REDLOCK_OK, "Bob has the key");
    if (status == REDLOCK_OK)
        status = demo_handle_release(demo, bob);
    demo_check(demo, status == REDLOCK_OK && demo_wait_quiet(demo, demo->bob, demo->n) &&
               demo_count(demo, "order", NULL, demo->n) == 0, "released, and nothing is left behind");
}

static void play(struct demo *demo, struct demo_handle *alice, struct demo_handle *bob)
{
    int status = demo_handle_acquire(demo, alice, REDLOCK_EXCLUSIVE, 0);
    int started;

    demo_say(demo, "Alice locks an order.");
    if (!demo_check(demo, status == REDLOCK_OK, "she has the key"))
        return;
    enter_again(demo, alice);
    demo_say(demo, "Bob wants the key, and waits.");
    started = demo_handle_start(bob, REDLOCK_EXCLUSIVE, DEMO_PATIENCE_MS);
    demo_check(demo, started == REDLOCK_OK && demo_handle_is_queued(demo, bob, demo->bob), "he is in the queue");
    demo_gap(demo);
    leave_the_inner(demo, alice, bob);
    leave_the_outer(demo, alice, bob, started);
}

bool demo_act_reentry(struct demo *demo)
{
    struct demo_handle alice = {.lock = demo_lock(demo->alice, "order")};
    struct demo_handle bob = {.lock = demo_lock(demo->bob, "order")};
    bool made = alice.lock && bob.lock;

    if (made)
        play(demo, &alice, &bob);
    redlock_lock_destroy(alice.lock);
    redlock_lock_destroy(bob.lock);
    return made || demo_stop(demo, "a lock", redlock_strerror(REDLOCK_E_NOMEM));
}

/* --- The act of semaphores ---------------------------------------------------------------------------------------- */

/* The act of semaphores: permits that are never more than there are. */

enum { PERMITS = 3, TTL_MS = 10000, PATIENCE_MS = 10000 };

static struct redlock_lock *permit_of(struct redlock_client *client)
{
    struct redlock_lock *permit;

    return redlock_permit_create(client, "pool", strlen("pool"), PERMITS, &permit) == 0 ? permit : NULL;
}

static int acquire(struct demo *demo, struct redlock_lock *permit, int64_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.ttl_ms = TTL_MS;
    options.timeout_ms = timeout_ms;
    return permit ? session_acquire(&demo->session, permit, &options) : REDLOCK_E_NOMEM;
}

/* Alice has one permit, and Bob the others. */
static bool take_all(struct demo *demo, struct redlock_lock *permits[PERMITS])
{
    unsigned slots = 0;

    for (size_t i = 0; i < PERMITS; i++) {
        permits[i] = permit_of(i == 0 ? demo->alice : demo->bob);
        if (acquire(demo, permits[i], PATIENCE_MS) != REDLOCK_OK)
            return demo_check(demo, false, "permit %zu of %d is acquired", i + 1, PERMITS);
        slots |= 1u << redlock_lock_slot(permits[i]);
    }
    return demo_check(demo, slots == (1u << PERMITS) - 1, "Alice has number %d, Bob has %d and %d",
                      (int)redlock_lock_slot(permits[0]), (int)redlock_lock_slot(permits[1]),
                      (int)redlock_lock_slot(permits[2]));
}

static void want_one_more(struct demo *demo, struct redlock_lock *permits[PERMITS])
{
    struct redlock_lock *extra = permit_of(demo->alice);
    int32_t freed = redlock_lock_slot(permits[1]);
    char name[32];
    int status = acquire(demo, extra, 0);

    demo_check(demo, status == REDLOCK_HELD, "Alice asks for a fourth, and is refused");
    status = session_release(&demo->session, permits[1]);
    demo_check(demo, status == REDLOCK_OK, "Bob gives number %d back", (int)freed);
    status = acquire(demo, extra, PATIENCE_MS);
    demo_check(demo, status == REDLOCK_OK && redlock_lock_slot(extra) == freed, "Alice asks again, and has it");
    if (status == REDLOCK_OK)
        status = session_release(&demo->session, extra);
    snprintf(name, sizeof name, "pool#%d", (int)freed);
    demo_check(demo, status == REDLOCK_OK && demo_wait_quiet(demo, demo->alice, demo->n) &&
               demo_count(demo, name, NULL, demo->n) == 0, "released, and nothing is left behind");
    redlock_lock_destroy(extra);
}

bool demo_act_permits(struct demo *demo)
{
    struct redlock_lock *permits[PERMITS] = {NULL};

    demo_say(demo, "A semaphore: %d permits of one key, for whoever comes. Masters cannot count", PERMITS);
    demo_say(demo, "together, so each permit has a number, and is a lock of its own.");
    demo_gap(demo);
    if (take_all(demo, permits))
        want_one_more(demo, permits);
    for (size_t i = 0; i < PERMITS; i++) {
        if (permits[i] && redlock_state(permits[i]) == REDLOCK_STATE_HELD)
            session_release(&demo->session, permits[i]);
        redlock_lock_destroy(permits[i]);
    }
    return true;
}
