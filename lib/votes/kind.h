/* A kind of lock: all that differs between one kind and another.
 *
 * Votes and engine know steps, not commands. They ask the kind of a claim wherever kinds differ: a kind turns a step
 * into one command, says what a successful reply to it means, and what follows a quorum. Error replies mean the same
 * for all kinds (codec/classify.h). A new kind is a new file in lib/kinds, with its scripts. */
#ifndef RL_VOTES_KIND_H
#define RL_VOTES_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "votes/outcome.h"
#include "util/resp.h"
#include "util/slice.h"
#include "votes/quorum.h"

/* How a value has the key. Votes of different values agree if both are SHARED, or one is and the other is UPGRADEABLE.
 * The larger the number, the weaker the mode. */
enum rl_mode {
    RL_EXCLUSIVE,
    RL_UPGRADEABLE,
    RL_SHARED,
};

/* What one master may be asked to do for one value, in the order in which steps that are sent together must reach a
 * connection. */
enum rl_step {
    RL_STEP_CLAIM,    /* set the value if nobody has the key */
    RL_STEP_ENQUEUE,  /* enter the wait queue, or refresh the entry; set the value if it is its turn (rule 7.1) */
    RL_STEP_RAISE,    /* lift the key's counter to the fencing token if the value is set (rule 8.3) */
    RL_STEP_EXTEND,   /* set the ttl anew if the value is set */
    RL_STEP_REPAIR,   /* EXTEND, or set the value again if nobody has the key (rule 4.6) */
    RL_STEP_RELEASE,  /* after a hold: leave the wait queue; if the value is set, hand the key off or delete it */
    RL_STEP_ROLLBACK, /* after a failed attempt: RELEASE with the script's text, so that it needs no loaded script */
    RL_STEP_COUNT,
};

#define RL_COMMAND_MAX_ARGS 40
#define RL_COMMAND_MAX_NUMBERS 7

/* How the codec sends it. */
enum rl_script {
    RL_SCRIPT_NONE, /* argv is the whole command */
    RL_SCRIPT_RELEASE,
    RL_SCRIPT_RELEASE_SHORT,
    RL_SCRIPT_ENQUEUE,
    RL_SCRIPT_REFRESH_MANY,
    RL_SCRIPT_EXTEND,
    RL_SCRIPT_EXTEND_MANY,
    RL_SCRIPT_REPAIR,
    RL_SCRIPT_GRANT,
    RL_SCRIPT_RAISE,
    RL_SCRIPT_CLAIM_PERMIT,
    RL_SCRIPT_ENQUEUE_PERMIT,
    RL_SCRIPT_RELEASE_PERMIT,
    RL_SCRIPT_CLAIM_SHARED,
    RL_SCRIPT_ENQUEUE_SHARED,
    RL_SCRIPT_EXTEND_SHARED,
    RL_SCRIPT_REPAIR_SHARED,
    RL_SCRIPT_LOOK,
    RL_SCRIPT_LATCH,
    RL_SCRIPT_JOIN,
    RL_SCRIPT_COUNT,
};

enum rl_send_as {
    RL_SEND_PLAIN,   /* no script */
    RL_SEND_EVALSHA, /* by digest; the codec repeats it once as EVAL after NOSCRIPT */
    RL_SEND_EVAL,    /* with the script's text */
};

/* For scripts, argv holds the keys and then the arguments; the codec puts EVALSHA, the digest and the number of keys in
 * front. The slices borrow from the subject and from `numbers`. */
struct rl_command {
    enum rl_send_as send_as;
    enum rl_script script;
    size_t n_keys;
    size_t argc;
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];
    char numbers[RL_COMMAND_MAX_NUMBERS][24];
};

/* Other slots of a permit's semaphore: the answers to CLAIM and ENQUEUE say which of them are free. */
#define RL_MAX_CANDIDATES 7

struct rl_candidates {
    size_t n;
    struct rl_slice keys[RL_MAX_CANDIDATES];
    struct rl_slice queues[RL_MAX_CANDIDATES];
};

/* What a command is about. */
struct rl_subject {
    struct rl_slice key;
    struct rl_slice token;
    uint32_t ttl_ms;
    enum rl_mode mode;

    /* For kinds that know modes; or empty. CLAIM and ENQUEUE: the value whose place this one is to take. REPAIR: the
     * other value of a handle of which one is to take the place of the other. The two do not conflict. */
    struct rl_slice replaces;

    /* The marker's key, and for RL_STEP_REPAIR and RL_STEP_ENQUEUE the incarnation in which alone the command may do
     * anything; that slice is empty where the master has no marker (classic profile). */
    struct rl_slice marker;
    struct rl_slice incarnation;

