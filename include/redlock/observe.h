/* Statistics, the state of each master, and events.
 *
 * A program reads counters with the functions below. The event hook of struct redlock_options receives each step as it
 * happens, for a log or for metrics. An operation that ends because its lock, latch or client is destroyed makes no
 * event: its callback reports it. Nor does what a set gives up of its locks, while it is acquired and when it is
 * lost. */
#ifndef REDLOCK_OBSERVE_H
#define REDLOCK_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/result.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_client;
struct redlock_latch;
struct redlock_lock;

/* The connection to one master. */
enum redlock_link {
    REDLOCK_LINK_JOINING, /* the client's first connection attempt is under way */
    REDLOCK_LINK_READY,   /* the handshake is complete */
    REDLOCK_LINK_LATE,    /* an answer has been due for more than node_timeout_ms: operations do not wait for it */
    REDLOCK_LINK_DOWN,    /* not connected; the client connects again after a pause */
};

/* Whether the votes of a master count, in the guarded profile. In the classic profile they always count. */
enum redlock_standing {
    REDLOCK_STANDING_UNJUDGED,    /* the client has not examined the master yet */
    REDLOCK_STANDING_VOTES,       /* votes count */
    REDLOCK_STANDING_QUARANTINED, /* votes count again when quarantine_ms have passed */
    REDLOCK_STANDING_EXCLUDED,    /* votes do not count until the cause has been removed: see fault */
};

/* Counters since the client was created, and two gauges. */
struct redlock_stats {
    uint64_t acquires;        /* calls of redlock_acquire() that returned 0 */
    uint64_t attempts;        /* attempts of these, and of conversions to exclusive; those from the queue included */
    uint64_t acquired;        /* acquisitions that ended with REDLOCK_OK; the next five count the other outcomes */
    uint64_t held;
    uint64_t no_quorum;
    uint64_t too_slow;
    uint64_t deadline;
    uint64_t canceled;
    uint64_t extends;         /* extensions that the program began */
    uint64_t extended;        /* those that a quorum confirmed */
    uint64_t releases;        /* releases that the program began */
    uint64_t released;        /* those that ended with REDLOCK_OK */
    uint64_t lost;            /* locks whose validity ended while they were held */
    uint64_t rollbacks;       /* attempts that failed and were rolled back, without canceled ones */
    uint64_t commands;        /* commands for masters, without handshakes; one command may serve many locks */
    uint64_t late_grants;     /* grants that arrived after their attempt had ended */
    uint64_t rollbacks_resent; /* rollbacks sent again, after a reconnect or an error */
    uint64_t rollbacks_expired; /* rollbacks given up because the key had surely expired */
    uint64_t script_reloads;  /* commands repeated with the script's text after NOSCRIPT */
    uint64_t renewals;        /* extensions that the library began by itself */
    uint64_t renewals_failed; /* those that found no quorum; the library repeats them while there is time */
    uint64_t repairs;         /* keys given back to masters that had lost them */
    uint64_t at_risk;         /* times that little validity was left: REDLOCK_ALARM_AT_RISK */
    uint64_t disproved;       /* answers that did not count, since the master had lost its memory */
    uint64_t clock_steps;     /* forward moves of masters' clocks against this client's, its own standstills included */
    uint64_t raises;          /* fenced acquisitions that needed a second round trip */
    uint64_t claims;          /* gauge: values that a master may have set, and those of lost locks */
    uint64_t pending_rollbacks; /* gauge: values whose rollback some master has not confirmed */
    uint64_t waits;           /* acquisitions that joined the wait queue */
    uint64_t hand_offs;       /* votes that arrived as a notification */
    uint64_t yields;          /* times that a waiter gave its votes back to a waiter with a lower ticket */
    uint64_t cohort_hand_offs; /* locks that went to another handle of this client, without a master */
    uint64_t moves;           /* times that a waiter for a permit moved to the queue of another slot */
    uint64_t converts;        /* conversions to another mode that the program began */
    uint64_t converted;       /* those that ended with REDLOCK_OK */
    uint64_t latch_arrivals;  /* calls of redlock_latch_arrive() that returned 0 */
    uint64_t latch_arrived;   /* those that a quorum has recorded */
    uint64_t latch_awaits;    /* calls of redlock_latch_await() that returned 0 */
    uint64_t latch_opened;    /* those that ended with REDLOCK_OK */
    uint64_t latch_refused;   /* arrivals and waits that ended with OTHER_PARTIES or OTHER_GENERATION */
    uint64_t reentries;       /* times that an owner entered a lock again that it held: redlock_reenter() */
    uint64_t set_acquires;    /* calls of redlock_set_acquire() that returned 0; their locks are counted, too */
    uint64_t set_acquired;    /* those that ended with REDLOCK_OK */
    uint64_t elected;         /* times that an election of this client was told that it leads */
    uint64_t leaderships_lost; /* times that it was told of a loss */
    uint64_t looks;           /* calls of redlock_look() that returned 0 */
    uint64_t members_changed; /* times that the client went by a new list of masters */
};

