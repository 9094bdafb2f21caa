/* A kind of lock: all that differs between one kind and another.
 *
 * Votes and engine fan out, count, wait, roll back; they know steps, not commands, and ask the kind of a claim where
 * kinds differ. A kind turns a step into one command and a successful reply into an answer, and says what follows a
 * quorum. Error replies are the same for all kinds and are the codec's business (codec/classify.h). Adding a kind of
 * lock is adding a file to lib/kinds, with its scripts. */
#ifndef RL_VOTES_KIND_H
#define RL_VOTES_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "votes/outcome.h"
#include "util/resp.h"
#include "util/slice.h"
#include "votes/quorum.h"

/* What the engine may ask of one master for one value; in the order in which steps that are handed out together must
 * reach a connection. */
enum rl_step {
    RL_STEP_CLAIM,    /* set the value if nobody has the key */
    RL_STEP_ENQUEUE,  /* take or keep a place in the queue; set the value if it is its turn (protocol 6.1) */
    RL_STEP_RAISE,    /* lift the resource's counter to our fencing token if the value is ours (protocol 4.2) */
    RL_STEP_EXTEND,   /* set the ttl anew if the value is ours */
    RL_STEP_REPAIR,   /* the same, or set the value again if nobody has the key (protocol 3.2) */
    RL_STEP_RELEASE,  /* leave the queue; if the value is ours hand the key over, or remove it; after a hold */
    RL_STEP_ROLLBACK, /* the same after a failed attempt, sent so that it cannot fail for want of a loaded script */
    RL_STEP_COUNT,
};

#define RL_COMMAND_MAX_ARGS 14
#define RL_COMMAND_MAX_NUMBERS 6

/* How the codec sends it. */
enum rl_script {
    RL_SCRIPT_NONE, /* argv is the whole command */
    RL_SCRIPT_RELEASE,
    RL_SCRIPT_ENQUEUE,
    RL_SCRIPT_REFRESH_MANY,
    RL_SCRIPT_EXTEND,
    RL_SCRIPT_EXTEND_MANY,
    RL_SCRIPT_REPAIR,
    RL_SCRIPT_GRANT,
    RL_SCRIPT_RAISE,
    RL_SCRIPT_JOIN,
    RL_SCRIPT_COUNT,
};

enum rl_send_as {
    RL_SEND_PLAIN,   /* no script */
    RL_SEND_EVALSHA, /* by digest; the codec repeats it once as EVAL after NOSCRIPT */
    RL_SEND_EVAL,    /* with the script's text */
};

/* For scripts argv holds the keys and then the arguments; the codec puts EVALSHA, digest and the number of keys in
 * front. The slices borrow from the subject and from numbers. */
struct rl_command {
    enum rl_send_as send_as;
    enum rl_script script;
    size_t n_keys;
    size_t argc;
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];
    char numbers[RL_COMMAND_MAX_NUMBERS][24];
};

/* What a command is about. */
struct rl_subject {
    struct rl_slice key;
    struct rl_slice token;
    uint32_t ttl_ms;

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

    /* RL_STEP_ENQUEUE, RELEASE, ROLLBACK: the keys of the queue, and the counter's. RELEASE and ROLLBACK may leave out
     * all but the queue's where nobody is known to wait. If somebody does, the answer is OTHERS_WAIT, whether the key
     * was deleted (GRANTED) or not (FAILED): then they must be repeated in full, and only after GRANTED "missing" means
     * done. ENQUEUE: the number of the refresh; the ticket, or 0 and the number proposed for it; where notifications
     * are sent. The lease is ttl_ms. */
    struct rl_slice queue;
    struct rl_slice waiters;
    struct rl_slice channel;
    uint32_t round;
    uint64_t ticket;
    uint64_t proposed_ticket;
};

/* Values in one command. */
#define RL_BATCH_MAX 64

/* RL_STEP_EXTEND for several values in one command, which is the same for every kind. All have the same ttl. */
struct rl_extend_many {
    size_t n;
    uint32_t ttl_ms;
    struct rl_slice keys[RL_BATCH_MAX];
    struct rl_slice tokens[RL_BATCH_MAX];
};

/* Further values behind the one of RL_STEP_ENQUEUE, all of which have never been in the wait queue: they follow it in
 * the queue. All else they have in common. */
struct rl_batch_tail {
    size_t n;
    struct rl_slice tokens[RL_BATCH_MAX - 1];
    uint64_t proposals[RL_BATCH_MAX - 1]; /* for the fencing counter; 0: not fenced */
};

/* Several of one key who have an entry in the wait queue, and a ticket, and keep it (RL_STEP_ENQUEUE). All else they
 * have in common with the first of them. */
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

struct rl_kind {
    const char *name;
    bool has_token; /* what a claim keeps behind its slots begins with a struct rl_fence */
    bool cohort_hand_off; /* waiters of one client may hand a hold off among themselves: nobody can tell them apart */

    /* What a claim keeps behind its slots, in bytes; NULL: nothing. */
    size_t (*tail_size)(size_t n_nodes);

    /* Fills *ret_command, whose slices borrow from the subject and from *ret_command itself. */
    void (*command)(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command);

    /* The meaning of a reply that is not an error. Unexpected shapes are UNKNOWN / PROTOCOL. */
    struct rl_answer (*answer)(enum rl_step step, const struct rl_reply *reply);

    /* An answer counts: what the tail is to keep of it. NULL: nothing. */
    void (*note)(struct rl_claim *claim, enum rl_step step, unsigned node, struct rl_answer answer);

    /* A quorum has granted: is there more to do before the lock is held? NULL: no, it is won. */
    enum rl_verdict (*after_quorum)(struct rl_votes *votes, struct rl_claim *claim);
};

/* What a reply that is not an error means for number i of the n values of an rl_extend_many. */
struct rl_answer rl_extend_many_answer(const struct rl_reply *reply, size_t i, size_t n);

/* The plain mutex: SET NX PX, compare-and-pexpire, compare-and-delete. */
extern const struct rl_kind rl_mutex_kind;

/* The mutex with fencing tokens (protocol section 4): claims are granted by a script that also counts. */
extern const struct rl_kind rl_fenced_kind;

#endif
