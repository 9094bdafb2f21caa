/* Status codes: one list for all that the library reports. A status is an int, 0 or negative.
 *
 *   outcomes        -1 ..  -99   a result brings them to a callback
 *   caller errors -100 .. -199   the call itself returns them, and its callback does not run. E_NOMEM and E_LIMIT can
 *                                also be the outcome of an acquisition whose later attempt could not be made
 *
 * A status is retryable if the same call may succeed later although the caller changes nothing. */
#ifndef REDLOCK_STATUS_H
#define REDLOCK_STATUS_H

#include <stdbool.h>

#include <redlock/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, number, retryable, text) */
#define REDLOCK_STATUS_MAP(X)                                                                          \
    X(OK, 0, false, "success")                                                                         \
    /* Outcomes. */                                                                                    \
    X(HELD, -1, true, "held by another client on too many masters")                                    \
    X(NO_QUORUM, -2, true, "too few masters can be reached, or vote, for a quorum")                    \
    X(TOO_SLOW, -3, true, "the masters were too slow: the validity was used up before a quorum granted") \
    X(DEADLINE, -4, true, "the caller's deadline passed")                                              \
    X(CANCELED, -5, true, "canceled")                                                                  \
    X(LOST, -6, true, "the lock was lost: its validity ended")                                         \
    X(EXPIRING, -7, true, "the lock is held, but less validity is left than was asked for")            \
    X(OTHER_PARTIES, -8, false, "the latch has another number of parties, or they have arrived without this one") \
    X(OTHER_GENERATION, -9, true, "an earlier generation of the latch has not opened, or this one was passed over")  \
    /* Caller errors. */                                                                               \
    X(E_NOMEM, -100, true, "out of memory")                                                            \
    X(E_ARGUMENT, -101, false, "a required argument is missing")                                       \
    X(E_OPTIONS_SIZE, -102, false, "the options structure was not initialised by its init call")       \
    X(E_NO_MASTERS, -103, false, "the list of masters is empty")                                       \
    X(E_TOO_MANY_MASTERS, -104, false, "too many masters")                                             \
    X(E_URL, -105, false, "malformed master URL")                                                      \
    X(E_DUPLICATE_MASTER, -106, false, "the same master is listed twice")                              \
    X(E_QUORUM, -107, false, "the quorum must be more than half of the masters and at most all")       \
    X(E_MAX_TTL, -108, false, "max_ttl_ms is outside its range")                                       \
    X(E_DRIFT, -109, false, "the clock-drift allowance is outside its range")                          \
    X(E_GUARD, -110, false, "the guard time is outside its range")                                     \
    X(E_NODE_TIMEOUT, -111, false, "node_timeout_ms is outside its range")                             \
    X(E_CONNECT_TIMEOUT, -112, false, "connect_timeout_ms is outside its range")                       \
    X(E_STALL_TIMEOUT, -113, false, "stall_timeout_ms is outside its range")                           \
    X(E_BACKOFF, -114, false, "the reconnect backoff is outside its range")                            \
    X(E_LIMITS, -115, false, "max_claims or max_buffer_bytes is outside its range")                    \
    X(E_CLIENT_NAME, -116, false, "the client name or label is too long, or has a space or control character") \
    X(E_KEY_EMPTY, -117, false, "the key is empty")                                                    \
    X(E_KEY_TOO_LONG, -118, false, "the key is too long")                                              \
    X(E_TTL, -119, false, "the ttl is 0, above max_ttl_ms, or no longer than its drift allowance")     \
    X(E_MIN_VALIDITY, -120, false, "min_validity_ms is not below the ttl less its drift allowance")    \
    X(E_TIMEOUT, -121, false, "timeout_ms is outside its range")                                       \
    X(E_RETRY, -122, false, "the retry policy contradicts itself or is outside its range")             \
    X(E_BUSY, -123, true, "the lock already has an operation pending")                                 \
    X(E_NOT_HELD, -124, false, "the lock is not held")                                                 \
    X(E_ALREADY_HELD, -125, false, "the lock is already held by this handle")                          \
    X(E_NOTHING_TO_CANCEL, -126, false, "nothing is pending that could be canceled")                   \
    X(E_LIMIT, -127, true, "the client's limit on values in flight (max_claims) is reached")           \
    X(E_CLOSING, -128, false, "the client is shutting down")                                           \
    X(E_FORKED, -129, false, "called in a forked child: the client belongs to the parent process")     \
    X(E_TOKEN, -131, false, "the token is empty or too long")                                          \
    X(E_PROFILE, -132, false, "profile, join or a trust flag is outside its range")                    \
    X(E_PREFIX, -133, false, "the key prefix is too long")                                             \
    X(E_RENEWAL, -134, false, "renew_ms, at_risk_ms, fenced or own_token is outside its range")        \
    X(E_EXPORT, -135, false, "not an exported lock of this key, these masters, this boot and this time namespace") \
    X(E_KEY_RESERVED, -136, false, "the library keeps this key for itself")                            \
    X(E_OWN_THREAD, -137, false, "a call that waits was made on the thread that it would wait for")    \
    X(E_WAIT, -138, false, "wait is outside its range, or in strict order with a limit on attempts")   \
    X(E_TLS, -139, false, "a tls option or its file cannot be used, or the library was built without tls") \
    X(E_DEPTH, -140, false, "the lock has been entered more than once, or as often as it can be")      \
    X(E_OWNER, -141, false, "the caller does not own the mutex, or names no owner of the kind that it has") \
    X(E_CREDENTIALS, -142, false, "a user or password is too long, or there is a user without a password") \
    X(E_NOT_ASKED, -143, false, "the request for credentials was answered before, or has ended")       \
    X(E_SET_KEYS, -144, false, "a set has 2 to 64 keys, each of them once")                            \
    X(E_MODE, -145, false, "the mode is outside its range, or not one that a permit can have")        \
    X(E_UPGRADE, -146, false, "a lock held in a weaker mode does not become stronger: acquire it in a stronger one") \
    X(E_PERMITS, -147, false, "the number of permits is outside its range, or the slot is none of them")  \
    X(E_PARTIES, -148, false, "a latch has 1 to 1000 parties with names of 1 to 64 printable characters") \
    X(E_UNFENCED, -149, false, "the lock is held without a fencing token: acquire it with one")                    \
    X(E_SET, -150, false, "the call is for a set, and this is a single lock; or the reverse")          \
    X(E_MEMBERS, -151, false, "the list of masters cannot be changed like that")                        \
    X(E_KEY_CLASSES, -152, false, "there are too many key_classes, or one has no prefix or no printable name") \
    X(E_SYSTEM, -130, true, "the operating system refused a descriptor, thread, event or random number")

enum redlock_status {
#define REDLOCK_STATUS_ENUM(name, number, retryable, text) REDLOCK_##name = (number),
    REDLOCK_STATUS_MAP(REDLOCK_STATUS_ENUM)
#undef REDLOCK_STATUS_ENUM
};

/* A sentence in English, without a full stop, in static storage; also for unknown numbers. */
REDLOCK_API const char *redlock_strerror(int status);

/* The constant's name, "REDLOCK_HELD", in static storage; "REDLOCK_UNKNOWN" for unknown numbers. */
REDLOCK_API const char *redlock_status_name(int status);

REDLOCK_API bool redlock_status_retryable(int status);

#ifdef __cplusplus
}
#endif
#endif
