/* Inside the API layer: the client and the lock behind the opaque handles, and what its files share. */
#ifndef RL_API_CLIENT_H
#define RL_API_CLIENT_H

#include <redlock/redlock.h>

#include "api/token.h"
#include "host/trust.h"
#include "engine/engine.h"
#include "driver/driver.h"
#include "util/bytes.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/list.h"
#include "util/pool.h"
#include "util/wheel.h"

/* A key, the client's prefix included; shared by its lock and by the claims that outlive it. */
struct rl_key {
    uint32_t references;
    uint16_t size;
    unsigned char bytes[];
};

/* What the host keeps with an engine's claim: right in front of it (claims.c). */
struct rl_host_claim {
    struct rl_key *key; /* NULL: not in use */
    union {
        struct {
            char text[RL_TOKEN_SIZE];
            bool asked : 1;   /* for a place in line. In the gap of the other kind, which never is */
            bool in_line : 1; /* notifications may name it: waiters.c */
            bool exposed : 1; /* others may know it, as of this hold alone: cohort.c */
            bool foreign : 1; /* its lock has held another value, and has passed that on */
        } own;
        struct {
            char empty; /* no token is: a longer one, given by a caller, is kept elsewhere */
            char *text;
        } other;
    } token;
};

/* One operation of a lock, from its start to its callback. */
struct rl_pending {
    redlock_fn cb;
    void *user_data;
    struct rl_instant started;
    int16_t status;
    int16_t cause;
    uint8_t op;    /* enum rl_op */
    bool accepted; /* the call has returned 0, the callback has not run */
    bool ended;    /* status and cause are known */
    bool overtaken; /* by a release, whose answers the claim has now */
};

/* An acquisition or extension. A lock that is just held has none: the client lends it for as long as it takes. */
struct rl_attempt {
    union {
        struct rl_pending pending;
        struct rl_attempt *next_spare;
    };
    struct rl_acquire wish; /* the engine's, too */
    uint64_t counter;       /* the largest fencing counter that any answer has shown */
    struct rl_list company; /* of those who wait for the key, and got in line together: cohort.c */
    struct redlock_lock *waiter; /* whose attempt it is, if it is in that list */
    struct rl_line line;    /* the engine's; comes last, and needs no initialisation */
};

struct redlock_lock {
    struct rl_lock core;
    struct redlock_client *client;
    struct rl_key *key;
    struct rl_list link;       /* in the client's locks, or among its dead */
    struct rl_list completed;  /* in the client's list while a callback is due */
    struct rl_timer timer;
    struct rl_attempt *attempt; /* the acquisition or extension that is pending, or NULL ... */
    struct rl_pending release;  /* ... and the release, which may overtake an extension */
    redlock_watch_fn watch;
    void *watch_data;
    int16_t refusal;           /* why no claim could be made */
    uint8_t alarms;            /* set of enum redlock_alarm_kind that are to be told */
    bool dying;
    uint32_t cohort;           /* with which it got in line in its latest acquisition; 0: alone */
};

/* Those who are called by notifications: waiters.c. */
struct rl_waiters {
    struct rl_claim **table;
    size_t size; /* a power of 2, or 0 */
    size_t count;
    bool listens;
    char channel[REDLOCK_MAX_PREFIX_BYTES + sizeof RL_CHANNEL_NAME + UUID_STR_LEN];
};

/* Keys that others want, too: contended.c. */
#define RL_CONTENDED_KEYS 64

struct rl_contended_key {
    uint64_t hash;
    struct rl_instant until; /* then it is forgotten */
    struct rl_list company;  /* attempts that wait for it, and got in line together: cohort.c */
};

struct rl_contended {
    struct rl_instant until; /* of the one noted last */
    struct rl_contended_key seen[RL_CONTENDED_KEYS];
};

/* What becomes one command: batch.c. */
enum rl_batch_kind {
    RL_BATCH_EXTENSIONS,
    RL_BATCH_NEWCOMERS,
    RL_BATCH_KEEPERS,
    RL_BATCH_KINDS,
};

