/* What a command holds: one lock, one permit, or as a set several keys, or permits of one key. Locks are counted in the
 * user's order of their keys. */
#ifndef CLI_GRIP_H
#define CLI_GRIP_H

#include <stdbool.h>

#include "cli/session.h"
#include "cli/wanted.h"

/* The alarm of a key. */
typedef void (*grip_watch_fn)(const char *key, const struct redlock_alarm *alarm, void *data);

/* What the masters have said of one lock, as of the latest event; by bits. */
struct grip_votes {
    uint32_t ok;       /* their votes count */
    uint32_t answered; /* in the attempt or extension that was the latest */
    uint32_t gone;     /* they had no longer what was to be released */
};

struct grip {
    const struct wanted *wanted;
    struct subject subject;
    struct subject_sink alarms;
    size_t n;
    const struct redlock_lock *locks[CLI_MOST_TEXTS];
    struct grip_votes votes[CLI_MOST_TEXTS];
    grip_watch_fn watch;
    void *watch_data;
};

/* 0 or the library's error. The client owns what is made. */
int grip_create(struct grip *grip, struct redlock_client *client, const struct wanted *wanted);

/* Each starts the operation and waits for its end, as session_acquire_whole() does. */
int grip_acquire(struct grip *grip, struct session *session, const struct redlock_acquire_options *request);
int grip_extend(struct grip *grip, struct session *session, uint32_t ttl_ms);
int grip_release(struct grip *grip, struct session *session);

/* Waits for the answers that are still missing after one of these. The session's observer tells grip_observe(). */
void grip_settle(struct grip *grip, struct session *session, uint32_t timeout_ms);

/* As redlock_lock_detach(), redlock_lock_export() and redlock_lock_adopt(), or the same for the set. */
enum { GRIP_EXPORT_SIZE = REDLOCK_MAX_SET_EXPORT_BYTES };
int grip_detach(struct grip *grip);
int grip_export(struct grip *grip, char *ret_text, size_t size);
int grip_adopt(struct grip *grip, const struct redlock_acquire_options *options, const char *text);

void grip_cancel(struct grip *grip);

/* The key of one lock, as it is wanted. */
const char *grip_key(const struct grip *grip, size_t i);

/* After an operation: the key that decided it, or NULL if none did, or if there is only one. */
const char *grip_decisive_key(const struct grip *grip, const struct outcome *outcome);

/* Takes note of an event of the client. False if it is none that brings new validity. */
bool grip_observe(struct grip *grip, const struct redlock_event *event);

/* NULL: nobody is told. */
void grip_watch(struct grip *grip, grip_watch_fn watch, void *data);

/* The least of all keys. */
int64_t grip_remaining_ns(const struct grip *grip);
int64_t grip_remaining_ms(const struct grip *grip);

/* After a release: the first key that so many masters had no longer that they could not have kept it from others, and
 * how many; NULL if there is none. */
const char *grip_gone_key(const struct grip *grip, size_t quorum, unsigned *ret_masters);

/* Masters whose votes count, for the lock that has the fewest. */
unsigned grip_nodes_ok(const struct grip *grip);

#endif
