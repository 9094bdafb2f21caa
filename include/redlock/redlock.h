/* libredlock: a distributed lock over N independent Redis masters (Redlock), on the caller's libevent loop.
 *
 *     client = masters + options, bound to one event_base and one thread
 *     lock   = one key; acquire, extend, release
 *
 * What the lock promises, and under which assumptions, is in redlock(7). In short: at every instant at most one
 * handle per key has redlock_remaining_ns() > 0.
 *
 * THE CALLBACK CONTRACT
 *
 * 1. A call either returns an error and its callback never runs, or returns 0 and its callback runs exactly once.
 * 2. The callback never runs inside the call that started it; it runs from the event loop.
 * 3. Any function of the library may be called from a callback, destroying the reported object included; memory is
 *    freed when the outermost dispatch ends.
 * 4. Destroying an object with work pending completes that work with REDLOCK_CANCELED first, from inside the destroy
 *    call; afterwards no callback of that object runs.
 * 5. Pointers handed to callbacks are valid during the call only, unless stated. Strings passed in are copied.
 * 6. A client and its locks belong to one event base and to the thread that runs it.
 * 7. After fork() every call in the child that would do something fails with REDLOCK_E_FORKED, and
 *    redlock_remaining_ns() is 0 (destroy calls free memory and close descriptors, and touch no connection). The locks
 *    stay the parent's. A child that goes on to run the inherited event base calls redlock_client_destroy() first, and
 *    event_reinit() after that.
 *
 * Functions that return int return 0 or a negative enum redlock_status (redlock_version_num() is the exception).
 * Arguments are checked first. Calls on a handle or client that is being destroyed give REDLOCK_E_CLOSING. ret_
 * arguments are written on success only. The library prints nothing, handles no signal, and never exits. */
#ifndef REDLOCK_REDLOCK_H
#define REDLOCK_REDLOCK_H

#include <stddef.h>
#include <stdint.h>

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

/* Room for a sentence that names the offending value; credentials are masked. */
struct redlock_error {
    int status;
    char text[200];
};

/* --- Client -------------------------------------------------------------------------------------------------- */

/* Starts connecting to the masters and returns at once; connections come up as the loop runs, and an acquisition
 * started meanwhile waits for each master's first answer (at most node_timeout_ms).
 *
 * Each master is a URL; percent-encoding is decoded in user, password and path:
 *
 *     redis://[[user]:password@]host[:port][/db]     host may be a name, an IPv4 or a [bracketed] IPv6 address
 *     unix://[[user]:password@]/path/to/socket[?db=N]
 *
 * base      borrowed, must outlive the client. Its loop is kept running by the client until that is destroyed.
 * options   NULL for the defaults; see redlock/options.h
 * ret_error NULL, or where to put the status and a sentence when the call fails
 *
 * Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_NO_MASTERS, E_TOO_MANY_MASTERS, E_URL, E_DUPLICATE_MASTER, E_NOMEM,
 * E_SYSTEM, and one for each rule of struct redlock_options. */
REDLOCK_API int redlock_client_create(struct event_base *base, const char *const *masters, size_t n_masters,
                                      const struct redlock_options *options, struct redlock_client **ret_client,
                                      struct redlock_error *ret_error);

/* Ends the client now. Pending operations complete with REDLOCK_CANCELED from inside this call; releases for held
 * locks and undecided attempts are written once, without waiting for an answer. A master that cannot take them keeps
 * the key until its ttl ends, and so may one whose earlier answer meets the closed connection: it may drop the
 * connection before it reads the release. redlock_client_shutdown() first is the way to leave nothing. All locks of
 * the client are destroyed with it: their pointers are dead. NULL is fine. */
REDLOCK_API void redlock_client_destroy(struct redlock_client *client);

typedef void (*redlock_shutdown_fn)(struct redlock_client *client, int status, void *user_data);

