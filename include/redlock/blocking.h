/* The blocking, thread-safe interface: distributed mutexes for programs without an event loop of libevent.
 *
 *     service = masters, options and a thread, which talks to the masters and renews held locks
 *     mutex   = one key, or a set of keys: lock, extend and unlock, from any thread
 *     queue   = results and alarms behind a descriptor, for programs with another event loop
 *
 *     if (redlock_service_create(masters, 5, NULL, &service, NULL) < 0 ||
 *         redlock_mutex_create(service, REDLOCK_KEY("invoices"), &mutex) < 0)
 *         return;
 *     if (redlock_mutex_lock(mutex, 10000) == REDLOCK_OK) {
 *         ... work, while redlock_mutex_remaining_ms(mutex) > 0 ...
 *         redlock_mutex_unlock(mutex);
 *     }
 *     redlock_mutex_destroy(mutex);
 *     redlock_service_destroy(service);
 *
 * Most programs need these, and the functions below come in the order of need.
 *
 * The locks are those of the asynchronous interface (redlock/redlock.h), with the same options, results and errors.
 * redlock(7) explains what they promise.
 *
 * THREADS
 *
 * 1. Any thread may call any function, also several threads at once on the same object. The destroy functions are the
 *    exception: no call on the object may begin after one of them. A call that another thread is waiting in returns
 *    REDLOCK_CANCELED, or the status it was about to return.
 * 2. A mutex belongs to no thread: one thread may lock it and another unlock it. To exclude each other, threads create
 *    one mutex each, all with the same key; or they use one recursive mutex, in which each thread is an owner. At most
 *    one lock, extend or convert call and one unlock call can be pending on a mutex; another one returns REDLOCK_E_BUSY
 *    at once. A lock call returns at its deadline even if the service's thread is late, in a callback for example; then
 *    it counts as pending until that thread has given up the attempt.
 * 3. Callbacks are the event hook, watches, and functions given to redlock_service_run(). They run on the service's
 *    thread, which renews no lock meanwhile. A call that would wait returns REDLOCK_E_OWN_THREAD there. The name of the
 *    thread is "redlock", and it blocks all signals.
 * 4. A call that waits may do the work of the service's thread meanwhile, which saves a change of threads; callbacks
 *    still run on that thread. (It may not if there is an event hook, or after redlock_service_run().) So a call that
 *    waits needs 32 KiB of stack, and must not be left by longjmp() from a signal handler. Other calls and renewals
 *    then run with the priority of the waiting thread. No call is a cancellation point for pthread_cancel().
 * 5. A program need not prepare libevent for threads.
 * 6. The locks of a process stay its own after fork(). In the child remaining is 0, and calls that would do something
 *    return REDLOCK_E_FORKED. The destroy functions touch no connection there; they leave the connections' memory and
 *    descriptors to exec() or exit(). A child that wants locks creates a service.
 * 7. A process may end, by exit() in any thread or by the return of main, while it has services and threads in calls.
 *    Nothing is released then: what is held stays taken until its ttl ends. To release it, destroy the service before,
 *    or in an exit handler that is registered after the service was created. The threads run until the process is
 *    gone, and so do callbacks, which must not rely on what exit handlers and static destructors free. OpenSSL ends
 *    before the process does: from then on connections with TLS fail, and destroying a service releases nothing over
 *    them.
 *
 * A function that returns int returns 0 or a negative enum redlock_status. If ret_result is not NULL, it receives a
 * copy of the result, to be freed with redlock_result_free(); or NULL after a caller error or without memory. If the
 * deadline passed before the service could answer, that result says nothing of masters: it has no nodes, and its counts
 * are 0. Other ret_ arguments are written on success only. */
#ifndef REDLOCK_BLOCKING_H
#define REDLOCK_BLOCKING_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/observe.h>
#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/result.h>
#include <redlock/semaphore.h>
#include <redlock/set.h>
#include <redlock/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_service;
struct redlock_mutex;
struct redlock_queue;

/* --- Service ------------------------------------------------------------------------------------------------- */

