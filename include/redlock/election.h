/* Leader election: of all candidates for a key at most one leads, and everybody else can be told which.
 *
 *     candidate = election:  campaign -> ELECTED -> ... -> LOST -> campaigns again
 *                                                  `-> resign -> RESIGNED
 *
 * A candidate leads while it holds the key's lock, exclusively and with a fencing token, which is its *term*: each term
 * is larger than all terms before it. LOST comes by timer before anybody else can be elected.
 *
 * At the moment of acting a program asks redlock_election_remaining_ns() whether it leads, and never a flag of its own.
 * It sends the term with everything that it does as the leader, and whoever receives that refuses a term smaller than
 * the largest it has seen. So a leader that was stopped for a while does no harm.
 *
 * The callback contract is that of redlock.h. An election belongs to a client, and to its thread. */
#ifndef REDLOCK_ELECTION_H
#define REDLOCK_ELECTION_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/result.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_election;

struct redlock_election_options {
    size_t size; /* set by redlock_election_options_init() */

    /* For how long at most a leader that has died keeps others from being elected: the ttl of the key, with the limits
     * of redlock_acquire_options. The default is 10000. */
    uint32_t ttl_ms;

    /* As in redlock_acquire_options; the default of each is 0. */
    uint32_t renew_ms;
    uint32_t at_risk_ms;
    uint32_t max_hold_ms;

    /* 1: the candidate campaigns once. After a loss it is IDLE; with 0, the default, it campaigns again. */
    uint8_t once;

    /* As in redlock_acquire_options: what observers are told of the candidate when it leads. */
    const char *label;
};

REDLOCK_API void redlock_election_options_init_size(struct redlock_election_options *options, size_t size);
#define redlock_election_options_init(options) redlock_election_options_init_size((options), sizeof(*(options)))

enum redlock_election_event_kind {
    REDLOCK_ELECTION_ELECTED = 1, /* the candidate leads from now on */
    REDLOCK_ELECTION_AT_RISK,     /* it leads, but little validity is left: no renewal has succeeded */
    REDLOCK_ELECTION_LOST,        /* it does not lead any more */
    REDLOCK_ELECTION_RESIGNED,    /* it has resigned or withdrawn, and is no candidate any more */
    REDLOCK_ELECTION_FAILED,      /* it could not go on campaigning, and is no candidate any more */
};

/* It is valid, with all that it points to, until the callback returns. New members are added at the end. */
struct redlock_election_event {
    enum redlock_election_event_kind kind;
    uint64_t term;          /* that begins, is at risk, or has ended; 0: there is none */
    int64_t remaining_ms;   /* of the leadership */
    enum redlock_loss loss; /* LOST: why */
    int status;             /* RESIGNED: that of the release, or CANCELED if the candidate did not lead. FAILED: why */
    const struct redlock_result *result; /* with each master's vote, and for AT_RISK and LOST the reason; or NULL */
};

typedef void (*redlock_election_fn)(struct redlock_election *election, const struct redlock_election_event *event,
                                    void *user_data);

/* A candidate for a key, which is copied. Keys are those of redlock_lock_create(): whoever holds the key's lock keeps
 * candidates from being elected. Errors: those of redlock_lock_create(). */
REDLOCK_API_USED int redlock_election_create(struct redlock_client *client, const void *key, size_t key_size,
                                             struct redlock_election **ret_election);

/* Resigns or withdraws, without a callback, and frees the election. The client goes on with the release. Destroying the
 * client destroys its elections, which end like this. redlock_client_shutdown() ends the leadership of a leader without
 * an event, and a candidacy with FAILED. NULL is allowed. */
REDLOCK_API void redlock_election_destroy(struct redlock_election *election);

/* Becomes a candidate, in state IDLE, and waits for its turn behind the candidates that came before. The callback runs
 * for each event from then on until RESIGNED or FAILED, or LOST with `once`, which is the last. options NULL means the
 * defaults. Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_BUSY (it is a candidate, or LOST is still to be told), E_TTL,
 * E_MIN_VALIDITY, E_RENEWAL (`once`, too), E_CLIENT_NAME (the label), E_CLOSING, E_LIMIT, E_NOMEM, E_FORKED. */
REDLOCK_API_USED int redlock_election_campaign(struct redlock_election *election,
                                               const struct redlock_election_options *options, redlock_election_fn cb,
                                               void *user_data);

/* Gives the leadership up, or ceases to be a candidate: redlock_election_remaining_ns() is 0 at once, and RESIGNED
 * comes when that is done. The next candidate is elected one message later. Errors: E_ARGUMENT, E_NOT_HELD (IDLE),
 * E_BUSY (it has been called already), E_FORKED. */
REDLOCK_API int redlock_election_resign(struct redlock_election *election);

enum redlock_election_state {
    REDLOCK_ELECTION_IDLE,
    REDLOCK_ELECTION_CAMPAIGNING,
    REDLOCK_ELECTION_LEADING,
    REDLOCK_ELECTION_RESIGNING,
};

/* LEADING exactly while redlock_election_remaining_ns() is above 0. */
REDLOCK_API enum redlock_election_state redlock_election_state(const struct redlock_election *election);
REDLOCK_API const char *redlock_election_state_name(enum redlock_election_state state);

/* For how long the candidate leads at least, whatever happens; 0: it does not lead. */
REDLOCK_API int64_t redlock_election_remaining_ns(const struct redlock_election *election);

/* The term, or 0 if the candidate does not lead. */
REDLOCK_API uint64_t redlock_election_term(const struct redlock_election *election);

/* --- Observing ----------------------------------------------------------------------------------------------- */

/* What an observer knows of the leader: a hint, which may be out of date. */
struct redlock_leader {
    int status;             /* OK; NO_QUORUM: not known at present, too few masters have answered */
    uint8_t present;        /* 1: there is a leader */
    uint64_t term;          /* 0: not known */
    const char *label;      /* that of the leader's client (redlock_options), "" if it has none; not checked by anybody,
                               and at most as trustworthy as whoever may write to the masters */
    size_t label_size;
};

typedef void (*redlock_leader_fn)(struct redlock_election *election, const struct redlock_leader *leader,
                                  void *user_data);

/* Looks at the key now, every interval_ms (10 to 3600000), and when a new leader announces itself on a channel of the
 * masters: the callback is told the first answer, and then each change. If a leader goes and nobody is elected, the
 * next look at the interval finds that. An observer need not be a candidate. Each look is one command to each master;
 * messages cause at most one look in 10 ms. The client has a second connection to each master from then on. With cb
 * NULL the election ceases to observe, and interval_ms has no meaning. Errors: E_ARGUMENT, E_TIMEOUT (interval_ms),
 * E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_election_observe(struct redlock_election *election, uint32_t interval_ms, redlock_leader_fn cb,
                                         void *user_data);

#ifdef __cplusplus
}
#endif
#endif
