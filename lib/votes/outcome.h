/* What one master did with one command, in the only terms the engine understands.
 *
 * The codec maps replies, errors and lost connections to these four outcomes (codec/classify.h); nothing else may.
 * The distinction that safety rests on is FAILED against UNKNOWN: a command that failed was certainly not applied
 * and needs no rollback, an unknown one may have been applied, or may still be, and must be rolled back. */
#ifndef RL_VOTES_OUTCOME_H
#define RL_VOTES_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum rl_outcome {
    RL_NOT_ASKED, /* nothing was written to this master */
    RL_PENDING,   /* written, no reply yet */
    RL_GRANTED,   /* claim: key set; extend: ttl set; rollback: key deleted */
    RL_REFUSED,   /* the master's state says no: see the detail */
    RL_FAILED,    /* certainly not applied */
    RL_UNKNOWN,   /* may have been applied */
    RL_QUEUED,    /* enqueue: has a place in this master's queue, and may get the key at any time */
};

/* X(name, text): the reason behind an outcome, for people, and for the few cases in which the engine must tell
 * reasons apart (MISSING, FOREIGN). */
#define RL_DETAIL_MAP(X)                                                                                \
    X(NONE, "")                                                                                         \
    X(HELD, "held")                         /* claim: another value is set */                           \
    X(MISSING, "missing")                   /* extend, rollback: no such key */                             \
    X(FOREIGN, "foreign")                   /* extend, rollback: another value, or another type */              \
    X(DOWN, "not connected")                                                                            \
    X(LATE, "late")                         /* overdue with earlier replies: not asked */               \
    X(QUARANTINED, "quarantined")           /* its memory, or its clock, is not to be trusted yet */      \
    X(EXCLUDED, "excluded")                 /* not fit to vote: see the node's admission status */              \
    X(MEMORY_LOST, "memory lost")           /* done in a memory other than the one that was judged */   \
    X(QUEUE_FULL, "queue full")             /* enqueue: as many wait as may */                          \
    X(HANDED_OFF, "handed on")               /* rollback: the next in the wait queue has the key now */                \
    X(OTHERS_WAIT, "others wait")           /* rollback: there is a line, which was not told */             \
    X(TIMEOUT, "timeout")                                                                               \
    X(DISCONNECTED, "disconnected")                                                                     \
    X(BACKLOG, "backlog full")                                                                          \
    X(PROTOCOL, "unexpected reply")                                                                     \
    X(READONLY, "READONLY")                                                                             \
    X(LOADING, "LOADING")                                                                               \
    X(MASTERDOWN, "MASTERDOWN")                                                                         \
    X(BUSY, "BUSY")                                                                                     \
    X(CLUSTERDOWN, "CLUSTERDOWN")                                                                       \
    X(MOVED, "MOVED")                                                                                   \
    X(CROSSSLOT, "CROSSSLOT")                                                                           \
    X(NOREPLICAS, "NOREPLICAS")                                                                         \
    X(MISCONF, "MISCONF")                                                                               \
    X(OOM, "OOM")                                                                                       \
    X(NOAUTH, "NOAUTH")                                                                                 \
    X(NOPERM, "NOPERM")                                                                                 \
    X(NOSCRIPT, "NOSCRIPT")                                                                             \
    X(UNKNOWN_COMMAND, "unknown command")                                                               \
    X(ERROR, "error")                       /* any other error reply */

enum rl_detail {
#define RL_DETAIL_ENUM(name, text) RL_DETAIL_##name,
    RL_DETAIL_MAP(RL_DETAIL_ENUM)
#undef RL_DETAIL_ENUM
};

/* What a master says of its queue and of our place in it (protocol 6.1), beside the answer to ENQUEUE. */
struct rl_entry_report {
    uint64_t time_us; /* the master's clock */
    uint64_t ticket;  /* our number in this queue */
    uint32_t rank;    /* waiters in front of us; at first some of them may be dead */
    int64_t held_ms;  /* what the key has left; -1: it does not expire */
    int64_t look_ms;  /* nothing will be known of our turn, without a notification, before that is over; -1: ever */
    bool lower;       /* a living waiter with a lower ticket is here, in whose favour a grant may have to be yielded */
};

/* What a master's notification says (protocol 6.4). */
struct rl_notification {
    uint32_t round;   /* the refresh that it names */
    bool granted;     /* the key has been handed off to us; otherwise: a lower ticket has come to wait behind us */
    uint64_t time_us; /* the master's clock when it was written */
    uint64_t fence;   /* the master's counter; 0: not fenced */
};

struct rl_answer {
    enum rl_outcome outcome;
    enum rl_detail detail;
    uint64_t fence; /* CLAIM granted or refused, by a kind with tokens: the master's counter; otherwise 0 */
};

#endif
