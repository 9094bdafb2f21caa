/* Latches (rules 12): what a master is asked, and what it says. A latch has no votes, so this is no kind of lock. */
#ifndef RL_KINDS_LATCH_H
#define RL_KINDS_LATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds/command.h"

#define RL_LATCH_PARTIES 1000
#define RL_LATCH_PARTY_BYTES 64
#define RL_LATCH_PASSED_BYTES 32   /* "GENERATION PARTIES", 25 at most */
#define RL_LATCH_REVISION_BYTES 32 /* "PARTIES@MICROSECONDS" */

/* Empty slices ask for nothing. */
struct rl_latch_read {
    struct rl_slice key;
    uint32_t parties;
    uint64_t generation;
    uint32_t keep_ms;
    struct rl_slice passed;   /* a generation that has opened, as masters have said it */
    struct rl_slice party;    /* that arrives */
    bool open;                /* the latch is known to be open */
    struct rl_slice channel;  /* on which the client waits for a message */
    bool wants_names;
    struct rl_slice revision; /* whose names are known already */
};

/* Always sent with the script's text. */
void rl_latch_command(const struct rl_latch_read *question, struct rl_command *ret_command);

enum rl_latch_code {
    RL_LATCH_SHUT,             /* whatever was to be recorded is recorded */
    RL_LATCH_OPEN,             /* likewise */
    RL_LATCH_OTHER_PARTIES,    /* another number of parties; from here on nothing is recorded */
    RL_LATCH_OTHER_GENERATION, /* an earlier one that has not opened, or a later one */
    RL_LATCH_COMPLETE,         /* as many other parties have arrived as there are */
    RL_LATCH_FOREIGN,          /* the key is no latch */
};

struct rl_latch_answer {
    enum rl_latch_code code;
    struct rl_slice passed;   /* the generation before, which has opened; or empty */
    uint64_t passed_generation;
    struct rl_slice revision;
    struct rl_slice names;
};

/* false: an error, or not a reply to this command. The slices borrow from the reply. */
bool rl_latch_answer(const struct rl_reply *reply, struct rl_latch_answer *ret_answer);

/* Is it a name that a party may have? */
bool rl_latch_is_party(struct rl_slice name);

/* Takes the first name off the text; false: there is none, or the text is malformed. */
bool rl_latch_next_name(struct rl_slice *text, struct rl_slice *ret_name);

/* A message of a master that a latch has opened: the latch's key, which borrows from the payload. */
bool rl_latch_notification(struct rl_slice payload, struct rl_slice *ret_key);

#endif
