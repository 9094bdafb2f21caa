/* What one master did with one command, in the only terms that votes and engine understand.
 *
 * The codec alone maps replies, errors and lost connections to these outcomes (codec/classify.h). Safety rests on the
 * difference between FAILED and UNKNOWN: a command that failed was certainly not applied and needs no rollback; an
 * unknown one may have been applied, or may still be, and must be rolled back. */
#ifndef RL_VOTES_OUTCOME_H
#define RL_VOTES_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

enum rl_outcome {
    RL_NOT_ASKED, /* nothing was written to this master */
    RL_PENDING,   /* written, no reply yet */
    RL_GRANTED,   /* claim: the key is set; extend: its ttl; release, rollback: the key is deleted or handed off */
    RL_REFUSED,   /* the master's state says no: see the detail */
    RL_FAILED,    /* certainly not applied */
    RL_UNKNOWN,   /* may have been applied */
    RL_QUEUED,    /* enqueue: the value is in this master's wait queue, and may get the key at any time */
};

/* X(name, text): the reason behind an outcome, for people, and for the few cases in which the engine must tell
 * reasons apart (MISSING, FOREIGN). */
#define RL_DETAIL_MAP(X)                                                                                            \
    X(NONE, "")                                                                                                     \
    X(HELD, "held")                         /* claim: another value is set */                                       \
    X(MISSING, "missing")                   /* extend, release: no such key */                                      \
    X(FOREIGN, "foreign")                   /* extend, release: another value, or another type */                   \
    X(DOWN, "not connected")                                                                                        \
    X(LATE, "late")                         /* not asked, since it is overdue with earlier replies */               \
    X(QUARANTINED, "quarantined")           /* its memory, or its clock, is not to be trusted yet */                \
    X(EXCLUDED, "excluded")                 /* it may not vote: see its admission status */                         \
    X(MEMORY_LOST, "memory lost")           /* done in another memory than the one that was admitted */             \
    X(QUEUE_FULL, "queue full")             /* enqueue: no more may wait */                                         \
    X(HANDED_OFF, "handed off")             /* release: the next in the wait queue has the key */                   \
    X(OTHERS_WAIT, "others wait")           /* release, short form: others wait, and have not been told */          \
    X(OTHER_PARTIES, "another number of parties")                   /* of a latch, as the next two */             \
    X(OTHER_GENERATION, "another generation")                                                                       \
    X(COMPLETE, "all parties have arrived")                                                                         \
    X(TIMEOUT, "timeout")                                                                                           \
    X(DISCONNECTED, "disconnected")                                                                                 \
    X(BACKLOG, "backlog full")                                                                                      \
    X(PROTOCOL, "unexpected reply")                                                                                 \
    X(READONLY, "READONLY")                                                                                         \
    X(LOADING, "LOADING")                                                                                           \
    X(MASTERDOWN, "MASTERDOWN")                                                                                     \
    X(BUSY, "BUSY")                                                                                                 \
    X(CLUSTERDOWN, "CLUSTERDOWN")                                                                                   \
    X(MOVED, "MOVED")                                                                                               \
    X(CROSSSLOT, "CROSSSLOT")                                                                                       \
    X(NOREPLICAS, "NOREPLICAS")                                                                                     \
    X(MISCONF, "MISCONF")                                                                                           \
    X(OOM, "OOM")                                                                                                   \
    X(NOAUTH, "NOAUTH")                                                                                             \
    X(NOPERM, "NOPERM")                                                                                             \
    X(NOSCRIPT, "NOSCRIPT")                                                                                         \
    X(UNKNOWN_COMMAND, "unknown command")                                                                           \
    X(FOREIGN_COUNTER, "foreign at redlock:fence:KEY")              /* something else has the name, as below */     \
    X(FOREIGN_QUEUE, "foreign at redlock:queue:KEY")                                                                \
    X(FOREIGN_WAITERS, "foreign at redlock:waiters:KEY")                                                            \
    X(ERROR, "error")                       /* any other error reply */

enum rl_detail {
#define RL_DETAIL_ENUM(name, text) RL_DETAIL_##name,
    RL_DETAIL_MAP(RL_DETAIL_ENUM)
#undef RL_DETAIL_ENUM
    RL_DETAIL_COUNT
};

/* What a master says, beside its answer to ENQUEUE, of the value's entry in its wait queue (rule 7.1). */
struct rl_entry_report {
    uint64_t time_us; /* the master's clock */
    uint64_t ticket;  /* the entry's number in this queue */
    uint32_t rank;    /* waiters in front; at first some of them may be dead */
    int64_t held_ms;  /* what the key has left; -1: it does not expire */
    int64_t look_ms;  /* the turn does not come before that is over, unless a notification says so; -1: ever */
    bool lower; /* granted, but a living waiter with a lower ticket waits here: the grant may have to be yielded */
};

enum rl_notice_kind {
    RL_TOLD_GRANTED, /* the value has been given the key, or a share of it */
    RL_TOLD_LOWER,   /* a waiter with a lower ticket has come */
    RL_TOLD_LOOK,    /* its turn may have come: it must ask */
    RL_TOLD_FIRST,   /* it has become the first in the queue, and the key ends before its next refresh: it must ask */
};

/* What a master's notification says (rule 7.3). */
struct rl_notification {
    enum rl_notice_kind kind;
    uint32_t round;   /* the number of the refresh that it names */
    uint64_t time_us; /* the master's clock when it was written */
    uint64_t fence;   /* the master's counter; 0: not fenced. TOLD_LOOK of a permit: a slot that may be free */
};

struct rl_answer {
    enum rl_outcome outcome;
    enum rl_detail detail;
    uint64_t fence; /* CLAIM granted or refused, by a kind with tokens: the master's counter; otherwise 0 */
};

/* The latency of a command without a reply. */
#define RL_NO_LATENCY UINT32_MAX

#endif
