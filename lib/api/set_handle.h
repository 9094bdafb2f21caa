/* A set of locks behind its opaque handle. */
#ifndef RL_API_SET_HANDLE_H
#define RL_API_SET_HANDLE_H

#include <redlock/set.h>

#include "api/reason.h"
#include "engine/set_whole.h"
#include "util/clock.h"
#include "util/list.h"

_Static_assert(REDLOCK_MAX_SET_KEYS == RL_SET_MAX_PARTS, "the limit is the plan's");

#define RL_MODE_OF_OPTIONS (-1)

/* One operation of a set, from its start to its callback. */
struct rl_set_pending {
    redlock_set_fn cb;
    void *user_data;
    struct rl_instant started;
    enum redlock_op op;
    bool accepted;    /* the call has returned 0, the callback has not run */
    uint32_t parts;   /* extension, release: whose answers are due, by bits */
    int status;       /* so far */
    int cause;
    unsigned part;    /* that decided; n: none has */
    char why[RL_WHY_SIZE];
};

struct redlock_set {
    struct rl_list link;   /* in the client's list */
    struct redlock_client *client;
    unsigned n;
    struct redlock_lock *locks[REDLOCK_MAX_SET_KEYS]; /* in ascending order of their keys */
    int8_t modes[REDLOCK_MAX_SET_KEYS]; /* enum redlock_mode of each; RL_MODE_OF_OPTIONS: the acquisition's */
    enum redlock_state state;       /* IDLE, ACQUIRING, HELD, RELEASING or LOST */
    struct rl_set core;
    struct redlock_acquire_options options; /* of the acquisition */
    struct rl_set_pending attempt;  /* an acquisition or extension */
    struct rl_set_pending release;
    redlock_set_watch_fn watch;
    void *watch_data;
    unsigned depth;                 /* callbacks on the stack that use it */
    bool destroyed;
};

#endif
