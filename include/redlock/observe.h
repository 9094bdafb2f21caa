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
    REDLOCK_LINK_JOINING, /* first connection attempt of the client: acquisitions ask it when it is there */
    REDLOCK_LINK_READY,   /* connected, handshake done: it votes */
    REDLOCK_LINK_LATE,    /* connected, but its oldest reply is overdue by node_timeout_ms: nobody waits for it */
    REDLOCK_LINK_DOWN,    /* not connected; reconnecting with backoff */
};

/* Whether a master's vote counts (guarded profile; in the classic profile every connected master votes). */
enum redlock_standing {
    REDLOCK_STANDING_UNJUDGED,    /* no connection has been looked at yet */
    REDLOCK_STANDING_VOTES,
    REDLOCK_STANDING_QUARANTINED, /* votes again in quarantine_ms */
    REDLOCK_STANDING_EXCLUDED,    /* does not vote until something is mended: see fault */
};

/* Monotonic counters since the client was created, and a few gauges. */
struct redlock_stats {
    uint64_t acquires;        /* redlock_acquire() calls accepted */
    uint64_t attempts;        /* attempts that these calls have made, plain ones and those in line */
    uint64_t acquired;        /* ... and how the calls ended, but for E_NOMEM and E_LIMIT */
    uint64_t held;
    uint64_t no_quorum;
    uint64_t too_slow;
    uint64_t deadline;
    uint64_t canceled;
    uint64_t extends;         /* extensions accepted, and confirmed by a quorum */
    uint64_t extended;
    uint64_t releases;        /* releases accepted, and confirmed by a quorum or passed on */
    uint64_t released;
    uint64_t lost;            /* locks whose validity ended while they were held */
    uint64_t rollbacks;       /* attempts that failed and were undone; canceled ones are not counted */
    uint64_t commands;        /* queued for masters, handshakes excluded; one may be of many locks */
    uint64_t late_grants;     /* grants that arrived after their attempt had been given up */
    uint64_t debts_paid;      /* releases written again after a reconnect or an error */
    uint64_t debts_expired;   /* releases given up since the key's ttl had surely passed */
    uint64_t script_reloads;  /* EVALSHA answered NOSCRIPT and repeated as EVAL */
    uint64_t renewals;        /* extensions that the library made by itself ... */
    uint64_t renewals_failed; /* ... and those that found no quorum; they are tried again while there is time */
    uint64_t repairs;         /* keys given back to masters that had lost them */
    uint64_t at_risk;         /* warnings */
    uint64_t disproved;       /* answers that did not count: the master's memory was not the one that was judged */
    uint64_t clock_steps;     /* masters' clocks found to have been set forward */
    uint64_t raises;          /* fenced acquisitions that needed a second round trip */
    uint64_t claims;          /* gauge: values that may be set on some master now, or are a lost lock's evidence */
    uint64_t debts;           /* gauge: those of them with a release not yet confirmed */
    uint64_t waits;           /* acquisitions that got in line */
    uint64_t hand_overs;      /* votes of masters that came by a notification */
    uint64_t yields;          /* times that votes were given back since a lower ticket waits */
    uint64_t passed_on;       /* locks that went from one waiter of this client to the next, without a master */
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
    uint64_t queued;          /* answers to attempts and refreshes: in line */
    uint64_t messages;        /* notifications, on the connection that listens; all members above leave that out */
};

/* What the latest look at a master has shown. Strings are valid until the loop runs again. */
struct redlock_node_info {
    const char *name;
    enum redlock_link link;
    enum redlock_standing standing;
    enum redlock_fault fault;
    const char *fault_text;   /* a sentence about fault; "" if there is none */
    int64_t quarantine_ms;    /* left, 0 if none */
    const char *version;      /* "redis 7.0.15"; these are "" before the first look, and in the classic profile */
    const char *role;
    const char *run_id;
    const char *eviction_policy;
    const char *append_fsync; /* "always", "everysec", "no", "off"; "" if not allowed to see */
    uint8_t looked;           /* 1: the members here and below are known */
    uint8_t durable;          /* 1: keeps every acknowledged write over a crash, so it votes at once after a restart */
    uint8_t promoted;         /* 1: has been a replica, or was restarted from a dump made while it had one */
    uint8_t cluster;
    int64_t maxmemory;        /* bytes; 0: unlimited */
    int64_t replicas;         /* connected to it */
    int64_t marker_max_ttl_ms; /* no client with a larger max_ttl_ms gets a vote there; 0: there is no marker */
    int64_t clock_offset_us;  /* node's wall clock less ours */
    int64_t clock_step_us;    /* latest step seen: positive forward (at most), negative backward (at least); 0: none */
    uint32_t clock_forward_steps;
    uint32_t clock_backward_steps;
    int64_t latency_us;       /* of the latest reply, -1 before the first */
    const char *last_error;   /* as in struct redlock_node_stats */
    int64_t marker_longest_ms; /* locks of this length may be alive: a quarantine there lasts so long, and a second */
    int64_t marker_falls_ms;  /* until marker_longest_ms becomes marker_max_ttl_ms; 0: it does not by itself */
    int64_t declaration;      /* number of the latest declaration of max_ttl_ms that it has heard, */
    int64_t declaration_confirmed; /* ... and of the latest that all masters had heard */
};

