/* libredlock: a distributed lock over N independent Redis masters (Redlock), on the program's libevent loop.
 *
 *     client = masters and options, for one event_base and one thread
 *     lock   = one key: acquire, extend, release
 *
 * Most programs need these: redlock_client_create(), redlock_lock_create(), redlock_acquire(), redlock_remaining_ms()
 * and redlock_release(), and redlock_lock_watch() for the loss alarm.
 *
 * At every instant at most one handle for a key has redlock_remaining_ns() > 0, or several whose modes let them share
 * it (enum redlock_mode). redlock(7) explains this promise and its assumptions.
 *
 * THE CALLBACK CONTRACT
 *
 * 1. A call returns an error, and its callback never runs; or it returns 0, and its callback runs exactly once.
 * 2. The callback runs from the event loop, never inside the call that started it.
 * 3. A callback may call any function of the library, and may destroy the object that it reports on. The memory is
 *    freed when the outermost callback has returned.
 * 4. Destroying an object ends its pending operations with REDLOCK_CANCELED: their callbacks run inside the destroy
 *    call. No callback of the object runs after that.
 * 5. Pointers that a callback receives are valid until it returns, unless stated. Strings passed in are copied.
 * 6. A client and its locks belong to one event base, and to the thread that runs it.
 * 7. The locks of a process stay its own after fork(). In the child redlock_remaining_ns() is 0, and calls that would
 *    do something return REDLOCK_E_FORKED. A destroy call there frees memory and closes descriptors without touching a
 *    connection. A child that goes on to use the event base first destroys the client, then calls event_reinit().
 *
 * A function that returns int returns 0 or a negative enum redlock_status (redlock_version_num() is an exception). Each
 * call checks first that no argument is missing. One that would do something with an object that is being destroyed
 * returns REDLOCK_E_CLOSING. ret_ arguments are written on success only, ret_error on failure only. The library prints
 * nothing, handles no signal, and never exits. */
#ifndef REDLOCK_REDLOCK_H
#define REDLOCK_REDLOCK_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/credentials.h>
#include <redlock/export.h>
#include <redlock/observe.h>
#include <redlock/options.h>
#include <redlock/result.h>
#include <redlock/status.h>
#include <redlock/version.h>

