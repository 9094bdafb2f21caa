/* Act: several keys, all or none. */
#include <redlock/set.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo.h"

enum { TIMEOUT_MS = 10000, SEATS = 3 };

/* A set, and how its latest operation has ended. */
struct owner {
    struct redlock_set *set;
    bool ended;
    int status;
    size_t part;
    int64_t elapsed_us;
};

static void on_end(struct redlock_set *set, const struct redlock_set_result *result, void *user_data)
{
    struct owner *owner = user_data;

    owner->ended = true;
    owner->status = result->status;
    owner->part = result->part;
    owner->elapsed_us = result->elapsed_us;
    (void)set;
}

static bool has_ended(const struct session *session, void *data)
{
    (void)session;
    return ((const struct owner *)data)->ended;
}

/* What a set is made of. */
typedef int (*fill_fn)(struct redlock_set *set);

static int add_accounts(struct redlock_set *set, const char *first, const char *second)
{
    int status = redlock_set_add(set, first, strlen(first));

    return status == REDLOCK_OK ? redlock_set_add(set, second, strlen(second)) : status;
}

static int add_b_and_a(struct redlock_set *set)
{
    return add_accounts(set, "account:b", "account:a");
}

static int add_c_and_b(struct redlock_set *set)
{
    return add_accounts(set, "account:c", "account:b");
}

/* All permits but one, so that two sets cannot have them. */
static int add_seats(struct redlock_set *set)
{
    return redlock_set_add_permits(set, "seats", strlen("seats"), SEATS - 1, SEATS);
}

static struct redlock_set *make_set(struct redlock_client *client, fill_fn fill)
{
    struct redlock_set *set = NULL;

    if (redlock_set_create(client, &set) == REDLOCK_OK && fill(set) == REDLOCK_OK)
        return set;
    redlock_set_destroy(set);
    return NULL;
}

static int start(struct owner *owner, int64_t timeout_ms)
{
    struct redlock_acquire_options options;

    redlock_acquire_options_init(&options);
    options.timeout_ms = timeout_ms;
    owner->ended = false;
    return redlock_set_acquire(owner->set, &options, on_end, owner);
}

/* `started` is what the call has returned. */
static int await(struct demo *demo, struct owner *owner, int started)
{
    if (started != REDLOCK_OK)
        return started;
    return session_run_until(&demo->session, has_ended, owner, TIMEOUT_MS) ? owner->status : REDLOCK_CANCELED;
}

static int release(struct demo *demo, struct owner *owner)
{
    owner->ended = false;
    return await(demo, owner, redlock_set_release(owner->set, on_end, owner));
}

static bool nobody_has(struct demo *demo, const char *name)
{
    demo_wait_quiet(demo, demo->bob, demo->n);
    return demo_count(demo, name, NULL, demo->n) == 0;
}

static void refuse(struct demo *demo, struct owner *bob)
{
    int status = await(demo, bob, start(bob, 0));

    demo_say(demo, "Bob wants the accounts b and c, and tries once.");
    demo_check(demo, status == REDLOCK_HELD && bob->part == 0, "refused, on account of b: %s",
               redlock_strerror(status));
    demo_check(demo, nobody_has(demo, "account:c"), "c was free, and is free again: all or none");
    demo_gap(demo);
}

static void wait_for_both(struct demo *demo, struct owner *alice, struct owner *bob)
{
    int started = start(bob, TIMEOUT_MS);
    char took[16];
    int status;

    demo_say(demo, "He waits for b in its queue, and Alice releases both of hers.");
    status = release(demo, alice);
    demo_check(demo, status == REDLOCK_OK, "released");
    status = await(demo, bob, started);
    demo_check(demo, status == REDLOCK_OK, "Bob has b and c, %s after he asked",
               term_time(bob->elapsed_us, took, sizeof(took)));
    status = release(demo, bob);
    demo_check(demo, status == REDLOCK_OK && nobody_has(demo, "account:b") && nobody_has(demo, "account:c"),
               "released, and nothing is left behind");
}

static unsigned count_free_seats(struct demo *demo)
{
    unsigned n = 0;

    demo_wait_quiet(demo, demo->alice, demo->n);
    for (unsigned i = 0; i < SEATS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "seats#%u", i);
        n += nobody_has(demo, name);
    }
    return n;
}

static void take_seats(struct demo *demo, struct owner *alice, struct owner *bob)
{
    char took[16];
    int status = await(demo, alice, start(alice, TIMEOUT_MS));

    demo_gap(demo);
    demo_say(demo, "Permits, too. Of a semaphore with three Alice takes two at once, and Bob wants two.");
    demo_check(demo, status == REDLOCK_OK && count_free_seats(demo) == 1, "Alice has two, %s after she asked",
               term_time(alice->elapsed_us, took, sizeof(took)));
    status = await(demo, bob, start(bob, 0));
    demo_check(demo, status == REDLOCK_HELD && count_free_seats(demo) == 1,
               "Bob is refused; the one that was free is free again");
    status = release(demo, alice);
    if (status == REDLOCK_OK)
        status = await(demo, bob, start(bob, TIMEOUT_MS));
    demo_check(demo, status == REDLOCK_OK, "Alice gives hers back, and Bob has two");
    status = release(demo, bob);
    demo_check(demo, status == REDLOCK_OK && count_free_seats(demo) == SEATS, "released, and all three are free");
}

static void transfer(struct demo *demo, struct owner *alice, struct owner *bob)
{
    char took[16];
    int status = await(demo, alice, start(alice, TIMEOUT_MS));

    demo_say(demo, "A transfer needs two accounts. Alice asks for a and b at once, in one round trip.");
    demo_check(demo, status == REDLOCK_OK, "both acquired in %s", term_time(alice->elapsed_us, took, sizeof(took)));
    demo_gap(demo);
    refuse(demo, bob);
    wait_for_both(demo, alice, bob);
}

/* An act of two, each with a set. */
static bool play(struct demo *demo, fill_fn fill_alices, fill_fn fill_bobs,
                 void (*act)(struct demo *demo, struct owner *alice, struct owner *bob))
{
    struct owner alice = {.set = make_set(demo->alice, fill_alices)};
    struct owner bob = {.set = make_set(demo->bob, fill_bobs)};
    bool made = alice.set != NULL && bob.set != NULL;

    if (made)
        act(demo, &alice, &bob);
    redlock_set_destroy(alice.set);
    redlock_set_destroy(bob.set);
    return made;
}

bool demo_act_sets(struct demo *demo)
{
    return (play(demo, add_b_and_a, add_c_and_b, transfer) && play(demo, add_seats, add_seats, take_seats)) ||
           demo_stop(demo, "a set", redlock_strerror(REDLOCK_E_NOMEM));
}
