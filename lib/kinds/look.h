/* What a master says of a key when it is only looked at (rule 14.2): the command, and its reply taken apart. */
#ifndef RL_KINDS_LOOK_H
#define RL_KINDS_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds/command.h"

/* Limits of look.lua. */
#define RL_LOOK_VOTES 100
#define RL_LOOK_WAITERS 16
#define RL_LOOK_VALUE_BYTES 128

/* The subject names the keys of a wait queue. Always sent with the script's text. */
void rl_look_command(const struct rl_subject *subject, struct rl_command *ret_command);

struct rl_look_answer {
    bool foreign;       /* the key is of a type that no lock has */
    uint64_t counter;   /* of the fencing tokens; 0: there is none */
    uint64_t n_votes;   /* those that are listed among them */
    uint64_t n_waiting;
    struct rl_slice votes;
    struct rl_slice waiters;
    struct rl_slice incarnation; /* empty: the master has no marker */
};

/* false: an error, or not a reply to this command. The slices borrow from the reply. */
bool rl_look_answer(const struct rl_reply *reply, struct rl_look_answer *ret_answer);

struct rl_look_vote {
    enum rl_mode mode;
    int64_t left_ms;  /* -1: without end */
    uint64_t ticket;  /* of a waiter */
    struct rl_slice value;
};

/* Takes the first vote, or waiter, off the text; false: there is none, or the text is malformed. */
bool rl_look_next_vote(struct rl_slice *text, struct rl_look_vote *ret_vote);
bool rl_look_next_waiter(struct rl_slice *text, struct rl_look_vote *ret_waiter);

#endif
