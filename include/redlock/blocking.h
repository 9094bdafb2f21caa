/* The blocking, thread-safe front end: distributed mutexes for programs without an event loop.
 *
 *     service = masters + options + one thread of its own, which talks to the masters and renews held locks
 *     mutex   = one key; lock, extend, unlock, from any thread
 *     queue   = results and alarms behind a descriptor, for programs with a foreign event loop
 *
 *     redlock_service_create(urls, 5, NULL, &service, NULL);
 *     redlock_mutex_create(service, "invoices", 8, &mutex);
 *     if (redlock_mutex_lock(mutex, 10000) == REDLOCK_OK) {
 *         ... work, while redlock_mutex_remaining_ms(mutex) > 0 ...
 *         redlock_mutex_unlock(mutex);
 *     }
 *     redlock_mutex_destroy(mutex);
 *     redlock_service_destroy(service);
 *
 * What a lock promises, and under which assumptions, is in redlock(7); it is the same as for the asynchronous
 * interface (redlock/redlock.h), on which this one is built and whose words for options, results and errors it uses.
 *
 * THREADS
 *
 * 1. Every function here may be called from any thread, also several times at once on the same object, but for the
 *    three destroy functions: once one of these has been called no call may begin on the object. Calls of other
 *    threads that wait at that moment return REDLOCK_CANCELED, or what they were about to return.
 * 2. A mutex belongs to no thread: what one thread has locked another may extend or unlock. It is one holder, and has
 *    at most one lock or extend call and one unlock call pending; further ones return REDLOCK_E_BUSY at once. Threads
 *    that are to exclude each other use a mutex object each, for the same key.
 * 3. Callbacks (the event hook of struct redlock_options, watches, functions given to redlock_service_run) run on the
 *    service's thread, which does nothing else meanwhile: no renewal, too. Calls that wait return REDLOCK_E_OWN_THREAD
 *    there. The thread is named "redlock", and blocks all signals.
 *    Everything else that the thread does a call that waits may do in its place, as long as it waits, which saves the
 *    change of threads; not with an event hook, nor once redlock_service_run() has been used. So these calls need
 *    32 KiB of stack, are no cancellation points (pthread_cancel() takes effect after them), and a signal handler must
 *    not leave them by longjmp(): other calls and renewals may depend on them, and go on with the priority of the
 *    thread that waits.
 * 4. libevent needs no preparation for threads, and the program none for libevent.
 * 5. After fork() every call in the child that would do something returns REDLOCK_E_FORKED, and remaining is 0. The
 *    locks stay the parent's. The destroy functions may be called; they touch no connection, and leave the memory and
 *    the descriptors of the connections to exec() or exit(): fork() may have interrupted the service's thread
 *    anywhere. A child that wants locks creates a service of its own.
 *
 * Functions that return int return 0 or a negative enum redlock_status: outcomes (redlock/result.h) and caller errors
 * alike. Where ret_result is not NULL it receives a copy of the evidence, to be freed with redlock_result_free(); or
 * NULL where there is none: after caller errors, when the caller's deadline passed before the service had anything
 * to say, and without memory. Other ret_ arguments are written on success only. */
#ifndef REDLOCK_BLOCKING_H
#define REDLOCK_BLOCKING_H

#include <stddef.h>
#include <stdint.h>

#include <redlock/export.h>
#include <redlock/observe.h>
#include <redlock/options.h>
#include <redlock/redlock.h>
#include <redlock/result.h>
#include <redlock/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct redlock_service;
struct redlock_mutex;
struct redlock_queue;

/* --- Service ------------------------------------------------------------------------------------------------- */

/* Starts a thread that connects to the masters, and returns at once; mutexes wait for the connections where they have
 * to. Arguments and errors are those of redlock_client_create(); E_SYSTEM says that there is no thread or descriptor.
 * options->on_event is called on the service's thread. */
REDLOCK_API int redlock_service_create(const char *const *masters, size_t n_masters,
                                       const struct redlock_options *options, struct redlock_service **ret_service,
                                       struct redlock_error *ret_error);

/* Ends the thread and the connections, as redlock_client_destroy() does: pending calls return REDLOCK_CANCELED, held
 * locks are released by one message to each master, without waiting for an answer. Mutexes and queues outlive it, to be
 * destroyed in any order: nothing is held any more, and calls return REDLOCK_E_CLOSING, but what is in a queue can
 * be taken. NULL is fine. Not from a callback: there it does nothing. */
REDLOCK_API void redlock_service_destroy(struct redlock_service *service);

/* The orderly end: refuses new work (REDLOCK_E_CLOSING), cancels pending acquisitions, releases held locks, and waits
 * for the masters' confirmation, at most timeout_ms. 0, or REDLOCK_DEADLINE if a quorum has not confirmed some
 * release. Does not destroy the service. Errors: E_ARGUMENT, E_TIMEOUT (1 to one day), E_CLOSING, E_OWN_THREAD,
 * E_FORKED. */
