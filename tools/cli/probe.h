/* A look at one key on each master, past the library: GET and PTTL, and the votes of a shared key, over connections
 * of its own, all masters at once.
 *
 * redlock_look() ends when a quorum has answered. This shows all masters, excluded ones as well: the evidence for a
 * person who wants to see, and for the demo a witness that shares no code with what it checks. */
#ifndef CLI_PROBE_H
#define CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <redlock/latch.h>

#include "options/password.h"
#include "options/tls.h"

struct cli_common;
struct wire;

enum { PROBE_VALUE_SIZE = REDLOCK_MAX_TOKEN_BYTES + 1, PROBE_WHY_SIZE = 200 };

struct probe {
    size_t node;         /* the master's number in the client */
    bool answered;
    bool exists;
    bool is_text;        /* a string; others are votes, or another program's */
    bool is_token;       /* ... which is an exclusive vote: it ends, and a client of locks may have written it */
    char value[PROBE_VALUE_SIZE]; /* cut if longer; bytes that cannot be printed are shown as '?' */
    uint64_t value_hash; /* of the whole value, to compare */
    int64_t pttl_ms;     /* -1: never expires */
    int64_t latency_us;  /* of the two commands, without the connect */
    char why[PROBE_WHY_SIZE]; /* why there is no answer, "" otherwise; also "not a string" */
    bool refused;        /* ... since the server answers with an error, which is `why` */
    bool other_tls;      /* ... since it speaks TLS where its URL says that it does not, or the other way round */
};

/* Where a client has a master. */
struct probe_place {
    size_t node;
    char why_not[PROBE_WHY_SIZE]; /* it must not be asked, since the client does not go there; "": it may be */
};

/* The URLs and the TLS options must have been accepted by redlock_client_create(): that is the one judge of their
 * form. */
struct probe_masters {
    const char *const *urls;
    size_t n;
    uint32_t timeout_ms;       /* per step: connect, TLS handshake, and reply */
    const struct cli_tls *tls; /* NULL: none of them has TLS */
    const struct cli_password *password; /* NULL: all passwords are in the URLs */
    const struct probe_place *places;    /* NULL: the client has the masters in the same order */
};

/* Those of a command, which have as long for an answer as it was told. */
struct probe_masters probe_masters_of(const struct cli_common *common);

/* The key only. */
void probe_key(const struct probe_masters *masters, const char *key, struct probe *ret_probes);

enum { PROBE_VOTES_SHOWN = 100, PROBE_QUEUE_SHOWN = 100 };

struct probe_vote {
    char mode; /* 'r': shared, 'u': upgradeable, 'x': exclusive */
    char value[PROBE_VALUE_SIZE];
    uint64_t value_hash;
    int64_t left_ms; /* by the master's clock */
};

/* The votes of a key that is no string, on one master: those that end last. */
struct probe_votes {
    bool answered; /* the key is made of votes */
    bool more;     /* there are more */
    size_t n;
    struct probe_vote votes[PROBE_VOTES_SHOWN];
};

/* One in the queue, on one master. */
struct probe_waiter {
    char value[PROBE_VALUE_SIZE];
    uint64_t value_hash;
    char mode; /* as of a vote */
    uint64_t ticket;
    int64_t lease_ms; /* left, by the master's clock; 0: ended, or there is no entry */
};

/* The queue of a key on one master (redlock(7)): the first PROBE_QUEUE_SHOWN of `length`. */
struct probe_queue {
    bool answered;
    int64_t now_ms; /* by the master's clock */
    size_t length;
    size_t n;
    struct probe_waiter waiters[PROBE_QUEUE_SHOWN];
    char why[PROBE_WHY_SIZE]; /* why there is no answer, "" otherwise */
};

/* Where a lock has no key on a master: what else has its name. */
struct probe_others {
    bool latch;
    uint32_t slots; /* of a semaphore: the largest number that is held, and one more; 0: none is, below PROBE_SLOTS */
};

enum { PROBE_SLOTS = 1000 };

/* Names on the masters that follow from that of a lock. */
struct probe_names {
    const char *queue;
    const char *waiters;
    const char *latch;
};

/* The same, and the votes where the key is no string. */
void probe_key_and_votes(const struct probe_masters *masters, const char *key, struct probe *ret_probes,
                         struct probe_votes *ret_votes);

/* The same, and the queue by the same connections: it is the masters' as a whole, so it is looked at together. And what
 * else has the name, on each master without the key. */
struct probe_all {
    struct probe probes[REDLOCK_MAX_MASTERS];
    struct probe_votes votes[REDLOCK_MAX_MASTERS];
    struct probe_queue queues[REDLOCK_MAX_MASTERS];
    struct probe_others others[REDLOCK_MAX_MASTERS];
};

void probe_all(const struct probe_masters *masters, const char *key, const struct probe_names *names,
               struct probe_all *ret_all);

/* A latch on one master (redlock_latch_create(3)). */
struct probe_latch {
    bool is_latch;       /* the key is there, and a latch */
    uint32_t parties;
    char generation[24]; /* decimal */
    char before[24];     /* the generation before, which has opened; "" if none is known */
    bool open;
    size_t n;            /* names that have arrived; bytes that cannot be printed are shown as '?' */
    char arrived[REDLOCK_MAX_PARTIES][REDLOCK_MAX_PARTY_BYTES + 1];
};

/* Looks at a latch in place of a lock. */
void probe_latches(const struct probe_masters *masters, const char *key, struct probe *ret_probes,
                   struct probe_latch *ret_latches);

enum { PROBE_RIGHTS_SIZE = 400, PROBE_CONNECTIONS = 4, PROBE_RUN_ID_SIZE = 48 };

/* What the user may not do on one master, as words for ACL SETUSER, and what the server does not know. */
struct probe_rights {
    char missing[PROBE_RIGHTS_SIZE]; /* "+zadd +zscore"; "": nothing, as far as is known */
    char unknown[PROBE_RIGHTS_SIZE]; /* "set zadd": renamed, or never known */
    bool needed;                     /* some kind of lock cannot do without what is missing */
    bool vital;                      /* no lock can do without what is missing or unknown */
    bool marker;                     /* the user may not use the marker's key */
    bool keys;                       /* the user may not use the keys beside the locks: PREFIXredlock:... */
    bool channels;                   /* ... nor those channels */
    bool sentinel;                   /* it is a Sentinel */
    bool save_failed;                /* its latest write to its disk has failed */
    bool crowded;                    /* it has refused a further connection, since it has enough clients */
    bool clock_stands;               /* its clock does less than half of the time, or none */
    unsigned memory_percent;         /* how much of its maxmemory is used; 0: it has none */
    /* Who has answered, in this order: the first connection, further ones to all addresses of the name in turn, and the
     * first one again. */
    size_t met;
    char run_ids[PROBE_CONNECTIONS + 1][PROBE_RUN_ID_SIZE];
};

/* How long a question and its answer take, what the user may not do, whether the clock goes on, which takes a tenth of
 * a second, and whether the server takes a write: one that changes nothing, since it is malformed, but is refused
 * before by a server that takes none. Masters keep a record of what they refuse (ACL LOG). */
void probe_rights(const struct probe_masters *masters, const char *prefix, struct probe *ret_probes,
                  struct probe_rights *ret_rights);

/* Connections to all masters, greeted, for a longer talk. The caller closes those to masters that have answered. */
void probe_open(const struct probe_masters *masters, struct probe *ret_probes, struct wire *ret_wires);

/* Deletes it everywhere, as far as masters answer. */
void probe_delete(const struct probe_masters *masters, const char *key);

#endif
