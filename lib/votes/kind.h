/* A recipe: what a kind of lock writes to one master, and what the replies mean.
 *
 * The engine (engine/engine.h) fans out, counts, waits, rolls back; it knows steps, not commands. A recipe turns a step
 * into one command, and a successful reply into an answer. Error replies are the same for all recipes and are the
 * codec's business (codec/classify.h). Adding a kind of lock is adding a recipe. */
#ifndef RL_VOTES_KIND_H
#define RL_VOTES_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "votes/outcome.h"
#include "util/resp.h"
#include "util/slice.h"

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
    RL_SCRIPT_KEEP_MANY,
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

    /* The key of the counter of the fencing tokens, and its idle life; and for recipes with tokens the number proposed
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

/* RL_STEP_EXTEND for several values in one command, which is the same for every recipe. All have the same ttl. */
struct rl_extend_many {
    size_t n;
    uint32_t ttl_ms;
    struct rl_slice keys[RL_BATCH_MAX];
    struct rl_slice tokens[RL_BATCH_MAX];
};

/* Further values behind the one of RL_STEP_ENQUEUE, all of which have never been in line: they follow it in the queue.
 * All else they have in common. */
struct rl_followers {
    size_t n;
    struct rl_slice tokens[RL_BATCH_MAX - 1];
    uint64_t proposals[RL_BATCH_MAX - 1]; /* for the fencing counter; 0: not fenced */
};

/* Several of one key who have a place in line, and a ticket, and keep it (RL_STEP_ENQUEUE). All else they have in
 * common with the first of them. */
struct rl_keepers {
    size_t n;
    struct {
        struct rl_slice token;
        uint32_t round;
        uint64_t ticket;
        uint64_t proposal; /* for the fencing counter; 0: not fenced */
    } at[RL_BATCH_MAX];
};

struct rl_recipe {
    const char *name;

    /* Fills *ret_command, whose slices borrow from the subject and from *ret_command itself. */
    void (*command)(enum rl_step step, const struct rl_subject *subject, struct rl_command *ret_command);

    /* The meaning of a reply that is not an error. Unexpected shapes are UNKNOWN / PROTOCOL. */
    struct rl_answer (*answer)(enum rl_step step, const struct rl_reply *reply);
};

/* What a reply that is not an error means for number i of the n values of an rl_extend_many. */
struct rl_answer rl_extend_many_answer(const struct rl_reply *reply, size_t i, size_t n);

/* The plain mutex: SET NX PX, compare-and-pexpire, compare-and-delete. */
extern const struct rl_recipe rl_mutex_recipe;

/* The mutex with fencing tokens (protocol section 4): claims are granted by a script that also counts. */
extern const struct rl_recipe rl_fenced_recipe;

#endif