struct rl_batching {
    struct rl_batch *gathered;  /* in this turn, not written yet; NULL: nothing */
    uint32_t unknown_to[RL_BATCH_KINDS]; /* masters that have not loaded the script for that */
    enum rl_send_as encoded_as; /* extensions in the client's scratch while they are written; RL_SEND_PLAIN: none */
    struct rl_batch *spare;
    struct rl_list all;
};

/* The step of a ticket whose owner is not a claim but a batch. */
#define RL_TICKET_BATCH RL_STEP_COUNT

struct rl_shutdown {
    redlock_shutdown_fn cb;
    void *user_data;
    struct rl_timer timer; /* comes back every node_timeout_ms */
    struct rl_instant deadline;
    uint64_t bytes_in[REDLOCK_MAX_MASTERS]; /* when the timer came last */
    bool silent[REDLOCK_MAX_MASTERS];       /* nothing has come between its last two times */
    bool running;
    bool ending; /* some locks were busy, and are to be released yet */
    bool expired;
};

struct redlock_client {
    struct redlock_options options;
    struct rl_engine engine;
    struct rl_driver *driver;
    struct rl_clock clock;
    struct rl_instant now;       /* the latest reading */
    struct rl_instant drained;   /* time of the wake-up for which the sockets have been read */
    struct rl_list locks;
    struct rl_list dead;         /* destroyed handles, until the outermost dispatch ends */
    struct rl_list completed;
    struct rl_pool handles;      /* of locks */
    struct rl_pool claims[2];    /* of kinds without a token, and with one */
    struct rl_attempt *spare_attempts;
    struct rl_token_source tokens;
    struct rl_trust trust;
    struct rl_waiters waiters;
    struct rl_contended contended;
    struct rl_timer debts_timer;
    struct rl_batching batching;
    uint32_t cohorts;            /* the latest one's number */
    struct redlock_lock *heir;   /* to whom a lock is being passed on */
    struct rl_bytes scratch;     /* the command that is being fanned out */
    struct rl_shutdown shutdown;
    struct redlock_stats stats;
    struct redlock_node_stats node_stats[REDLOCK_MAX_MASTERS]; /* the votes; the rest is the driver's */
    unsigned fork_generation;
    unsigned depth;              /* callbacks of the user on the stack */
    bool closing;
    bool destroyed;
};

/* --- client.c --------------------------------------------------------------------------------------------------- */

struct rl_instant rl_client_read_clock(struct redlock_client *client);
bool rl_client_forked(const struct redlock_client *client);

/* Frees what died while callbacks of the user were on the stack, if none is any more. */
void rl_client_reap(struct redlock_client *client);

/* --- host.c: carries out the engine's effects ------------------------------------------------------------------- */

extern const struct rl_driver_sink rl_host_sink; /* ctx is filled in by the client */

/* After every event: does everything that the engine wants done. */
void rl_host_run(struct redlock_client *client);

/* The lock's time, at client->now. */
void rl_host_tick(struct redlock_lock *lock);

/* After every event that may have concerned this lock: sets its timer. */
void rl_host_rearm(struct redlock_lock *lock);
void rl_host_lock_timer(struct rl_timer *timer, struct rl_instant now);
void rl_host_debts_timer(struct rl_timer *timer, struct rl_instant now);

/* A counter that a master has shown for this claim's key. */
void rl_host_note_counter(const struct rl_claim *claim, uint64_t counter);

/* The reply to a claim's command. */
void rl_host_replied(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                     const struct rl_reply *reply, struct rl_instant now);

/* The same by its answer: repeats the command where that helps, or tells the engine. */
void rl_host_answered(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                      struct rl_answer answer, struct rl_instant now);

/* The end of a claim's command: tells the engine, and does what follows. */
void rl_host_ended(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                   struct rl_answer answer, uint32_t latency_us);

/* --- batch.c, batch_answers.c ----------------------------------------------------------------------------------- */

void rl_batch_init(struct redlock_client *client);
void rl_batch_fini(struct redlock_client *client);

/* RL_EFFECT_SEND. false: it must be written alone. */
bool rl_batch_gather(struct redlock_client *client, const struct rl_effect *effect);

/* May be written before what is gathered: it is the undo of a value that is not part of it. */
bool rl_batch_can_wait_for(const struct redlock_client *client, const struct rl_effect *effect);