/* Starts the thread, which connects to the masters, and returns at once, or when the kernel has random numbers, as
 * redlock_client_create() does. Arguments and errors are those of that. */
REDLOCK_API_USED int redlock_service_create(const char *const *masters, size_t n_masters,
                                            const struct redlock_options *options, struct redlock_service **ret_service,
                                            struct redlock_error *ret_error);

/* Ends the thread and the connections. Pending calls return REDLOCK_CANCELED. The releases of held locks are written
 * once, and their answers are not awaited (redlock_client_destroy()). Mutexes and queues stay, and are destroyed in any
 * order: calls on a mutex return REDLOCK_E_CLOSING, and results can still be taken from a queue. NULL is allowed. In a
 * callback this does nothing. */
REDLOCK_API void redlock_service_destroy(struct redlock_service *service);

/* --- Mutex --------------------------------------------------------------------------------------------------- */

/* Creates a handle for one key, as redlock_lock_create() does, with its errors. */
REDLOCK_API_USED int redlock_mutex_create(struct redlock_service *service, const void *key, size_t key_size,
                                          struct redlock_mutex **ret_mutex);

/* Acquires the lock, waiting for at most timeout_ms (0: one attempt; REDLOCK_FOREVER: no limit). The other options have
 * their defaults: a ttl of 10 s, or of max_ttl_ms if that is less, and renewal until the mutex is unlocked. */
REDLOCK_API_USED int redlock_mutex_lock(struct redlock_mutex *mutex, int64_t timeout_ms);

/* Release the lock: remaining is 0 at once, and the lock is not held whatever they return. They wait as
 * redlock_release() does, with its statuses and errors. Also E_OWN_THREAD: the release has begun, nobody waits for it,
 * and the mutex is busy until the masters have answered; but a recursive mutex stays as it is. */
REDLOCK_API int redlock_mutex_unlock(struct redlock_mutex *mutex);
REDLOCK_API int redlock_mutex_release(struct redlock_mutex *mutex, struct redlock_result **ret_result);

/* The validity left, or 0 if the lock is not held. Does not ask the service's thread, and is right even while that is
 * stopped. It may be too short, if a renewal has just been confirmed, but is never too long. */
REDLOCK_API int64_t redlock_mutex_remaining_ns(const struct redlock_mutex *mutex);
REDLOCK_API int64_t redlock_mutex_remaining_ms(const struct redlock_mutex *mutex); /* rounded down */

/* Ends pending operations with REDLOCK_CANCELED, and begins the release of a held lock, which goes on in the
 * background. No watch of the mutex runs after that. The call waits for the service's thread, but not for the masters.
 * A callback may call it, even one of this mutex. NULL is allowed. */
REDLOCK_API void redlock_mutex_destroy(struct redlock_mutex *mutex);

/* Acquires the lock with one attempt. */
REDLOCK_API_USED int redlock_mutex_trylock(struct redlock_mutex *mutex);

/* As redlock_mutex_lock(), and says why not, in words for people and without a full stop: `why` of the result, or
 * redlock_strerror(). REDLOCK_MAX_WHY_BYTES are enough; too few cut the text. On success nothing is written. Also
 * E_ARGUMENT: there is no room. */
#define REDLOCK_MAX_WHY_BYTES 512
REDLOCK_API_USED int redlock_mutex_lock_why(struct redlock_mutex *mutex, int64_t timeout_ms, char *ret_why,
                                            size_t size);

/* Acquires the lock with all options, as redlock_acquire() does, with its statuses and errors. If timeout_ms is
 * positive, the call returns REDLOCK_DEADLINE at most 50 ms after it has passed, even if a callback keeps the
 * service's thread busy. The mutex is then busy until the attempt has been rolled back. Also E_OWN_THREAD. */
REDLOCK_API_USED int redlock_mutex_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                           struct redlock_result **ret_result);

REDLOCK_API void redlock_result_free(struct redlock_result *result); /* NULL is allowed */

/* As redlock_extend(), with its statuses and errors, and E_OWN_THREAD. */
REDLOCK_API int redlock_mutex_extend(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_result **ret_result);

