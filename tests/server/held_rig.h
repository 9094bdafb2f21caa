/* What the tests of all kinds of locks share: something of each kind that is held, and what its alarms have told. */
#ifndef TESTS_HELD_RIG_H
#define TESTS_HELD_RIG_H

#include <redlock/election.h>
#include <redlock/semaphore.h>
#include <redlock/set.h>

#include "rig.h"

enum held_kind {
    HELD_MUTEX,
    HELD_READERS,     /* two handles that share a key */
    HELD_UPGRADEABLE, /* one handle that may become exclusive, and a reader beside it */
    HELD_PERMITS,     /* both permits of a semaphore */
    HELD_SET,         /* a key and a permit */
    HELD_LEADERSHIP,
    HELD_KINDS,
};

#define HELD_MAX_LOCKS 2

struct held {
    struct rig *rig;
    enum held_kind kind;
    size_t n_locks; /* 0 for a set and a leadership */
    struct redlock_lock *locks[HELD_MAX_LOCKS];
    struct redlock_set *set;
    struct redlock_election *election;
    unsigned elected; /* how often this or that was told */
    unsigned at_risk;
    unsigned lost;
    int64_t at_risk_ms;     /* remaining_ms of the latest warning */
    enum redlock_loss loss; /* what the latest loss has told ... */
    int64_t remaining_ns;   /* ... and what was left of that in its callback */
    int64_t lost_at_ns;     /* CLOCK_BOOTTIME, read first thing inside */
};

/* Takes something of the kind for rig->client, with the votes of all connected masters, and watches it. Of the request
 * count the ttl, the renewal and the warning; without renewal, a set or a leadership is renewed as late as may be. */
void held_take(struct held *held, struct rig *rig, enum held_kind kind, const struct redlock_acquire_options *request);

/* The key that others want; each kind has another one. */
const char *held_key(enum held_kind kind);

/* A handle that gets an exclusive lock of the key, or a permit, only if what is held there is not. */
struct redlock_lock *held_rival(struct redlock_client *client, enum held_kind kind);

/* How many losses are told if all of it is lost: each lock may be lost by itself, a set and a leadership only once. */
unsigned held_losses(const struct held *held);
/* How many warnings are told before that: each key of a set may be at risk. */
unsigned held_warnings(const struct held *held);

/* The least validity of what is held; 0 if some of it is not. */
int64_t held_remaining_ns(const struct held *held);
int64_t held_remaining_ms(const struct held *held);

/* Fails the test unless all of it is held, and no loss was told. */
void held_expect_kept(const struct held *held);

/* Waits until so many losses were told. */
void held_wait_lost(struct held *held, unsigned times);

#endif
