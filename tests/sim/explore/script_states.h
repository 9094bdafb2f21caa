/* The states that masters which run the shipped scripts can come to, each with a number. What a command does in a state
 * at a time is found out once, by running it; so a search with many masters costs little more than one without scripts.
 *
 * A state is what the keys of one master are. Two with one hash are taken to be the same, as the search does with
 * worlds (seen.h). */
#ifndef SIM_SCRIPT_STATES_H
#define SIM_SCRIPT_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kinds/wait_queue.h"
#include "simulated/lua_host.h"
#include "script_view.h"
#include "util/resp.h"

#define SCRIPT_MAX_TOLD 4

/* A notification that a command has sent. */
struct script_told {
    uint8_t channel; /* the number that is the channel's name */
    uint8_t value;
    struct rl_notification notification; /* without its time */
};

/* What a command has done. */
struct script_outcome {
    uint32_t state;
    uint16_t reply;
    uint8_t n_told;
    struct script_told told[SCRIPT_MAX_TOLD];
};

/* What can be seen of a state: of the key "k" and of its wait queue. */
struct script_sight {
    struct script_vote votes[SCRIPT_VALUES]; /* those that were alive when the state was come to */
    uint32_t queued;                         /* values with an entry in the queue */
    const char *wrong;                       /* with the key's form; static text */
};

struct script_states;

/* info: what INFO says; NULL: nothing. */
struct script_states *script_states_create(struct lua_host *lua, const char *info);
void script_states_destroy(struct script_states *states);

/* A master without keys. */
uint32_t script_states_empty(struct script_states *states);

/* The command is carried out. Its reply, with the master's time left out, has the number that the outcome says. */
struct script_outcome script_states_run(struct script_states *states, uint32_t state, int64_t now_ms,
                                        const struct rl_command *command);

/* The same state when it has become so late: keys that have ended are gone. */
uint32_t script_states_age(struct script_states *states, uint32_t state, int64_t now_ms);

/* Until the states are destroyed. */
const struct rl_reply *script_states_reply(const struct script_states *states, uint16_t reply);

/* Until the next state is found. */
const struct script_sight *script_states_sight(const struct script_states *states, uint32_t state);

size_t script_states_count(const struct script_states *states);

#endif