/* Ends with REDLOCK_CANCELED what is pending: a lock, extend or convert call that another thread waits in, or a lock or
 * extend operation for a queue; of a recursive mutex all that wait. Errors: E_ARGUMENT, E_NOTHING_TO_CANCEL (also if
 * the operation has just ended), E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_cancel(struct redlock_mutex *mutex);

/* As redlock_lock_fence(). */
REDLOCK_API uint64_t redlock_mutex_fence(const struct redlock_mutex *mutex);

/* The key as given at creation, valid as long as the mutex. */
REDLOCK_API const void *redlock_mutex_key(const struct redlock_mutex *mutex, size_t *ret_size);

/* --- Alarms -------------------------------------------------------------------------------------------------- */

/* Sets the alarm callback (struct redlock_alarm) of the mutex, for this hold and later ones; NULL is none. It runs on
 * the service's thread, and the alarm is valid until it returns. Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
typedef void (*redlock_mutex_watch_fn)(struct redlock_mutex *mutex, const struct redlock_alarm *alarm, void *user_data);
REDLOCK_API int redlock_mutex_watch(struct redlock_mutex *mutex, redlock_mutex_watch_fn watch, void *user_data);

/* --- Queue --------------------------------------------------------------------------------------------------- */

/* A queue keeps results and alarms until some thread takes them. Its descriptor is readable while there are any: add it
 * to epoll, libuv or GLib, level triggered, and call redlock_queue_next() until it returns REDLOCK_DEADLINE. Do not
 * read or close it. Each mutex has at most one lock or extend operation, one release, and one alarm of each kind in
 * queues, so the memory of a queue is bounded. A service may have any number of queues. Errors: E_ARGUMENT, E_NOMEM,
 * E_SYSTEM, E_FORKED. */
REDLOCK_API_USED int redlock_queue_create(struct redlock_service *service, struct redlock_queue **ret_queue);

/* Drops the results in the queue, and those still to come. Their operations go on. NULL is allowed. */
REDLOCK_API void redlock_queue_destroy(struct redlock_queue *queue);
REDLOCK_API int redlock_queue_fd(const struct redlock_queue *queue); /* -1 in a child */

enum redlock_completion_kind {
    REDLOCK_COMPLETION_RESULT = 1, /* an operation has ended */
    REDLOCK_COMPLETION_ALARM,      /* a mutex with redlock_mutex_watch_queue() has an alarm */
};

/* Belongs to the program, which frees it with redlock_completion_free(). */
struct redlock_completion {
    enum redlock_completion_kind kind;
    int status;                    /* RESULT: of the operation; ALARM: 0, or REDLOCK_LOST */
    struct redlock_mutex *mutex;   /* NULL if it has been destroyed meanwhile */
    void *user_data;               /* as given to the call */
    struct redlock_result *result; /* freed with the completion; NULL without memory or after a caller error. ALARM: the
                                      masters' part in the latest extension, and why the lock is at risk or lost */
    enum redlock_alarm_kind alarm;
    enum redlock_loss loss;        /* ALARM: why the lock is lost */
};

/* Takes the oldest completion, waiting for at most timeout_ms (0: not at all; REDLOCK_FOREVER: no limit). Returns
 * REDLOCK_DEADLINE if there is none, REDLOCK_CANCELED if the queue is being destroyed. Errors: E_ARGUMENT, E_TIMEOUT,
 * E_NOMEM (nothing is taken), E_OWN_THREAD (only with a timeout), E_FORKED. */
REDLOCK_API int redlock_queue_next(struct redlock_queue *queue, int64_t timeout_ms,
                                   struct redlock_completion **ret_completion);
REDLOCK_API void redlock_completion_free(struct redlock_completion *completion); /* NULL is allowed */

/* Begin an operation and return at once. After 0 the queue receives the outcome exactly once; that may be an error of
 * redlock_acquire(), redlock_extend() or redlock_release(), without a result. The queue must be one of the mutex's
 * service. Callbacks may call these. Errors, after which the queue receives nothing: E_ARGUMENT, E_OWNER (acquire or
 * release a recursive mutex), E_BUSY, E_CLOSING, E_FORKED. */
