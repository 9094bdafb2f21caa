/* The act of reentrancy: one handle is one owner, who may enter again what it holds. */
#include <string.h>

#include "cli/demo/handle.h"

static uint64_t count_commands(const struct demo *demo)
{
    struct redlock_stats stats = {0};

    redlock_client_stats(demo->alice, &stats, sizeof(stats));
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
               term_time(alice->elapsed_us, took, sizeof(took)));
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
    bool made = alice.lock != NULL && bob.lock != NULL;

    if (made)
        play(demo, &alice, &bob);
    redlock_lock_destroy(alice.lock);
    redlock_lock_destroy(bob.lock);
    return made || demo_stop(demo, "a lock", redlock_strerror(REDLOCK_E_NOMEM));
}