REDLOCK_API int redlock_service_shutdown(struct redlock_service *service, int64_t timeout_ms);

/* redlock_client_stats() and redlock_client_node_stats(); of the latter's texts, name is valid while the service lives,
 * and last_error, which is not, is "": redlock_service_run() is the way to it.
 * Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_service_stats(struct redlock_service *service, struct redlock_stats *ret_stats, size_t size);
REDLOCK_API int redlock_service_node_stats(struct redlock_service *service, size_t node,
                                           struct redlock_node_stats *ret_stats, size_t size);
REDLOCK_API size_t redlock_service_node_count(const struct redlock_service *service);

/* Calls fn on the service's thread and returns when it has returned (from a callback: calls it at once). There the
 * whole asynchronous interface may be used with the client, for example redlock_client_node_info(), whose texts are to
 * be copied. Locks of mutexes are not to be touched this way. 0, or E_ARGUMENT, E_CLOSING, E_FORKED: not called. */
typedef void (*redlock_service_fn)(struct redlock_client *client, void *user_data);
REDLOCK_API int redlock_service_run(struct redlock_service *service, redlock_service_fn fn, void *user_data);

/* --- Mutex --------------------------------------------------------------------------------------------------- */

/* A handle for one key, as redlock_lock_create(), whose errors it returns, and E_CLOSING. No I/O. It keeps the
 * memory of the service. */
REDLOCK_API int redlock_mutex_create(struct redlock_service *service, const void *key, size_t key_size,
                                     struct redlock_mutex **ret_mutex);

/* Pending calls on it return REDLOCK_CANCELED (asynchronous ones are in their queue with that status), a held lock is
 * given up; its release goes on in the background. Afterwards no watch of the mutex runs. Waits for the service's
 * thread, but not for the masters. May be called from callbacks, the mutex's own included. NULL is fine. */
REDLOCK_API void redlock_mutex_destroy(struct redlock_mutex *mutex);

/* Takes the lock, trying for timeout_ms (0: one attempt; REDLOCK_FOREVER) with default options otherwise: 10 s ttl,
 * renewed until it is unlocked. */
REDLOCK_API int redlock_mutex_lock(struct redlock_mutex *mutex, int64_t timeout_ms);

/* The same with one attempt. */
REDLOCK_API int redlock_mutex_trylock(struct redlock_mutex *mutex);

/* The same with all options: redlock_acquire(), whose statuses and errors it returns, with E_OWN_THREAD. Returns when
 * a positive timeout_ms has passed (5 ms later at most), with REDLOCK_DEADLINE, even if the service's thread is kept
 * busy by a callback; what that attempt may still gain is given back, and until then the mutex is busy. */
REDLOCK_API int redlock_mutex_acquire(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                      struct redlock_result **ret_result);

/* Sets the ttl of a held lock anew: redlock_extend(). */
REDLOCK_API int redlock_mutex_extend(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_result **ret_result);

/* Gives the lock up: remaining is 0 as soon as this is called. Waits for the masters' answers as redlock_release()
 * does, whose statuses and errors these return, with E_OWN_THREAD: whatever the outcome, the lock is not held. */
REDLOCK_API int redlock_mutex_unlock(struct redlock_mutex *mutex);
REDLOCK_API int redlock_mutex_release(struct redlock_mutex *mutex, struct redlock_result **ret_result);

/* Ends the lock or extend call that another thread waits in, or that was started with a queue: it returns
 * REDLOCK_CANCELED. Errors: E_ARGUMENT, E_NOTHING_TO_CANCEL (also when the operation has just ended), E_CLOSING,
 * E_FORKED. */
REDLOCK_API int redlock_mutex_cancel(struct redlock_mutex *mutex);

/* Validity left by the clock, now; 0 if not held. Does not ask the service's thread: right at once also while that is
 * stopped or busy. It may be too short (a renewal that was confirmed a moment ago), never too long. 0 in a child. */
REDLOCK_API int64_t redlock_mutex_remaining_ns(const struct redlock_mutex *mutex);
REDLOCK_API int64_t redlock_mutex_remaining_ms(const struct redlock_mutex *mutex); /* rounded down */

/* The fencing token of the current hold, acquired with `fenced`; 0 if there is none or remaining is 0. */
REDLOCK_API uint64_t redlock_mutex_fence(const struct redlock_mutex *mutex);

/* redlock_lock_token(), redlock_lock_detach(), redlock_release_token(), redlock_lock_export() and redlock_lock_adopt()
 * with their errors, and E_CLOSING. The token is copied: room for REDLOCK_MAX_TOKEN_BYTES + 1 is enough (less than
 * needed: E_LIMIT). redlock_mutex_release_token() waits like redlock_mutex_release(). */
