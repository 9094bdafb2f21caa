/* A small scripted world around the engine: a virtual clock, masters that answer when told to, and a transcript.
 *
 * The harness plays the host: it hands out claims, carries each command into the queue of its master, and answers
 * the effects that ask for something. Each master answers in order, as one connection does. What the engine does is
 * written down, one line for each effect, in the order in which it happens:
 *
 *     t=0ms SEND claim #1: 0 1 2
 *     t=4ms COMPLETE acquire ok
 *
 * Masters vote and have no marker, unless a test admits them otherwise (core_admit). To a guarded one the harness
 * writes an epoch check at the end of each turn, as a host does: one more command in the master's queue, whose answer
 * is the epoch check, "granted", or the disproof, "refused".
 *
 * On the way every effect is checked against what the host is promised: no claim, extension or repair after a rollback
 * of the same value, nothing to a master that cannot be written to or that must not be asked, each claim disposed of
 * once and with nothing in flight, one completion for each operation, no warning about a lock that is not held, no
 * wake-up that comes earlier without a word to the host.
 * core_stop_all() ends what is left behind each test, and fails it if a claim has leaked. */
#ifndef TESTS_CORE_HARNESS_H
#define TESTS_CORE_HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/* An assertion that costs nothing while it holds; Check's own leave a mark in a file each time. */
#define CORE_DEMAND(condition, ...) ((condition) ? (void)0 : ck_abort_msg(__VA_ARGS__))

#define CORE_LOCKS 4
#define CORE_QUEUE 1024
#define CORE_LOG 3500

/* What the harness knows of a claim that the engine has. */
struct core_claim {
    struct rl_list link; /* in the list of those not disposed of */
    struct rl_claim *claim;
    unsigned number;     /* 1 for the first */
    unsigned in_flight;
    uint32_t claimed;    /* masks of masters that were sent a claim, an enqueue, a rollback */
    uint32_t enqueued;
    uint32_t rolled_back;
    uint32_t enqueued_round[RL_MAX_NODES]; /* the latest in which each was asked for one */
    void *watched;       /* the watcher's own; freed with the claim */
};

/* The engine's claim has a pointer to its record in front of it. */
static inline struct core_claim *core_claim_of(const struct rl_claim *claim)
{
    return ((struct core_claim **)(uintptr_t)claim)[-1];
}

struct core_command {
    struct core_claim *claim; /* NULL: an epoch check */
    enum rl_step step;
    uint32_t round;
    uint64_t ticket; /* of an entry in the wait queue; 0: not known when it was sent */
};

struct core_queue {
    struct core_command commands[CORE_QUEUE];
    unsigned head;
    unsigned size;
};

struct core;

/* Sees every command when it is sent and when it ends, and every notification. */
struct core_watch {
    void (*sent)(struct core *core, const struct core_command *command, unsigned node);
    void (*ended)(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome);
    void (*called)(struct core *core, struct core_claim *claim, unsigned node,
                   const struct rl_notification *notification);
};

struct core {
    struct rl_engine engine;
    struct rl_lock locks[CORE_LOCKS];
    unsigned handle;             /* which of them the operations are about */
    struct rl_instant now;
    struct rl_span accept_delay; /* passes between the effect and its answer */
    bool refuse_claims;          /* the host has no claim to give */
    uint64_t proposal;           /* the host's, for claims with a fencing token */
    struct rl_acquire requests[CORE_LOCKS]; /* lent to the engine until the acquisition completes, ... */
    struct rl_entry entries[CORE_LOCKS];     /* ... and so are these */
    uint64_t counters[RL_MAX_NODES]; /* what each master answers to fenced claims */
    struct rl_entry_report reports[RL_MAX_NODES]; /* of each master; the ticket only if it knows of none */
    bool clogged[RL_MAX_NODES];
    const struct core_watch *watch;
    struct rl_list live;
    unsigned n_claims;
    unsigned started[CORE_LOCKS];   /* operations */
    unsigned completed[CORE_LOCKS];
    unsigned lost[CORE_LOCKS];
    uint8_t state[CORE_LOCKS];      /* as last seen */
    struct rl_instant timers[CORE_LOCKS]; /* what a host has armed */
    bool looks[CORE_LOCKS];         /* a host has reason to arm it anew */
    uint32_t seen[RL_LOCK_STATE_COUNT]; /* mask of the states that followed each state */
    struct rl_effect last;          /* the latest COMPLETE */
    struct core_queue queues[RL_MAX_NODES];
    size_t log_size;
    char log[CORE_LOG + 1]; /* its end, if there was more */
    struct core *older;     /* that has not been stopped */
};

