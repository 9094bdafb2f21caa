/* Statistics and tracing: what the library does, without a log line of its own.
 *
 * The library never prints. Counters are read by the functions below; steps are reported to the event hook of struct
 * redlock_options as they happen, from which a program can feed its own log or metrics. What is ended by destroying a
 * handle or client is reported by its callback only. */
#ifndef REDLOCK_OBSERVE_H
#define REDLOCK_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/result.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_client;
struct redlock_lock;

/* Connection to one master, as the client sees it. */
enum redlock_link {
    REDLOCK_LINK_JOINING, /* first connection attempt of the client; acquisitions wait for it, briefly */
    REDLOCK_LINK_READY,   /* connected, handshake done: it votes */
    REDLOCK_LINK_LATE,    /* connected, but its oldest reply is overdue by node_timeout_ms: nobody waits for it */
    REDLOCK_LINK_DOWN,    /* not connected; reconnecting with backoff */
};

/* Monotonic counters since the client was created, and a few gauges. */
struct redlock_stats {
    uint64_t acquires;        /* redlock_acquire() calls accepted */
    uint64_t attempts;        /* rounds of SET sent for them */
    uint64_t acquired;        /* ... and how the calls ended, but for E_NOMEM and E_LIMIT */
    uint64_t held;
    uint64_t no_quorum;
    uint64_t too_slow;
    uint64_t deadline;
    uint64_t canceled;
    uint64_t extends;         /* extensions accepted, and confirmed by a quorum */
    uint64_t extended;
    uint64_t releases;        /* releases accepted, and confirmed by a quorum */
    uint64_t released;
    uint64_t lost;            /* locks whose validity ended while they were held */
    uint64_t rollbacks;       /* attempts that failed and were undone; canceled ones are not counted */
    uint64_t commands;        /* commands queued for masters, handshakes excluded */
    uint64_t late_grants;     /* grants that arrived after their attempt had been given up */
    uint64_t debts_paid;      /* releases written again after a reconnect or an error */
    uint64_t debts_expired;   /* releases given up since the key's ttl had surely passed */
    uint64_t script_reloads;  /* EVALSHA answered NOSCRIPT and repeated as EVAL */
    uint64_t claims;          /* gauge: values that may be set on some master now */
    uint64_t debts;           /* gauge: those of them with a release not yet confirmed */
};

struct redlock_node_stats {
    const char *name;         /* as in struct redlock_node_result; valid while the client lives */
    enum redlock_link link;
    uint64_t commands;        /* queued, handshakes excluded */
    uint64_t replies;
    uint64_t granted;         /* votes of each kind on attempts to acquire */
    uint64_t refused;
    uint64_t failed;
    uint64_t unknown;
    uint64_t connects;        /* handshakes completed */
    uint64_t disconnects;     /* connections that ended after their handshake, and attempts that failed */
    uint64_t bytes_out;
    uint64_t bytes_in;
    size_t pending;           /* gauge: commands without a reply */
    size_t unsent_bytes;      /* gauge */
    int64_t last_latency_us;  /* of the latest reply, -1 before the first */
    const char *last_error;   /* why it is down or was last; "" if it never was; valid until the next call */
};

/* Copies at most `size` bytes of the statistics: pass sizeof(struct redlock_stats). 0, or a caller error. */
REDLOCK_API int redlock_client_stats(const struct redlock_client *client, struct redlock_stats *ret_stats, size_t size);

/* The same for master `node`, 0 to redlock_client_node_count() - 1 (other indices: REDLOCK_E_ARGUMENT). */
REDLOCK_API int redlock_client_node_stats(const struct redlock_client *client, size_t node,
                                          struct redlock_node_stats *ret_stats, size_t size);
REDLOCK_API size_t redlock_client_node_count(const struct redlock_client *client);

enum redlock_event_type {
    REDLOCK_EVENT_NODE = 1,  /* a master's link changed: node, link, text */
    REDLOCK_EVENT_ATTEMPT,   /* a round of an acquisition starts: lock, token */
    REDLOCK_EVENT_VOTE,      /* a master answered an attempt, an extension or a release: lock (NULL if it has gone on
                                to another attempt), token of the attempt, node, op, vote, latency_us, text */
    REDLOCK_EVENT_BACKOFF,   /* an attempt failed and another follows: lock, op, status, delay_us */
    REDLOCK_EVENT_ACQUIRED,  /* these four: lock, op, status, token, remaining_us */
    REDLOCK_EVENT_EXTENDED,
    REDLOCK_EVENT_RELEASED,  /* a release ended, with any status */
    REDLOCK_EVENT_FAILED,    /* an acquisition or extension ended without success */
    REDLOCK_EVENT_LOST,      /* the lock's validity ended while it was held: lock, status */
};

/* Borrowed: valid during the hook. Members that the type does not name are zero, but node is -1 and text is "". */
struct redlock_event {
    enum redlock_event_type type;
    struct redlock_client *client;
    struct redlock_lock *lock;
    int node; /* index of the master, -1 if none */
    enum redlock_link link;
    enum redlock_op op;
    enum redlock_vote vote;
    int status;
    int64_t latency_us;
    int64_t delay_us;
    int64_t remaining_us;
    const char *token; /* of the attempt: treat as a secret of the holder */
    const char *text;
};

REDLOCK_API const char *redlock_event_name(enum redlock_event_type type);
REDLOCK_API const char *redlock_link_name(enum redlock_link link);

#ifdef __cplusplus
}
#endif
#endif