REDLOCK_API_USED int redlock_mutex_acquire_async(struct redlock_mutex *mutex,
                                                 const struct redlock_acquire_options *options,
                                                 struct redlock_queue *queue, void *user_data);
REDLOCK_API int redlock_mutex_extend_async(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_queue *queue,
                                           void *user_data);
REDLOCK_API int redlock_mutex_release_async(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data);

/* Sends the alarms of the mutex to the queue instead of the watch; NULL is none. While an alarm waits in the queue,
 * another one of its kind is not added. Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_watch_queue(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data);

/* --- The service as a whole ---------------------------------------------------------------------------------- */

/* Ends the work of the service in order, but does not destroy it: as redlock_client_shutdown(), it refuses new work,
 * cancels pending acquisitions and releases held locks. Returns when the masters have confirmed, or REDLOCK_DEADLINE if
 * a quorum has not confirmed some release after timeout_ms. Errors: E_ARGUMENT, E_TIMEOUT (1 to
 * REDLOCK_MAX_TIMEOUT_MS), E_CLOSING, E_OWN_THREAD, E_FORKED. */
REDLOCK_API int redlock_service_shutdown(struct redlock_service *service, int64_t timeout_ms);

/* As redlock_client_stats() and redlock_client_node_stats(). `name` is valid while the service lives, `last_error` is
 * "": read it by redlock_service_run(). Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_service_stats(struct redlock_service *service, struct redlock_stats *ret_stats, size_t size);
REDLOCK_API int redlock_service_node_stats(struct redlock_service *service, size_t node,
                                           struct redlock_node_stats *ret_stats, size_t size);
REDLOCK_API size_t redlock_service_node_count(const struct redlock_service *service);

/* Calls fn on the service's thread, or at once from a callback, and returns when fn has returned. fn may use the whole
 * asynchronous interface with the client, but not the locks of mutexes. The client belongs to the service: fn must not
 * destroy it. It copies texts that it wants to keep. Errors (fn has not been called): E_ARGUMENT, E_CLOSING,
 * E_FORKED. */
typedef void (*redlock_service_fn)(struct redlock_client *client, void *user_data);
REDLOCK_API int redlock_service_run(struct redlock_service *service, redlock_service_fn fn, void *user_data);

/* --- Modes, and held locks that move ------------------------------------------------------------------------- */

/* As redlock_convert(), with its statuses and errors, and E_OWN_THREAD, E_SET, E_OWNER (a recursive mutex keeps the
 * mode that it was locked in). While an upgrade waits, another thread may unlock the mutex: the upgrade ends with
 * REDLOCK_CANCELED. The timeout runs from the call on. But unlike redlock_mutex_acquire() the call waits for the
 * outcome in any case, so that its caller knows the mode: a callback that keeps the service's thread busy delays it. */
REDLOCK_API int redlock_mutex_convert(struct redlock_mutex *mutex, enum redlock_mode mode, int64_t timeout_ms,
                                      struct redlock_result **ret_result);

/* As redlock_lock_mode(). Errors: E_ARGUMENT, E_SET (redlock_mutex_part()), E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_mode(struct redlock_mutex *mutex, enum redlock_mode *ret_mode);

/* As redlock_lock_token(), redlock_lock_detach(), redlock_release_token(), redlock_lock_export() and
 * redlock_lock_adopt(), with their errors, and E_CLOSING. The token is copied: REDLOCK_MAX_TOKEN_BYTES + 1 bytes are
 * enough, and too few are E_LIMIT. redlock_mutex_release_token() waits as redlock_mutex_release() does. */
REDLOCK_API int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size);
REDLOCK_API int redlock_mutex_detach(struct redlock_mutex *mutex);
REDLOCK_API int redlock_mutex_release_token(struct redlock_mutex *mutex, const char *token,
                                            struct redlock_result **ret_result);
REDLOCK_API_USED int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size);
REDLOCK_API_USED int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                         const char *text);

/* --- Permits of a semaphore ---------------------------------------------------------------------------------- */

/* Creates a handle for one permit of a semaphore, as redlock_permit_create() does, with its errors. It is locked and
 * unlocked like any other mutex; threads that want a permit each need a handle each. */