/* The orderly end: refuses new work (REDLOCK_E_CLOSING), cancels pending acquisitions, releases every held lock, and
 * calls back when all connected masters have confirmed, or after timeout_ms. A minority that sends nothing for
 * node_timeout_ms is not waited for. Status: 0, REDLOCK_DEADLINE if some release is not confirmed by a quorum, or
 * REDLOCK_CANCELED if the client was destroyed meanwhile. Does not destroy the client.
 * Errors: E_ARGUMENT, E_TIMEOUT (1 to one day), E_CLOSING (called twice), E_FORKED. */
REDLOCK_API int redlock_client_shutdown(struct redlock_client *client, int64_t timeout_ms, redlock_shutdown_fn cb,
                                        void *user_data);

/* --- Lock ---------------------------------------------------------------------------------------------------- */

enum redlock_state {
    REDLOCK_STATE_IDLE = 1,    /* not held, nothing pending */
    REDLOCK_STATE_ACQUIRING,   /* an attempt is under way */
    REDLOCK_STATE_BACKING_OFF, /* an attempt failed; the next one is waiting for its time */
    REDLOCK_STATE_HELD,
    REDLOCK_STATE_EXTENDING,   /* held, with an extension under way */
    REDLOCK_STATE_RELEASING,   /* given up: remaining is 0; waiting for the masters */
    REDLOCK_STATE_LOST,        /* was held until its validity ended; release or acquire again */
    REDLOCK_STATE_WAITING,     /* in line for a lock that somebody else holds */
};

typedef void (*redlock_fn)(struct redlock_lock *lock, const struct redlock_result *result, void *user_data);

/* A handle for one key, any bytes, 1 to REDLOCK_MAX_KEY_BYTES of them; copied. Several handles may name one key:
 * they exclude each other. No I/O. "redlock:marker" and what begins with "redlock:fence:", "redlock:queue:" or
 * "redlock:waiters:" are the library's own.
 * Errors: E_ARGUMENT, E_KEY_EMPTY, E_KEY_TOO_LONG, E_KEY_RESERVED, E_CLOSING, E_FORKED, E_NOMEM. */
REDLOCK_API int redlock_lock_create(struct redlock_client *client, const void *key, size_t key_size,
                                    struct redlock_lock **ret_lock);

/* Completes pending work with REDLOCK_CANCELED, starts the release of a held lock, frees the handle. The release
 * does not need the handle: it goes on, with all its retries, for as long as the client lives. NULL is fine. */
REDLOCK_API void redlock_lock_destroy(struct redlock_lock *lock);

/* Takes the lock, waiting for it as long as timeout_ms says and in the way that `wait` says (enum redlock_wait): in
 * line, by default. In state IDLE or LOST only. Each attempt sets a value of its own.
 *
 * Result status: OK; HELD, NO_QUORUM or TOO_SLOW (the last attempt's outcome, when no further attempt was allowed);
 * DEADLINE (timeout_ms has passed; cause tells the last attempt's outcome); CANCELED; E_NOMEM or E_LIMIT if an
 * attempt could not be started. Whatever is not OK has been rolled back on every master, or will be as soon
 * as the master can be reached; its place in line, too.
 *
 * A lock that is held is renewed until it is released (renew_ms), and its watch is told when that fails.
 *
 * options NULL for the defaults. Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_TTL, E_TIMEOUT, E_RETRY, E_MIN_VALIDITY,
 * E_RENEWAL, E_WAIT, E_BUSY, E_ALREADY_HELD, E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_acquire(struct redlock_lock *lock, const struct redlock_acquire_options *options,
                                redlock_fn cb, void *user_data);

/* Sets the ttl of a held lock anew, counted from now, on all masters; ttl_ms 0 repeats the current one. May shorten.
 * Renewals go on with the new ttl: renew_ms and at_risk_ms keep their proportion to it. A master without the key gets
 * it back where that is safe (redlock(7)).
 *
 * Result status: OK, a quorum confirmed; NO_QUORUM, not confirmed within node_timeout_ms, or not possible with the
 * masters that can be reached: the lock is held until its earlier deadline, or until the new one if that is nearer (a
 * shorter ttl counts from the moment it is sent); LOST, the deadline passed or too many masters no longer have the key
 * (the rest is rolled back); CANCELED. Never brings back a lock whose deadline has passed.
 * Errors: E_ARGUMENT, E_TTL, E_NOT_HELD (also when the validity has ended), E_BUSY, E_CLOSING, E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_extend(struct redlock_lock *lock, uint32_t ttl_ms, redlock_fn cb, void *user_data);

/* Gives the lock up: redlock_remaining_ns() is 0 from here on. Completes when all masters that are connected and
 * not late have answered, after node_timeout_ms at most. A pending extension completes with CANCELED first. cb may
 * be NULL. If another handle of this client is next that got in line by the same command as this one, it has the lock
 * at once instead, with the same value, and the release completes with OK (redlock(7): not if either was acquired with
 * `fenced` or `own_token`).
 *
 * Result status: OK, a quorum of masters is known not to hold this value, or it has gone to that handle; NO_QUORUM,
 * not (yet): the remaining masters are told as soon as they can be reached, or the ttl ends; LOST, the validity had
 * already ended when release was called (the masters were told all the same).
 * Errors: E_ARGUMENT, E_NOT_HELD (never acquired, or already released), E_BUSY (acquiring, or acquired with the
 * callback still to come; or already releasing), E_FORKED. */
