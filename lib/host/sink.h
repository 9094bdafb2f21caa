/* What the host reports above. None of these functions may start, end or destroy anything of the host's at once: what
 * they cause waits for the end of the turn. */
#ifndef RL_HOST_SINK_H
#define RL_HOST_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "util/link.h"
#include "votes/outcome.h"
#include "votes/admission.h"

struct rl_host;
struct rl_host_lock;

/* The answer of a master to a command. */
struct rl_vote_report {
    struct rl_host_lock *lock;    /* NULL: the claim belongs to none any more */
    const struct rl_claim *claim;
    enum rl_step step;
    struct rl_answer answer;
    uint32_t latency_us;          /* or RL_NO_LATENCY */
};

/* In the wait queue: how many wait in front, and when the key expires if its holder does nothing more; RL_NEVER. */
struct rl_position {
    uint32_t rank;
    struct rl_instant held_until;
};

struct rl_host_sink {
    /* Of a lock. Exactly one `complete` for each operation. */
    void (*complete)(struct rl_host_lock *lock, enum rl_op op, enum rl_end status, enum rl_end cause);
    void (*attempt)(struct rl_host_lock *lock, const struct rl_claim *claim); /* is about to begin */
    void (*waiting)(struct rl_host_lock *lock, const struct rl_position *position); /* it is known, or has changed */
    void (*backoff)(struct rl_host_lock *lock, enum rl_end why, struct rl_span delay);
    void (*extending)(struct rl_host_lock *lock);
    void (*renewed)(struct rl_host_lock *lock);
    void (*at_risk)(struct rl_host_lock *lock);
    void (*lost)(struct rl_host_lock *lock);

    /* What follows in this turn may change the validity that is left of this lock (NULL: of any). Whoever has noted it
     * asks again when the turn has ended. */
    void (*validity)(struct rl_host *host, struct rl_host_lock *lock);

    /* Nothing refers to this claim any more; it is known to no master. May be NULL. */
    void (*disposed)(struct rl_host *host, const struct rl_claim *claim);

    /* The list of masters has changed. `new_member`: a master is about to be one, under this number; its name is
     * host:port/database. There will be a connection to it, or none, and *ret_why_not says why: a static sentence.
     * false: out of memory. */
    bool (*new_member)(struct rl_host *host, unsigned node, const char *name, const char **ret_why_not);
    /* A master that the client knows has this name now: its next connection is made by that. */
    void (*name_member)(struct rl_host *host, unsigned node, const char *name);
    /* The number of the master with this name; -1: there is none. */
    int (*place_of)(struct rl_host *host, const char *name);
    void (*members_changed)(struct rl_host *host);

    /* Of a master. `verified`: an epoch check is about to show whether its answers count. */
    void (*link)(struct rl_host *host, unsigned node, enum rl_link link, const char *why);
    void (*listening)(struct rl_host *host, unsigned node, bool on, const char *why);
    void (*vote)(struct rl_host *host, unsigned node, const struct rl_vote_report *vote);
    void (*verified)(struct rl_host *host, unsigned node);
    void (*admission)(struct rl_host *host, unsigned node, const struct rl_admission_status *status);
    void (*clock)(struct rl_host *host, unsigned node, struct rl_span step);
    /* The masters' clocks seemed to step forward, since this client's own stood still. */
    void (*own_clock)(struct rl_host *host, uint32_t nodes, const struct rl_clock_move *move);
};

#endif
