/* A test's world: private masters, an event loop and one client, driven synchronously.
 *
 * Every wait ends with an event or fails the test after SUITE_PATIENCE_S; nothing sleeps for a guessed time. Servers
 * are started for each test (five take about 30 ms), so no test sees another's keys, faults or configuration. */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include <event2/event.h>
#include <stdbool.h>

#include <redlock/redlock.h>

#include "masters.h"
#include "outcome.h"

#define RIG_MAX_FURTHER 16

struct rig {
    struct masters *masters;
    struct event_base *base;
    struct redlock_client *client;
    struct redlock_client *further[RIG_MAX_FURTHER]; /* clients, by rig_further_client() */
    size_t n_further;
    struct redlock_options options; /* of the client; further clients of a test may start from it */
    bool guarded;                   /* the profile of the options */
    size_t n;
    char files[3][160]; /* what the TLS options name */
    const char *urls[MASTERS_MAX]; /* of the masters; a test may put a relay's in their place before rig_connect() */
};

/* --- Set up and tear down */

/* A machine with much to do lets a process stand still for seconds: a master is late after that only in tests of late
 * masters, which tune their clients. */
#define RIG_NODE_TIMEOUT_MS 5000

/* Default options, but for the time that masters have, with the profile that $REDLOCK_TEST_PROFILE names, "classic" or
 * "guarded" (the default). New masters are declared new by the first client that is made of them; further clients only
 * vote. */
void rig_default_options(struct rig *rig);

/* Masters as wished; no client yet. With $REDLOCK_TEST_TLS set they are reached by TLS, and the options of clients have
 * what that takes. */
void rig_start(struct rig *rig, const struct masters_options *options);
/* Names the CA and the client's certificate in rig->options. */
void rig_trust(struct rig *rig);
/* Unix sockets, no persistence, no client yet. */
void rig_start_masters(struct rig *rig, size_t n, const char *const *extra_args);
/* Masters and a client with default options that is connected to all of them. */
void rig_open(struct rig *rig, size_t n);
/* The same with options changed by `tune` (may be NULL) and the first `dead` masters killed beforehand. */
void rig_open_with(struct rig *rig, size_t n, size_t dead, void (*tune)(struct redlock_options *));
/* Creates rig->client from rig->options and waits until every running master is connected. */
void rig_connect(struct rig *rig);
/* For rig_open_with(): nothing is asked again because a master is slow, so everything can be counted. */
void rig_tune_for_counting(struct redlock_options *options);
/* The same: a hung master is waited for, and who was refused tries again soon. */
void rig_tune_for_rivals(struct redlock_options *options);
void rig_close(struct rig *rig);

/* A further client on the same loop and masters, connected. */
struct redlock_client *rig_new_client(struct rig *rig);
/* The same, destroyed by rig_close() before rig->client. */
struct redlock_client *rig_further_client(struct rig *rig);
struct redlock_lock *rig_new_lock(struct redlock_client *client, const char *key);

/* --- Waiting: the loop runs meanwhile */

typedef bool (*rig_condition)(void *argument);
void rig_wait(struct rig *rig, rig_condition condition, void *argument, const char *what);
void rig_wait_outcome(struct rig *rig, const struct outcome *outcome);
void rig_wait_link(struct rig *rig, struct redlock_client *client, size_t node, enum redlock_link link);
/* Until it is connected and its vote counts. */
void rig_wait_vote(struct rig *rig, struct redlock_client *client, size_t node);
/* Until no master has the key. */
void rig_wait_absent(struct rig *rig, const char *key);
/* Until exactly n masters have the key. */
void rig_wait_count(struct rig *rig, const char *key, size_t n);
/* Until no connected master owes the client a reply. */
void rig_wait_quiet(struct rig *rig, struct redlock_client *client);
/* Until the client has no value left that may be set anywhere. */
void rig_wait_no_claims(struct rig *rig, struct redlock_client *client);
/* Until the child process has ended, with exit status 0. */
void rig_wait_child(struct rig *rig, pid_t pid);
/* For a time, whatever happens: only to let a ttl pass or to see that something does not happen. */
void rig_run_for(struct rig *rig, int64_t ms);