REDLOCK_API int redlock_release(struct redlock_lock *lock, redlock_fn cb, void *user_data);

/* Leaves a held lock to its ttl: the handle becomes IDLE, the keys stay on the masters, and nothing renews or releases
 * them but their expiry or redlock_release_token(). No callback, no I/O. Take the token first, of a lock that was
 * acquired with `own_token`.
 * Errors: E_ARGUMENT, E_NOT_HELD, E_BUSY, E_FORKED. */
REDLOCK_API int redlock_lock_detach(struct redlock_lock *lock);

/* Deletes the value `token` under the handle's key wherever it is set: the release of a lock that another handle,
 * maybe of another process, has taken and detached. State IDLE or LOST. Waits, completes and reports like
 * redlock_release(); a detail of "missing" or "foreign" for a quorum says that the lock was not held with that token
 * any more. Errors: E_ARGUMENT, E_TOKEN (1 to REDLOCK_MAX_TOKEN_BYTES), E_ALREADY_HELD, E_BUSY, E_CLOSING, E_LIMIT,
 * E_NOMEM, E_FORKED. */
REDLOCK_API int redlock_release_token(struct redlock_lock *lock, const char *token, redlock_fn cb, void *user_data);

/* The loss alarm. Called from the loop, at most once each for a hold: AT_RISK (again after a recovery) when at_risk_ms
 * of validity is left and no renewal has come through, by a timer that does not wait for any reply; LOST at the
 * deadline at the latest, or earlier when so many masters have refused that no quorum is left. Inside LOST
 * redlock_state() is LOST and remaining is 0. Nothing is called for locks that are released, detached or destroyed. */
enum redlock_alarm_kind {
    REDLOCK_ALARM_AT_RISK = 1,
    REDLOCK_ALARM_LOST,
};

struct redlock_alarm {
    enum redlock_alarm_kind kind;
    enum redlock_loss loss;   /* LOST: why */
    int64_t remaining_ms;     /* AT_RISK */
    size_t n_nodes;
    const struct redlock_node_result *nodes; /* of the latest extension or renewal */
};

typedef void (*redlock_watch_fn)(struct redlock_lock *lock, const struct redlock_alarm *alarm, void *user_data);

/* Sets the lock's alarm callback, for this hold and later ones; NULL: none. Errors: E_ARGUMENT, E_FORKED. */
REDLOCK_API int redlock_lock_watch(struct redlock_lock *lock, redlock_watch_fn watch, void *user_data);

/* The fencing token of the current hold: larger than that of every earlier fenced hold of the key. Pass it with every
 * write to the protected resource, which must refuse a token smaller than the largest it has seen. 0 if the lock is not
 * held now, or was acquired without `fenced`. */
REDLOCK_API uint64_t redlock_lock_fence(const struct redlock_lock *lock);

