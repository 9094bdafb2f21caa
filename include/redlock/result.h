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
};

/* What one master did with the last command of an operation. */
enum redlock_vote {
    REDLOCK_VOTE_NONE,    /* nothing was sent to it in this operation */
    REDLOCK_VOTE_PENDING, /* no reply yet; a late one is still handled */
    REDLOCK_VOTE_GRANTED, /* acquire: key set; extend: ttl set; release: key deleted, or handed to the next in line */
    REDLOCK_VOTE_REFUSED, /* acquire: held by another; extend and release: missing or foreign, see detail */
    REDLOCK_VOTE_FAILED,  /* certainly not applied */
    REDLOCK_VOTE_UNKNOWN, /* may have been applied: rolled back, or still owed to the master */
    REDLOCK_VOTE_QUEUED,  /* acquire: in line */
};

/* Why a master does not vote. */
enum redlock_fault {
    REDLOCK_FAULT_NONE,
    REDLOCK_FAULT_UNJUDGED,
    REDLOCK_FAULT_NEW_MEMORY,  /* quarantined: restarted, emptied or replaced, or new */
    REDLOCK_FAULT_CLOCK_STEP,  /* quarantined: its clock was set forward */
    REDLOCK_FAULT_NOT_MASTER,  /* these are excluded */
    REDLOCK_FAULT_CLUSTER,
    REDLOCK_FAULT_EVICTS,
    REDLOCK_FAULT_SAME_SERVER,
    REDLOCK_FAULT_RING,        /* clients disagree on masters, quorum or prefix */
    REDLOCK_FAULT_NO_RIGHTS,
    REDLOCK_FAULT_NO_MARKER,
    REDLOCK_FAULT_MAX_TTL,     /* the client's max_ttl_ms is larger than the deployment's */
};

/* Why a held lock was lost. */
enum redlock_loss {
    REDLOCK_LOSS_NONE,
    REDLOCK_LOSS_EXPIRED,     /* the deadline passed and no renewal was tried: not wanted, or the process stood still */
    REDLOCK_LOSS_UNREACHABLE, /* the deadline passed while renewals found too few masters */
    REDLOCK_LOSS_REFUSED,     /* too many masters no longer have the key, or have another's */
    REDLOCK_LOSS_CLOCK_STEP,  /* masters' clocks were set forward */
    REDLOCK_LOSS_HOLD_LIMIT,  /* the deadline passed after max_hold_ms had ended the renewals */
};

struct redlock_node_result {
    const char *name;       /* the master, as "host:port" or socket path, without credentials */
    enum redlock_vote vote;
    const char *detail;     /* why it is not granted: "missing", "foreign", "READONLY", "timeout"...; of a master that
                               could not be asked, the cause: the error of its connection, "in quarantine, 61 s left",
                               "it is a replica"...; printable, without a full stop; "" if granted */
    int64_t latency_us;     /* from the queueing, in the loop turn of the send, to the reply; -1 without a reply */
    int64_t valid_for_ms;   /* time for which this master's vote still counts, 0 if it does not */
    enum redlock_fault fault; /* what keeps it from voting at present, as a constant */
};

/* Borrowed: valid during the callback, and so is everything it points to. New members are added at the end. */
struct redlock_result {
    enum redlock_op op;
    int status;             /* enum redlock_status; 0 is success */
    int cause;              /* for DEADLINE and CANCELED: how the last attempt ended, 0 if none had ended */
    uint32_t attempts;      /* acquire: attempts made (0 if the handle is being destroyed); otherwise 1 */
    uint32_t quorum;
    uint32_t granted;       /* masters with REDLOCK_VOTE_GRANTED */
    int64_t elapsed_us;     /* from the call to its completion */
    int64_t remaining_ms;   /* acquire, extend: validity left now */
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* in the order given to redlock_client_create() */
    uint64_t fence;         /* acquire, extend: the fencing token of the hold, 0 if it has none */
    enum redlock_loss loss; /* for LOST: why */
    uint32_t reachable;     /* masters that are connected */
    uint32_t voting;        /* ... and whose votes count at present */
    const char *why;        /* a failure's reason in words for people, without a full stop. For NO_QUORUM and TOO_SLOW,
                               as status or as cause, and for DEADLINE without a cause, it is a sentence about the
                               masters: "0 of 5 masters can vote: 5 in quarantine, 61 s left"; otherwise the
                               redlock_strerror() of the status, or of a deadline's cause; "" for success */
};

/* "acquire", "granted", ...; "?" for numbers outside the enum. Static storage. */
REDLOCK_API const char *redlock_op_name(enum redlock_op op);
REDLOCK_API const char *redlock_vote_name(enum redlock_vote vote);
REDLOCK_API const char *redlock_loss_text(enum redlock_loss loss); /* a sentence without a full stop */

#ifdef __cplusplus
}
#endif
#endif
