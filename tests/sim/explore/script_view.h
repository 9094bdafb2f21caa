/* What the keys of a master show to the worlds that run scripts: values, and wait queues. Nothing here knows the
 * scripts. */
#ifndef SIM_SCRIPT_VIEW_H
#define SIM_SCRIPT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simulated/keyspace.h"
#include "votes/kind.h"

/* The values of these worlds: two for each client, 'a' and 'A' and so on. */
#define SCRIPT_CLIENTS 3
#define SCRIPT_VALUES (2 * SCRIPT_CLIENTS)

extern const char *const script_names[SCRIPT_VALUES];

/* SCRIPT_VALUES: nobody's. */
unsigned script_value_named(const char *name, size_t size);

struct script_place {
    unsigned value;
    double ticket;
    bool lives; /* its lease has not ended */
};

/* What a master has of a value under a key (rule 9.2). */
struct script_vote {
    bool is_there;
    enum rl_mode mode;
    int64_t ends_ms;
};

/* The entry of this key; NULL: there is none. */
struct entry *script_find(struct keyspace *keys, int64_t now_ms, const char *key);

/* The votes under the key that are alive. Returns what is wrong with the key's form, as static text; or NULL. */
const char *script_view_votes(struct keyspace *keys, int64_t now_ms, const char *key,
                              struct script_vote ret_votes[SCRIPT_VALUES]);

/* In the order of tickets. Returns how many wait. */
size_t script_view_queue(struct keyspace *keys, int64_t now_ms, const char *queue, const char *waiters,
                         struct script_place ret_places[SCRIPT_VALUES]);

#endif