/* Before anything else is written, and at the end of the turn. true: there was something to write. */
bool rl_batch_flush(struct redlock_client *client);

/* The end of a command with RL_TICKET_BATCH. */
void rl_batch_answered(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                       const struct rl_reply *reply, struct rl_instant now);
void rl_batch_dropped(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                      struct rl_answer answer);

/* --- send.c ----------------------------------------------------------------------------------------------------- */

/* RL_EFFECT_SEND; and the same without gathering. */
void rl_host_send(struct redlock_client *client, const struct rl_effect *effect);
void rl_host_send_now(struct redlock_client *client, const struct rl_effect *effect);

/* RL_STEP_ENQUEUE of a newcomer and of those who follow it, into the client's scratch. */
bool rl_host_encode_enqueue(struct redlock_client *client, const struct rl_claim *claim, unsigned node,
                            const struct rl_followers *followers);

/* RL_STEP_ENQUEUE of several who keep their places, of whom this is one. */
bool rl_host_encode_keep(struct redlock_client *client, const struct rl_claim *claim, unsigned node,
                         uint32_t lease_ms, enum rl_send_as send_as, const struct rl_keepers *keepers);

/* The master did not know the script: once more, with its text. false: it may not be, or cannot be, written. */
bool rl_host_repeat(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket);

/* It was part of a command that the master has refused as a whole. */
bool rl_host_repeat_alone(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket);

/* After OTHERS_WAIT: writes the undo once more, with all that belongs to a line. */
bool rl_host_repeat_in_full(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                            enum rl_outcome outcome);

/* rl_queue_undone() of an answer that is not followed by another repetition. */
struct rl_answer rl_host_undone(const struct rl_ticket *ticket, struct rl_answer answer);

/* --- cohort.c --------------------------------------------------------------------------------------------------- */

struct rl_batch;

/* Newcomers are about to be written. */
void rl_cohort_form(struct redlock_client *client, const struct rl_batch *batch);

/* A lock's acquisition has ended. Its release: true, somebody else of its cohort has the lock instead. */
void rl_cohort_leave(struct redlock_lock *lock);
bool rl_cohort_pass_on(struct redlock_lock *lock);

/* --- contended.c ------------------------------------------------------------------------------------------------ */

/* By client->now. */
void rl_contended_init(struct redlock_client *client);
void rl_contended_note(struct redlock_client *client, const struct rl_key *key);
bool rl_contended(struct redlock_client *client, const struct rl_key *key);

/* For cohort.c; NULL: this key is not known. */
struct rl_contended_key *rl_contended_find(struct redlock_client *client, const struct rl_key *key);

/* --- waiters.c -------------------------------------------------------------------------------------------------- */

void rl_waiters_init(struct redlock_client *client); /* after rl_trust_init() */
void rl_waiters_fini(struct redlock_client *client);

/* Before an ENQUEUE of a claim, which notifications may name from then on; true: this is the first one. And when it is
 * disposed of. */
bool rl_waiters_enter(struct redlock_client *client, struct rl_claim *claim);
void rl_waiters_leave(struct redlock_client *client, struct rl_claim *claim);

/* The reply to ENQUEUE, before its answer is given to the engine. */
void rl_waiters_placed(struct redlock_client *client, unsigned node, const struct rl_ticket *ticket,
                       const struct rl_reply *reply, struct rl_instant now);

/* The master can be asked again. */
void rl_waiters_look_again(struct redlock_client *client, unsigned node, struct rl_instant now);

/* For the driver's sink; ctx is the client. */
void rl_waiters_listening(void *ctx, unsigned node, bool on, const char *why, struct rl_instant now);
void rl_waiters_message(void *ctx, unsigned node, struct rl_slice payload, struct rl_instant now);

/* --- claims.c --------------------------------------------------------------------------------------------------- */

void rl_host_claims_init(struct redlock_client *client);

/* A claim with a fresh token (NULL), or a given one. *ret_error: E_LIMIT or E_NOMEM when NULL is returned. */
struct rl_claim *rl_host_claim_create(struct redlock_client *client, struct rl_key *key, const struct rl_kind *kind,
                                      const char *token, int *ret_error);