struct redlock_node_stats {
    const char *name;         /* as in struct redlock_node_result; valid while the client lives */
    enum redlock_link link;
    uint64_t commands;        /* without handshakes */
    uint64_t replies;
    uint64_t granted;         /* answers to attempts to acquire, by outcome: these, the next three, and queued */
    uint64_t refused;
    uint64_t failed;
    uint64_t unknown;
    uint64_t connects;        /* handshakes completed */
    uint64_t disconnects;     /* connections that ended, and connection attempts that failed */
    uint64_t bytes_out;
    uint64_t bytes_in;
    size_t pending;           /* gauge: commands without a reply */
    size_t unsent_bytes;      /* gauge */
    int64_t last_latency_us;  /* of the latest reply; -1 before the first */
    const char *last_error;   /* why the latest connection ended, or ""; valid until the loop runs again */
    uint64_t queued;          /* answers that a waiter is in the wait queue */
    uint64_t messages;        /* on the connection for notifications; no other member counts that connection */
};

/* What the client found when it examined a master. The texts are valid until the loop runs again. */
struct redlock_node_info {
    const char *name;
    enum redlock_link link;
    enum redlock_standing standing;
    enum redlock_fault fault;
    const char *fault_text;   /* a sentence about fault, or "" */
    int64_t quarantine_ms;    /* time left in quarantine, or 0 */
    const char *version;      /* "redis 7.0.15"; this and the next four are "" as long as `looked` is 0 */
    const char *role;
    const char *run_id;
    const char *eviction_policy;
    const char *append_fsync; /* "always", "everysec", "no", "off", or "" without the right to read it */
    uint8_t looked;           /* 1: the client has examined the master. In the classic profile it does not */
    uint8_t durable;          /* 1: acknowledged writes survive a crash, so the master votes at once after a restart */
    uint8_t promoted;         /* 1: it was a replica once, or loaded a dump that was made while it had a replica */
    uint8_t cluster;          /* 1: it is a node of a Redis Cluster */
    int64_t maxmemory;        /* in bytes; 0 is no limit */
    int64_t replicas;         /* connected to it */
    int64_t marker_max_ttl_ms; /* clients with a larger max_ttl_ms get no vote; 0 without a marker */
    int64_t clock_offset_us;  /* its wall clock minus that of this machine; 0 if it was never read */
    int64_t clock_step_us;    /* size of the latest step: forward, an upper bound; negative, backward, a lower bound */
    uint32_t clock_forward_steps;
    uint32_t clock_backward_steps;
    int64_t latency_us;       /* of the latest reply; -1 before the first */
    const char *last_error;   /* as in struct redlock_node_stats */
    int64_t marker_longest_ms; /* longest ttl that a lock may still have; a quarantine lasts one second more */
    int64_t marker_falls_ms;  /* time until marker_longest_ms falls to marker_max_ttl_ms; 0: it does not by itself */
    int64_t declaration;      /* number of the latest declaration of max_ttl_ms that the master knows */
    int64_t declaration_confirmed; /* number of the latest that all masters knew */
    uint8_t member;           /* 1: it is in the list of masters by which the client goes; 0: it has left the list, or
                                 an operator's command is about to make it a member */
    int64_t list_ms;          /* so long it has had its list of masters; 0: that was never changed, or nobody knows */
    int64_t stale_ms;         /* so long ago a program greeted it that is configured with another list; 0: none has */
};

/* Copies at most `size` bytes of the statistics: pass the size of the structure. The masters' numbers are 0 to
 * redlock_client_node_count() - 1, in the order given to redlock_client_create(). Masters that come with a new list get
 * the next numbers, or those of masters that have left and hold nothing of this client any more. Errors: E_ARGUMENT
 * (another number, too), E_FORKED. */
