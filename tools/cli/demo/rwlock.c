/* The act of read-write locks: readers share a key, a writer waits its turn, and one who reads becomes the writer. */
#include "cli/demo/handle.h"

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
               term_time(bob->elapsed_us, took, sizeof(took)));
}

static void write_in_turn(struct demo *demo, struct cast *cast, int started)
{
    char took[16];
    int status = demo_handle_release(demo, &cast->bob_reads);

    demo_gap(demo);
    demo_say(demo, "Bob releases.");
    demo_check(demo, status == REDLOCK_OK, "released in %s", term_time(cast->bob_reads.elapsed_us, took, sizeof(took)));
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