REDLOCK_API int redlock_mutex_token(struct redlock_mutex *mutex, char *ret_token, size_t size);
REDLOCK_API int redlock_mutex_detach(struct redlock_mutex *mutex);
REDLOCK_API int redlock_mutex_release_token(struct redlock_mutex *mutex, const char *token,
                                            struct redlock_result **ret_result);
REDLOCK_API int redlock_mutex_export(struct redlock_mutex *mutex, char *ret_text, size_t size);
REDLOCK_API int redlock_mutex_adopt(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                    const char *text);

/* The key as given at creation. Valid while the mutex lives. */
REDLOCK_API const void *redlock_mutex_key(const struct redlock_mutex *mutex, size_t *ret_size);

/* The loss alarm (struct redlock_alarm), for this hold and later ones: called on the service's thread. NULL: none. What
 * it points to is borrowed for the call. Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
typedef void (*redlock_mutex_watch_fn)(struct redlock_mutex *mutex, const struct redlock_alarm *alarm, void *user_data);
REDLOCK_API int redlock_mutex_watch(struct redlock_mutex *mutex, redlock_mutex_watch_fn watch, void *user_data);

REDLOCK_API void redlock_result_free(struct redlock_result *result); /* NULL is fine */

/* --- Queue --------------------------------------------------------------------------------------------------- */

/* Results and alarms wait here until some thread takes them. The descriptor is readable while there are any: add it to
 * epoll, libuv or GLib, level triggered, and call redlock_queue_next() until it returns REDLOCK_DEADLINE. It is not to
 * be read or closed. A service may have any number of queues; each keeps the memory of the service.
 *
 * The queue is bounded by the program's mutexes: each has at most one lock or extend operation and one release pending
 * or not yet taken (a further one is refused with E_BUSY), and one alarm of each kind. */
REDLOCK_API int redlock_queue_create(struct redlock_service *service, struct redlock_queue **ret_queue);

/* Drops what is in the queue and what is still to come; the operations go on. NULL is fine. */
REDLOCK_API void redlock_queue_destroy(struct redlock_queue *queue);
REDLOCK_API int redlock_queue_fd(const struct redlock_queue *queue); /* -1 in a child */

enum redlock_completion_kind {
    REDLOCK_COMPLETION_RESULT = 1, /* an operation has ended: result */
    REDLOCK_COMPLETION_ALARM,      /* of a mutex with redlock_mutex_watch_queue(): alarm */
};

/* Owned by the program once it is taken. */
struct redlock_completion {
    enum redlock_completion_kind kind;
    int status;                   /* RESULT: of the result, which is NULL without memory; ALARM: 0 or REDLOCK_LOST */
    struct redlock_mutex *mutex;  /* NULL if it has been destroyed meanwhile */
    void *user_data;              /* as given to the call */
    struct redlock_result *result; /* freed with the completion */
    enum redlock_alarm_kind alarm;
    enum redlock_loss loss;       /* ALARM: why the lock is lost */
};

/* Takes the oldest, waiting for at most timeout_ms (0: not at all; REDLOCK_FOREVER). REDLOCK_DEADLINE: there is none.
 * REDLOCK_CANCELED: the queue is being destroyed. Errors: E_ARGUMENT, E_TIMEOUT, E_NOMEM (nothing is taken then),
 * E_OWN_THREAD (only with a timeout), E_FORKED. */
REDLOCK_API int redlock_queue_next(struct redlock_queue *queue, int64_t timeout_ms,
                                   struct redlock_completion **ret_completion);
REDLOCK_API void redlock_completion_free(struct redlock_completion *completion); /* NULL is fine */

/* Begin what the functions above do and return at once; the outcome goes to the queue, exactly once, also if it is a
 * refusal of redlock_acquire() and the like (a caller error as status, without a result). The queue must be of the same
 * service and outlive the call. 0, or an error, which puts nothing into the queue: E_ARGUMENT, E_OPTIONS_SIZE, E_BUSY,
 * E_NOMEM, E_CLOSING, E_FORKED. Allowed in callbacks. */
REDLOCK_API int redlock_mutex_acquire_async(struct redlock_mutex *mutex, const struct redlock_acquire_options *options,
                                            struct redlock_queue *queue, void *user_data);
REDLOCK_API int redlock_mutex_extend_async(struct redlock_mutex *mutex, uint32_t ttl_ms, struct redlock_queue *queue,
                                           void *user_data);
REDLOCK_API int redlock_mutex_release_async(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data);

/* Alarms of the mutex go to the queue, in place of the watch; queue NULL: no more. An alarm that is not taken before
 * the next one of its kind is not repeated. Errors: E_ARGUMENT, E_CLOSING, E_FORKED. */
REDLOCK_API int redlock_mutex_watch_queue(struct redlock_mutex *mutex, struct redlock_queue *queue, void *user_data);

#ifdef __cplusplus
}
#endif
#endif