#ifdef __cplusplus
extern "C" {
#endif

struct event_base;
struct redlock_client;
struct redlock_lock;

/* The text is a sentence that names the wrong value, with credentials masked. */
struct redlock_error {
    int status;
    char text[200];
};

/* --- Client -------------------------------------------------------------------------------------------------- */

/* Starts connecting to the masters and returns at once; but while the kernel's random generator is not ready yet, as
 * in the first seconds of a small machine, the call waits for it, once. The connections open while the loop runs. An
 * acquisition waits until a quorum can vote, or until each first connection is open or has failed, which takes
 * connect_timeout_ms + node_timeout_ms at most; its own time for the masters' answers begins then.
 *
 * Each master is a URL. rediss:// is TLS (tls_ options). Percent-encoding is decoded in user, password and path. A URL
 * may name a user without a password only if on_credentials supplies the password, and redis:// can be left out, as can
 * unix:// in front of a path without a password:
 *
 *     redis[s]://[[user]:password@]host[:port][/db]  host is a name, an IPv4 address, or an IPv6 address in brackets
 *     unix://[[user]:password@]/path/to/socket[?db=N]
 *
 * base      not owned: it must outlive the client, which keeps its loop running
 * options   NULL for the defaults
 * ret_error NULL, or where a failing call puts its status and a sentence
 *
 * Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_NO_MASTERS, E_TOO_MANY_MASTERS, E_URL, E_DUPLICATE_MASTER, E_NOMEM, E_SYSTEM,
 * and one for each rule of struct redlock_options. */
REDLOCK_API_USED int redlock_client_create(struct event_base *base, const char *const *masters, size_t n_masters,
                                           const struct redlock_options *options, struct redlock_client **ret_client,
                                           struct redlock_error *ret_error);

/* Destroys the client and all of its locks, whose pointers become invalid. Pending operations end with
 * REDLOCK_CANCELED. The releases of held locks and of unfinished attempts are written once, and their answers are not
 * awaited: on a master that does not receive its release the key stays until its ttl ends. Call
 * redlock_client_shutdown() first to avoid that. NULL is allowed. */
REDLOCK_API void redlock_client_destroy(struct redlock_client *client);

typedef void (*redlock_shutdown_fn)(struct redlock_client *client, int status, void *user_data);

/* Ends the work of the client in order, but does not destroy it: new work is refused with REDLOCK_E_CLOSING, pending
 * acquisitions are canceled, and held locks are released. The callback runs when a quorum has confirmed the releases
 * and all other connected masters have answered them, or after timeout_ms. A minority that refuses the releases, or has
 * sent nothing for node_timeout_ms, is not awaited: keys may stay there until their ttl ends. The status is 0,
 * REDLOCK_DEADLINE if a quorum has not confirmed some release, or REDLOCK_CANCELED if the client was destroyed.
 * Errors: E_ARGUMENT, E_TIMEOUT (1 to REDLOCK_MAX_TIMEOUT_MS), E_CLOSING (called before), E_FORKED. */
REDLOCK_API int redlock_client_shutdown(struct redlock_client *client, int64_t timeout_ms, redlock_shutdown_fn cb,
                                        void *user_data);

/* --- Lock ---------------------------------------------------------------------------------------------------- */

enum redlock_state {
    REDLOCK_STATE_IDLE = 1,    /* not held, no operation pending */
    REDLOCK_STATE_ACQUIRING,   /* an attempt is under way */
    REDLOCK_STATE_BACKING_OFF, /* an attempt failed, and the next one comes after a pause */
    REDLOCK_STATE_HELD,
    REDLOCK_STATE_EXTENDING,   /* held, and redlock_extend(), or redlock_convert() to a weaker mode, is under way */
    REDLOCK_STATE_RELEASING,   /* not held any more, and the release is under way */
    REDLOCK_STATE_LOST,        /* the validity ended while the lock was held: release it, or acquire it again */
    REDLOCK_STATE_WAITING,     /* in the wait queue */
};

typedef void (*redlock_fn)(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

/* Creates a handle for one key: any bytes, which are copied. Key and prefix together have at most
 * REDLOCK_MAX_KEY_BYTES. Handles for the same key exclude each other, unless they share it. The library itself uses
 * "redlock:marker" and keys that begin with "redlock:fence:", "redlock:queue:", "redlock:waiters:", "redlock:permits:",
 * "redlock:permit-waiters:" or "redlock:latch:". Errors: E_ARGUMENT, E_KEY_EMPTY, E_KEY_TOO_LONG, E_KEY_RESERVED,
 * E_CLOSING, E_FORKED, E_NOMEM. */
REDLOCK_API_USED int redlock_lock_create(struct redlock_client *client, const void *key, size_t key_size,
                                         struct redlock_lock **ret_lock);

/* Ends pending operations with REDLOCK_CANCELED, begins the release of a held lock, and frees the handle. The client
 * goes on with the release, and repeats it where it must. NULL is allowed. */
REDLOCK_API void redlock_lock_destroy(struct redlock_lock *lock);

/* Acquires the lock, in state IDLE or LOST. `timeout_ms` says how long to wait for it, `wait` how (enum redlock_wait).
 * The library renews a held lock until it is released (`renew_ms`), and tells the watch of the lock when that fails.
 *
 * Status of the result: OK; HELD, NO_QUORUM or TOO_SLOW, the outcome of the last attempt, if no other was allowed;
 * DEADLINE, if timeout_ms has passed (`cause` is the outcome of the last attempt); CANCELED; E_NOMEM or E_LIMIT, if an
 * attempt could not begin. After each of these but OK the client rolls back what it has written to the masters, entries
 * in the wait queue included, as soon as it can reach them.
 *
 * options NULL for the defaults. Errors: E_ARGUMENT (cb must not be NULL), E_OPTIONS_SIZE, E_TTL, E_TIMEOUT, E_RETRY,
 * E_MIN_VALIDITY, E_RENEWAL, E_WAIT, E_MODE (no mode, or not exclusive and the lock is a permit), E_CLIENT_NAME (the
 * label), E_BUSY, E_ALREADY_HELD, E_DEPTH (lost, and entered more than once: release each entry), E_CLOSING, E_NOMEM,
 * E_FORKED. */
REDLOCK_API_USED int redlock_acquire(struct redlock_lock *lock, const struct redlock_acquire_options *options,
                                     redlock_fn cb, void *user_data);

/* Sets the ttl of a held lock on all masters, to ttl_ms from the moment of sending; 0 repeats the latest ttl. It may be
 * shorter. renew_ms and at_risk_ms change in proportion. A master that has lost the key gets it back where that is
 * safe (redlock(7)). The extension never revives a lock whose deadline has passed.
 *
 * Status of the result: OK, a quorum has confirmed; NO_QUORUM, a quorum has not confirmed within node_timeout_ms, or
 * cannot: the lock is held until the earlier one of its old and its new deadline; LOST, the deadline has passed, or too
 * many masters do not have the key any more; CANCELED.
 * Errors: E_ARGUMENT (cb must not be NULL), E_TTL, E_NOT_HELD, E_BUSY, E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_fn cb, void *user_data);

/* Releases the lock: redlock_remaining_ns() is 0 at once. The operation ends when each connected master that is not
 * late has answered, after node_timeout_ms at most. A pending extension or conversion ends first, with CANCELED,
 * or with LOST if the validity has ended. cb may be NULL.
 *
 * Cohort hand-off: if another handle of this client joined the wait queue by the same command as this one, and is next,
 * it may get the lock with its token, without a master. The release then ends with OK at once. Locks acquired with
 * `fenced` or `own_token`, shared and upgradeable ones and permits are not handed off in this way.
 *
 * Status of the result: OK, this holder no longer has the key on a quorum of masters, or the lock was handed off;
 * NO_QUORUM, that is not confirmed (the client tells the other masters as soon as it can reach them, until the ttl
 * ends); LOST, the validity had ended before the call (the masters were told nevertheless).
 * Errors: E_ARGUMENT, E_NOT_HELD (never acquired, or released), E_BUSY (an acquisition or its callback, or a release,
 * is pending), E_FORKED. */
REDLOCK_API int redlock_release(struct redlock_lock *lock, redlock_fn cb, void *user_data);

/* Changes the mode of a held lock without a gap. redlock_rwlock(3) tells more.
 *
 * From upgradeable to exclusive: the handle waits, in front of all who wait for the key, until those who share it have
 * released it; others are kept out meanwhile. timeout_ms is that of redlock_acquire(): with 0 there is one attempt. The
 * handle stays HELD in its mode, and is renewed. With OK it is exclusive, and has another token and a larger fencing
 * token. Any other status leaves the handle as it was: HELD, somebody shares the key (timeout_ms 0); NO_QUORUM,
 * TOO_SLOW, DEADLINE, CANCELED, E_NOMEM and E_LIMIT as for redlock_acquire(); LOST, the validity of the hold has ended.
 * The votes of such a result are answers to the attempt, and none of them counts; after LOST there are none.
 *
 * To a weaker mode, or the same: the handle has it when the call returns, and an extension tells the masters, which let
 * others in. Nobody can refuse that. timeout_ms means nothing. For a weaker mode the lock must not have been entered
 * more than once. Status: OK, a quorum has confirmed; NO_QUORUM, a quorum has not, within node_timeout_ms, and
 * renewals, if there are any, go on telling the masters; LOST; CANCELED. In all cases but LOST the handle has the new
 * mode.
 *
 * Errors: E_ARGUMENT (cb must not be NULL), E_TIMEOUT, E_MODE (no mode, or not exclusive and the lock is a permit),
 * E_UPGRADE (the lock is shared, and the mode is stronger: two such handles would wait for each other for ever),
 * E_NOT_HELD, E_DEPTH (the mode is weaker, and inner entries count on the present one), E_BUSY, E_CLOSING, E_NOMEM,
 * E_FORKED. */
REDLOCK_API int redlock_convert(struct redlock_lock *lock, enum redlock_mode mode, int64_t timeout_ms, redlock_fn cb,
                                void *user_data);

/* The mode of the hold, or the one that an acquisition asks for, until the callback that tells its end has returned;
 * otherwise REDLOCK_EXCLUSIVE. */
REDLOCK_API enum redlock_mode redlock_lock_mode(const struct redlock_lock *lock);

/* "exclusive", "upgradeable", "shared", in static storage; "?" for other numbers. */
REDLOCK_API const char *redlock_mode_name(enum redlock_mode mode);

/* Enters a held lock once more: one handle is one owner. The lock is released when redlock_release() has been called
 * once for the acquisition, and once for each call of this function that has returned 0. Only the last of these
 * releases is sent to masters; the results of the others have no votes, and the status OK, or LOST if the lock has been
 * lost.
 *
 * The masters are not asked, and learn nothing. The mode, the validity, its renewal and the fencing token are those of
 * the acquisition, so code that needs the key for itself compares redlock_lock_mode() first. A lock that has been lost
 * is lost at every depth: it cannot be entered, nor acquired, before each entry has been released.
 * redlock_lock_destroy() and redlock_client_shutdown() release the lock whatever its depth; redlock_cancel() leaves the
 * depth as it is.
 *
 * Some validity must be left, and at least min_validity_ms. Errors: E_ARGUMENT, E_NOT_HELD, LOST, EXPIRING (less than
 * min_validity_ms is left; a renewal may be under way), E_DEPTH (at most REDLOCK_MAX_DEPTH entries, those included
 * whose release has a callback that has yet to run), E_BUSY (the callback of the acquisition has yet to run),
 * E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API_USED int redlock_reenter(struct redlock_lock *lock, uint32_t min_validity_ms);

/* How many releases are due: 0 if the lock is not held, 1 after its acquisition. A lost lock has the depth that it was
 * lost with. */
REDLOCK_API uint32_t redlock_lock_depth(const struct redlock_lock *lock);

/* Makes the handle IDLE, but leaves the keys on the masters until they expire or redlock_release_token() deletes them.
 * No callback runs, and nothing is sent. To release the lock later, acquire it with `own_token` and read the token
 * before this call. Errors: E_ARGUMENT, E_NOT_HELD, E_DEPTH (entered more than once), E_BUSY, E_FORKED. */
REDLOCK_API int redlock_lock_detach(struct redlock_lock *lock);

/* Releases a lock that another handle, of this or another process, has acquired and detached: deletes the key wherever
 * its value is `token`. In state IDLE or LOST. Waits and reports like redlock_release(). A quorum of masters with
 * detail "missing" or "foreign" says that the lock was not held with that token. Errors: E_ARGUMENT, E_TOKEN (1 to
 * REDLOCK_MAX_TOKEN_BYTES), E_PERMITS (the lock is a permit: redlock_release_permit()), E_ALREADY_HELD, E_DEPTH,
 * E_BUSY, E_CLOSING, E_LIMIT, E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_release_token(struct redlock_lock *lock, const char *token, redlock_fn cb, void *user_data);

/* The loss alarm, which the loop brings by timer: it does not depend on any answer. */
enum redlock_alarm_kind {
    REDLOCK_ALARM_AT_RISK = 1, /* at_risk_ms of validity is left, and no renewal has succeeded, or none was due; once
                                  until one does */
    REDLOCK_ALARM_LOST,        /* the validity has ended; once for a hold */
};

struct redlock_alarm {
    enum redlock_alarm_kind kind;
    enum redlock_loss loss; /* LOST: why */
    int64_t remaining_ms;   /* AT_RISK: the validity left */
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* each master's part in the latest extension or renewal */
    const char *why;        /* what endangers the hold or has ended it, and on which masters, in words for people and
                               without a full stop: "no renewal has succeeded: 10.0.0.1:6379, 10.0.0.2:6379: not
                               reached (Connection refused)" */
};

typedef void (*redlock_watch_fn)(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data);

/* Sets the alarm callback of the lock, for this hold and later ones; NULL is none. It runs after the callback of the
 * acquisition, and not for locks that are released, detached or destroyed. Errors: E_ARGUMENT, E_FORKED. */
REDLOCK_API int redlock_lock_watch(struct redlock_lock *lock, redlock_watch_fn watch, void *user_data);

/* The fencing token of the current hold: larger than that of every earlier fenced hold of the key, or not smaller, if
 * the hold is not exclusive. Send it with every write to the protected resource, which must refuse a token smaller than
 * the largest it has seen. 0 if the lock is not held, or was acquired without `fenced`. */
REDLOCK_API uint64_t redlock_lock_fence(const struct redlock_lock *lock);

/* Room for the longest text of redlock_lock_export(), its terminating 0 included. */
#define REDLOCK_MAX_EXPORT_BYTES 8192

/* Transfers a held lock to another process of this machine and time namespace: writes a line of printable text for
 * redlock_lock_adopt(), and makes the handle IDLE without releasing the lock. The text is a secret, since it is
 * enough to hold or release the lock. Await the answers of all masters to extensions first (REDLOCK_EVENT_VOTE): a
 * master that has not answered may still carry out a shorter one, so for the new holder its vote counts no longer
 * than that one's ttl. After an error the lock is as before. Errors: E_ARGUMENT, E_NOT_HELD, E_DEPTH (entered more
 * than once), E_BUSY, E_LIMIT (size is too small), E_SYSTEM (the boot ID cannot be read), E_NOMEM, E_FORKED. */
REDLOCK_API_USED int redlock_lock_export(struct redlock_lock *lock, char *ret_text, size_t size);

/* Imports a lock from such a text under the handle's key, in state IDLE or LOST. After 0 the lock is HELD with the
 * validity that is left, and renewed as `options` say: renew_ms, at_risk_ms and max_hold_ms count, the last from now
 * on, and the other members are ignored. Its mode is the one that it was exported with, its depth is 1. Adopt a text
 * only once: otherwise two handles hold the lock. If its list of masters is newer than the client's, the client goes by
 * it from then on. Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_EXPORT (the text is damaged,
 * or of another key, deployment, machine, boot or time namespace), E_NOT_HELD (the validity has ended), E_RENEWAL
 * (renew_ms or at_risk_ms does not fit the lock's ttl), E_TTL and E_MIN_VALIDITY (the lock's ttl does not fit this
 * client's options), E_ALREADY_HELD, E_DEPTH, E_BUSY, E_CLOSING, E_LIMIT, E_NOMEM, E_SYSTEM, E_FORKED. */
REDLOCK_API_USED int redlock_lock_adopt(struct redlock_lock *lock, const struct redlock_acquire_options *options,
                                        const char *text);

/* Ends a pending acquisition, extension or conversion with REDLOCK_CANCELED; its callback still runs from the loop.
 * After a canceled extension or conversion the lock stays held. A release cannot be canceled. Errors: E_ARGUMENT,
 * E_NOTHING_TO_CANCEL (also if only the callback is still to come), E_FORKED. */
REDLOCK_API int redlock_cancel(struct redlock_lock *lock);

/* The validity left, or 0 if the lock is not held. Each vote counts for ttl - drift - guard from its sending, and the
 * lock is valid as long as a quorum of votes counts. Time passes by CLOCK_BOOTTIME or CLOCK_MONOTONIC_RAW, whichever
 * has advanced more, so the result is right even after the process or the machine was suspended. */
REDLOCK_API int64_t redlock_remaining_ns(const struct redlock_lock *lock);
REDLOCK_API int64_t redlock_remaining_ms(const struct redlock_lock *lock); /* rounded down */

/* LOST from the moment when the validity ends, even if the loop has not run since. */
REDLOCK_API enum redlock_state redlock_state(const struct redlock_lock *lock);
REDLOCK_API const char *redlock_state_name(enum redlock_state state);

/* The key as given at creation, valid as long as the handle. */
REDLOCK_API const void *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_size);

/* The token of the hold, or of the latest attempt of an acquisition: a UUID as text, and behind it a colon and the
 * label of the client if it has one; or the token given to redlock_release_token(). In state IDLE, when the callback
 * that tells the end of the operation has returned, it is "". Valid until the next call on the handle, or until the
 * loop runs. It does not prove that the lock is held. Unless the lock was acquired with `own_token`, an earlier or
 * later hold of this client may have the same token. */
REDLOCK_API const char *redlock_lock_token(const struct redlock_lock *lock);

REDLOCK_API struct redlock_client *redlock_lock_client(const struct redlock_lock *lock);

#ifdef __cplusplus
}
#endif
#endif
