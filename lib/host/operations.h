/* The operations of a lock, for whoever owns the host. Each one carries out what the engine wants, and sets the lock's
 * timer; the end of those that take time is reported by the sink's `complete`. */
#ifndef RL_HOST_OPERATIONS_H
#define RL_HOST_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <redlock/options.h>

#include "engine/engine.h"
#include "engine/lock.h"
#include "util/instant.h"
#include "util/slice.h"
#include "votes/kind.h"
#include "votes/view.h"

struct rl_acquire;
struct rl_host;
struct rl_host_lock;

/* Before each operation: reads the clock, and notices a validity that has ended since the lock's timer was due. */
void rl_host_begin_operation(struct rl_host_lock *lock);

/* The lock is IDLE or LOST, and has got memory for its call. */
void rl_host_acquire(struct rl_host_lock *lock, const struct rl_acquire *request);

/* The lock is HELD, and has got memory for its call. ttl_ms: 0 for the one that it has. */
void rl_host_extend(struct rl_host_lock *lock, uint32_t ttl_ms);

/* The lock is HELD, its kind has a form that knows modes (kinds/shared.h), and it has got memory for its call:
 * lowers its mode at once, and tells the masters by an extension. The end is that of an RL_OP_CONVERT. */
void rl_host_lower(struct rl_host_lock *lock, enum rl_mode mode);

/* The same, to the mode that it has. */
void rl_host_confirm_mode(struct rl_host_lock *lock);

/* The lock is not IDLE. A conversion that is pending is canceled first, and all inner entries end. The next waiter of
 * the same cohort, if there is one, may get the lock; then nothing is sent to the masters. */
void rl_host_release(struct rl_host_lock *lock);

/* Releases a value that another handle, maybe of another process, has acquired, at this slot where the lock has slots.
 * `kind`: to be released, a value is the same for all kinds of locks without slots, and of those with them. The lock is
 * IDLE or LOST. 0, REDLOCK_E_LIMIT or REDLOCK_E_NOMEM. */
int rl_host_release_value(struct rl_host_lock *lock, const struct rl_kind *kind, uint32_t slot, const char *token);

/* The lock is HELD: it is let go of, and its keys stay until their ttl ends. */
void rl_host_detach(struct rl_host_lock *lock);

/* false: neither an acquisition nor an extension nor a conversion is pending. */
bool rl_host_cancel(struct rl_host_lock *lock);

/* The lock is IDLE at once. What it holds is released, what it has pending is rolled back; no `complete` follows. */
void rl_host_abandon(struct rl_host_lock *lock);

/* Takes the lock out of the host, and rolls back or releases what it has. No `complete` follows. */
void rl_host_end_lock(struct rl_host_lock *lock);

/* A held lock as data, to be taken over by another handle, maybe of another process. */

/* state.bounds are the bounds below, on the host's clock. */
struct rl_host_exported {
    struct rl_exported_state state;
    struct rl_instant bounds[REDLOCK_MAX_MASTERS];
    char token[REDLOCK_MAX_TOKEN_BYTES + 1];
    uint32_t slot; /* of the permit that takes it over; RL_NO_SLOT: no permit does. rl_host_export() leaves it out */
};

/* The lock is HELD, and remains so until rl_host_detach(). */
void rl_host_export(const struct rl_host_lock *lock, struct rl_host_exported *ret_exported);

/* Masters in the order of a list: to different clients it means the same. */
struct rl_host_order {
    size_t n;
    size_t quorum;
    int places[RL_MAX_NODES]; /* their numbers at the host; -1: it does not know this one */
};

void rl_host_order_masters(const struct rl_host *host, const struct rl_member_list *list,
                           struct rl_host_order *ret_order);

/* What an exported lock was worth by the list of its former holder. */
struct rl_host_origin {
    struct rl_host_order order;
    bool older;         /* the host goes by a newer list */
    uint32_t ungreeted; /* in that order, as the following ones */
    uint32_t newcomers;
    uint32_t unresolved;
    struct rl_instant standing;
    struct rl_instant bounds[RL_MAX_NODES];
};

/* What was exported, by the list whose order origin->order is. */
void rl_host_put_ledger(const struct rl_host_exported *exported, struct rl_host_origin *origin);

/* Does the host go by the list with this id, or by one that has followed it? Sets origin->older. */
bool rl_host_knows_list(const struct rl_host *host, const char *id, struct rl_host_origin *origin);

/* The former holder went by this view, whose list has this id: sets origin->order and older. A host that knows less
 * goes by the view from then on. false: it does not follow. */
bool rl_host_go_by(struct rl_host *host, const char *id, struct rl_slice text, struct rl_host_origin *origin);

/* The opposite: puts what the lock is worth to the host into *ret. */
void rl_host_take_ledger(const struct rl_host *host, const struct rl_host_origin *origin,
                         struct rl_host_exported *ret);

/* The lock is IDLE or LOST, and HELD when this returns 0. REDLOCK_E_NOT_HELD: its time has run out. REDLOCK_E_LIMIT,
 * REDLOCK_E_NOMEM: there is no room for its value, and what is exported remains as it is. */
int rl_host_import(struct rl_host_lock *lock, const struct rl_acquire *request,
                   const struct rl_host_exported *exported);

#endif
