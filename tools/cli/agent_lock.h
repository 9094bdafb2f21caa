/* A lock, a permit or a set that the agent holds for this command: a handle as subject.h has them.
 *
 * The agent renews it, and tells its deadline. When the connection ends, another one is tried until that deadline, and
 * takes the lock up again by its token; an agent that does not know it lets it end. */
#ifndef CLI_AGENT_LOCK_H
#define CLI_AGENT_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/agent_client.h"
#include "cli/clock.h"
#include "cli/lock_spec.h"
#include "cli/subject.h"

struct session;

/* The operation that is under way. */
enum agent_lock_op { AGENT_LOCK_IDLE, AGENT_LOCK_ACQUIRE, AGENT_LOCK_EXTEND, AGENT_LOCK_RELEASE };

struct agent_part {
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    uint64_t fence;
    int32_t slot; /* -1: it is no permit */
};

struct agent_lock {
    struct session *session;
    const struct lock_spec *spec;
    struct agent_listener listener;
    struct redlock_acquire_options options;
    struct subject_sink *sink;   /* of the operation */
    struct subject_sink *alarms; /* NULL: nobody is told */
    enum agent_lock_op op;
    int64_t begun_us, give_up_us; /* of it; the latter INT64_MAX: never */
    bool held;
    bool keeps;            /* a release leaves it held for the rest of the specification's hold_ms */
    bool unknown;          /* an agent has refused to take it up: nobody renews it */
    uint64_t number;       /* by which the connection knows it; 0: it does not */
    struct instant until;
    uint32_t votes, members, quorum; /* as of the latest grant or renewal */
    uint32_t gone;         /* masters that had no longer what was released, as far as the agent tells */
    size_t unanswered;     /* releases by token */
    int64_t pause_ms;      /* before the next connection is tried */
    bool (*connected)(int fd, void *data); /* as in struct agent_listener; NULL: nobody asks */
    void *connected_data;
    struct agent_part parts[CLI_MOST_TEXTS]; /* in the user's order */
};

extern const struct subject_kind subject_agent;

/* One of a session that has an agent; it outlives the session. */
void agent_lock_init(struct agent_lock *lock, struct session *session, const struct lock_spec *spec);

#endif