extern struct core *core_youngest;

/* --- World ---------------------------------------------------------------------------------------------------- */

/* Majority of n, drift 1 % + 2 ms, no guard time, rounds of 50 ms. */
struct rl_config core_config(size_t n_nodes);

/* At t = 0 with all links joining; and with all links ready. */
struct core *core_new(const struct rl_config *config);
struct core *core_start(size_t n_nodes);

/* Finishes every handle, answers what is in flight, resends all pending rollbacks; then nothing may be left. */
void core_stop(struct core *core);
/* The same for each; the teardown of a group. */
void core_stop_all(void);

/* The engine has been called: carries out its effects. */
void core_drain(struct core *core);

/* As core_drain(), after a call for the sake of one lock: a host looks at this lock's wake-up by itself. */
void core_drain_for(struct core *core, unsigned lock);

/* Memory for a claim, full of garbage, since the engine must not rely on what is in there. */
struct rl_claim *core_make_claim(struct core *core, const struct rl_kind *kind);

/* Ends a command that is in no queue. */
void core_end(struct core *core, const struct core_command *command, unsigned node, struct rl_answer answer);

/* --- Time ----------------------------------------------------------------------------------------------------- */

/* Goes on to t = ms, with a tick whenever one is due, the last at that very instant. */
void core_run_to(struct core *core, int64_t ms);

/* A tick for everything, due or not. */
void core_tick(struct core *core);

/* The process was asleep: it is t = ms, and no tick has come. */
void core_sleep_to(struct core *core, int64_t ms);

/* --- Masters -------------------------------------------------------------------------------------------------- */

/* The oldest command of this master ends. */
void core_answer(struct core *core, unsigned node, enum rl_outcome outcome);
void core_answer_for(struct core *core, unsigned node, enum rl_outcome outcome, enum rl_detail detail);

/* One letter for each master: granted, queued, refused, failed, unknown; anything else: no answer. */
void core_answers(struct core *core, const char *letters);

void core_link(struct core *core, unsigned node, enum rl_link link);

/* The backlog is full or not: while it is, every new command fails before it is sent. */
void core_clog(struct core *core, unsigned node, bool clogged);

/* The connection ends: everything in flight is unknown, then the link is down. */
void core_drop(struct core *core, unsigned node);

unsigned core_queued(const struct core *core, unsigned node);

/* --- Trust in masters (core_trust.c) ----------------------------------------------------------------------------- */

/* Guarded or not, it votes; it is in quarantine, guarded, until t = ms; it does not vote, and why is of no interest. */
void core_admit_voting(struct core *core, unsigned node, bool guarded);
void core_admit_quarantined(struct core *core, unsigned node, int64_t until_ms);
void core_admit(struct core *core, unsigned node, enum rl_admission kind);

/* All masters vote and are guarded. */
struct core *core_start_epoch_checked(size_t n_nodes);

/* The same with three masters, to which a claim has been sent; once: its acquisition makes a single attempt. */
struct core *core_start_unverified(bool once);

/* Writes epoch checks where they are due: part of every turn. */
void core_write_epoch_checks(struct core *core);

/* The oldest command of this master, which must be an epoch check, is answered. */
void core_pass_epoch_check(struct core *core, unsigned node);
void core_fail_epoch_check(struct core *core, unsigned node);