void rl_host_claim_dispose(struct redlock_client *client, struct rl_claim *claim);
void rl_host_claims_fini(struct redlock_client *client);

static inline struct rl_host_claim *rl_host_claim_of(const struct rl_claim *claim)
{
    return (struct rl_host_claim *)(uintptr_t)claim - 1;
}

static inline const char *rl_host_token(const struct rl_claim *claim)
{
    const struct rl_host_claim *host = rl_host_claim_of(claim);

    return host->token.other.empty ? host->token.own.text : host->token.other.text;
}

struct rl_key *rl_key_create(struct rl_slice prefix, const void *bytes, size_t size);
struct rl_key *rl_key_ref(struct rl_key *key);
void rl_key_unref(struct rl_key *key);

/* --- completion.c ----------------------------------------------------------------------------------------------- */

/* For an acquisition or extension; NULL if memory is short. */
struct rl_attempt *rl_attempt_borrow(struct redlock_client *client);
void rl_attempts_fini(struct redlock_client *client);

/* Books an operation; its callback will run exactly once. */
void rl_pending_start(struct rl_pending *pending, enum rl_op op, struct rl_instant now, redlock_fn cb,
                      void *user_data);

enum redlock_loss rl_public_loss(enum rl_loss loss);
int rl_public_status(const struct redlock_lock *lock, enum rl_end end);

/* RL_EFFECT_COMPLETE: the callback runs at the end of this loop turn. */
void rl_completion_queue(struct redlock_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);

/* RL_EFFECT_AT_RISK, RL_EFFECT_LOST: the watch is told at the end of this loop turn. */
void rl_alarm_queue(struct redlock_lock *lock, enum redlock_alarm_kind kind);

/* Runs the callbacks that are due: the sink's turn. */
void rl_completion_deliver(struct redlock_client *client);

/* For a handle that is being destroyed: its callbacks run now, with CANCELED. */
void rl_completion_cancel_all(struct redlock_lock *lock);

/* --- shutdown.c ------------------------------------------------------------------------------------------------- */

/* Ends a shutdown that has nothing left to wait for. */
void rl_shutdown_check(struct redlock_client *client);
void rl_shutdown_cancel(struct redlock_client *client);
void rl_shutdown_timer(struct rl_timer *timer, struct rl_instant now);

/* --- lock.c, handover.c ------------------------------------------------------------------------------------------- */

/* Takes the handle out of the engine and the client; frees it now, or when the outermost dispatch ends. */
void rl_lock_bury(struct redlock_lock *lock);
void rl_lock_free(struct redlock_lock *lock);

/* Everything that each operation checks first; notes a validity that has ended unnoticed. 0 or a caller error. */
int rl_lock_enter(struct redlock_lock *lock);
int rl_lock_leave(struct redlock_lock *lock);
bool rl_lock_is_free(const struct redlock_lock *lock);
bool rl_lock_is_busy(const struct redlock_lock *lock); /* some callback is still to come */
bool rl_lock_has_passed_on(const struct redlock_lock *lock); /* its value has another holder now */

/* --- observe.c, options.c --------------------------------------------------------------------------------------- */

bool rl_observes(const struct redlock_client *client, enum redlock_event_type type);
void rl_observe(struct redlock_client *client, struct redlock_event *event); /* fills in client, and node -1 */

/* What is left of this lock, if it is or was held, or (NULL) of any, may be another when the turn ends. */
void rl_observe_validity(struct redlock_client *client, struct redlock_lock *lock);

/* The same for an event of a lock, with the ledger. */
void rl_observe_ledger(struct redlock_lock *lock, struct redlock_event *event);
enum redlock_vote rl_public_vote(enum rl_outcome outcome);
enum redlock_link rl_public_link(enum rl_link link);
enum redlock_op rl_public_op(enum rl_op op);
int64_t rl_public_latency_us(uint32_t latency_us);

int rl_options_check(const struct redlock_options *given, size_t n_masters, struct redlock_options *ret_options,
                     char *why, size_t why_size);
int rl_acquire_options_check(const struct redlock_client *client, const struct redlock_acquire_options *given,
                             struct rl_instant now, struct rl_acquire *ret_wish);
int rl_ttl_check(const struct redlock_client *client, uint32_t ttl_ms);

#endif
