/* Semaphores: at most K handles of one key have redlock_remaining_ns() > 0 at any instant.
 *
 *     lock = one permit of a semaphore:  acquire, extend, release, and all else that a lock can do
 *
 * A semaphore has K numbered slots, and a permit is the exclusive ownership of one of them. The client chooses the slot
 * of each attempt. A waiter stands in the wait queue of one slot, and moves to another one that becomes free. With a
 * limit of 1 a semaphore is a mutex.
 *
 * Slot s of the semaphore KEY is the mutex of the key "KEY#s", so a lock of that key excludes the permit with this
 * slot. No lock is stored at KEY itself. The callback contract is that of redlock.h. */
#ifndef REDLOCK_SEMAPHORE_H
#define REDLOCK_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/redlock.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_MAX_PERMITS 100000 /* permits of one semaphore */

/* Creates a handle for one permit of a semaphore with `limit` permits. The key is any bytes, which are copied; key,
 * prefix and the name of the last slot ("#9" where limit is 10) together have at most REDLOCK_MAX_KEY_BYTES. The handle
 * is a lock: every function of redlock.h takes it. What is different:
 *
 * - redlock_acquire() with timeout_ms 0 makes further attempts, at most 10 in all, as long as the masters show free
 *   slots or there are slots that it has not looked at. It looks at 8 slots in each attempt. With max_attempts 1 it
 *   makes one.
 * - While it waits, the position of REDLOCK_EVENT_WAITING is that in the queue of one slot. A release hands its slot to
 *   the first waiter in that slot's queue. If nobody waits there, the masters tell the one that waits longest for
 *   another slot, and it moves. Waiters of other slots may be served before it; once in 100 ms at most the masters also
 *   tell it of a slot that went to one of these, and it is the next to have that slot.
 * - redlock_lock_fence() is larger than the tokens of earlier fenced holds of the same slot. A resource that compares
 *   tokens must do so for each slot.
 * - redlock_lock_key() is the semaphore's key, and redlock_lock_slot() tells the slot.
 * - redlock_release_token() needs redlock_release_permit() in its place.
 *
 * All programs should name the same limit. If they do not, the largest one counts: slots are below the handle's own
 * limit. Errors: those of redlock_lock_create(), E_PERMITS (the limit is 0 or above REDLOCK_MAX_PERMITS). */
REDLOCK_API_USED int redlock_permit_create(struct redlock_client *client, const void *key, size_t key_size,
                                           uint32_t limit,
                                           struct redlock_lock **ret_lock);

/* The slot of the permit that is held, or of the latest attempt: 0 to limit - 1. It is -1 before the first attempt, and
 * for a lock that is no permit. */
REDLOCK_API int32_t redlock_lock_slot(const struct redlock_lock *lock);

/* The limit that the handle was created with; 0 for a lock that is no permit. */
REDLOCK_API uint32_t redlock_lock_limit(const struct redlock_lock *lock);

/* As redlock_release_token(), of a permit with this slot. Errors: those of redlock_release_token(), E_PERMITS (the lock
 * is no permit, or the slot is not below its limit). */
REDLOCK_API int redlock_release_permit(struct redlock_lock *lock, uint32_t slot, const char *token, redlock_fn cb,
                                       void *user_data);

#ifdef __cplusplus
}
#endif
#endif