/* --- Operations to their end */

struct redlock_acquire_options rig_request(uint32_t ttl_ms, int64_t timeout_ms);
/* The same without renewal: the lock ends with its ttl. */
struct redlock_acquire_options rig_lease(uint32_t ttl_ms, int64_t timeout_ms);
struct outcome rig_acquire(struct rig *rig, struct redlock_lock *lock, const struct redlock_acquire_options *request);
struct outcome rig_extend(struct rig *rig, struct redlock_lock *lock, uint32_t ttl_ms);
struct outcome rig_release(struct rig *rig, struct redlock_lock *lock);
/* On a busy machine masters answer later than they are given: so often an attempt that must end in another way is
 * repeated. */
#define RIG_LATE_ATTEMPTS 20
/* As rig_acquire(), and anew, after a pause, as long as too few masters answer in time, or the ttl ends before. */
struct outcome rig_acquire_in_time(struct rig *rig, struct redlock_lock *lock,
                                   const struct redlock_acquire_options *request);

/* The same, which must end with this status. */
struct outcome rig_expect_acquire(struct rig *rig, struct redlock_lock *lock,
                                  const struct redlock_acquire_options *request, int status);
struct outcome rig_expect_acquire_in_time(struct rig *rig, struct redlock_lock *lock,
                                          const struct redlock_acquire_options *request, int status);
struct outcome rig_expect_extend(struct rig *rig, struct redlock_lock *lock, uint32_t ttl_ms, int status);
struct outcome rig_expect_release(struct rig *rig, struct redlock_lock *lock, int status);

/* A lock on the key, held, with the votes of all connected masters in; fails the test if it is not granted. */
struct redlock_lock *rig_hold(struct rig *rig, const char *key, uint32_t ttl_ms);
struct redlock_lock *rig_hold_lease(struct rig *rig, const char *key, uint32_t ttl_ms); /* without renewal */
struct redlock_lock *rig_hold_as(struct rig *rig, const char *key, const struct redlock_acquire_options *request);
/* The same for a lock that the test has made. */
void rig_hold_lock(struct rig *rig, struct redlock_lock *lock, const struct redlock_acquire_options *request);

/* --- Masters that fail */

/* Returns when rig->client knows that the master is gone, which it notices when the loop runs. */
void rig_kill_master(struct rig *rig, size_t node);
/* The same for each master in the mask; returns how many there are. */
size_t rig_kill_masters(struct rig *rig, unsigned mask);
/* The same number stands for the same minority of five masters, as a mask; there are so many. */
#define RIG_MINORITIES_OF_5 15
unsigned rig_minority_of_5(int number);
/* Each master in the mask. */
#define RIG_ALL (~0u)
void rig_hang_masters(struct rig *rig, unsigned mask);
void rig_resume_masters(struct rig *rig, unsigned mask);
/* Kills a master and starts it again, and returns when rig->client is connected. It is empty if it keeps nothing. */
void rig_restart_master(struct rig *rig, size_t node);
/* A master, which keeps nothing on disk, loses its memory: it starts anew, or its keys are removed. */
enum rig_loss { RIG_RESTARTED, RIG_FLUSHED, RIG_LOSSES };
void rig_lose_memory(struct rig *rig, size_t node, enum rig_loss how);

/* --- Looking at the masters */

/* How many masters store exactly this value under the key. */
size_t rig_count_value(struct rig *rig, const char *key, const char *value);
/* PTTL of the key on one master; -2 if it is absent. */
long long rig_pttl(struct rig *rig, size_t node, const char *key);
/* Runs a command of at most 9 words on one master; it must succeed. The list ends with NULL. */
void rig_do(struct rig *rig, size_t node, ...) __attribute__((sentinel));
void rig_do_all(struct rig *rig, ...) __attribute__((sentinel));
/* Stores another client's value under the key, with a ttl of a minute. */
void rig_occupy(struct rig *rig, size_t node, const char *key);

int64_t rig_now_ms(void); /* CLOCK_BOOTTIME */

#endif
