/* Acts in which several take part: an election, a latch, sets of locks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <redlock/election.h>
#include <redlock/latch.h>
#include <redlock/set.h>

#include "cli/clock.h"
#include "cli/demo/demo.h"

enum { LOOK_MS = 20, ELECTION_MS = 15000 };

struct candidate {
    struct redlock_election *election;
    uint64_t term;        /* of its latest election */
    int64_t elected_us;   /* when that was */
    int64_t others_us;    /* what was left of the other one's leadership then */
    const struct candidate *other;
};

/* What the observer was told. */
struct observer {
    uint64_t term;
    uint64_t wanted;
};

static void on_event(struct redlock_election *election, const struct redlock_election_event *event, void *user_data)
{
    struct candidate *candidate = user_data;

    if (event->kind != REDLOCK_ELECTION_ELECTED)
        return;
    candidate->term = event->term;
    candidate->elected_us = clock_now_us();
    candidate->others_us = redlock_election_remaining_ns(candidate->other->election) / 1000;
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    struct observer *observer = user_data;

    observer->term = leader->present ? leader->term : 0;
}

static bool leads(const struct candidate *candidate)
{
    return redlock_election_remaining_ns(candidate->election) > 0;
}

static bool has_won(const struct session *session, void *data)
{
    return leads(data);
}

static bool sees(const struct session *session, void *data)
{
    const struct observer *observer = data;

    return observer->term == observer->wanted;
}

static bool stand(struct redlock_client *client, struct candidate *candidate, const struct candidate *other)
{
    candidate->other = other;
    return redlock_election_create(client, "demo-leader", strlen("demo-leader"), &candidate->election) == 0 &&
           redlock_election_campaign(candidate->election, NULL, on_event, candidate) == 0;
}

static bool is_seen(struct demo *demo, struct observer *observer, uint64_t term)
{
    observer->wanted = term;
    return session_run_until(&demo->session, sees, observer, ELECTION_MS);
}

static void elect(struct demo *demo, struct candidate *alice, struct candidate *bob, struct observer *observer)
{
    char took[16];
    int64_t resigned_us;
    bool led = stand(demo->alice, alice, bob) && session_run_until(&demo->session, has_won, alice, ELECTION_MS);

    demo_check(demo, led, "Alice is a candidate, and leads: term %" PRIu64, alice->term);
    led = stand(demo->bob, bob, alice) &&
          redlock_election_observe(bob->election, LOOK_MS, on_leader, observer) == 0 &&
          is_seen(demo, observer, alice->term);
    demo_check(demo, led && !leads(bob), "Bob is one, too; he waits, and sees who leads: term %" PRIu64, alice->term);
    resigned_us = clock_now_us();
    redlock_election_resign(alice->election);
    demo_check(demo, !leads(alice), "Alice resigns: from that call on she does not lead");
    led = session_run_until(&demo->session, has_won, bob, ELECTION_MS);
    demo_check(demo, led && bob->others_us == 0, "Bob leads %s later, when Alice does not any more",
               term_time(bob->elected_us - resigned_us, took, sizeof took));
    demo_check(demo, bob->term > alice->term, "his term is larger: %" PRIu64, bob->term);
    demo_check(demo, is_seen(demo, observer, bob->term), "whoever observes sees it");
}

bool demo_act_election(struct demo *demo)
{
    struct candidate alice = {0};
    struct candidate bob = {0};
    struct observer observer = {0};

    demo_say(demo, "Of all candidates for a key one leads: who holds its lock. The fencing token is");
    demo_say(demo, "the term, by which a late order of an old leader is known.");
    demo_gap(demo);
    elect(demo, &alice, &bob, &observer);
    redlock_election_destroy(alice.election);
    redlock_election_destroy(bob.election);
    return demo->session.caught == 0 || demo_stop(demo, "interrupted", "");
}

/* --- A latch ------------------------------------------------------------------------------------------------------ */

/* Act: a latch. Three parties arrive, and somebody waits for them. */

enum { PARTIES = 3, PATIENCE_MS = 15000 };

static const char latch_name[] = "ready";
static const char *const parties[PARTIES] = {"cache", "index", "mail"};

/* How an operation has ended. */
struct end {
    bool came;
    int status;
    size_t n_arrived;
    int64_t at_us;
};

struct act {
    struct demo *demo;
    struct redlock_latch *parties[PARTIES]; /* Alice's */
    struct redlock_latch *bobs;             /* which only waits */
    struct end arrival;                     /* the latest one */
    struct end wait;
};