    /* The key of the counter of the fencing tokens, and its idle life; and for kinds with tokens the number proposed
     * for a claim, and the token to be recorded by RAISE and REPAIR. */
    struct rl_slice counter;
    uint64_t counter_ttl_ms;
    uint64_t proposal;
    uint64_t fence;

    /* ENQUEUE, RELEASE and ROLLBACK, and CLAIM and EXTEND of kinds that respect the queue: the keys of the wait queue,
     * and the counter's. EXTEND may leave them out where no vote is stronger than the mode. RELEASE and ROLLBACK may
     * name `queue` alone where nobody is known to wait (the short form). If somebody waits after all, the answer is
     * OTHERS_WAIT, whether the key was deleted (GRANTED) or not (FAILED). Then the step must be repeated with all keys;
     * after GRANTED the answer "missing" means that it is done. ENQUEUE: the number of the refresh; the ticket, or 0
     * and the number proposed for it; the channel for notifications. The lease is ttl_ms. */
    struct rl_slice queue;
    struct rl_slice waiters;
    struct rl_slice channel;
    uint32_t round;
    uint64_t ticket;
    uint64_t proposed_ticket;

    /* CLAIM and ENQUEUE of a permit; NULL: no other slots. ENQUEUE, RELEASE and ROLLBACK of a permit: the keys of the
     * directory of those who wait for any slot of its semaphore, of which the short form names the first; and how many
     * slots there are, for ENQUEUE. */
    const struct rl_candidates *candidates;
    struct rl_slice directory;
    struct rl_slice directory_entries;
    uint32_t limit;
};

/* So many values fit into one command. */
#define RL_BATCH_MAX 64

/* RL_STEP_EXTEND of several values with one ttl, in one command; the same for every kind. */
struct rl_extend_many {
    size_t n;
    uint32_t ttl_ms;
    struct rl_slice keys[RL_BATCH_MAX];
    struct rl_slice tokens[RL_BATCH_MAX];
    enum rl_mode modes[RL_BATCH_MAX];
};

/* Further values in an RL_STEP_ENQUEUE, none of which has been in the wait queue: they enter it behind the first. They
 * have all but this in common with the first. */
struct rl_joins {
    size_t n;
    struct rl_slice tokens[RL_BATCH_MAX - 1];
    uint64_t proposals[RL_BATCH_MAX - 1]; /* for the fencing counter; 0: not fenced */
};

/* RL_STEP_ENQUEUE of several values of one key whose entries are only refreshed, and whose tickets are known. They have
 * all but this in common. */
struct rl_refresh_many {
    size_t n;
    struct {
        struct rl_slice token;
        uint32_t round;
        uint64_t ticket;
        uint64_t proposal; /* for the fencing counter; 0: not fenced */
    } at[RL_BATCH_MAX];
};

struct rl_claim;
struct rl_votes;

/* What may be done with the locks of a kind. */
enum rl_capability {
    RL_BATCH_EXTEND = 1, /* extensions of several locks may be one command (host/batch.c) */
    RL_BATCH_JOIN = 2,   /* waiters for one key may enter its wait queue, or refresh their entries, by one command */
    RL_COHORT = 4,       /* waiters of one client may hand a lock off among themselves (engine/cohort.c) */
    RL_REPAIR = 8,       /* a master that has lost the vote may get it back (votes/extension.c) */
    RL_SLOTS = 16,       /* the key is a slot of a semaphore; a mask of other slots ends replies to CLAIM and ENQUEUE
                            (kinds/permit.h) */
};

struct rl_kind {
    const char *name;
    unsigned can;   /* set of enum rl_capability */
    bool has_token; /* its locks have fencing tokens: a claim's tail is a struct rl_fence */

    /* CLAIM, EXTEND and REPAIR write several things, so some of them may be done when an error comes. */
    bool writes_several;

    /* CLAIM looks at the wait queue, and so does EXTEND where it makes a vote weaker. RELEASE and ROLLBACK have no
     * short form. */
    bool respects_queue;

    /* Masters do not tell a waiter that has votes of those with lower tickets: it must look again soon. */
    bool refreshes_early;

    /* The size of the tail: what a claim keeps behind its slots. NULL: nothing. */
    size_t (*tail_size)(size_t n_nodes);

    /* Fills *ret_command, whose slices borrow from the subject and from *ret_command itself. */
    void (*command)(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command);

    /* The meaning of a reply that is not an error. Unexpected shapes are UNKNOWN / PROTOCOL. */
    struct rl_answer (*answer)(enum rl_step step, const struct rl_reply *reply);

    /* An answer counts: notes in the tail what it says. NULL: nothing. */
    void (*note)(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer);

    /* A quorum has granted: the verdict on what else must be done before the lock is held. NULL: nothing. */
    enum rl_verdict (*after_quorum)(struct rl_votes *votes, struct rl_claim *claim);
};

#endif