REDLOCK_API_USED int redlock_mutex_create_permit(struct redlock_service *service, const void *key, size_t key_size,
                                                 uint32_t limit, struct redlock_mutex **ret_mutex);

/* As redlock_lock_slot(). Errors: E_ARGUMENT, E_SET, E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_slot(struct redlock_mutex *mutex, int32_t *ret_slot);

/* As redlock_release_permit(), with its errors. Waits as redlock_mutex_release() does. */
REDLOCK_API int redlock_mutex_release_permit(struct redlock_mutex *mutex, uint32_t slot, const char *token,
                                             struct redlock_result **ret_result);

/* --- Owners of a recursive mutex ----------------------------------------------------------------------------- */

/* Who owns a recursive mutex. */
enum redlock_owners {
    REDLOCK_OWNERS_NAMED,   /* each call names its owner by a pointer, which the library only compares: a task that
                               moves between threads, or a request */
    REDLOCK_OWNERS_THREADS, /* the thread that makes the call */
};

/* Creates a recursive mutex: one owner at a time holds it, and may lock it again, and then unlocks it as often. Other
 * owners of this process wait for it here, in the order in which they came, and only the first of them asks the
 * masters. Errors: those of redlock_mutex_create(), and E_OWNER (`owners` is neither).
 *
 * To lock it again asks nobody, and changes nothing of the hold, which must have what the call asks for. Some validity
 * must be left, and at least min_validity_ms of the options; otherwise the call returns REDLOCK_EXPIRING, or
 * REDLOCK_LOST if the lock has been lost, at every depth. The mode of the options, which is exclusive without options,
 * must be that of the hold or a weaker one (otherwise E_UPGRADE): an owner that shares the key would not exclude
 * anybody. And the hold must have a fencing token if `fenced` asks for one (E_UNFENCED). The options that say how to
 * acquire and renew a lock mean nothing in such a call.
 *
 * A mutex that has been lost is never acquired anew before it has been unlocked as often as it was locked. */
REDLOCK_API_USED int redlock_mutex_create_recursive(struct redlock_service *service, const void *key, size_t key_size,
                                                    enum redlock_owners owners, struct redlock_mutex **ret_mutex);

/* For a recursive mutex with named owners: as redlock_mutex_lock(), redlock_mutex_acquire(), redlock_mutex_unlock(),
 * redlock_mutex_release(), redlock_mutex_export() and redlock_mutex_adopt(), for this owner. On a recursive mutex all
 * of these, under either name, differ as follows.
 *
 * Lock calls: the time until other owners have unlocked the mutex is part of the timeout; a call with timeout 0 that
 * finds another owner returns REDLOCK_HELD. A call that waits for another owner returns REDLOCK_CANCELED after
 * redlock_mutex_cancel(). E_DEPTH: the owner has locked it REDLOCK_MAX_DEPTH times. E_UPGRADE, E_UNFENCED: see
 * redlock_mutex_create_recursive().
 *
 * Unlock calls: all but the last return 0 without asking the masters, or REDLOCK_LOST if the lock has been lost.
 * E_NOT_HELD: the mutex is free.
 *
 * An export needs depth 1 (otherwise E_DEPTH). A text is adopted by a mutex that is free (otherwise E_ALREADY_HELD),
 * and its depth is 1 then.
 *
 * All calls: only one that has asked the masters has a result. E_OWNER, another owner holds the mutex, or it has owners
 * of the other kind, or none; E_BUSY, the owner has another call pending. */
REDLOCK_API_USED int redlock_mutex_lock_as(struct redlock_mutex *mutex, const void *owner, int64_t timeout_ms);
REDLOCK_API_USED int redlock_mutex_acquire_as(struct redlock_mutex *mutex, const void *owner,
                                              const struct redlock_acquire_options *options,
                                              struct redlock_result **ret_result);
REDLOCK_API int redlock_mutex_unlock_as(struct redlock_mutex *mutex, const void *owner);
REDLOCK_API int redlock_mutex_release_as(struct redlock_mutex *mutex, const void *owner,
                                         struct redlock_result **ret_result);
