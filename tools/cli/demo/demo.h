/* The guided tour: what its acts share.
 *
 * Every claim on the screen goes through demo_check(): the sentence is printed with the verdict of the code, and the
 * tour fails if one of them does not hold. */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

#include "cli/probe.h"
#include "cli/session.h"
#include "cli/term.h"
#include "masters.h"

enum {
    DEMO_MASTERS = 5,
    DEMO_FAILURES = 16,
    DEMO_KEY_SIZE = 128,
    DEMO_WATCHDOG_MS = 15000,
    DEMO_TRIES = 3, /* measurements of what a busy machine may have delayed */
};

enum demo_fault { DEMO_UP, DEMO_KILLED, DEMO_HUNG };

struct demo {
    struct term term;
    struct session session;
    struct cli_common common;
    struct masters *masters; /* NULL on the user's own masters: they are left alone */
    struct redlock_client *alice;
    struct redlock_client *bob;
    struct redlock_lock *held; /* Alice's, through all faults */
    uint64_t fences[2];        /* of two holders, in order */
    enum demo_fault faults[REDLOCK_MAX_MASTERS];
    size_t n;
    size_t quorum;
    char prefix[REDLOCK_MAX_PREFIX_BYTES + 1];
    bool fast;
    bool tls;
    char ca[128]; /* the file with the CA of the demo's own masters, with --tls */
    unsigned checks;
    unsigned failed;
    char failures[DEMO_FAILURES][128];
};

/* An act returns false when the tour cannot go on; why has then been said. */
typedef bool (*demo_act)(struct demo *demo);
bool demo_act_masters(struct demo *demo);
bool demo_act_acquire(struct demo *demo);
bool demo_act_refused(struct demo *demo);
bool demo_act_hand_off(struct demo *demo);
bool demo_act_reentry(struct demo *demo);
bool demo_act_rwlock(struct demo *demo);
bool demo_act_sets(struct demo *demo);
bool demo_act_permits(struct demo *demo);
bool demo_act_latch(struct demo *demo);
bool demo_act_healthy(struct demo *demo);
bool demo_act_faults(struct demo *demo);
bool demo_act_no_quorum(struct demo *demo);
bool demo_act_recovery(struct demo *demo);
bool demo_act_empty(struct demo *demo);
bool demo_act_rolling(struct demo *demo);
bool demo_act_replaced(struct demo *demo);
bool demo_act_stopped(struct demo *demo);
bool demo_act_fencing(struct demo *demo);
bool demo_act_election(struct demo *demo);

/* --- stage.c: what is needed before the first act and after the last. */
bool demo_open(struct demo *demo, int *ret_exit); /* false after a message; *ret_exit is then the exit code */
void demo_close(struct demo *demo);

/* Other clients in place of Alice's and Bob's, as of a deployment of its own with this max_ttl, declared new. */
bool demo_redeploy(struct demo *demo, const char *name, uint32_t max_ttl_ms);

/* What the acts say and check. */

/* A line of narration, and a blank line before the next thing. */
void demo_say(const struct demo *demo, const char *format, ...) __attribute__((format(printf, 2, 3)));
void demo_gap(const struct demo *demo);

/* Prints the claim with its verdict, counts it, and returns `holds`. */
bool demo_check(struct demo *demo, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The tour cannot go on, and why. Always false. */
bool demo_stop(struct demo *demo, const char *why, const char *detail);

/* The key on the masters, which belongs to this run: runs on the same masters do not meet. */
const char *demo_key(const struct demo *demo, const char *name, char buffer[DEMO_KEY_SIZE]);
struct redlock_lock *demo_lock(struct redlock_client *client, const char *name);

/* Alice takes a lock that stays held; false: the tour cannot go on. */
bool demo_hold(struct demo *demo, const char *name, const struct redlock_acquire_options *options);

/* What the first n masters have under the key. */
void demo_probe(const struct demo *demo, const char *name, size_t n, struct probe ret_probes[REDLOCK_MAX_MASTERS]);

/* How many of the first n masters store this value under the key; with NULL, any value. A master without an answer
 * counts as storing it: a check for "nothing left" must not pass on silence. */
size_t demo_count(struct demo *demo, const char *name, const char *value, size_t n);

/* Waits until both clients are connected to all masters. */
bool demo_wait_connected(struct demo *demo, uint32_t timeout_ms);

/* Waits until the first n masters owe the client no reply. */
bool demo_wait_quiet(struct demo *demo, struct redlock_client *client, size_t n);

/* "a b c" with a mark for each master's state. */
void demo_lamps(const struct demo *demo);

/* Does something to a master; false after demo_stop(). */
bool demo_fault(struct demo *demo, size_t master, enum demo_fault fault);

#endif
