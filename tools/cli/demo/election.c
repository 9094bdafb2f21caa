/* Act: leader election. Two candidates, and an observer who only looks. */
#include <inttypes.h>
#include <string.h>

#include <redlock/election.h>

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

    (void)election;
    if (event->kind != REDLOCK_ELECTION_ELECTED)
        return;
    candidate->term = event->term;
    candidate->elected_us = clock_now_us();
    candidate->others_us = redlock_election_remaining_ns(candidate->other->election) / 1000;
}

static void on_leader(struct redlock_election *election, const struct redlock_leader *leader, void *user_data)
{
    struct observer *observer = user_data;

    (void)election;
    observer->term = leader->present ? leader->term : 0;
}

static bool leads(const struct candidate *candidate)
{
    return redlock_election_remaining_ns(candidate->election) > 0;
}

static bool has_won(const struct session *session, void *data)
{
    (void)session;
    return leads(data);
}

static bool sees(const struct session *session, void *data)
{
    const struct observer *observer = data;

    (void)session;
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
               term_time(bob->elected_us - resigned_us, took, sizeof(took)));
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
