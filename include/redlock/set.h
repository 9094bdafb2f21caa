/* A set of locks: 2 to 64 keys, each in a mode of its own, and permits of semaphores, held all together or not at all.
 *
 *     set = keys:  add, acquire, extend, release
 *
 * A set that is free is acquired in one round trip, like one lock, by one command for each key and master. If some of
 * its keys are held by others, it waits for the smallest of these in its queue. Meanwhile it keeps the keys that are
 * smaller (compared as by memcmp()), and gives up the larger ones, which it takes after that. So sets never wait for
 * each other in a circle, and neither do they for a program that takes single locks in ascending order of their keys.
 *
 * The callback contract is that of redlock.h. A set belongs to a client, and to its thread. */
#ifndef REDLOCK_SET_H
#define REDLOCK_SET_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/result.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDLOCK_MAX_SET_KEYS 64 /* each permit counts as one */

struct redlock_set;

/* What an operation of a set ended with. It is valid, with all that it points to, until the callback returns. New
 * members are added at the end. */
struct redlock_set_result {
    enum redlock_op op;
    int status;           /* enum redlock_status; 0 is success */
    int cause;            /* for DEADLINE and CANCELED: how the last attempt at the deciding key ended; 0 if none has */
    int64_t elapsed_us;   /* from the call until the operation ended */
    int64_t remaining_ms; /* validity left when the callback runs */
    size_t n_keys;
    size_t part;          /* the key that decided, as an index for redlock_set_lock(); n_keys if none did */
    const struct redlock_result *part_result; /* that key's own result, with each master's vote, or NULL */
    const char *why;      /* the reason of a failure, in words for people and without a full stop; "" for success */
};

typedef void (*redlock_set_fn)(struct redlock_set *set, const struct redlock_set_result *result, void *user_data);

/* Creates an empty set. Errors: E_ARGUMENT, E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API_USED int redlock_set_create(struct redlock_client *client, struct redlock_set **ret_set);

/* Adds a key: any bytes, which are copied. The order of the calls does not matter. Keys are those of
 * redlock_lock_create(), and a set and a single lock of one key exclude each other. A key can be added only while the
 * set is not held and no operation is pending. Errors: those of redlock_lock_create(), E_SET_KEYS (the set has this
 * key, or REDLOCK_MAX_SET_KEYS keys, or the key is "KEY#s" and stands for a slot of a semaphore that the set has
 * permits of), E_BUSY, E_ALREADY_HELD. */
REDLOCK_API int redlock_set_add(struct redlock_set *set, const void *key, size_t key_size);

/* Adds a key as redlock_set_add() does, to be had in this mode, whatever `mode` the options of an acquisition name.
 * Further error: E_MODE (it is no mode). */
REDLOCK_API int redlock_set_add_mode(struct redlock_set *set, const void *key, size_t key_size,
                                     enum redlock_mode mode);

/* Adds one permit of the semaphore with this key and `limit` permits (redlock/semaphore.h). Among the keys of the set
 * it stands where the semaphore's key does. Several permits of one semaphore must be added together
 * (redlock_set_add_permits()). Further errors: those of redlock_permit_create(). */
REDLOCK_API int redlock_set_add_permit(struct redlock_set *set, const void *key, size_t key_size, uint32_t limit);

/* Adds n permits of one semaphore, which are keys of the set with different slots. While the set is being acquired it
 * also needs the lock of the key "KEY#gate", and releases that as soon as it is held. So of all sets that want several
 * permits of KEY, only one at a time has some and waits for more; it keeps those that it gets meanwhile. Further
 * errors: those of redlock_set_add_permit(); E_PERMITS also if n is 0 or above the limit; E_KEY_TOO_LONG also if n is
 * above 1 and the gate's key is too long. */
REDLOCK_API int redlock_set_add_permits(struct redlock_set *set, const void *key, size_t key_size, uint32_t n,
                                        uint32_t limit);

/* Ends pending operations with REDLOCK_CANCELED, begins the release of what is held, and frees the set. The client goes
 * on with the release, and repeats it where it must. Destroying the client destroys its sets. NULL is allowed. */
REDLOCK_API void redlock_set_destroy(struct redlock_set *set);

/* Acquires all keys, in state IDLE or LOST. The options are those of redlock_acquire() and hold for every key, with
 * these differences: timeout_ms is for the whole set; max_attempts must be 0, and renewal cannot be turned off, since
 * some keys are held while others are awaited. With `fenced` each key has its own token: redlock_lock_fence() of
 * redlock_set_lock().
 *
 * While the set is being acquired redlock_set_remaining_ns() is 0, although some keys may be held already. If one of
 * these is lost meanwhile, all are released, and the acquisition begins anew.
 *
 * Status of the result: as for redlock_acquire(). After each but OK nothing is held, and what had been is rolled back.
 * Errors: those of redlock_acquire(), E_SET_KEYS (the set has fewer than 2 keys). */