/* Bytes that redlock_lock_export() may need, the terminating 0 included. */
#define REDLOCK_MAX_EXPORT_BYTES 8192

/* Hands a held lock over to another process of this machine: writes it as a line of printable text that
 * redlock_lock_adopt() takes, with the key, the token, each master's bound, and the fencing token. The handle becomes
 * IDLE and inert: it neither renews nor releases. A lock that was won in line, for a lease, and has not been extended
 * yet (enum redlock_wait) is extended to its full ttl by the adopter. A master that owes the answer to an extension
 * when the lock is exported grants the adopter no more than that extension's ttl each time, since it may carry that one
 * out last: wait for the answers (REDLOCK_EVENT_VOTE) first. Whoever has the text can hold and release the lock: it is
 * a secret. Errors: E_ARGUMENT, E_NOT_HELD, E_BUSY (an operation is pending), E_LIMIT (size is too small), E_SYSTEM
 * (the boot's identity cannot be read), E_NOMEM, E_FORKED. The lock is as before then. */
REDLOCK_API int redlock_lock_export(struct redlock_lock *lock, char *ret_text, size_t size);

/* Takes over a lock from such a text, under the handle's key, in state IDLE or LOST; it is HELD when this returns 0,
 * with the validity that is left, and is renewed as `options` say (timeout, retry and ttl members are not looked at;
 * max_hold_ms begins anew). Each text is to be adopted once: two adopters would both believe to hold the lock.
 * Errors: E_ARGUMENT, E_OPTIONS_SIZE, E_EXPORT (not such a text, damaged, of another key, of other masters or
 * quorum, or of another machine or boot, whose clock cannot be compared), E_NOT_HELD (its validity has ended),
 * E_RENEWAL (renew_ms or at_risk_ms do not fit its ttl), E_TTL and E_MIN_VALIDITY (nor does it fit this client's
 * max_ttl, drift or guard), E_ALREADY_HELD, E_BUSY, E_CLOSING, E_LIMIT, E_NOMEM, E_SYSTEM, E_FORKED. */
REDLOCK_API int redlock_lock_adopt(struct redlock_lock *lock, const struct redlock_acquire_options *options,
                                   const char *text);

/* Ends a pending acquisition (rolled back) or extension (the lock stays held) with REDLOCK_CANCELED. The callback
 * still runs from the loop. A release cannot be canceled. Errors: E_ARGUMENT, E_NOTHING_TO_CANCEL (also when the
 * operation has just ended and only its callback is still to come), E_FORKED. */
REDLOCK_API int redlock_cancel(struct redlock_lock *lock);

/* Validity left by the clock, now: 0 if not held. The clock is CLOCK_BOOTTIME or CLOCK_MONOTONIC_RAW, whichever has
 * advanced more, so a suspended or stopped process sees the truth at its first call. The q-th largest of the
 * masters' own bounds (time of the send + ttl - drift - guard) decides; see redlock(7). 0 in a forked child. */
REDLOCK_API int64_t redlock_remaining_ns(const struct redlock_lock *lock);
REDLOCK_API int64_t redlock_remaining_ms(const struct redlock_lock *lock); /* rounded down */

/* LOST as soon as the validity has ended, whether or not the loop has noticed. */
REDLOCK_API enum redlock_state redlock_state(const struct redlock_lock *lock);
REDLOCK_API const char *redlock_state_name(enum redlock_state state);

/* The key as given at creation. Valid while the handle lives. */
REDLOCK_API const void *redlock_lock_key(const struct redlock_lock *lock, size_t *ret_size);

/* The value of the current hold or of the latest attempt, a UUID in text form (after redlock_release_token(): the token
 * given there); "" if there is none. It proves nothing: ask redlock_remaining_ns(). Valid until the next call on the
 * handle. Without `own_token` (options.h) it may be that of earlier and of later holds of this client, too. */
REDLOCK_API const char *redlock_lock_token(const struct redlock_lock *lock);

REDLOCK_API struct redlock_client *redlock_lock_client(const struct redlock_lock *lock);

#ifdef __cplusplus
}
#endif
#endif
