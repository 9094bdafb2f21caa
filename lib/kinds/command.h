/* Commands as the kinds make them: what one is about, and its words; header only. */
#ifndef RL_KINDS_COMMAND_H
#define RL_KINDS_COMMAND_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/slice.h"
#include "votes/kind.h"

#define RL_COMMAND_MAX_ARGS 40
#define RL_COMMAND_MAX_NUMBERS 7

/* A number for the fencing counter, as commands have it: NUMBER, or NUMBER+LEAD where the list has a lead. */
#define RL_PROPOSAL_MAX (2 * RL_DECIMAL_MAX + 1)

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

/* For scripts, argv holds the keys and then the arguments; the codec puts EVAL and the text, or EVALSHA and the digest,
 * and the number of keys in front. The slices borrow from the subject and from `numbers`. */
struct rl_command {
    enum rl_script script;
    bool by_digest;
    size_t n_keys;
    size_t argc;
    struct rl_slice argv[RL_COMMAND_MAX_ARGS];
    char numbers[RL_COMMAND_MAX_NUMBERS][RL_PROPOSAL_MAX];
};

/* Other slots of a permit's semaphore: the answers to CLAIM and ENQUEUE say which of them are free. */
#define RL_MAX_CANDIDATES 7

struct rl_candidates {
    size_t n;
    struct rl_slice keys[RL_MAX_CANDIDATES];
};

struct rl_names;

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
     * for a claim, which is ahead of the clock by the lead, and the token to be recorded by RAISE and REPAIR. */
    struct rl_slice counter;
    uint64_t counter_ttl_ms;
    uint64_t proposal;
    uint64_t lead_us;
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

    /* CLAIM and ENQUEUE of a permit: other slots; and how many there are, for ENQUEUE. */
    struct rl_candidates candidates;
    uint32_t limit;

    /* Where names that belong to the key are made (kinds/names.h). */
    struct rl_names *names;
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
    uint64_t lead_us;
    struct rl_slice tokens[RL_BATCH_MAX - 1];
    uint64_t proposals[RL_BATCH_MAX - 1]; /* for the fencing counter; 0: not fenced */
};

/* RL_STEP_ENQUEUE of several values of one key whose entries are only refreshed, and whose tickets are known. They have
 * all but this in common. */
struct rl_refresh_many {
    size_t n;
    uint64_t lead_us;
    struct {
        struct rl_slice token;
        uint32_t round;
        uint64_t ticket;
        uint64_t proposal; /* for the fencing counter; 0: not fenced */
    } at[RL_BATCH_MAX];
};

/* With the script's text, unless the host knows that the digest will do (host/commands.h). */
static inline void rl_command_init(struct rl_command *command, enum rl_script script, size_t n_keys)
{
    command->script = script;
    command->by_digest = false;
    command->n_keys = n_keys;
    command->argc = 0;
}

static inline void rl_push(struct rl_command *command, struct rl_slice argument)
{
    assert(command->argc < RL_COMMAND_MAX_ARGS);
    command->argv[command->argc++] = argument;
}

static inline void rl_push_word(struct rl_command *command, const char *text)
{
    rl_push(command, (struct rl_slice){text, strlen(text)});
}

/* `index` says which of the command's RL_COMMAND_MAX_NUMBERS buffers holds the digits. */
static inline void rl_push_number(struct rl_command *command, size_t index, uint64_t number)
{
    assert(index < RL_COMMAND_MAX_NUMBERS);
    rl_push(command, (struct rl_slice){command->numbers[index], rl_decimal(number, command->numbers[index])});
}

static inline struct rl_slice rl_proposal_word(uint64_t proposal, uint64_t lead_us, char word[RL_PROPOSAL_MAX])
{
    size_t size = rl_decimal(proposal, word);

    if (proposal && lead_us) {
        word[size++] = '+';
        size += rl_decimal(lead_us, word + size);
    }
    return (struct rl_slice){word, size};
}

static inline void rl_push_proposal(struct rl_command *command, size_t index, const struct rl_subject *subject)
{
    assert(index < RL_COMMAND_MAX_NUMBERS);
    rl_push(command, rl_proposal_word(subject->proposal, subject->lead_us, command->numbers[index]));
}

#endif