REDLOCK_API int redlock_client_stats(const struct redlock_client *client, struct redlock_stats *ret_stats, size_t size);
REDLOCK_API int redlock_client_node_stats(const struct redlock_client *client, size_t node,
                                          struct redlock_node_stats *ret_stats, size_t size);
REDLOCK_API int redlock_client_node_info(const struct redlock_client *client, size_t node,
                                         struct redlock_node_info *ret_info, size_t size);
REDLOCK_API size_t redlock_client_node_count(const struct redlock_client *client);

/* How acquisitions and holds of one class of keys have ended (key_classes of struct redlock_options). An acquisition
 * that ended with REDLOCK_DEADLINE counts for its cause: what has kept the lock from being had until then. */
struct redlock_class_stats {
    const char *name;          /* valid while the client lives; "other" for the keys that no prefix fits */
    uint64_t acquired;         /* acquisitions that ended with REDLOCK_OK; the next five failed */
    uint64_t held;             /* others had the key */
    uint64_t no_quorum;
    uint64_t too_slow;
    uint64_t canceled;
    uint64_t client;           /* E_NOMEM and E_LIMIT: the client could not make an attempt */
    uint64_t lost_expired;     /* holds that were lost, by enum redlock_loss: these and the next four */
    uint64_t lost_unreachable;
    uint64_t lost_refused;
    uint64_t lost_clock_step;
    uint64_t lost_hold_limit;
};

/* Copies at most `size` bytes. The classes' numbers are 0, which is "other", to redlock_client_class_count() - 1.
 * Errors: E_ARGUMENT (another number, too), E_FORKED. */
REDLOCK_API int redlock_client_class_stats(const struct redlock_client *client, size_t number,
                                           struct redlock_class_stats *ret_stats, size_t size);
REDLOCK_API size_t redlock_client_class_count(const struct redlock_client *client);

/* Durations, counted by how long they were. All histograms have the same buckets. */
#define REDLOCK_HISTOGRAM_BUCKETS 23

struct redlock_histogram {
    uint64_t count;
    uint64_t sum_us;
    uint64_t buckets[REDLOCK_HISTOGRAM_BUCKETS]; /* each without those of the one before */
};

enum redlock_histogram_kind {
    REDLOCK_HISTOGRAM_ACQUIRE,      /* from redlock_acquire() to the outcome `which`: REDLOCK_OK, REDLOCK_HELD, ... */
    REDLOCK_HISTOGRAM_WAIT,         /* in the wait queue, with any outcome */
    REDLOCK_HISTOGRAM_HOLD,         /* from the acquisition to the release, the loss or the transfer */
    REDLOCK_HISTOGRAM_RENEWAL,      /* from the beginning of a renewal to the quorum that confirmed it */
    REDLOCK_HISTOGRAM_RENEWAL_LATE, /* from when a renewal was due to its beginning: this program was late */
    REDLOCK_HISTOGRAM_REPLY,        /* from a command to the reply of the master with the number `which` */
};

/* The largest duration of a bucket: 100, 200, 500, 1000 microseconds and so on to 1000 seconds; INT64_MAX for the last
 * bucket, and for numbers that are none. */
REDLOCK_API int64_t redlock_histogram_bound_us(size_t bucket);

/* Copies at most `size` bytes. `which` has a meaning where the kind says so. Errors: E_ARGUMENT (no such outcome or
 * master, too), E_FORKED. */
REDLOCK_API int redlock_client_histogram(const struct redlock_client *client, enum redlock_histogram_kind kind,
                                         int which, struct redlock_histogram *ret_histogram, size_t size);

