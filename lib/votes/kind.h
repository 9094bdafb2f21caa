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

struct rl_claim;
struct rl_command;
struct rl_subject;
struct rl_votes;

/* What may be done with the locks of a kind. */
enum rl_capability {
    RL_BATCH_EXTEND = 1,  /* extensions of several locks may be one command (host/batch.c) */
    RL_BATCH_RELEASE = 2, /* so may releases in the short form, and rollbacks */
    RL_BATCH_JOIN = 4,    /* waiters for one key may enter its wait queue, or refresh their entries, by one command */
    RL_COHORT = 8,        /* waiters of one client may hand a lock off among themselves (engine/cohort.c) */
    RL_REPAIR = 16,       /* a master that has lost the vote may get it back (votes/extension.c) */
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
