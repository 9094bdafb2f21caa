/* What an operation ended with, and each master's part in it. */
#ifndef REDLOCK_RESULT_H
#define REDLOCK_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum redlock_op {
    REDLOCK_OP_ACQUIRE = 1,
    REDLOCK_OP_EXTEND,
    REDLOCK_OP_RELEASE,
    REDLOCK_OP_CONVERT,
};

/* What one master did with the last command of an operation. */
enum redlock_vote {
    REDLOCK_VOTE_NONE,    /* the client sent it nothing */
    REDLOCK_VOTE_PENDING, /* it has not answered; the client still handles a late answer */
    REDLOCK_VOTE_GRANTED, /* acquire: it set the key; extend: it set the ttl; release: it gave the key up */
    REDLOCK_VOTE_REFUSED, /* acquire: another holder has the key; extend, release: the key is missing or foreign */
    REDLOCK_VOTE_FAILED,  /* it did not carry out the command */
    REDLOCK_VOTE_UNKNOWN, /* it may have carried out the command; the client rolls that back where it must */
    REDLOCK_VOTE_QUEUED,  /* acquire: the waiter is in its wait queue */
};

/* Why the votes of a master do not count: see redlock(7), section TRUST. */
enum redlock_fault {
    REDLOCK_FAULT_NONE,
    REDLOCK_FAULT_UNJUDGED,    /* the client has not examined it yet */
    REDLOCK_FAULT_NEW_MEMORY,  /* quarantined: it is new, or was restarted, emptied or replaced */
    REDLOCK_FAULT_CLOCK_STEP,  /* quarantined: its clock was set forward */
    REDLOCK_FAULT_NOT_MASTER,  /* excluded, like all that follow: it is a replica */
    REDLOCK_FAULT_CLUSTER,     /* it is a node of a Redis Cluster */
    REDLOCK_FAULT_EVICTS,      /* it may evict locks */
    REDLOCK_FAULT_SAME_SERVER, /* another URL leads to it, or has led to it before */
    REDLOCK_FAULT_RING,        /* its marker is of other masters or another quorum */
    REDLOCK_FAULT_NO_RIGHTS,   /* the user may not run the commands of the examination */
    REDLOCK_FAULT_NO_MARKER,   /* it has no marker, and this client writes none (REDLOCK_JOIN_LOOK) */
    REDLOCK_FAULT_MAX_TTL,     /* the client's max_ttl_ms is larger than the deployment's */
    REDLOCK_FAULT_TWO_SERVERS, /* its name leads to two servers by turns */
    REDLOCK_FAULT_CLOCK_SLOW,  /* its clock stands still, or runs much slower than this machine's */
    REDLOCK_FAULT_NO_MEMBER,   /* it has left the list of masters, which an operator has changed */
    REDLOCK_FAULT_NOT_FOLLOWED, /* it has a newer list of masters, which this client does not follow */
    REDLOCK_FAULT_OVERRULED,   /* it has an older list of masters, or one of a change that another has overruled */
};

/* Why a held lock was lost. */
enum redlock_loss {
    REDLOCK_LOSS_NONE,
    REDLOCK_LOSS_EXPIRED,     /* the deadline passed before any renewal: none was wanted, or the process was stopped */
    REDLOCK_LOSS_UNREACHABLE, /* the deadline passed while renewals reached too few masters */
    REDLOCK_LOSS_REFUSED,     /* on too many masters the key is missing, or another's */
    REDLOCK_LOSS_CLOCK_STEP,  /* clocks of masters were set forward, or this client's own stood still */
    REDLOCK_LOSS_HOLD_LIMIT,  /* the deadline passed after max_hold_ms had ended the renewals */
};

struct redlock_node_result {
    const char *name;         /* "host:port" or the path of the socket, without credentials */
    enum redlock_vote vote;
    const char *detail;       /* why it did not grant: "missing", "foreign", "READONLY", "timeout"; of a master that
                                 was not asked, why not: the error of its connection, "in quarantine, 61 s left", "it is
                                 a replica". Printable, without a full stop; "" if it granted */
    int64_t latency_us;       /* from queueing the command to the reply; -1 without a reply */
    int64_t valid_for_ms;     /* how long its vote still counts, or 0 */
    enum redlock_fault fault; /* why its votes do not count at present */
};

/* Valid, with all that it points to, until the callback returns. New members are added at the end. */
struct redlock_result {
    enum redlock_op op;
    int status;             /* enum redlock_status; 0 is success */
    int cause;              /* for DEADLINE and CANCELED: how the last attempt ended; 0 if none had ended, or if the
                               handle was destroyed before the operation had ended */
    uint32_t attempts;      /* acquire: attempts made (0 if the handle is being destroyed); otherwise 1 */
    uint32_t quorum;        /* masters that must grant */
    uint32_t granted;       /* masters with REDLOCK_VOTE_GRANTED */
    int64_t elapsed_us;     /* from the call until the operation ended */
    int64_t remaining_ms;   /* validity left when the callback runs */
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* in the order given to redlock_client_create() */
    uint64_t fence;         /* the fencing token of the hold, or 0 */
    enum redlock_loss loss; /* for LOST: why */
    uint32_t reachable;     /* masters that are connected */
    uint32_t voting;        /* connected masters whose votes count at present */
    const char *why;        /* the reason of a failure, in words for people and without a full stop; "" for success. If
                               the status or its cause is NO_QUORUM or TOO_SLOW, or a DEADLINE has no cause, the text
                               is about the masters: "0 of 5 masters can vote: 5 in quarantine, 61 s left". Otherwise
                               it is redlock_strerror() of the status or, for DEADLINE, of the cause; for LOST it is
                               redlock_loss_text() and, behind a colon, on which masters the lock was lost and why */
    size_t part;            /* of a set in the blocking interface: the key that decided, as an index for
                               redlock_mutex_part(), or the number of keys if none did. The counts of masters and
                               the nodes are about that key. If the masters have answered about another key last,
                               the counts are 0 and there are no nodes */
};

/* The word for an enumerator, "acquire" or "granted", and a sentence about a loss, without a full stop. In static
 * storage; "?" for other numbers. */
REDLOCK_API const char *redlock_op_name(enum redlock_op op);
REDLOCK_API const char *redlock_vote_name(enum redlock_vote vote);
REDLOCK_API const char *redlock_loss_text(enum redlock_loss loss);

#ifdef __cplusplus
}
#endif
#endif
