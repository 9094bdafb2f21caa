/* The act of semaphores: permits that are never more than there are. */
#include <stdio.h>
#include <string.h>

#include <redlock/semaphore.h>

#include "cli/demo/demo.h"

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
    return permit != NULL ? session_acquire(&demo->session, permit, &options) : REDLOCK_E_NOMEM;
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
    snprintf(name, sizeof(name), "pool#%d", (int)freed);
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
        if (permits[i] != NULL && redlock_state(permits[i]) == REDLOCK_STATE_HELD)
            session_release(&demo->session, permits[i]);
        redlock_lock_destroy(permits[i]);
    }
    return true;
}