/* Each type is followed by the members of struct redlock_event that it fills. */
enum redlock_event_type {
    REDLOCK_EVENT_NODE = 1,  /* the connection to a master changed: node, link, text */
    REDLOCK_EVENT_ATTEMPT,   /* an attempt of an acquisition begins: lock, token */
    REDLOCK_EVENT_VOTE,      /* a master answered an attempt, an extension or a release: lock (NULL if the answer is
                                about an earlier attempt), token, node, op, vote, latency_us (-1 for a vote that came
                                as a notification), text */
    REDLOCK_EVENT_BACKOFF,   /* an attempt failed; the next one follows after delay_us: lock, op, status */
    REDLOCK_EVENT_ACQUIRED,  /* an acquisition succeeded. This and the next three: lock, op, status, cause, token,
                                remaining_us, nodes, and text, if `why` of struct redlock_result is about masters */
    REDLOCK_EVENT_EXTENDED,  /* an extension succeeded */
    REDLOCK_EVENT_RELEASED,  /* a release ended, with any status */
    REDLOCK_EVENT_FAILED,    /* an acquisition, extension or conversion failed */
    REDLOCK_EVENT_LOST,      /* the validity ended while the lock was held: lock, status, loss, nodes,
                                text (on which masters, and why; "" if all answer) */
    REDLOCK_EVENT_RENEWED,   /* a quorum confirmed a renewal: lock, remaining_us, nodes */
    REDLOCK_EVENT_AT_RISK,   /* little validity is left: lock, remaining_us, nodes, text (as of LOST) */
    REDLOCK_EVENT_STANDING,  /* the standing of a master changed: node, standing, fault, text */
    REDLOCK_EVENT_CLOCK,     /* a master's clock has moved forward by delay_us against this client's, or back if that is
                                negative: node. -1: it was this client's own that stood still, for up to delay_us, and
                                the masters' votes count as before */
    REDLOCK_EVENT_WAITING,   /* a quorum told a waiter its position in the wait queue, or a new position:
                                lock, op, position, held_for_ms */
    REDLOCK_EVENT_LISTENING, /* the connection for notifications of a master is READY or DOWN; READY with a text: the
                                master refuses an observer's channel: node, link, text */
    REDLOCK_EVENT_EXTENDING, /* the client sends an extension or a renewal: lock, op */
    REDLOCK_EVENT_PROVED,    /* guarded profile: the epoch check of a master's answer is complete. The answer counts, or
                                does not because the master lost its memory: lock, node. EVENT_VOTE comes before it */
    REDLOCK_EVENT_VALIDITY,  /* the validity of a held lock may have changed: lock, or NULL for all locks. For programs
                                that keep a copy of redlock_remaining_ns(): they read it again when this turn of the
                                loop ends. Only sent if event_types asks for it */
    REDLOCK_EVENT_CONVERTED, /* a conversion succeeded: members as for ACQUIRED. One that fails is FAILED */
    REDLOCK_EVENT_LATCH_ARRIVED, /* an arrival at a latch ended, with any status. This and the next one: latch, status,
                                    cause, and text, which is `why` of struct redlock_latch_result */
    REDLOCK_EVENT_LATCH_AWAITED, /* a wait for a latch ended, with any status; OK: the latch is open */
    REDLOCK_EVENT_MEMBERS,   /* the client goes by another list of masters: text names them, with their quorum.
                                redlock_client_node_count() may be larger now. One event for each list that the client
                                has met; a view with the list that it has is none */
};

/* The bit of a type in event_types of struct redlock_options. */
#define REDLOCK_EVENT_BIT(type) (UINT32_C(1) << (type))

/* Valid until the hook returns. Members that the type does not fill are 0, but node and
 * slot are -1 and text is "". */
struct redlock_event {
    enum redlock_event_type type;
    struct redlock_client *client;
    struct redlock_lock *lock;
    int node; /* index of the master, or -1 */
    enum redlock_link link;
    enum redlock_op op;
    enum redlock_vote vote;
    int status;
    int64_t latency_us;
    int64_t delay_us;
    int64_t remaining_us;
    const char *token; /* of the attempt or the hold: a secret of the holder. Unless the lock is acquired with
                          `own_token`, a later hold of this client may have the same one */
    const char *text;
    enum redlock_standing standing;
    enum redlock_fault fault;
    enum redlock_loss loss;
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* what each master has granted, and until when that counts */
    uint32_t position;   /* in the wait queue; 1 is the next to get the lock */
    int64_t held_for_ms; /* until the holder's keys expire, unless it extends them; -1: they do not expire */
    int cause;           /* as in struct redlock_result */
    int32_t slot;        /* redlock_lock_slot() of the lock; -1 without a lock, and for a lock that is no permit */
    enum redlock_mode mode; /* redlock_lock_mode() of the lock; EXCLUSIVE without a lock */
    struct redlock_latch *latch;
};

/* The word for an enumerator: "acquired", "ready", "quarantined", "new-memory". In static storage; "?" for other
 * numbers. */
REDLOCK_API const char *redlock_event_name(enum redlock_event_type type);
REDLOCK_API const char *redlock_link_name(enum redlock_link link);
REDLOCK_API const char *redlock_standing_name(enum redlock_standing standing);
REDLOCK_API const char *redlock_fault_name(enum redlock_fault fault);

#ifdef __cplusplus
}
#endif
#endif