REDLOCK_API_USED int redlock_set_acquire(struct redlock_set *set, const struct redlock_acquire_options *options,
                                         redlock_set_fn cb, void *user_data);

/* Extends every key, as redlock_extend() does. The status is OK if each extension succeeded; LOST if the set is lost
 * meanwhile; and otherwise that of the smallest key whose extension did not. Errors: those of redlock_extend(). */
REDLOCK_API int redlock_set_extend(struct redlock_set *set, uint32_t ttl_ms, redlock_set_fn cb, void *user_data);

/* Releases every key: redlock_set_remaining_ns() is 0 at once. A pending extension ends first. The status is
 * LOST if the validity of a key had ended before the call, NO_QUORUM if the release of one is not confirmed, and
 * otherwise OK. cb may be NULL. Errors: those of redlock_release(). */
REDLOCK_API int redlock_set_release(struct redlock_set *set, redlock_set_fn cb, void *user_data);

/* Ends a pending acquisition or extension with REDLOCK_CANCELED; its callback still runs from the loop. After a
 * canceled extension the set stays held. Errors: E_ARGUMENT, E_NOTHING_TO_CANCEL, E_FORKED. */
REDLOCK_API int redlock_set_cancel(struct redlock_set *set);

/* Says what becomes of the other keys when one is lost: they are released at once (0, the default), or stay held and
 * are renewed (1). The set is lost in either case. With 1 nobody gets the other keys before redlock_set_release(),
 * redlock_set_acquire() or redlock_set_destroy() is called, so the program can first end what it does under them. The
 * choice counts from the next loss on. Errors: E_ARGUMENT, E_FORKED. */
REDLOCK_API int redlock_set_keep_rest(struct redlock_set *set, int keep);

/* Makes the set IDLE without releasing its keys, as redlock_lock_detach() does with one lock. Acquire with `own_token`,
 * and take the tokens of its locks before this call. Errors: E_ARGUMENT, E_NOT_HELD, E_BUSY, E_FORKED. */
REDLOCK_API int redlock_set_detach(struct redlock_set *set);

/* Room for the longest text of redlock_set_export(), its terminating 0 included. */
#define REDLOCK_MAX_SET_EXPORT_BYTES (REDLOCK_MAX_SET_KEYS * REDLOCK_MAX_EXPORT_BYTES)

/* Transfers a held set to another process of this machine, as redlock_lock_export() does with one lock. The text
 * consists of the locks' own texts in the order of their keys, with a blank between two. Errors: those of
 * redlock_lock_export() but E_DEPTH. */
REDLOCK_API_USED int redlock_set_export(struct redlock_set *set, char *ret_text, size_t size);

/* Imports a set from such a text into a set with the same keys, in state IDLE or LOST, as redlock_lock_adopt() does
 * with one lock. If the validity of one key has ended the others are released: that is E_NOT_HELD. After another error
 * the text is as good as before. Errors: those of redlock_lock_adopt() but E_DEPTH, and E_SET_KEYS (the set has fewer
 * than 2 keys). E_EXPORT also if the text has other keys than the set, or more or fewer. */
REDLOCK_API_USED int redlock_set_adopt(struct redlock_set *set, const struct redlock_acquire_options *options,
                                       const char *text);

/* The alarm of a set is that of one of its keys, `part`: this key is at risk, or it is lost, and the set with it. The
 * other keys are released before LOST is reported, unless redlock_set_keep_rest() says otherwise; they report no loss
 * of their own. */
typedef void (*redlock_set_watch_fn)(struct redlock_set *set, size_t part, const struct redlock_alarm *alarm,
                                     void *user_data);

/* Sets the alarm callback, for this hold and later ones; NULL sets none. Errors: E_ARGUMENT, E_FORKED. */
REDLOCK_API int redlock_set_watch(struct redlock_set *set, redlock_set_watch_fn watch, void *user_data);

/* The least validity of any key, or 0 if the set is not held. */
REDLOCK_API int64_t redlock_set_remaining_ns(const struct redlock_set *set);
REDLOCK_API int64_t redlock_set_remaining_ms(const struct redlock_set *set); /* rounded down */

/* IDLE, ACQUIRING, HELD, EXTENDING, RELEASING or LOST; LOST from the moment when the validity of a key ends. */
REDLOCK_API enum redlock_state redlock_set_state(const struct redlock_set *set);

/* The number of keys, and the lock of one of them: part 0 is the smallest key, and beyond the last one there is NULL.
 * The lock is for functions that take a const pointer: they tell its key, mode, slot, token, fencing token and
 * validity. It is valid until a key is added or the set is destroyed. */
REDLOCK_API size_t redlock_set_size(const struct redlock_set *set);
REDLOCK_API const struct redlock_lock *redlock_set_lock(const struct redlock_set *set, size_t part);

#ifdef __cplusplus
}
#endif
#endif