static void on_latch_end(struct redlock_latch *latch, const struct redlock_latch_result *result, void *user_data)
{
    *(struct end *)user_data =
        (struct end){.came = true, .status = result->status, .n_arrived = result->n_arrived, .at_us = clock_now_us()};
}

static bool has_come(const struct session *session, void *data)
{
    const struct end *end = data;

    return end->came;
}

static bool ends(struct act *act, struct end *end, int status)
{
    return session_run_until(&act->demo->session, has_come, end, PATIENCE_MS) && end->status == status;
}

static bool create(struct redlock_client *client, const char *party, struct redlock_latch **ret_latch)
{
    return redlock_latch_create(client, latch_name, strlen(latch_name), PARTIES, 1, party, NULL, ret_latch) == 0;
}

static bool arrive(struct act *act, size_t party)
{
    act->arrival.came = false;
    return redlock_latch_arrive(act->parties[party], PATIENCE_MS, on_latch_end, &act->arrival) == 0 &&
           ends(act, &act->arrival, REDLOCK_OK);
}

static bool begin_wait(struct act *act, struct redlock_latch *latch, int64_t timeout_ms)
{
    act->wait.came = false;
    return redlock_latch_await(latch, timeout_ms, on_latch_end, &act->wait) == 0;
}

/* Looks once. */
static bool is_shut(struct act *act, size_t n_arrived)
{
    return begin_wait(act, act->bobs, 0) && ends(act, &act->wait, REDLOCK_DEADLINE) &&
           act->wait.n_arrived == n_arrived;
}

static void play_latch(struct act *act)
{
    struct demo *demo = act->demo;
    char took[16];
    int64_t before_us;
    bool holds = arrive(act, 0) && arrive(act, 1) && is_shut(act, 2);

    demo_check(demo, holds, "%s and %s have arrived; Bob asks, and it is shut", parties[0], parties[1]);
    holds = arrive(act, 0) && is_shut(act, 2);
    demo_check(demo, holds, "%s says so once more: they are two still", parties[0]);
    holds = begin_wait(act, act->bobs, PATIENCE_MS) && demo_wait_quiet(demo, demo->bob, demo->n) && !act->wait.came;
    before_us = clock_now_us();
    holds = holds && arrive(act, 2) && ends(act, &act->wait, REDLOCK_OK);
    demo_check(demo, holds, "%s arrives, and Bob, who has waited, goes on %s later", parties[2],
               term_time(act->wait.at_us - before_us, took, sizeof took));
    holds = begin_wait(act, act->parties[0], 0) && ends(act, &act->wait, REDLOCK_OK);
    demo_check(demo, holds, "whoever asks later finds it open");
}

/* It would be kept for a day. */
static void remove_latch(struct demo *demo)
{
    const struct probe_masters masters = probe_masters_of(&demo->common);
    char own[64];
    char key[DEMO_KEY_SIZE];

    demo_wait_quiet(demo, demo->alice, demo->n);
    demo_wait_quiet(demo, demo->bob, demo->n);
    snprintf(own, sizeof own, "redlock:latch:%s", latch_name);
    demo_key(demo, own, key);
    probe_delete(&masters, key);
    demo_check(demo, demo_count(demo, own, NULL, demo->n) == 0, "the demo leaves nothing of it behind");
}

bool demo_act_latch(struct demo *demo)
{
    struct act act = {.demo = demo};
    bool created = create(demo->bob, NULL, &act.bobs);

    demo_say(demo, "A latch opens when all of its parties have arrived. Masters keep their names and");
    demo_say(demo, "no count: a name may be said twice, where an answer was lost.");
    demo_gap(demo);
    for (size_t i = 0; i < PARTIES; i++)
        created = created && create(demo->alice, parties[i], &act.parties[i]);
    if (created)
        play_latch(&act);
    for (size_t i = 0; i < PARTIES; i++)
        redlock_latch_destroy(act.parties[i]);
    redlock_latch_destroy(act.bobs);
    remove_latch(demo);
    return created || demo_stop(demo, "no memory for a latch", "");
}

/* --- A set -------------------------------------------------------------------------------------------------------- */

/* Act: several keys, all or none. */

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
}

static bool has_ended(const struct session *session, void *data)
{
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
               term_time(bob->elapsed_us, took, sizeof took));
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

        snprintf(name, sizeof name, "seats#%u", i);
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
               term_time(alice->elapsed_us, took, sizeof took));
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
    demo_check(demo, status == REDLOCK_OK, "both acquired in %s", term_time(alice->elapsed_us, took, sizeof took));
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
    bool made = alice.set && bob.set;

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
