/* A set of locks behind its opaque handle: its parts, in ascending order of their keys (rule 11.1), and what may be
 * added to them. */
#ifndef RL_API_SET_H
#define RL_API_SET_H

#include <stdbool.h>

#include <redlock/set.h>

#include "api/call.h"
#include "api/object.h"
#include "api/reason.h"
#include "engine/set.h"
#include "util/list.h"

/* Each gate (engine/set.h) has at least two permits behind it. */
_Static_assert(REDLOCK_MAX_SET_KEYS + REDLOCK_MAX_SET_KEYS / 2 == RL_SET_MAX_PARTS, "the limit is the plan's");

#define RL_MODE_OF_OPTIONS (-1)

/* One operation of a set, from its start to its callback. */
struct rl_set_call {
    struct rl_call call;   /* status and cause: so far */
    struct rl_parts parts; /* extension, release: those whose answers are due */
    unsigned part;         /* that decided; n: none has */
    char why[RL_WHY_SIZE];
};

struct rl_set_member {
    struct redlock_lock *lock;
    int8_t mode;  /* enum redlock_mode; RL_MODE_OF_OPTIONS: the acquisition's */
    bool is_gate;
    bool is_behind_gate;
};

struct redlock_set {
    struct rl_object object;
    unsigned n;                     /* parts: the keys that the program has named, and gates */
    struct rl_set_member parts[RL_SET_MAX_PARTS]; /* in ascending order of their keys; a gate precedes its permits */
    enum redlock_state state;       /* IDLE, ACQUIRING, HELD, RELEASING or LOST */
    unsigned lost_part;             /* LOST: whose loss it was */
    bool keeps_rest;                /* what is left of a lost set stays held until it is released */
    struct rl_set core;
    struct redlock_acquire_options options; /* of the acquisition */
    char label[REDLOCK_MAX_LABEL_BYTES + 1]; /* ... and its label */
    struct rl_set_call work;        /* an acquisition or extension */
    struct rl_set_call release;
    redlock_set_watch_fn watch;
    void *watch_data;
};

static inline bool rl_set_is_gate(const struct redlock_set *set, unsigned part)
{
    return set->parts[part].is_gate;
}

/* The part's place among the keys that the program has named; of a gate, that of its first permit. */
static inline unsigned rl_set_place_of(const struct redlock_set *set, unsigned part)
{
    unsigned place = 0;

    for (unsigned i = 0; i < part; i++)
        place += !set->parts[i].is_gate;
    return place;
}

/* May anything be added to the set now? */
int rl_set_check_addition(struct redlock_set *set, const void *key, size_t key_size);

/* May so many parts of this key be added? `limit` is that of a semaphore; 0: the key is no semaphore's. */
int rl_set_check_room(const struct redlock_set *set, const void *key, size_t key_size, uint32_t n, uint32_t limit);

bool rl_set_has_key(const struct redlock_set *set, const void *key, size_t key_size);

/* Where a part of this key belongs. */
unsigned rl_set_place_for(const struct redlock_set *set, const void *key, size_t key_size);
void rl_set_insert(struct redlock_set *set, unsigned at, struct rl_set_member part);

#endif