/* The master restarts without its memory: the connection ends, the next one finds it in quarantine until t = ms. */
void core_restart(struct core *core, unsigned node, int64_t until_ms);

/* Three masters, all of which had granted the claim; so many of them have restarted without their memory, and are in
 * quarantine until t = 6000. It is t = 300, and the transcript is empty. */
struct core *core_start_restarted(unsigned n_restarted);

/* The master finds no key, and it is still the memory that was admitted. */
void core_miss(struct core *core, unsigned node);

/* Its clock has been set forward by so much: the engine learns of it, then all locks. */
void core_step_clock(struct core *core, unsigned node, int64_t ms);

/* What the engine must not ask of it, by a second reading of rules 4.6, 5.1 and 6.2. */
void core_check_trusted(const struct core *core, const struct core_command *command, unsigned node);

/* --- In the wait queue (core_queue.c) ----------------------------------------------------------------------------- */

/* ttl 4000 ms, a lease of half of it; in the wait queue from the beginning, or when refused. */
struct rl_acquire core_request_fifo(void);
struct rl_acquire core_request_to_queue(void);

/* In the wait queue with all masters, which have not answered yet; the transcript is empty. */
struct core *core_start_enqueued(size_t n_nodes);

/* The same, and all of them have answered: queued, with the same ticket. */
struct core *core_start_queued(size_t n_nodes);

/* A notification for the handle: the key was handed off to it in this round, or in its latest. */
void core_hand_off_in(struct core *core, unsigned node, uint32_t round);
void core_hand_off(struct core *core, unsigned node);

/* A notification for the handle: somebody with a lower ticket waits for what it was given. */
void core_notify_of_lower(struct core *core, unsigned node);

/* A notification for any claim. */
void core_notify(struct core *core, struct core_claim *claim, unsigned node,
                 const struct rl_notification *notification);

void core_look_again(struct core *core, unsigned node);

/* The parts of the harness that have to do with it. */
void core_lend_entry(struct core *core, unsigned i);
uint64_t core_ticket_of(const struct core_claim *claim);
void core_report_entry(struct core *core, const struct core_command *command, unsigned node, enum rl_outcome outcome);
void core_say_position(struct core *core, const struct rl_lock *lock);

/* --- Operations of the handle core->handle, the first one unless set otherwise --------------------------------- */

/* ttl 1000 ms, pauses of 100 ms, no deadline, no limit. */
struct rl_acquire core_request(void);
struct rl_acquire core_request_once(void);

void core_acquire(struct core *core, const struct rl_acquire *request);
void core_extend(struct core *core, uint32_t ttl_ms);
void core_release(struct core *core);
void core_release_value(struct core *core, uint32_t ttl_ms);
bool core_cohort_hand_off(struct core *core, unsigned to); /* in place of a release; false: nothing has happened */
void core_detach(struct core *core);
void core_forget(struct core *core);
bool core_cancel(struct core *core);
void core_fini(struct core *core);

/* Takes over a lock that some other handle holds until t = ms on every master, with its ttl of 1000 ms. */
bool core_import(struct core *core, const struct rl_acquire *request, int64_t until_ms, uint64_t fence);

/* Acquired with the grants of all masters; the transcript is empty. */
struct core *core_start_held(size_t n_nodes);
struct core *core_start_held_as(size_t n_nodes, const struct rl_acquire *request);

/* --- Claims about the world ------------------------------------------------------------------------------------ */

/* The transcript since the last look is exactly this text; it starts anew. */
void core_expect(struct core *core, const char *text);
void core_skip(struct core *core);

/* Adds to the transcript. */
__attribute__((format(printf, 2, 3))) void core_say(struct core *core, const char *format, ...);

/* The handle's validity ends then; INT64_MIN: it is not held. */
int64_t core_deadline_ms(const struct core *core);

enum rl_lock_state core_state(const struct core *core);
const struct rl_vote *core_vote(const struct core *core, unsigned node); /* of the first handle's claim */
unsigned core_live_claims(const struct core *core);

#endif