REDLOCK_API_USED int redlock_mutex_export_as(struct redlock_mutex *mutex, const void *owner, char *ret_text,
                                             size_t size);
REDLOCK_API_USED int redlock_mutex_adopt_as(struct redlock_mutex *mutex, const void *owner,
                                            const struct redlock_acquire_options *options, const char *text);

/* How many unlock calls are due: 0 if the mutex is not held. A recursive mutex that has been lost has the depth that it
 * was lost with. */
REDLOCK_API uint32_t redlock_mutex_depth(const struct redlock_mutex *mutex);

/* --- Sets ---------------------------------------------------------------------------------------------------- */

/* Creates a mutex of several keys, a set (redlock/set.h): held all together or not at all, whoever else takes any of
 * them. At first it has none; redlock_mutex_add(), redlock_mutex_add_mode() and redlock_mutex_add_permit() add one, as
 * redlock_set_add(), redlock_set_add_mode() and redlock_set_add_permit() do, and redlock_mutex_add_permits() adds
 * several permits of one semaphore, as redlock_set_add_permits() does.
 *
 * The functions of a mutex are then about the set. Lock and extend calls return what redlock_set_acquire() and
 * redlock_set_extend() report, with the options and errors of these. Unlocking is redlock_set_release(). Remaining is
 * the least validity of any key. An alarm tells that a key is at risk, or that one is lost, and the set with it.
 * redlock_mutex_export() and redlock_mutex_adopt() are redlock_set_export(), whose text may take
 * REDLOCK_MAX_SET_EXPORT_BYTES, and redlock_set_adopt(); redlock_mutex_detach() is redlock_set_detach(). Functions that
 * are about one key (token, mode, convert, release_token) return REDLOCK_E_SET, redlock_mutex_fence() returns 0,
 * redlock_mutex_key() NULL.
 *
 * Errors of creating: those of redlock_set_create(). Errors of adding: those of the function of the same name, and
 * E_SET (the mutex was not created here). */
REDLOCK_API_USED int redlock_mutex_create_set(struct redlock_service *service, struct redlock_mutex **ret_mutex);
REDLOCK_API int redlock_mutex_add(struct redlock_mutex *mutex, const void *key, size_t key_size);
REDLOCK_API int redlock_mutex_add_mode(struct redlock_mutex *mutex, const void *key, size_t key_size,
                                       enum redlock_mode mode);
REDLOCK_API int redlock_mutex_add_permit(struct redlock_mutex *mutex, const void *key, size_t key_size,
                                         uint32_t limit);
REDLOCK_API int redlock_mutex_add_permits(struct redlock_mutex *mutex, const void *key, size_t key_size, uint32_t n,
                                          uint32_t limit);

/* One key of a set. New members are added at the end. */
struct redlock_part {
    const void *key;     /* valid until the mutex or the service is destroyed */
    size_t key_size;
    uint64_t fence;      /* its fencing token, or 0 */
    enum redlock_mode mode; /* as redlock_lock_mode() */
    int32_t slot;        /* as redlock_lock_slot() */
    char token[REDLOCK_MAX_TOKEN_BYTES + 1]; /* of this key, as redlock_lock_token() */
};

/* Tells about the key number `part` of a set: 0 is the smallest as compared by memcmp(), whatever the order was in
 * which they were added. `size` is that of the structure. Errors: E_ARGUMENT, E_SET (not a set), E_SET_KEYS (there are
 * not that many keys), E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_part(struct redlock_mutex *mutex, size_t part, struct redlock_part *ret_part,
                                   size_t size);

/* Says what becomes of the other keys of a set when one is lost, as redlock_set_keep_rest() does: they are released at
 * once (0, the default), or kept until the mutex is unlocked, locked anew or destroyed (1), so that the program can
 * first end what it does under them. The set is lost in either case. Errors: E_ARGUMENT, E_SET (not a set), E_CLOSING,
 * E_FORKED. */
REDLOCK_API int redlock_mutex_keep_rest(struct redlock_mutex *mutex, int keep);

#ifdef __cplusplus
}
#endif
#endif
