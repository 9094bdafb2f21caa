/* What `redlock run` holds: one lock, one permit, or as a set several keys, or permits of one key. Locks are counted in
 * the user's order of their keys. */
#ifndef CLI_RUN_GRIP_H
#define CLI_RUN_GRIP_H

#include <stdbool.h>

#include "cli/run/options.h"
#include "cli/session.h"

/* The alarm of a key. */
typedef void (*grip_watch_fn)(const char *key, const struct redlock_alarm *alarm, void *data);

struct grip {
    const struct run_options *options;
    struct redlock_lock *lock; /* NULL: a set */
    struct redlock_set *set;
    size_t n;
    const struct redlock_lock *locks[CLI_MOST_TEXTS];
    unsigned nodes_ok[CLI_MOST_TEXTS]; /* masters whose votes for the key count, as of the latest event */
    grip_watch_fn watch;
    void *watch_data;
};

/* 0 or the library's error. The client owns what is made. */
int grip_create(struct grip *grip, struct redlock_client *client, const struct run_options *options);

/* Each starts the operation and waits for its end, as session_acquire_whole() and session_release() do. */
int grip_acquire(struct grip *grip, struct session *session, const struct redlock_acquire_options *request);
int grip_release(struct grip *grip, struct session *session);
void grip_cancel(struct grip *grip);

/* After an operation: the key that decided it, or NULL if none did, or if there is only one. */
const char *grip_decisive_key(const struct grip *grip, const struct outcome *outcome);

/* Takes note of an event of the client. False if it is none that brings new validity. */
bool grip_observe(struct grip *grip, const struct redlock_event *event);

/* NULL: nobody is told. */
void grip_watch(struct grip *grip, grip_watch_fn watch, void *data);

/* The least of all keys. */
int64_t grip_remaining_ns(const struct grip *grip);
int64_t grip_remaining_ms(const struct grip *grip);
unsigned grip_nodes_ok(const struct grip *grip);

#endif
