/* What a command holds: one lock, one permit, or as a set several keys, or permits of one key. Locks are counted in the
 * user's order of their keys. */
#ifndef CLI_LOCKS_H
#define CLI_LOCKS_H

#include <stdbool.h>

#include "cli/agent_lock.h"
#include "cli/lock_spec.h"
#include "cli/session.h"

/* The alarm of a key. */
typedef void (*locks_watch_fn)(const char *key, const struct redlock_alarm *alarm, void *data);

/* What is told of one lock that is held. */
struct locks_part {
    const char *token;
    uint64_t fence; /* 0: none */
    int32_t slot;   /* of a permit; otherwise -1 */
};

/* So many of the masters, and how many must agree. */
struct locks_masters {
    size_t n;
    uint32_t quorum;
};

/* What the masters have said of one lock, as of the latest event; by bits. */
struct locks_votes {
    uint32_t ok;       /* their votes count */
    uint32_t answered; /* in the attempt or extension that was the latest */
    uint32_t gone;     /* they had no longer what was to be released */
};

struct locks {
    const struct lock_spec *spec;
    struct subject subject;
    struct subject_sink alarms;
    size_t n;
    const struct redlock_lock *handles[CLI_MOST_TEXTS]; /* NULL: the agent has it */
    struct agent_lock agent;
    struct locks_votes votes[CLI_MOST_TEXTS];
    locks_watch_fn watch;
    void *watch_data;
};

/* 0 or the library's error. The session's client, or its agent, owns what is made. */
int locks_create(struct locks *locks, struct session *session, const struct lock_spec *spec);

/* Each starts the operation and waits for its end, as session_acquire_whole() does. */
int locks_acquire(struct locks *locks, struct session *session, const struct redlock_acquire_options *request);
int locks_extend(struct locks *locks, struct session *session, uint32_t ttl_ms);
int locks_release(struct locks *locks, struct session *session);

/* Gives them up for the time that the specification has the masters keep them (hold_ms), so much of which is left.
 * False: they are held as before. */
bool locks_leave(struct locks *locks, struct session *session, uint32_t left_ms);

/* Waits for the answers that are still missing after one of these. The session's observer tells locks_observe(). */
void locks_settle(struct locks *locks, struct session *session, uint32_t timeout_ms);

/* As redlock_lock_detach(), redlock_lock_export() and redlock_lock_adopt(), or the same for the set. */
enum { LOCKS_EXPORT_SIZE = REDLOCK_MAX_SET_EXPORT_BYTES };
int locks_detach(struct locks *locks);
int locks_export(struct locks *locks, char *ret_text, size_t size);
int locks_adopt(struct locks *locks, const struct redlock_acquire_options *options, const char *text);

void locks_cancel(struct locks *locks);

/* The key of one lock, as the user wrote it. */
const char *locks_key(const struct locks *locks, size_t i);

struct locks_part locks_part(const struct locks *locks, size_t i);

/* After an operation: the key that decided it, or NULL if none did, or if there is only one. */
const char *locks_decisive_key(const struct locks *locks, const struct outcome *outcome);

/* Takes note of an event of the client. False if it is none that brings new validity. The second one is the session's
 * observer, whose data are the locks. */
bool locks_observe(struct locks *locks, const struct redlock_event *event);
void locks_on_event(const struct redlock_event *event, void *data);

/* NULL: nobody is told. */
void locks_watch(struct locks *locks, locks_watch_fn watch, void *data);

/* The least of all keys. */
int64_t locks_remaining_ns(const struct locks *locks);
int64_t locks_remaining_ms(const struct locks *locks);

/* After a release: the first key that so many masters had no longer that they could not have kept it from others, and
 * how many; NULL if there is none, or if an agent has had several. */
const char *locks_gone_key(const struct locks *locks, unsigned *ret_masters);

/* As the list is now. */
struct locks_masters locks_masters(const struct locks *locks);

/* Those whose votes count, for the lock that has the fewest. */
unsigned locks_nodes_ok(const struct locks *locks);

#endif