/* As redlock_client_node_stats(). */
REDLOCK_API int redlock_client_node_info(const struct redlock_client *client, size_t node,
                                         struct redlock_node_info *ret_info, size_t size);

/* Copies at most `size` bytes of the statistics: pass sizeof(struct redlock_stats). 0, or a caller error. */
REDLOCK_API int redlock_client_stats(const struct redlock_client *client, struct redlock_stats *ret_stats, size_t size);

/* The same for master `node`, 0 to redlock_client_node_count() - 1 (other indices: REDLOCK_E_ARGUMENT). */
REDLOCK_API int redlock_client_node_stats(const struct redlock_client *client, size_t node,
                                          struct redlock_node_stats *ret_stats, size_t size);
REDLOCK_API size_t redlock_client_node_count(const struct redlock_client *client);

enum redlock_event_type {
    REDLOCK_EVENT_NODE = 1,  /* a master's link changed: node, link, text */
    REDLOCK_EVENT_ATTEMPT,   /* a round of an acquisition starts: lock, token (one that is passed on has another's) */
    REDLOCK_EVENT_VOTE,      /* a master answered an attempt, an extension or a release: lock (NULL if it has gone on
                                to another attempt), token of the attempt, node, op, vote, latency_us (-1: it was handed
                                over), text */
    REDLOCK_EVENT_BACKOFF,   /* an attempt failed and another follows: lock, op, status, delay_us */
    REDLOCK_EVENT_ACQUIRED,  /* these four: lock, op, status, cause, token, remaining_us, nodes; text: `why` of struct
                                redlock_result where that is about masters */
    REDLOCK_EVENT_EXTENDED,
    REDLOCK_EVENT_RELEASED,  /* a release ended, with any status */
    REDLOCK_EVENT_FAILED,    /* an acquisition or extension ended without success */
    REDLOCK_EVENT_LOST,      /* the lock's validity ended while it was held: lock, status, loss, nodes */
    REDLOCK_EVENT_RENEWED,   /* a renewal was confirmed by a quorum: lock, remaining_us, nodes */
    REDLOCK_EVENT_AT_RISK,   /* little validity is left: lock, remaining_us, nodes */
    REDLOCK_EVENT_STANDING,  /* a master's standing changed: node, standing, fault, text */
    REDLOCK_EVENT_CLOCK,     /* a master's clock has been set: node, delay_us (by how much; negative: back) */
    REDLOCK_EVENT_WAITING,   /* in line, and told where, by a majority; again when that changes: lock, op, position,
                                held_for_ms */
    REDLOCK_EVENT_LISTENING, /* the connection on which a master notifies: node, link (READY: notifications come; DOWN:
                                they do not), text; only after some lock has got in line */
    REDLOCK_EVENT_EXTENDING, /* an extension or renewal is sent: lock, op */
    REDLOCK_EVENT_PROVED,    /* guarded profile: what a master has answered for the lock counts from now on, or, after
                                the loss of its memory, will not: lock, node. Votes are seen before they are proved */
    REDLOCK_EVENT_VALIDITY,  /* only if asked for by event_types: the validity of a held lock may have changed by
                                something other than the passing of time, a call of the program, or a callback: lock,
                                or NULL for any lock. A program that keeps a copy of redlock_remaining_ns() renews it
                                at the end of this turn of the loop */
};

/* The bit of a type in struct redlock_options.event_types. */
#define REDLOCK_EVENT_BIT(type) (UINT32_C(1) << (type))

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
    const char *token; /* of the attempt or the hold; without `own_token` (options.h) it may be that of a later hold
                          of this client, too. Treat it as a secret of the holder */
    const char *text;
    enum redlock_standing standing;
    enum redlock_fault fault;
    enum redlock_loss loss;
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* the vote ledger: each master's part, and until when its vote counts */
    uint32_t position;   /* 1: the next */
    int64_t held_for_ms; /* until the holder's keys expire unless he extends them; -1: never (another library's) */
    int cause;           /* as in struct redlock_result */
};

REDLOCK_API const char *redlock_event_name(enum redlock_event_type type);
REDLOCK_API const char *redlock_link_name(enum redlock_link link);
REDLOCK_API const char *redlock_standing_name(enum redlock_standing standing);
REDLOCK_API const char *redlock_fault_name(enum redlock_fault fault); /* "new-memory" */

#ifdef __cplusplus
}
#endif
#endif
